# SPDX-License-Identifier: BSD-3-Clause
"""Picks: what is counted, where objects and goals are, what is observed, and who flies."""

from types import SimpleNamespace

import numpy as np
import pytest
from linear_policies import gripping_policy

from iap_description.errors import BadInput
from iap_learning.evaluation.engines import fly_in_engine
from iap_learning.evaluation.flyers import baseline
from iap_learning.policies.policy import Policy
from iap_learning.tasks.agents import read_settings
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.arm_pick.agents import PickAgent, PickSettings
from iap_learning.tasks.kinds.arm_pick.counts import PickCounts, PickRules, count, measures
from iap_learning.tasks.kinds.registry import agent_of, kind_of, make_episodes, make_task
from iap_physics.arm.gripper import Gripper
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.scenario.randomization import drawn_world
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    DRAGGED,
    DROPPED,
    LOST,
    MISPLACED,
    MISSED,
    OUTCOMES,
    TIME_IS_UP,
    TOO_FORCEFUL,
    TOPPLED,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005
HELD = np.r_[np.zeros(100), np.ones(200), np.zeros(100)].astype(bool)
WAY = np.r_[np.full(100, 0.6), np.linspace(0.6, 0.01, 200), np.full(100, 0.01)]  # to the goal [m]
RISE = np.r_[np.zeros(100), 0.1 * np.sin(np.linspace(0.0, np.pi, 200)), np.zeros(100)]  # [m]


def outcome_of(way=WAY, rise=RISE, holds=HELD, forces=2.0, status=RUNNING, speed=0.0, tilt=0.0):
    """Outcome and results of a pick by series of measures, as if an episode were as long."""
    rules = PickRules.of(make_task("arm_pick"), DT)._replace(last=len(WAY), window=80)
    counts = PickCounts.of(1)
    rows = np.broadcast_arrays(way, rise, speed, tilt, forces, holds, WAY)[:-1]
    for *row, force, held in zip(*rows, strict=True):
        shown, flown = np.array([row]), np.array([status])
        count(np.array([force]), np.array([held]), shown, flown, rules, counts)
    return int(counts.contact.outcome[0]), measures(counts, DT)


def test_a_pick_succeeds_where_the_object_rests_at_its_goal_after_it_was_let_go():
    outcome, results = outcome_of()
    assert outcome == ARRIVED
    assert results["take_time"][0] == pytest.approx(101 * DT)
    assert results["goal_time"][0] == pytest.approx(301 * DT)
    assert results["force_peak"][0] == 2.0 and results["goal_distance"][0] < 0.03


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"holds": False, "way": 0.6, "rise": 0.0}, MISSED),
        ({"holds": HELD & (np.arange(400) < 200)}, DROPPED),
        ({"way": np.maximum(WAY, 0.1)}, MISPLACED),
        ({"rise": 0.0}, DRAGGED),
        ({"holds": np.arange(400) >= 100}, TIME_IS_UP),
        ({"speed": 0.03}, MISPLACED),
        ({"tilt": np.deg2rad(31.0)}, TOPPLED),
        ({"rise": np.r_[np.zeros(350), np.full(50, -0.06)]}, LOST),
        ({"forces": np.r_[np.zeros(50), 15.1, np.zeros(349)]}, TOO_FORCEFUL),
        ({"status": DIVERGED}, DIVERGED),
    ],
)
def test_failures_have_names(changes, outcome):
    assert outcome_of(**changes)[0] == outcome


@needs_mujoco
def test_objects_lie_and_goals_are_where_seeds_draw_them_and_are_believed_elsewhere():
    episodes = make_episodes("arm_pick", 6)
    episodes.reset(seeds=range(6))
    places, true = episodes.places, episodes.true_inputs
    objects = episodes.worlds.object_states[:, places.number, :3]
    np.testing.assert_allclose(objects, places.starts, atol=1e-6)
    assert np.ptp(objects[:, :2], axis=0).min() > 0.02
    assert (np.abs(objects - places.middle) <= [0.05, 0.05, 1e-6]).all()
    ways = (places.goals - places.middle)[:, :2]
    assert (np.abs(ways - [0.0, 0.6]) <= [0.1, 0.2]).all() and np.ptp(ways[:, 1]) > 0.1
    np.testing.assert_allclose(true.goal - true.object, places.goals - objects, atol=1e-9)
    errors = np.abs(episodes.inputs.object - true.object)
    assert (errors <= 0.01).all() and errors.max() > 0.004
    np.testing.assert_array_equal(true.held, 0.0)
    np.testing.assert_array_equal(true.load, 0.0)


