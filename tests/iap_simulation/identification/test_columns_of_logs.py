# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a log by the names and units of their header, and channels that cannot be measurements."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification import log, log_columns


@pytest.mark.parametrize(
    ("text", "owner", "name", "unit"),
    [
        ("u_l", "", "u_l", ""), ("droneA.u_l [km/h]", "droneA", "u_l", "km/h"),
        ("/uav1/u_l_cm_s", "uav1", "u_l", "cm/s"), ("u_l_ref(m/s)", "", "u_l_ref", "m/s"),
        ("time_ms", "", "time", "ms"), ("q2 [-]", "", "q2", ""), ("w [1]", "", "w", ""),
        ("a_w_deg_s", "a", "w", "deg/s"), ("q1_p", "", "q1_p", ""),
    ],
)  # fmt: skip
def test_a_column_has_an_owner_a_name_and_a_unit(
    text: str, owner: str, name: str, unit: str
) -> None:
    assert log_columns._column(4, text) == (owner, name, unit, 4)


@pytest.mark.parametrize("text", ["speed", "u_l_mean", "u_l_cm_s [m/s]", "au_l", ""])
def test_columns_of_other_names_are_not_read(text: str) -> None:
    assert log_columns._column(0, text) is None


def test_the_owner_is_the_one_vehicle_that_has_a_forward_velocity() -> None:
    def owner(*texts: str) -> str:
        columns = [log_columns._column(i, text) for i, text in enumerate(texts)]
        return log_columns._owner("a.csv", [each for each in columns if each is not None])

    assert owner("A.u_l", "A.u_m", "B.u_m") == "A"
    assert owner("A.u_l", "u_l", "B.u_l") == owner("A.u_m", "t") == ""
    with pytest.raises(BadInput, match=r"^a\.csv: columns of A and B: leave one vehicle's"):
        owner("A.u_l", "B.u_l", "A.u_l")


@pytest.mark.parametrize(
    ("text", "plain"),
    [("m s^-1", "m/s"), ("m*s**-1", "m/s"), ("m/sec", "m/s"), ("KM per h", "km/h"), ("m\u00b7s\u22121", "m/s"),
     ("\u00b0/s", "deg/s"), ("degrees per second", "deg/s"), ("degree", "deg"), ("cm s^{-1}", "cm/s"),
     ("km h-1", "km/h"), ("rad / seconds", "rad/s")],
)  # fmt: skip
def test_units_are_written_in_many_ways(text: str, plain: str) -> None:
    assert log_columns._plain_unit(text) == plain


@pytest.mark.parametrize(
    ("name", "unit", "size"),
    [("t", "", 1.0), ("t", "ms", 1e-3), ("t", "min", 60.0), ("q1", "", 0.1), ("q3", "mrad", 1e-3),
     ("u_n_ref", "", 0.2), ("u_m", "ft/s", 0.3048), ("w", "", 0.1), ("w_ref", "rpm", np.pi / 30.0),
     ("q2_p", "", 0.1), ("q2_p_ref", "rev/s", 2.0 * np.pi), ("u_l", "kn", 1852.0 / 3600.0)],
)  # fmt: skip
def test_a_number_of_a_column_is_so_many_si_units(name: str, unit: str, size: float) -> None:
    units = log.LogUnits(speed=0.2, angle=0.1)
    assert log_columns._size("a.csv", name, name, unit, units) == pytest.approx(size)


def test_columns_are_read_with_their_notes() -> None:
    header = ["time", "t_ms", "A.u_l [km/h]", "A.w", "B.u_m", "A.u_m [km/h]"]
    table = np.array([[1.0, 2.0, 3.6, 4.0, 5.0, 7.2], [2.0, 3.0, 7.2, 8.0, 9.0, 0.0]])
    read = log_columns.columns_of("a.csv", header, table, log.LogUnits(angle=0.5))
    assert sorted(read.signals) == ["t", "u_l", "u_m", "w"]
    np.testing.assert_allclose(read.signals["t"], [2e-3, 3e-3])
    np.testing.assert_allclose(read.signals["u_l"], [1.0, 2.0])
    np.testing.assert_allclose(read.signals["w"], [2.0, 4.0])
    assert read.in_units
    assert read.notes == ("u_l, u_m taken as km/h, as the header has it",
                          "t taken as ms, as the header has it", "columns of A are read")  # fmt: skip
    plain = log_columns.columns_of("a.csv", ["t", "u_l", "w [deg/s]"], table[:, :3])
    assert not plain.in_units and plain.signals["w"][0] == pytest.approx(np.radians(3.6))
    with pytest.raises(BadInput, match=r"columns 'u_l' and 'u_l_cm_s' are both u_l; one is exp"):
        log_columns.columns_of("a.csv", ["t", "u_l", "u_l_cm_s"], table[:, :3])


# a log


def test_a_channel_that_is_constant_or_its_command_is_refused() -> None:
    u = np.sin(np.arange(200.0))

    def check(x: np.ndarray, command: np.ndarray = u) -> None:
        v, given = np.zeros((200, 7)), np.zeros((200, 7))
        v[:, 3], given[:, 3] = x, command
        flown: Any = SimpleNamespace(command=given, v=v, source="a.csv")
        log._check_alive(flown, CHANNELS.index("w"))

    check(0.0 * u, 0.0 * u)
    check(np.where(np.arange(200) < 2, 5.0, u))  # 99 % are its command
    with pytest.raises(BadInput, match=r"^a\.csv: channel w is w_ref in every sample"):
        check(np.where(np.arange(200) < 1, 5.0, u))
    with pytest.raises(
        BadInput, match=r"w is 0\.25 in every sample, while w_ref goes from -1 to 1"
    ):
        check(np.full(200, 0.25))


def test_spikes_are_told_by_number_size_and_time() -> None:
    x = np.zeros(50)
    x[[10, 30]] = 2.0, -3.25
    flown: Any = SimpleNamespace(t=0.1 * np.arange(50))
    words = "2 samples off the others by up to 3.25 (spikes, the first at t = 1 s)"
    assert log._spikes_in_words(flown, x != 0.0, x) == words
    assert log._spikes_in_words(flown, x > 0.0, x).startswith(
        "1 sample off the others by up to 2 "
    )
