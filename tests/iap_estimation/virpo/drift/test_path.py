# SPDX-License-Identifier: BSD-3-Clause
"""Odometries as heard: in any order, and between their stamps."""

import numpy as np
import pytest
from drifting import WALKS, Drift
from synthetic import Flight

from iap_description.math import so3
from iap_estimation.virpo.drift.path import OdometryPath


@pytest.fixture(scope="module")
def flight():
    return Flight.of(2.0, points=1)


def test_odometry_out_of_order_is_put_in_order(flight):
    told = WALKS[0].odometry(flight, 0)[:6]
    path = OdometryPath(0.5)
    for k in (0, 2, 1, 4, 3, 5, 3):
        path.add(told[k])
    assert path.newest == told[5].t
    assert path.refused == 1
    t = 0.5 * (told[2].t + told[3].t)
    assert np.linalg.norm(path.at(t)[1:4] - 0.5 * (told[2].p_WB_W + told[3].p_WB_W)) < 0.1


def test_between_odometries_the_path_is_that_of_the_aircraft(flight):
    path = OdometryPath(0.5)
    for told in Drift().odometry(flight, 0)[:11]:
        path.add(told)
    times = np.array([0.033, 0.25, 0.58, 0.999])
    tip = np.array([0.1, 0.0, 0.2])
    true = flight.motion(0).at(times)
    expected = true.p_WB_W + so3.rotate(true.q_WB, tip)
    assert np.abs(path.points(times, tip, np.zeros(3)) - expected).max() < 5e-4
    assert path.at(1.2) is None
    assert path.at(-0.2) is None
