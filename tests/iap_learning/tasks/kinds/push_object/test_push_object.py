# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a loose object: what is counted, where goals are, what is seen, and who flies."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import V
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.push_object.counts import (
    ShoveCounts,
    ShoveRules,
    count,
    measures,
)
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.scenario.randomization import drawn_world, friction_factor
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    LOST,
    NEVER_TOUCHED,
    OVERSHOT,
    SLIPPED_OFF,
    TIME_IS_UP,
    TOO_FORCEFUL,
    TOPPLED,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005
WAY = np.r_[np.full(100, 0.5), np.linspace(0.5, 0.0, 200), np.zeros(100)]  # left to the goal [m]


def outcome_of(left=WAY, forces=5.0, status=RUNNING, **others):
    """Outcome and results of a push by what is left and other measures, as if an episode were as long."""
    rules = ShoveRules.of(make_task("push_object"), DT)._replace(last=len(left), window=80)
    counts, names = ShoveCounts.of(1), ("across", "heading", "speed", "tilt", "drop")
    columns = [left, *(others.get(name, 0.0) for name in names), forces]
    for *row, force in zip(*np.broadcast_arrays(*columns), strict=True):
        count(np.array([force]), np.array([row]), np.array([status]), rules, counts)
    return int(counts.contact.outcome[0]), measures(counts, DT)


def test_a_push_succeeds_where_the_object_rests_at_its_goal_and_the_time_to_it_is_measured():
    outcome, results = outcome_of()
    assert outcome == ARRIVED
    assert results["goal_time"][0] == pytest.approx(DT * (100 + 200 * 0.9), abs=2 * DT)
    assert results["force_peak"][0] == 5.0 and results["goal_distance"][0] < 0.05


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"left": np.full(400, 0.5), "forces": 0.0}, NEVER_TOUCHED),
        ({"left": np.maximum(WAY, 0.1)}, TIME_IS_UP),
        ({"speed": 0.03}, TIME_IS_UP),
        ({"heading": np.deg2rad(11.0)}, TIME_IS_UP),
        ({"across": 0.06, "forces": np.r_[np.full(300, 5.0), np.zeros(100)]}, SLIPPED_OFF),
        ({"left": WAY - 0.06}, OVERSHOT),
        ({"tilt": np.deg2rad(31.0)}, TOPPLED),
        ({"drop": np.r_[np.zeros(50), np.full(350, 0.06)]}, LOST),
        ({"forces": np.r_[np.zeros(50), 30.1, np.zeros(349)]}, TOO_FORCEFUL),
        ({"status": DIVERGED}, DIVERGED),
    ],
)
def test_failures_have_names(changes, outcome):
    assert outcome_of(**changes)[0] == outcome


@needs_mujoco
def test_goals_are_where_seeds_draw_them_and_boxes_lie_at_rest_at_the_start():
    episodes = make_episodes("push_object", 6)
    episodes.reset(seeds=range(6))
    goals, true = episodes.goals, episodes.true_inputs
    assert (np.abs(goals.ways - [0.5, 0.0]) <= [0.2, 0.04]).all()
    assert np.ptp(goals.ways[:, 0]) > 0.1
    np.testing.assert_allclose(true.left, goals.ways, atol=1e-9)
    np.testing.assert_allclose(true.heading, 0.0, atol=1e-9)
    np.testing.assert_array_equal(episodes.inputs.left, true.left)


@needs_mujoco
def test_the_object_is_seen_ten_times_a_second_with_noise():
    episodes = make_episodes("push_object", 1)
    episodes.reset(seeds=[1])
    seen = []
    for _ in range(40):
        episodes.step(np.zeros((1, 2)))
        seen.append(episodes.inputs.left[0])
    steps = np.flatnonzero(np.any(np.diff(seen, axis=0), axis=1))
    np.testing.assert_array_equal(np.diff(steps), 5)  # steps of 20 ms
    assert 0.002 < np.std(np.array(seen)[steps], axis=0).mean() < 0.03


@pytest.mark.slow
@needs_mujoco
def test_a_box_that_slides_resists_with_its_weight_times_the_friction():
    episodes = make_episodes("push_object", 3)
    observation, agent = episodes.reset(seeds=[0, 1, 6]), agent_of("shove_oracle", episodes)
    forces = []
    for _ in step_until_over(episodes, observation, lambda _: agent()):
        objects = episodes.worlds.object_states[:, episodes.goals.number]
        slides = (np.linalg.norm(objects[:, V], axis=1) > 0.03) & (episodes.outcome == RUNNING)
        forces.append(np.where(slides, np.linalg.norm(episodes.true_inputs.force, axis=1), np.nan))
    assert (episodes.outcome == ARRIVED).all()
    expected = []
    for world in range(3):
        scenario = episodes.worlds.world(world)
        mass = drawn_world(scenario).objects["box"].mass
        expected.append(0.5 * friction_factor(scenario) * mass * 9.81)
    # the rod also lifts and presses by its own friction, and the box turns
    np.testing.assert_allclose(np.nanmedian(forces, axis=0), expected, rtol=0.25)


@pytest.mark.slow
@needs_mujoco
def test_the_agent_brings_boxes_to_their_goals():
    episodes = make_episodes("push_object", 2)
    observation, agent = episodes.reset(seeds=[0, 3]), agent_of("shove", episodes)
    for _ in step_until_over(episodes, observation, lambda _: agent()):
        pass
    assert (episodes.outcome == ARRIVED).all()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"pushed": "table"}, "key 'pushed': no loose object 'table' \\(such: box\\)"),
        ({"scenario": "hover", "settings": {}}, "needs one vehicle with a tool"),
    ],
)
@needs_mujoco
def test_a_task_without_a_loose_object_or_a_rod_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("push_object", 2, settings=settings)
    assert "\n" not in str(refusal.value)