@needs_mujoco
def test_a_tip_without_a_command_stays_where_it_begins_and_the_gripper_stays_open():
    quiet = {"draw.position": 0.0, "draw.attitude_deg": 0.0, "draw.mass": 0.0, "draw.thrust": 0.0}
    episodes = make_episodes("arm_pick", 1, scenario=quiet)
    episodes.reset(seeds=[1])
    for _ in range(50):
        episodes.step(np.zeros((1, 4)))
    assert np.abs(episodes.true_inputs.lag).max() < 0.01
    assert not episodes.interface.closes.any()


@pytest.mark.slow
@needs_mujoco
def test_a_single_run_by_a_policy_that_grips_is_the_episode_of_its_seed_bit_for_bit(tmp_path):
    episodes = make_episodes("arm_pick", 2)
    path = str(tmp_path / "grips.npz")
    gripping_policy(episodes).save(tmp_path / "grips.npz")
    policy, task = Policy.load(path), make_task("arm_pick")
    observed = episodes.reset(seeds=[4, 5])
    single = kind_of(task).single_run
    keys = {**task.settings, **single.by_policy, "engine.name": "mujoco", "policy": path}
    with Simulation.of(task.scenario, settings=keys, seed=5) as simulation:
        follows = single.episode(simulation, task)
        for _ in range(260):
            observed = episodes.step(policy(observed)).observation
            for _ in range(4):
                simulation.step()
                follows.observe()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
        gripper = simulation.plant.part(Gripper)
        assert gripper.holds and episodes.true_inputs.held[1] == 1.0
        mass = drawn_world(episodes.worlds.world(1)).objects["box"].mass
        assert mass != 0.2 and gripper.load.mass == mass
        assert gripper.borne == episodes.true_inputs.load[1]
        taken = episodes.report()["take_time"][1]
        assert follows.measures["take_time"] == taken > 0.0 and follows.outcome == RUNNING


@pytest.mark.slow
@needs_mujoco
def test_the_agent_picks_and_places_and_the_load_that_is_felt_is_the_weight():
    episodes = make_episodes("arm_pick", 3)
    observation, agent = episodes.reset(seeds=[0, 4, 9]), agent_of("pick", episodes)
    loads, told = [], []
    for _ in step_until_over(episodes, observation, lambda _: agent()):
        rise = episodes._counts.measures[:, 1]
        carried = (episodes.true_inputs.held > 0.0) & (rise > 0.04) & (episodes.outcome == RUNNING)
        loads.append(np.where(carried, episodes.true_inputs.load, np.nan))
        told.append(np.where(carried, episodes.inputs.load, np.nan))
    assert [OUTCOMES[each] for each in episodes.outcome] == ["arrived"] * 3
    worlds = [drawn_world(episodes.worlds.world(i)) for i in range(3)]
    weights = [9.81 * each.objects["box"].mass for each in worlds]
    np.testing.assert_allclose(np.nanmedian(loads, axis=0), weights, rtol=0.03)
    np.testing.assert_allclose(np.nanmedian(told, axis=0), weights, atol=0.15)
    assert (episodes.report()["goal_distance"] <= 0.03).all()


@pytest.mark.slow
@needs_mujoco
def test_the_law_in_worlds_is_that_of_single_runs_and_grips_at_its_own_times():
    task = make_task("arm_pick", {"seconds": 5.0})
    episodes = make_episodes(task, 2)
    observation = episodes.reset(seeds=[4, 6])
    for _ in step_until_over(episodes, observation, lambda _: None):
        pass
    results = fly_in_engine(task, baseline("controller"), "mujoco", [6])
    assert list(results.outcomes) == [OUTCOMES[episodes.outcome[1]]]
    for name, values in episodes.report().items():
        np.testing.assert_allclose(results.measures[name], values[1:], rtol=1e-9)


