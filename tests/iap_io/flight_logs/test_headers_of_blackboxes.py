# SPDX-License-Identifier: BSD-3-Clause
"""Headers and columns of blackboxes by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.flight_logs import blackbox, blackbox_columns
from iap_io.flight_logs.blackbox_codes import (
    GROUP_OF_3,
    GROUP_OF_4,
    GROUP_OF_8,
    NO_BYTES,
    SIGNED,
    UNSIGNED,
)  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "size"),
    [
        ([SIGNED, UNSIGNED, NO_BYTES], 3),
        ([GROUP_OF_3] * 3 + [SIGNED], 3),
        ([GROUP_OF_4] * 4, 2),
        ([GROUP_OF_8] * 8 + [SIGNED], 3),
        ([GROUP_OF_8] * 9, 3),
        ([GROUP_OF_8], 2),
        ([GROUP_OF_8, GROUP_OF_8, SIGNED, GROUP_OF_8], 4),
        ([], 1),
    ],
)
def test_a_frame_has_a_letter_and_a_byte_for_each_group(codes, size):
    rows = np.zeros((2, 12), np.int64)
    rows[1, : len(codes)] = codes
    layout = SimpleNamespace(codes=rows, counts=np.array([0, len(codes)]))
    assert blackbox._min_bytes(layout, 1) == size


@pytest.mark.parametrize("codes", [[GROUP_OF_3] * 2, [SIGNED, GROUP_OF_4, GROUP_OF_4, GROUP_OF_4]])
def test_a_group_that_needs_more_fields_than_there_are_is_damage(codes):
    layout = SimpleNamespace(codes=np.array([codes]), counts=np.array([len(codes)]))
    with pytest.raises(BadInput, match="^fields of its frames I end within a group of several"):
        blackbox._min_bytes(layout, 0)


def test_a_header_ends_with_its_last_whole_line():
    data = b"H Product:Blackbox\nH a b : 1,2:3 \nIxyz\nH no: key\n"
    assert blackbox._header(data) == ({"Product": "Blackbox", "a b": "1,2:3"}, data.index(b"I"))
    assert blackbox._header(b"H a:1\nH b:2") == ({"a": "1"}, 6)


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), (" -0x10 ", -16), ("4294967295", 2**32 - 1), ("-2147483648", -(2**31))],
)
def test_a_number_of_a_header_has_32_bits(text, number):
    assert blackbox._number(text) == number


@pytest.mark.parametrize("text", ["4294967296", "-2147483649", "seven", "1.5", ""])
def test_another_number_of_a_header_is_damage(text):
    with pytest.raises(BadInput, match="in its header is no number of 32 bits: it is damaged$"):
        blackbox._number(text)


def test_numbers_of_a_key_are_counted():
    keys = {"a": "1,2, 3", "b": ""}
    assert [blackbox._numbers(keys, key, None) for key in "abc"] == [[1, 2, 3], [], []]
    assert blackbox._numbers(keys, "a", 3) == [1, 2, 3]
    with pytest.raises(
        BadInput, match="^key 'c' has 0 numbers in place of 2: its header is damaged$"
    ):
        blackbox._numbers(keys, "c", 2)


@pytest.mark.parametrize(
    ("keys", "intervals"),
    [
        ({}, (32, 1, 1)),
        ({"I interval": "64", "P interval": "2/4"}, (64, 2, 4)),
        ({"I interval": "0", "P interval": "8"}, (1, 1, 8)),
        ({"P interval": "1/5000"}, (32, 1, 5000)),
    ],
)
def test_intervals_of_frames_are_those_of_the_header(keys, intervals):
    assert blackbox._intervals(keys) == intervals
    with pytest.raises(
        BadInput, match="^5001 iterations between its frames: its header is damaged$"
    ):
        blackbox._intervals({**keys, "P interval": "1/5001"})


@pytest.mark.parametrize(
    ("firmware", "release", "volts"),
    [
        ("Betaflight 4.0.6 (abc) MATEK", (4, 0), 0.01),
        ("Betaflight 4.5.1", (4, 5), 0.01),
        ("Betaflight / STM32F405 3.1.7", (3, 1), 0.1),
        ("Betaflight 3.0.1", (3, 0), 3.3 / 4095.0 * 11.0),
        ("Cleanflight", (0, 0), 3.3 / 4095.0 * 11.0),
        (f"Betaflight {'9' * 5000}.1", (0, 0), 3.3 / 4095.0 * 11.0),
    ],
)
def test_a_release_says_what_a_step_of_voltage_is(firmware, release, volts):
    keys = {"Firmware revision": firmware}
    assert blackbox._release(keys) == release
    assert blackbox._volt_factor(keys) == pytest.approx(volts, rel=1e-12)
    for key in ("vbatscale", "vbat_scale"):
        scaled = blackbox._volt_factor({**keys, key: "55"})
        assert scaled == pytest.approx(volts if volts in (0.01, 0.1) else 0.5 * volts)


def test_a_step_of_rates_is_written_as_the_bits_of_a_float():
    for keys, factor in (
        ({}, 1.0), ({"gyro_scale": "0x40000000"}, 2.0), ({"gyro.scale": "0x3d79db23"}, 0.061),
        ({"gyro_scale": "0xbf800000"}, 1.0),
    ):  # fmt: skip
        assert blackbox._gyro_factor(keys) == pytest.approx(factor, rel=1e-3)


@pytest.mark.parametrize(
    ("header", "motors", "limits"),
    [
        ("48,2047", [[1500.0, 1600.0]], (48.0, 2047.0)),
        ("2047,48", [[997.0, 997.0]], (158.0, 2047.0)),
        ("", [[998.0, 998.0, np.nan], [1500.0] * 3], (1000.0, 2000.0)),
        ("1", [], (158.0, 2047.0)),
        ("1,2,3", [[1100.0] * 2], (1000.0, 2000.0)),
    ],
)
def test_the_range_of_motors_is_that_of_the_header_or_by_their_size(header, motors, limits):
    columns = {f"motor[{k}]": np.array(row) for k, row in enumerate(motors)} | {
        "time": np.zeros(2)
    }
    assert blackbox_columns._range({"motorOutput": header}, columns) == limits


def test_columns_of_a_blackbox_have_their_units():
    columns = {
        "motor[0]": np.array([48.0, 1047.5, 40.0]), "eRPM[1]": np.array([7.0, 0.0, 1.0]),
        "accSmooth[0]": np.array([2048.0, 0.0, 0.0]), "accSmooth[1] (g)": np.array([1.0, 0.0, 0.0]),
        "accSmooth[2] (m/s/s)": np.array([1.0, 0.0, 0.0]),
    }  # fmt: skip
    scaled = blackbox_columns._scaled({}, columns, 48.0, 2047.0)
    np.testing.assert_allclose(scaled["commands[0]"], [0.0, 0.5, 0.0])
    assert scaled["speeds[1]"][0] == pytest.approx(
        100.0
    )  # hundreds of electric turns, of 14 poles
    g = 9.80665
    assert [scaled[f"accelerations[{axis}]"][0] for axis in range(3)] == pytest.approx([g, g, 1.0])
    keys = {"motor_poles": "28", "acc_1G": "4096"}
    scaled = blackbox_columns._scaled(keys, columns, 48.0, 2047.0)
    assert (scaled["speeds[1]"][0], scaled["accelerations[0]"][0]) == pytest.approx(
        (50.0, 0.5 * g)
    )
    assert blackbox_columns._assumed({}, columns) == [
        "acc_1G: 2048 assumed, the header has none", "motor_poles: 14 assumed, the header has none",
    ]  # fmt: skip
    assert blackbox_columns._assumed(keys, columns) == []
    assert blackbox_columns._assumed({}, {"motor[0]": np.zeros(2)}) == []


def test_rows_are_sound_whose_motors_are_within_two_steps_of_their_range():
    motor = np.array([46.0, 45.9, 2049.0, 2049.1, 0.0, np.nan, 100.0, 100.0])
    rate = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.nan, 0.0])
    sound = blackbox_columns._sound({"motor[0]": motor, "gyroADC[2]": rate}, 48.0, 2047.0)
    assert sound.tolist() == [True, False, True, False, True, False, False, True]
