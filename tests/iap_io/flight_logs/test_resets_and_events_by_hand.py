# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that were set anew, flips of a field, heads of Crazyflie logs and of blackboxes, by hand."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iap_io.flight_logs import (
    blackbox,
    blackbox_columns,
    crazyflie,
    px4_resets,
    px4_ulog,
)
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.log_tables import LogTable

T = np.arange(6.0)


def resets(**columns: list[float]) -> LogTable:

    made = {key: np.array(value) for key, value in columns.items()}
    for axis in (0, 1):
        if f"delta_xy_{axis}" in made:
            made[f"delta_xy[{axis}]"] = made.pop(f"delta_xy_{axis}")
    return LogTable("vehicle_local_position", T, made)


def test_positions_are_freed_of_the_steps_of_an_estimator_that_was_set_anew() -> None:
    """In NED the step of row 2 is (1, 2), that of row 4 another (10, 0), and of the height -0.5 at row 3."""
    table = resets(
        xy_reset_counter=[0, 0, 1, 1, 2, 2], delta_xy_0=[0, 0, 1, 1, 10, 10], delta_xy_1=[0, 0, 2, 2, 0, 0],
        z_reset_counter=[255, 255, 255, 0, 0, 0], delta_z=[9, 9, 9, -0.5, -0.5, -0.5],
    )  # fmt: skip
    still = np.tile([7.0, 8.0, 9.0], (6, 1))
    signal = Signal(T + 1e-9, still, "topic", "m")
    log = FlightLog(Path("a.ulg"), "ULog", "PX4", {names.POSITION: signal})
    found = px4_resets.without_position_resets(log, table)
    # a sample just behind a row's time is after the next row's step; in ENU it is (y, x, -z)
    shift = np.array(
        [[0, 0, 0], [1, 2, 0], [1, 2, -0.5], [11, 2, -0.5], [11, 2, -0.5], [11, 2, -0.5]]
    )
    expected = still - np.stack([shift[:, 1], shift[:, 0], -shift[:, 2]], axis=1)
    np.testing.assert_allclose(found.signals[names.POSITION].values, expected)
    assert found.notes == ("position: 3 resets, the largest of 10.00 m, taken out",)
    for calm in (
        resets(),
        resets(xy_reset_counter=[3] * 6, delta_xy_0=[1] * 6, delta_xy_1=[1] * 6),
    ):
        assert px4_resets.without_position_resets(log, calm) is log


def test_motors_of_px4_stand_where_its_geometry_says_in_flu() -> None:
    keys = {f"CA_ROTOR{i}_P{axis}": value for i, place in enumerate([(0.1, 0.2), (-0.1, 0.0), (0.3, -0.1)])
            for axis, value in zip("XY", place, strict=True)}  # fmt: skip
    assert px4_ulog._places(keys, 3) == ((1, -1), (-1, 0), (1, 1))
    assert px4_ulog._places(keys, 4) == px4_ulog._places({}, 4) == names.QUAD_X
    assert px4_ulog._places({}, 3) is None and px4_ulog._places({}, 0) is None


@pytest.mark.parametrize(
    ("leap", "back", "between", "is_flip"),
    [
        (100.0, -100.0, 59.0, True),
        (100.0, -100.0, 61.0, False),
        (100.0, -100.0, -61.0, False),
        (61.0, -100.0, 0.0, True),
        (59.0, -100.0, 0.0, False),
        (179.0, -100.0, 0.0, True),
        (181.0, -100.0, 0.0, False),
        (16.1, -16.1, 0.0, True),
        (15.9, -15.9, 0.0, False),
    ],
)
def test_a_flip_leaps_away_and_back_by_alike_sizes_and_is_calm_between(
    leap: float, back: float, between: float, is_flip: bool
) -> None:
    changes = np.zeros(24)
    changes[10], changes[12], changes[15] = leap, between, back
    values = np.concatenate([[0.0], np.cumsum(changes)])
    pairs = blackbox_columns._flips(values, np.array([0, 8, 16, 24]))
    assert pairs == ([(11, 16)] if is_flip else [])


def test_a_flip_is_beyond_ten_usual_changes() -> None:
    for usual, is_flip in ((2.9, True), (3.1, False)):
        changes = np.where(np.arange(24) % 2, usual, -usual)
        changes[10], changes[15] = 30.0, -30.0
        values = np.concatenate([[0.0], np.cumsum(changes)])
        assert bool(blackbox_columns._flips(values, np.array([0, 8, 16, 24]))) == is_flip