class Holds:
    """An agent that asks for what a test wants, in SI units."""

    def __init__(self, episodes, *values):
        self._action = episodes.scale.invert(np.tile(values, (episodes.count, 1)))

    def __call__(self, steps, episodes):
        for _ in range(steps):
            episodes.step(self._action)


@pytest.mark.slow
@needs_mujoco
def test_what_is_let_go_in_the_air_is_dropped_and_who_dives_is_too_forceful():
    episodes = make_episodes("arm_pick", 1)
    episodes.reset(seeds=[0])
    agent = agent_of("pick_oracle", episodes)
    while episodes._counts.lifted[0] < 0.06:
        episodes.step(agent())
    Holds(episodes, 0.0, 0.0, 0.0, -1.0)(1, episodes)
    assert OUTCOMES[episodes.outcome[0]] == "dropped"
    episodes.reset(seeds=[0])
    while episodes.outcome[0] == RUNNING:
        level = episodes.true_inputs.object[0, :2]
        Holds(episodes, *(2.0 * level), -0.2, -1.0)(1, episodes)
    assert OUTCOMES[episodes.outcome[0]] in ("too_forceful", "toppled")


def pick_at(**inputs):
    """Values of the agent at inputs of one world; what is not given is zero."""
    sizes = {"load": (), "held": (), "joints": (3,), "joint_rates": (3,), "action": (4,)}
    names = ("force", "object", "goal", "lag", "velocity", *sizes)
    zeros = {name: np.zeros((1, *sizes.get(name, (3,)))) for name in names}
    given = {name: np.array([value]) for name, value in inputs.items()}
    agent = object.__new__(PickAgent)
    agent.settings = read_settings(PickSettings, "pick")
    agent.episodes = SimpleNamespace(inputs=SimpleNamespace(**zeros | given))
    return agent.values()[0]


def test_the_agent_comes_down_closes_carries_sets_down_opens_and_rises():
    far = [0.0, 0.6, 0.0]
    down = pick_at(object=[0.0, 0.0, -0.15], goal=far)
    assert down[2] < -0.1 and down[3] == -1.0
    beside = pick_at(object=[0.1, 0.0, -0.05], goal=far)
    assert beside[0] > 0.1 and beside[2] > 0.0 and beside[3] == -1.0
    assert pick_at(object=[0.0, 0.0, -0.015], goal=far)[3] == 1.0
    felt = pick_at(object=[0.0, 0.0, -0.05], goal=far, force=[0.0, 0.0, 2.0])
    assert felt[2] >= 0.0 and felt[3] == 1.0
    raised = pick_at(held=1.0, load=2.0, goal=[0.0, 0.6, -0.02])
    assert raised[2] > 0.05 and abs(raised[1]) < 0.01 and raised[3] == 1.0
    carried = pick_at(held=1.0, load=2.0, goal=[0.0, 0.6, -0.1])
    assert carried[1] == pytest.approx(0.25) and carried[3] == 1.0
    lowered = pick_at(held=1.0, load=2.0, goal=[0.0, 0.0, -0.03], velocity=[0.0, 0.0, -0.05])
    assert lowered[2] == pytest.approx(-0.05) and lowered[3] == 1.0
    assert pick_at(held=1.0, load=0.3, goal=[0.0, 0.0, -0.02])[3] == -1.0
    left = pick_at(object=[0.0, 0.0, -0.02], goal=[0.0, 0.01, -0.02])
    assert left[2] > 0.0 and left[3] == -1.0


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"scenario": "hover", "settings": {}}, "needs one vehicle with an arm"),
        (
            {"settings.gripper.object": "table"},
            "key 'gripper.object': no loose object 'table' \\(such: box\\)",
        ),
    ],
)
@needs_mujoco
def test_a_task_without_a_gripper_or_a_loose_object_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("arm_pick", 2, settings=settings)
    assert "\n" not in str(refusal.value)
