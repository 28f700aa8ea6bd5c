# SPDX-License-Identifier: BSD-3-Clause
"""Places from which tasks are seen, and where cameras look."""

import numpy as np
import pytest

from iap_learning.tasks.kinds.registry import make_episodes
from iap_simulation.docking.pair_laws import docking_limits


def test_a_docking_is_seen_where_the_pair_docks():
    episodes = make_episodes("docking", 1)
    places = docking_limits(episodes.worlds.scenario).docked_W
    view = episodes.viewpoint
    np.testing.assert_allclose(view.goal, 0.5 * (places[0] + places[1]), atol=1e-6)
    np.testing.assert_array_equal(view.start, view.goal)


@pytest.mark.parametrize("name", ["hold", "navigate"])
def test_a_platform_is_seen_from_its_start_to_its_goal(name):
    episodes = make_episodes(name, 1)
    view, goal = episodes.viewpoint, episodes.worlds.timeline.goal
    np.testing.assert_allclose(view.goal[:3], goal[:3])
    np.testing.assert_allclose(view.start, episodes.worlds.timeline.row(0)[:3])
    assert (np.linalg.norm(view.goal[:3] - view.start) > 10.0) == (name == "navigate")


def test_an_arm_without_bodies_is_not_seen():
    assert make_episodes("arm_reach", 1).viewpoint is None
