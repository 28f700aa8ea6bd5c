# SPDX-License-Identifier: BSD-3-Clause
"""A flight that was recorded in another frame than its command is said to be so, before errors are scored."""

import re

import numpy as np
import pytest
from flight_bags import motion
from numpy.typing import NDArray

from iap_description.math import so3
from iap_io.trajectories.axes import CONVENTIONS
from iap_io.trajectories.frame_comparison import frame_doubts
from iap_io.trajectories.recorded import RecordedTrajectory

Array = NDArray[np.float64]
T = np.arange(0.0, 6.0, 0.02)
LATE = 0.03  # of the aircraft behind its command [s]
M = motion(T - LATE)
NED = CONVENTIONS["ned"]
YAW = so3.exp(np.array([0.0, 0.0, 0.5]))


def recorded(t: Array, p: Array, q: Array) -> RecordedTrajectory:
    """A recording of these poses."""
    return RecordedTrajectory(t, p, q, "flight", "header", 0)


def doubts(p: Array, q: Array, offset: float = 0.0) -> tuple[str, ...]:
    """What is said of a flight beside its command."""
    m = motion(T)
    return frame_doubts(recorded(T, m.p, m.q), recorded(T, p, q), offset)


def test_a_flight_in_the_frame_of_its_command_is_not_doubted() -> None:
    assert doubts(M.p, M.q) == ()
    assert doubts(M.p + [0.0, 0.0, 0.25], M.q) == ()  # it hangs


@pytest.mark.parametrize(
    ("p", "q", "text"),
    [
        (M.p @ NED.positions, M.q, "if its positions are in ned"),
        (1000.0 * M.p, M.q, "if its unit is 0.001 m"),
        (100.0 * M.p, M.q, "if its unit is 0.01 m"),
        (M.p + [2.0, 1.0, 0.0], M.q, r"shifted by \(-\d.\d\d, -\d.\d\d, .*\) m"),
        (M.p @ YAW.T + [3.0, 0.0, 0.0], M.q, "turn of -2[789] deg about the vertical and a shift"),
        (M.p, M.q[:, [3, 0, 1, 2]], "near it with --quaternion wxyz"),
        (M.p, so3.conjugate(M.q), "near it with --quaternion inverse"),
        (M.p, so3.multiply(M.q, [0.0, 0.0, 0.6, 0.8]), "7[0-9] deg off .* about its z axis"),
    ],
)
def test_the_frame_in_which_it_is_near_is_named(p: Array, q: Array, text: str) -> None:
    (line,) = doubts(p, q)
    assert re.search(text, line) and line.endswith("are both in one frame?")


def test_a_flight_that_is_far_off_in_any_frame_is_only_far_off() -> None:
    other = motion(2.3 * T + 1.0)
    assert not any("if " in line for line in doubts(other.p + [0.3, 0.0, 0.0], M.q))


def test_a_flight_that_hardly_overlaps_says_nothing() -> None:
    assert doubts(1000.0 * M.p, M.q, offset=5.5) == ()
