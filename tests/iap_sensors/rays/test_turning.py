# SPDX-License-Identifier: BSD-3-Clause
"""Bodies that a sensor's cone can meet, and rays that come near a point."""

import numpy as np
import pytest

from iap_sensors.rays.turning import bodies_near

AXIS = np.array([1.0, 0.0, 0.0])
TIP = np.array([1.0, 2.0, 3.0])
HALF, REACH, RADIUS = np.deg2rad(20.0), 5.0, 0.5


def near(distance, off, half=HALF):
    """True if a sphere so far away, so much off the axis [deg], is met."""
    rows = np.zeros((3, 13))
    rows[0, :3] = TIP + [-30.0, 0.0, 0.0]  # behind
    angle = np.deg2rad(off)
    rows[1, :3] = TIP + distance * np.array(
        [np.cos(angle), 0.6 * np.sin(angle), 0.8 * np.sin(angle)]
    )
    rows[2, :3] = TIP + [0.0, 40.0, 0.0]
    found = bodies_near(TIP, AXIS, half, REACH, rows, np.full(3, RADIUS)).tolist()
    assert set(found) <= {1}
    return found == [1]


def test_a_sphere_is_met_up_to_the_cones_length_and_its_own_radius():
    assert near(REACH + RADIUS - 0.01, 0.0)
    assert not near(REACH + RADIUS + 0.01, 0.0)


@pytest.mark.parametrize("distance", [0.6, 2.0, 5.0])
def test_a_sphere_beside_the_cone_is_met_by_its_rim(distance):
    rim = np.rad2deg(HALF + np.arcsin(RADIUS / distance))
    assert near(distance, rim - 0.1)
    assert not near(distance, rim + 0.1)


def test_a_sphere_around_the_tip_is_met_wherever_the_cone_looks():
    for off in (0.0, 90.0, 180.0):
        assert near(0.4, off)
        assert near(4.0, off) == (off == 0.0)


def test_a_cone_that_is_a_whole_sphere_meets_what_is_behind():
    assert near(3.0, 179.0, half=np.pi)
