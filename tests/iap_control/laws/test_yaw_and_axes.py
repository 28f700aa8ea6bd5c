# SPDX-License-Identifier: BSD-3-Clause
"""The yaw command of rigid multirotors, and the axes of a pose that are tracked."""

import numpy as np
import pytest

from iap_control.laws.tracked_axes import TrackedAxes, turn_about_pivot
from iap_control.laws.yaw_command import YawMemory, yaw_command
from iap_description.math import so3
from iap_description.states import REF_ALPHA, REF_Q, REF_W, Level

DT, HEADING, MOUNT = 0.01, 0.8, 0.3


def row_of():
    """Rolled by 90 deg: a turn about its y axis is one about the vertical."""
    row = np.zeros(20)
    row[REF_Q] = so3.quaternion_exp(np.array([np.pi / 2, 0.0, 0.0]))
    row[REF_W], row[REF_ALPHA] = [0.7, 0.5, 9.0], [0.1, 2.0, 9.0]
    return row


@pytest.mark.parametrize(
    ("level", "follows", "expected"),
    [
        (Level.POSE, True, [0.5, 0.5, 0.5]),
        (Level.VELOCITY, False, [0.5, 0.5, 0.5]),  # headings of their own
        (Level.VELOCITY, True, [0.5, 0.5 + 0.5 * DT, 0.5 + 2 * 0.5 * DT]),
        # its own rates are sums of accelerations, from the first step on
        (Level.ACCELERATION, True, [0.5, 0.5 + 2 * 2.0 * DT * DT, 0.5 + (2 + 3) * 2.0 * DT * DT]),
    ],
)
def test_yaw_is_the_heading_less_that_of_the_mount_or_the_sum_of_turns(level, follows, expected):
    memory = YawMemory.empty()
    found = [yaw_command(row_of(), level, HEADING, MOUNT, follows, DT, memory) for _ in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert memory.is_known[0] == 1.0 and memory.yaw[0] == found[-1]
    assert memory.rate[0] == pytest.approx(6 * DT if level == Level.ACCELERATION else 0.5)


@pytest.mark.parametrize("held", [(1, 1, 1), (0, 1, 1), (0, 0, 0)])
def test_a_turn_about_the_tip_moves_the_origin_along_axes_that_are_not_held(held):
    pivot, alpha = np.array([0.5, 0.1, -0.2]), (0.3, -0.4, 0.6)
    a = np.array([1.0, 2.0, 3.0])
    turn_about_pivot(TrackedAxes(np.array([*held, 1, 1, 1.0]), pivot), alpha, a)
    expected = np.where(held, 0.0, np.cross(pivot, alpha))  # of a tip that stays: a = -alpha x r
    np.testing.assert_allclose(a, [1.0, 2.0, 3.0] + expected, atol=1e-12)
    every = TrackedAxes.all()
    assert every.axes.tolist() == [1.0] * 6 and not every.pivot_P.any()
