# SPDX-License-Identifier: BSD-3-Clause
"""Commanded velocities of joints: within their speed, and never further than the stop within a period."""

import numpy as np
import pytest

from iap_description.vehicles.arm import load_arm
from iap_description.vehicles.joint_limits import BASE, JointLimits

ARM = load_arm("m100")
LOW, HIGH = ARM.limits
PERIOD = 0.1


def kept(q: np.ndarray, velocities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the joints that are left, and how often each was cut."""
    limits = JointLimits(ARM, PERIOD)
    out = limits(np.concatenate([np.full(BASE, 9.0), velocities]), q)
    np.testing.assert_array_equal(out[:BASE], 9.0)  # the platform's stay
    return out[BASE:], limits.clipped


def test_in_the_middle_only_the_speed_counts() -> None:
    middle = 0.5 * (LOW + HIGH)
    for sign in (-1.0, 1.0):
        out, clipped = kept(middle, sign * 0.5 * ARM.speeds)
        np.testing.assert_allclose(out, sign * 0.5 * ARM.speeds)
        assert not clipped.any()
        out, clipped = kept(middle, sign * 2.0 * ARM.speeds)
        np.testing.assert_allclose(out, sign * ARM.speeds)
        assert clipped.tolist() == [1] * len(middle)


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_a_stop_is_reached_at_a_periods_end_and_not_passed(end: float) -> None:
    stop = LOW if end < 0.0 else HIGH
    way = 0.2 * PERIOD * ARM.speeds
    out, _ = kept(stop - end * way, end * ARM.speeds)
    np.testing.assert_allclose(PERIOD * out, end * way, atol=1e-12)


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_beyond_a_stop_a_joint_stays_where_it_is_or_comes_back_as_its_key_says(end: float) -> None:
    beyond = (LOW if end < 0.0 else HIGH) + 0.3 * end
    for told, left in ((end, 0.0), (0.0, 0.0), (-0.1 * end, -0.1 * end)):
        out, clipped = kept(beyond, told * ARM.speeds)
        np.testing.assert_allclose(out, left * ARM.speeds, atol=1e-12)
        assert clipped.all() == (told == end)
