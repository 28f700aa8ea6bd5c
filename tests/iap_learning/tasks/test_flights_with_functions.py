# SPDX-License-Identifier: BSD-3-Clause
"""Policies that observe and act by functions of a user's own fly single runs as they fly their episodes."""

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.errors import BadInput
from iap_learning.evaluation.engines import fly_in_engine
from iap_learning.tasks.kinds.docking.pair import DockingPair
from iap_learning.tasks.kinds.registry import kind_of, make_episodes, make_task
from iap_physics.engines.make import is_installed
from iap_physics.latching.latches import Phase
from iap_simulation.simulation.simulation import Simulation

MODULE = """
def place(world):
    return (world.gap, world.x[0, 0] - world.goal[0], 1e-4 * world.rpm[0, 0], world.drift[1])

def gently(values, world):
    return (values[0] * (0.5 + world.gap) + 0.01 * world.action[0],)

def pair(world):
    x, tip = world.x, world.estimated_tip
    return (x[1, 0] - x[0, 0], tip[0], x[1, 2] - world.goal[1, 2], world.latched)

def chased(values, world):
    a = values[0] - 0.1 * world.estimated_error[3]
    return (0.0, 0.0, 0.0, a, world.action[0], 0.0)

def apart(world):
    return (world.x[1, 0] - world.x[0, 0], world.goal[0], world.closing[0])

def slower(values, world):
    return (0.5 * values[0], 0.0, 0.0, 0.1 * world.action[0])
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """A module of a user's own."""
    (tmp_path / "own_in_flight.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "own_in_flight", raising=False)


def settings_of(function, observed, action):
    return {
        "observation": {f"own_in_flight:{observed}": 0.5, "action": 1.0},
        "action": {**action, "function": f"own_in_flight:{function}"},
    }


@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_a_push_flies_a_single_run_with_the_bits_of_its_episode(tmp_path):
    action = {"kind": "normal_velocity", "low": [-0.2], "high": [0.4]}
    settings = settings_of("gently", "place", action)
    episodes = make_episodes("wall_push", 2, settings=settings)
    policy = linear_policy(episodes, gains={}, settings=settings, drawn=0.5)
    path = str(tmp_path / "policy.npz")
    policy.save(path)
    task = make_task("wall_push", settings)
    single = kind_of(task).single_run
    keys = {**task.settings, **single.by_policy, "engine.name": "mujoco", "policy": path}
    observed = episodes.reset(seeds=[4, 5])
    with Simulation.of(task.scenario, settings=keys, seed=5) as simulation:
        for _ in range(60):
            observed = episodes.step(policy(observed)).observation
            for _ in range(task.repeat):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])


def test_a_pair_sees_and_commands_by_functions_as_world_i_does():
    action = {"kind": "acceleration", "low": [-1.0], "high": [1.0], "compensated": True}
    settings = settings_of("chased", "pair", action)
    episodes = make_episodes("docking", 2, settings=settings)
    pair = DockingPair(episodes.task, episodes.worlds.scenario)
    calm = np.zeros(6)
    pair.sense(episodes.measured[1], calm, Phase.OPEN)
    np.testing.assert_array_equal(pair.observe(), episodes.observe()[1])
    for number in (0.5, -0.25, 0.9):
        pair.take([number])
        memory = episodes.memory
        before = [each.copy() for each in memory[:4]]
        values = episodes.scale.apply(np.full((2, 1), number))
        episodes._before, episodes._action = episodes._action, np.full((2, 1), number)
        wanted = episodes._of_kind(values)[1]
        np.testing.assert_array_equal(pair._values, wanted)
        assert all(np.array_equal(a, b) for a, b in zip(before, memory[:4], strict=True))


def test_a_module_is_guided_by_functions(tmp_path):
    """An approach by half the velocity that the policy gives, along x alone, moves it there alone."""
    action = {"kind": "velocity", "low": [-0.5], "high": [0.5]}
    settings = settings_of("slower", "apart", action)
    episodes = make_episodes("module_docking", 1, settings=settings)
    policy = linear_policy(episodes, gains={}, settings=settings, drawn=0.3)
    path = str(tmp_path / "policy.npz")
    policy.save(path)
    task = make_task("module_docking", settings)
    keys = {**task.settings, "policy": path}
    observed = episodes.reset(seeds=[3])
    start = episodes.worlds.follower.state[0, 0].copy()
    with Simulation.of(task.scenario, settings=keys, seed=3) as simulation:
        for _ in range(20):
            observed = episodes.step(policy(observed)).observation
            for _ in range(task.repeat):
                simulation.step()
        numbers = [vehicle.name for vehicle in simulation.scenario.vehicles]
        joint = next(iter(simulation.scenario.modules.joints.values()))
        follower = simulation.plant.state(numbers.index(joint.follower))[0, 0]
    moved = episodes.worlds.follower.state[0, 0, :3] - start[:3]
    np.testing.assert_allclose(follower[:3] - start[:3], moved, atol=2e-3)
    assert abs(moved[0]) > 0.02


def test_engines_do_not_judge_by_functions_that_end_episodes():
    task = make_task("wall_push", {"own": {"fails_beyond": {"own_in_flight:place": 1.0}}})
    line = "^task 'wall_push': key 'own.fails_beyond': many worlds alone are judged by it: leave --engine out$"
    with pytest.raises(BadInput, match=line):
        fly_in_engine(task, None, "mujoco", [0])


def test_a_task_without_functions_is_written_as_before():
    assert "own" not in make_task("docking").model_dump(mode="json")
    assert "function" not in make_task("docking").model_dump(mode="json")["action"]
