# SPDX-License-Identifier: BSD-3-Clause
"""The expert that knows the field: it arrives everywhere, by least times that are those of closed forms."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import P, Q, V
from iap_description.world.distances import Surroundings
from iap_learning.datasets.rollouts import collect
from iap_learning.evaluation.batched import fly_each
from iap_learning.evaluation.flyers import baseline
from iap_learning.tasks.agents import EXPERTS
from iap_learning.tasks.kinds.navigate.field import _guide, least_times
from iap_learning.tasks.kinds.registry import agent_of, make_episodes
from iap_simulation.scenario.randomization import placed_world

BLIND = {"depth": None}  # the expert needs no image


@pytest.mark.slow
def test_nearly_every_field_can_be_passed():
    episodes = make_episodes("navigate", 100, settings=BLIND)
    assert fly_each(episodes, baseline("field"), range(1000, 1100)).success.mean() >= 0.98


def test_distances_of_many_points_of_a_world_are_those_of_each():
    worlds = make_episodes("navigate", 1, settings=BLIND).worlds
    around = Surroundings([placed_world(worlds.world(0))])
    points = np.random.default_rng(0).uniform([0.0, -3.5, 0.5], [14.0, 3.5, 2.5], (50, 3))
    alone = [around.distances(point[None])[0] for point in points]
    assert around.distances_of(0, points).tolist() == alone


def test_an_expert_flies_the_same_in_any_company():
    """Fields, noise and so actions are those of the seed."""
    flown = {}
    for seeds in ([5], [4, 5, 6]):
        episodes = make_episodes("navigate", len(seeds), settings={**BLIND, "seconds": 2.0})
        rollouts = collect(episodes, agent_of("noisy_field", episodes), seeds)
        flown[len(seeds)] = next(each for each in rollouts if each.seed == 5)
    np.testing.assert_array_equal(flown[1].actions, flown[3].actions)
    np.testing.assert_array_equal(flown[1].observations, flown[3].observations)


def test_the_expert_flies_on_and_keeps_away_from_obstacles_where_there_is_room():
    """No origin comes closer than the clearance at which an episode ends, and most of the way is open."""
    episodes = make_episodes("navigate", 8, settings=BLIND)
    expert, start = agent_of("field", episodes), episodes.worlds.state[:, 0, 0].copy()
    around = Surroundings([placed_world(episodes.worlds.world(b)) for b in range(8)])
    found = []
    for _ in range(80):
        episodes.step(expert())
        found.append(around.distances(episodes.worlds.state[:, 0, P]))
    assert (episodes.worlds.state[:, 0, 0] - start).min() > 1.0
    assert np.min(found) > episodes.task.clearance
    assert np.mean(found) > 0.7


@pytest.mark.parametrize("name", ["field", "potential_field"])
def test_experts_of_velocities_fly_no_other_actions(name):
    with pytest.raises(BadInput, match=f"expert '{name}' flies by velocities, not task 'hold'"):
        agent_of(name, make_episodes("hold", 1))


def test_a_potential_field_needs_an_image():
    with pytest.raises(BadInput, match="'potential_field' needs a depth image"):
        agent_of("potential_field", make_episodes("navigate", 1, settings=BLIND))


@pytest.mark.parametrize("guide", ["intuition", "[1, 2]", "{a: 1}", "null", "3"])
def test_an_agent_of_an_unknown_guide_is_refused(tmp_path, guide):
    path = tmp_path / "own.yaml"
    path.write_text(f"guide: {guide}\n")
    with pytest.raises(
        BadInput, match="own.yaml: key 'guide': choose field, potential_field, dynamic_window"
    ):
        agent_of(str(path), make_episodes("navigate", 1, settings=BLIND))


def nodes(shape, spacing):
    axes = [spacing * np.arange(count) for count in shape]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1)


def test_in_an_even_medium_time_is_distance_over_speed():
    """First order: the error falls with the spacing, and times are never too short."""
    worst = []
    for count in (11, 41):
        spacing = 2.0 / (count - 1)
        shape, goal = (count, count, count), (count // 2,) * 3
        times = least_times(np.full(shape, 2.0), spacing, goal)
        away = np.linalg.norm(nodes(shape, spacing) - 1.0, axis=-1) / 2.0
        assert (times - away).min() > -1e-9
        worst.append((times - away).max() / away.max())
    assert worst[0] < 0.2
    assert worst[1] < 0.07
    assert worst[1] < 0.5 * worst[0]


def test_times_through_layers_add_up():
    """Across layers of two speeds the time is the sum of those in each."""
    speeds = np.ones((21, 1, 1))
    speeds[11:] = 0.5
    times = least_times(speeds, 0.1, (0, 0, 0))
    np.testing.assert_allclose(times[:11, 0, 0], 0.1 * np.arange(11), atol=1e-12)
    np.testing.assert_allclose(times[20, 0, 0], 1.0 + 10 * 0.2, atol=1e-12)


def test_the_quickest_way_leads_around_a_wall():
    """Behind a wall with one end open the time is that of the bent line around its end."""
    speeds = np.ones((81, 81, 1))
    speeds[40, :61] = 1e-3
    times = least_times(speeds, 0.05, (0, 20, 0))
    bent = 2.0 * np.hypot(2.0, 2.0)  # from (4, 1) around (2, 3) to (0, 1)
    assert bent < times[80, 20, 0] < 1.05 * bent


def test_where_nothing_is_in_its_way_the_expert_flies_straight_to_the_goal_at_cruise():
    episodes = make_episodes("navigate", 3, settings=BLIND, scenario={"world.objects": {}})
    expert, cruise = agent_of("field", episodes), EXPERTS.tree("field")["field"]["cruise"]
    for _ in range(60):
        episodes.step(expert())
    x = episodes.worlds.state[:, 0]
    to_goal = episodes.goal - x[:, P]
    assert (np.linalg.norm(to_goal, axis=1) > 2.0).all()
    v = x[:, 7:10]
    speed = np.linalg.norm(v, axis=1)
    np.testing.assert_allclose(speed, cruise, rtol=0.1)
    towards = np.einsum("bi,bi->b", v, to_goal) / speed / np.linalg.norm(to_goal, axis=1)
    assert np.rad2deg(np.arccos(towards)).max() < 10.0


def test_a_command_goes_down_the_field_where_it_will_act_and_back_into_the_grid_from_outside():
    """The time to the goal falls by 2 s/m along y alone, so that the way is +y at the speed of the place."""
    spacing, ahead, back, turn = 0.5, 0.3, 0.8, 1.5
    low = np.array([-1.0, -2.0, 0.5])
    y = low[1] + spacing * np.arange(9)
    times = np.broadcast_to(-2.0 * y[None, :, None], (5, 9, 5))[None].copy()
    speeds = np.broadcast_to(1.0 + 0.25 * y[None, :, None], (5, 9, 5))[None].copy()
    x, out = np.zeros((1, 1, 13)), np.zeros((1, 4))
    for p, v in (([0.0, 0.4, 1.2], [0.5, -1.0, 0.2]), ([0.6, 3.0, 1.2], [1.5, 1.0, -4.0])):
        x[0, 0, P], x[0, 0, V], x[0, 0, Q] = p, v, (0.0, 0.0, np.sin(0.2), np.cos(0.2))
        _guide(x, times, speeds, low, (spacing, ahead, back, turn), out)
        acts = np.array(p) + ahead * np.array(v)
        inside = np.clip(acts, low, low + spacing * np.array([4, 8, 4]))
        way = np.array([0.0, 1.0 + 0.25 * inside[1], 0.0]) + back * (inside - acts)
        np.testing.assert_allclose(out[0], [*way, -turn * 0.4], atol=1e-9)
