# SPDX-License-Identifier: BSD-3-Clause
"""The potential field: forces are slopes of potentials, and it flies by what it sees alone."""

import numpy as np
import pytest

from iap_learning.tasks.agents import read_settings
from iap_learning.tasks.kinds.navigate.potential_field import (
    TOUCHING,
    PotentialField,
    PotentialFieldSettings,
    push_of,
)
from iap_learning.tasks.kinds.registry import make_episodes

SETTINGS = read_settings(PotentialFieldSettings, "potential_field").potential


def navigate(worlds, **scenario):
    return make_episodes("navigate", worlds, scenario={"draw.attitude_deg": 0.0, **scenario})


def wall(x, y, size):
    """One wall with its middle at (x, y)."""
    place = {"seed": 0, "count": 1, "area": [[x, y], [x, y]], "free": [], "yaw_deg": [0.0, 0.0]}
    return {"world.objects": {"wall": {"preset": "walls", **place, "size": [size, size]}}}


@pytest.mark.parametrize("rho", [0.1, 0.5, 1.0, 1.9])
def test_repulsion_is_the_slope_of_khatib_s_potential(rho):
    """F = -dU/d(rho) of U = (1/rho - 1/rho_0)^2 / 2, and none from rho_0 on."""
    reach, step = 2.0, 1e-5

    def potential(rho):
        return 0.5 * (1.0 / rho - 1.0 / reach) ** 2

    slope = (potential(rho + step) - potential(rho - step)) / (2.0 * step)
    np.testing.assert_allclose(push_of(rho, reach), -slope, rtol=1e-6)
    assert push_of(reach, reach) == push_of(reach + 1.0, reach) == 0.0
    assert push_of(0.0, reach) == push_of(TOUCHING, reach)


def test_where_nothing_is_near_it_flies_to_the_goal_at_cruise_speed():
    episodes = navigate(3, **{"world.objects": {}})
    velocity = PotentialField(SETTINGS, episodes)(episodes.observe())[:, :3]
    way = episodes.goal - episodes.worlds.state[:, 0, :3]
    way *= SETTINGS.cruise / np.linalg.norm(way, axis=1, keepdims=True)
    np.testing.assert_allclose(velocity, way, atol=1e-4)


def test_what_is_ahead_holds_it_back_and_what_is_beside_pushes_it_aside():
    free = navigate(1, **{"world.objects": {}, "draw.position": 0.0})
    ahead = navigate(1, **wall(1.5, 0.0, [0.2, 1.0, 4.0]), **{"draw.position": 0.0})
    left = navigate(1, **wall(1.5, 0.8, [0.2, 1.0, 4.0]), **{"draw.position": 0.0})
    flown = [PotentialField(SETTINGS, each)(each.observe())[0] for each in (free, ahead, left)]
    assert flown[1][0] < 0.95 * flown[0][0]
    assert abs(flown[1][1]) < 0.3 * (flown[0][0] - flown[1][0])  # it is blind to the side
    assert flown[2][1] < flown[0][1] - 0.02