def head(version: int, *events: tuple[int, str, list[str]]) -> bytes:
    data = bytes([crazyflie.MAGIC]) + struct.pack("<HH", version, len(events))
    for number, name, variables in events:
        data += (
            struct.pack("<H", number) + name.encode() + b"\0" + struct.pack("<H", len(variables))
        )
        data += b"".join(each.encode() + b"\0" for each in variables)
    return data


@pytest.mark.parametrize(("version", "stamp"), [(1, "<u4"), (2, "<u8")])
def test_events_of_a_crazyflie_have_their_variables_in_their_types(
    version: int, stamp: str
) -> None:
    data = head(
        version,
        (7, "fixed", ["gyro.x(f)", "pm.vbat(H)"]),
        (300, "other", ["a(b)"]),
        (9, "bare", []),
    )
    events, at = crazyflie._events(data + b"rest")
    assert data[at:] == b"" and list(events) == [7, 300, 9]
    fixed = np.dtype([("event", "<u2"), ("t", stamp), ("gyro.x", "<f"), ("pm.vbat", "<H")])
    assert events[7] == ("fixed", fixed) and events[300].dtype.names == ("event", "t", "a")
    assert events[9].dtype.itemsize == 2 + np.dtype(stamp).itemsize
    assert crazyflie._known(events) == "gyro.x, pm.vbat, a" and crazyflie._known({}) == "none"
    many = crazyflie._events(head(1, (1, "x", [f"v{i}(f)" for i in range(9)])))[0]
    assert crazyflie._known(many) == "v0, v1, v2, v3, v4, v5, v6, v7"
    for variable in ("a(x)", "abc"):
        with pytest.raises(ValueError, match=variable.replace("(", r"\(").replace(")", r"\)")):
            crazyflie._events(head(version, (1, "x", [variable])))


def test_records_of_several_events_are_sorted_until_one_is_not_known() -> None:
    events, at = crazyflie._events(head(1, (7, "one", ["a(B)"]), (8, "two", ["b(h)"])))
    start = b"\0" * at
    rows = [
        struct.pack("<HIB", 7, 10, 1),
        struct.pack("<HIh", 8, 11, -2),
        struct.pack("<HIB", 7, 12, 3),
    ]
    crc = b"\0" * crazyflie.CRC
    found, is_sound = crazyflie._records(start + b"".join(rows) + crc, events, at)
    assert is_sound and found[0]["a"].tolist() == [1, 3] and found[1]["b"].tolist() == [-2]
    found, is_sound = crazyflie._records(
        start + rows[0] + struct.pack("<H", 99) + rows[2] + crc, events, at
    )
    assert not is_sound and found[0]["t"].tolist() == [10] and len(found[1]) == 0
    found, is_sound = crazyflie._records(start + rows[0] + rows[1][:-1] + crc, events, at)
    assert is_sound and len(found[0]) == 1 and len(found[1]) == 0
    one, at = crazyflie._events(head(1, (7, "one", ["a(B)"])))
    for last, sound in ((rows[2], True), (struct.pack("<HIB", 6, 12, 3), False)):
        found, is_sound = crazyflie._records(b"\0" * at + rows[0] + last + rows[0] + crc, one, at)
        assert is_sound == sound and len(found[0]) == (3 if sound else 1)


@pytest.mark.parametrize(
    ("more", "constants"),
    [
        ({}, [0, 0, 0, 0]),
        ({"minthrottle": "1070,9", "vbatref": "4095,8"}, [1070, 4095, 1070, 0]),
        ({"minthrottle": "1070", "motorOutput": "48,2047"}, [1070, 0, 48, 0]),
    ],
)
def test_a_blackbox_predicts_by_the_constants_of_its_header(more: dict, constants: list) -> None:
    keys: Any = {
        "Field I name": "loopIteration,time,gyroADC[0]", "Field I encoding": "1,1,0", "Field P encoding": "9,0,0",
        "Field I predictor": "0,0,0", "Field P predictor": "6,2,1", "Field I signed": "0,0,1", **more,
    }  # fmt: skip
    layout, fields = blackbox._layout(keys)
    assert fields == ["loopIteration", "time", "gyroADC[0]"]
    assert layout.constants.tolist() == constants
    motors = {**keys, "Field I name": "loopIteration,time,motor[0]"}
    assert blackbox._layout(motors)[0].constants.tolist() == [*constants[:3], 2]
