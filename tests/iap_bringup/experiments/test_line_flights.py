# SPDX-License-Identifier: BSD-3-Clause
"""Platforms on a line fly a figure-eight too, and none of their aircraft looks at another."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import P, Q
from iap_simulation.runs.flight_log import watch
from iap_simulation.scenario.resolving import Options

pytestmark = pytest.mark.slow

HALF_VIEW = 45.0  # [deg] of the cameras
SPAN = 0.4  # of an aircraft from its middle [m]


@pytest.mark.parametrize(
    "name", ["three_line_figure_eight", "two_line_figure_eight"], ids=["three", "two"]
)
def test_a_line_flies_a_figure_eight_and_its_aircraft_look_apart(name):
    flown = watch(name, Options(duration=20.0))
    rows = flown.x[::20]
    assert np.ptp(rows[:, 0, P], axis=0).min() > 2.0
    for one in range(1, rows.shape[1]):
        for other in set(range(1, rows.shape[1])) - {one}:
            apart = rows[:, other, P] - rows[:, one, P]
            away = np.linalg.norm(apart, axis=1)
            ahead = so3.rotate(rows[:, one, Q], np.tile([1.0, 0.0, 0.0], (len(rows), 1)))
            angle = np.arccos(np.clip((apart * ahead).sum(axis=1) / away, -1.0, 1.0))
            assert np.rad2deg((angle - np.arcsin(SPAN / away)).min()) > HALF_VIEW
