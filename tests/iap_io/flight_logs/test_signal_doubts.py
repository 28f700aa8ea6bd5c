# SPDX-License-Identifier: BSD-3-Clause
"""Signals of a log of another unit or sense, or lost in flight, are noted by those that deny them."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_io.flight_logs.flight_times import InTheAir
from iap_io.flight_logs.signal_doubts import signal_doubts

T = np.arange(0.0, 12.0, 0.02)
WAYS = np.outer(T, [0.7, 0.9, 1.1])
P, V = [2.0, 1.5, 0.8] * np.sin(WAYS), [1.4, 1.35, 0.88] * np.cos(WAYS)
TURNS = [0.3, 0.25, 0.4] * np.sin(WAYS)
Q = so3.quaternion_exp(TURNS)
W = so3.log(so3.matrix_from_quaternion(so3.multiply(so3.conjugate(Q[:-1]), Q[1:]))) / 0.02
W = np.vstack([W, W[-1]])
F = np.broadcast_to([0.1, 0.2, 9.7], P.shape)


def notes(**changed: np.ndarray) -> list[str]:
    values = {"position": P, "velocity": V, "attitude": Q, "rates": W, "force": F} | changed
    keys = {
        "position": names.POSITION, "velocity": names.VELOCITY, "attitude": names.ATTITUDE,
        "rates": names.RATES, "force": names.SPECIFIC_FORCE,
    }  # fmt: skip
    signals = {keys[n]: Signal(T, np.array(x), n, UNITS[keys[n]]) for n, x in values.items()}
    return list(
        signal_doubts(FlightLog(Path("a.ulg"), "ULog", "PX4", signals), InTheAir(0.0, 12.0))
    )


def lost(x: np.ndarray, columns: slice = slice(None)) -> np.ndarray:
    """The signal without a change from 6 s on."""
    x = x.copy()
    x[300:, columns] = x[300, columns]
    return x


def test_of_a_sound_log_nothing_is_noted() -> None:
    assert notes() == []


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"force": F / 9.80665}, "0.989 m/s^2 in the median, where gravity is 9.81: is it in g"),
        ({"force": 100.0 * F}, "of another unit"),
        ({"rates": np.degrees(W)}, "times what attitude says: are they in deg/s?"),
        ({"rates": W * [1.0, -1.0, 1.0]}, "(y) times what attitude says: are they of another"),
        ({"velocity": 100.0 * V}, "100 (x), 100 (y), 100 (z) times what position says"),
        (
            {"position": lost(P, slice(1, 2))},
            "position does not change about or along y from 6.0 to 12.0 s, while its velocity",
        ),
    ],
)
def test_a_signal_that_others_deny_is_noted(changed: dict[str, np.ndarray], text: str) -> None:
    (note,) = notes(**changed)
    assert text in note


def test_a_lost_attitude_is_noted_by_the_rates() -> None:
    found = notes(attitude=lost(Q))
    assert len(found) == 3 and all("from 6.0 to 12.0 s, while its" in each for each in found)
