# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a user's own in every kind of task are bit for bit the parts of the kind that they copy."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.registry import KINDS, make_episodes, make_task
from iap_learning.tasks.task import TASKS
from iap_simulation.tasks.outcomes import INVALID_TERM, OUT_OF_BOUNDS

MODULE = """
import math

def copied(world):
    return (world.gap, world.force_error, world.velocity[0], world.velocity[1])

def missing(world):
    return min(abs(world.force_error), 5.0)

def ahead(world):
    return abs(world.velocity[0])

def tip(world):
    return (world.estimated_tip[0], world.estimated_tip[1], world.estimated_tip[2])

def away(world):
    worst = 0.0
    for j in range(2):
        square = 0.0
        for k in range(3):
            square += (world.x[j, k] - world.goal[j, k]) ** 2
        worst = max(worst, math.sqrt(square))
    return worst

def change(world):
    total, m = 0.0, len(world.action)
    for k in range(m):
        total += (world.action[k] - world.actions_before[k]) ** 2
    return total / m

def error(world):
    return (world.error[0], world.error[1], world.error[2])

def far(world):
    e = world.error
    return math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])

def place(world):
    x = world.x
    return (x[0, 0], x[0, 1], x[0, 2], x[0, 7], x[0, 8], x[0, 9], world.goal[0])

def apart(world):
    return (world.x[1, 0] - world.x[0, 0], world.offset[1])

def seen(world):
    return (world.x[0, 2], world.x[0, 8])

def late(world):
    return math.nan if world.action[0] > 0.9 else 0.0

def never(world):
    return (math.nan if world.action[0] > 0.9 else 1.0,)

def halved(values, world):
    return (0.5 * values[0],)

def of_one(values, world):
    return (0.0, 0.0, 0.1 * values[0], 0.0, 0.0, 0.1 * values[0])

def pair_too(world):
    return (world.rpm[0, 0],)
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """A module of a user's own."""
    (tmp_path / "own_of_kinds.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "own_of_kinds", raising=False)


def own(name):
    return f"own_of_kinds:{name}"


def reward(name, weight, shape="linear", k=1.0):
    return {"term": {"weight": weight, "factors": [{"of": own(name), "shape": shape, "k": k}]}}


def flown(episodes, steps, seed=0):
    """Observations, rewards and outcomes of steps by actions that are drawn."""
    rng, rows = np.random.default_rng(seed), []
    actions = rng.uniform(-1.0, 1.0, (steps, episodes.size))
    for action in actions:
        step = episodes.step(np.tile(action, (episodes.count, 1)))
        rows.append((step.observation.copy(), step.reward.copy(), episodes.outcome.copy()))
    return [np.array(each) for each in zip(*rows, strict=True)]


PUSH = {
    "repeat": 1,
    "seconds": 1.0,
    "sensor": {"noise": 0.0, "bias": 0.0, "delay": 0, "touch": 0.8},
}
NO_PUSH_REWARD = {"error": 0.0, "peak": 0.0, "change": 0.0, "success": 0.0, "failure": -3.0}


def test_a_push_is_observed_rewarded_and_ended_by_functions_as_by_its_kind():
    """The error of the force, which is rewarded over each period, is what a perfect sensor shows after it."""
    terms = {"gap": 0.1, "force_error": 5.0, "velocity": 0.1}
    dt = 0.005
    kind = make_episodes(
        "wall_push", 2,
        settings={**PUSH, "observation": terms, "reward": {**NO_PUSH_REWARD, "error": -0.2}},
    )  # fmt: skip
    assert kind.dt == dt
    settings = {
        **PUSH, "observation": {own("copied"): 0.5, **terms}, "reward": NO_PUSH_REWARD,
        "own": {"reward": reward("missing", -0.2, k=dt), "fails_beyond": {own("ahead"): 0.25}},
    }  # fmt: skip
    mine = make_episodes("wall_push", 2, settings=settings)
    push = np.ones((2, 1))
    for _ in range(150):
        theirs, step = kind.step(push), mine.step(push)
        raw = step.observation
        np.testing.assert_array_equal(raw[:, 4:], theirs.observation)
        factors = np.array([0.5 / 0.1, 0.5 / 5.0, 0.5 / 0.1, 0.5 / 0.1])
        np.testing.assert_allclose(raw[:, :4] * factors, theirs.observation[:, :4], rtol=1e-6)
        if step.terminated.any():
            break
        np.testing.assert_array_equal(step.reward, theirs.reward)
    too_fast = np.abs(mine.inputs.velocity[:, 0]) > 0.25
    np.testing.assert_array_equal(mine.outcome == OUT_OF_BOUNDS, too_fast)
    np.testing.assert_array_equal(step.reward[too_fast], -3.0)
    assert too_fast.any()
    ended = mine.step(push)
    assert (ended.reward[too_fast] == 0.0).all() and ended.terminated[too_fast].all()


NO_DOCKING_REWARD = {
    "potential": {"along": 0.0, "aside": 0.0, "angle": 0.0, "latched": 0.0}, "time": 0.0, "force": 0.0,
    "gentle_force": 20.0, "change": 0.0, "touch": 0.0, "gentle_touch": 0.4, "success": 0.0, "failure": 0.0,
}  # fmt: skip


def test_a_docking_is_observed_rewarded_and_ended_by_functions_bit_for_bit_as_by_its_kind():
    kind = make_episodes(
        "docking", 3,
        settings={
            "observation": {"estimated_tip": 0.2, "action": 1.0}, "fails_beyond": 0.9,
            "reward": {**NO_DOCKING_REWARD, "change": -0.37, "failure": -5.0},
        },
    )  # fmt: skip
    settings = {
        "observation": {own("tip"): 0.2, "action": 1.0, "actions_before": 1.0}, "fails_beyond": 50.0,
        "reward": {**NO_DOCKING_REWARD, "failure": -5.0},
        "own": {"reward": reward("change", -0.37), "fails_beyond": {own("away"): 0.9}},
    }  # fmt: skip
    mine = make_episodes("docking", 3, settings=settings)
    np.testing.assert_array_equal(mine.observe()[:, :9], kind.observe())
    (seen, rewards, ends), (theirs, wanted, outcomes) = flown(mine, 60), flown(kind, 60)
    over = np.cumsum(outcomes == OUT_OF_BOUNDS, axis=0) > 0
    assert over[-1].any() and not over[0].any()
    np.testing.assert_array_equal(seen[:, :, :9], theirs)
    np.testing.assert_array_equal(ends == OUT_OF_BOUNDS, over)
    np.testing.assert_array_equal(rewards[~over], wanted[~over])
    first = over & (np.cumsum(over, axis=0) == 1)
    assert (rewards[first] == -5.0).all() and (rewards[over & ~first] == 0.0).all()


def test_an_arm_is_observed_and_ended_by_functions_bit_for_bit_as_by_its_kind():
    kind = make_episodes(
        "arm_reach", 3, settings={"observation": {"error": 0.5}, "fails_beyond": 1.0}
    )
    settings = {
        "observation": {own("error"): 0.5, own("place"): 1.0}, "fails_beyond": 50.0,
        "own": {"fails_beyond": {own("far"): 1.0}},
    }  # fmt: skip
    mine = make_episodes("arm_reach", 3, settings=settings)
    (seen, rewards, ends), (theirs, wanted, outcomes) = flown(mine, 60), flown(kind, 60)
    over = np.cumsum(outcomes == OUT_OF_BOUNDS, axis=0) > 0
    assert over[-1].any() and not over[0].all()
    np.testing.assert_array_equal(seen[:, :, :3], theirs)
    np.testing.assert_array_equal(ends == OUT_OF_BOUNDS, over)
    first = over & (np.cumsum(over, axis=0) == 1)
    np.testing.assert_array_equal(rewards[~over | first], wanted[~over | first])
    plants = mine.worlds.plants
    np.testing.assert_allclose(seen[-1][:, 3:6], plants.pose[:, :3], atol=1e-6)
    np.testing.assert_allclose(seen[-1][:, 9], mine.targets[:, 0], atol=1e-6)
    speed = np.linalg.norm(seen[-1][:, 6:9], axis=1)
    np.testing.assert_allclose(speed, np.linalg.norm(plants.v[:, :3], axis=1), atol=1e-6)


def test_modules_are_seen_by_functions_as_they_are_measured():
    mine = make_episodes(
        "module_docking", 2, settings={"observation": {own("apart"): 1.0, "offset": 1.0}}
    )
    seen = mine.observe()
    leader, follower = mine.worlds.shared
    np.testing.assert_array_equal(seen[:, 0], (follower - leader)[:, 0].astype(np.float32))
    np.testing.assert_array_equal(seen[:, 1], seen[:, 3])


@pytest.mark.parametrize("name", ["wall_push", "docking", "module_docking", "arm_reach"])
def test_a_world_alone_is_that_world_of_many_with_functions_too(name):
    settings = {
        "observation": {own("seen"): 1.0, "action": 1.0},
        "own": {"reward": reward("late", 1.0), "fails_beyond": {own("late"): 1.0}},
    }
    together = make_episodes(name, 3, settings=settings)
    alone = make_episodes(name, 1, settings=settings)
    alone.reset(seeds=[int(together.seeds[2])])
    for many, one in zip(flown(together, 6, 5), flown(alone, 6, 5), strict=True):
        np.testing.assert_array_equal(many[:, 2], one[:, 0])


@pytest.mark.parametrize("name", ["wall_push", "docking", "module_docking", "arm_reach", "hold"])
@pytest.mark.parametrize("where", ["observation", "own"])
def test_a_function_that_gives_no_number_is_named_and_ends_its_world_alone(name, where):
    settings = {"own": {"reward": reward("late", 1.0)}}
    if where == "observation":
        settings = {"observation": {own("never"): 1.0, "action": 1.0}}
    episodes = make_episodes(name, 3, settings=settings)
    actions = np.zeros((3, episodes.size))
    actions[1, 0] = 1.0
    function = own("never" if where == "observation" else "late")
    with pytest.warns(UserWarning, match=f"'{name}': {function} gave no finite number in world 1"):
        step = episodes.step(actions)
    assert np.isfinite(step.observation).all() and np.isfinite(step.reward).all()
    assert (episodes.outcome == INVALID_TERM).tolist() == [False, True, False]
    assert step.terminated.tolist() == [False, True, False]
    assert step.reward[1] == episodes.task.reward.failure
    episodes.reset([1])
    assert episodes.outcome[1] == 0


@pytest.mark.parametrize("name", sorted(set(TASKS.names()) - {"docking_depth", "navigate_moving"}))
def test_every_kind_takes_functions_of_observations_rewards_and_ends(name):
    settings = {
        "observation": {own("seen"): 1.0},
        "own": {"reward": reward("late", -1.0, "gauss"), "fails_beyond": {own("late"): 1.0}},
    }
    if make_task(name).kind not in KINDS:
        pytest.fail(f"task '{name}' is of no kind")
    episodes = make_episodes(name, 2, settings=settings)
    seen = episodes.step(np.zeros((2, episodes.size)))
    assert np.isfinite(seen.observation[:, :2]).all() and not seen.terminated.any()
    assert (np.abs(seen.observation[:, 0]) > 0.0).any()


def test_an_action_of_a_push_is_what_a_function_makes_of_it():
    half = {"kind": "normal_velocity", "low": [-0.2], "high": [0.2]}
    whole = {"kind": "normal_velocity", "function": own("halved"), "low": [-0.4], "high": [0.4]}
    theirs = make_episodes("wall_push", 2, settings={"action": half})
    mine = make_episodes("wall_push", 2, settings={"action": whole})
    assert mine.policy_layout.action.kind == f"normal_velocity by {own('halved')}"
    for share in (1.0, -0.5, 0.25):
        theirs.step(np.full((2, 1), share))
        mine.step(np.full((2, 1), share))
    np.testing.assert_array_equal(mine.worlds.state, theirs.worlds.state)


def test_one_number_can_command_both_aircraft_of_a_docking():
    action = {"kind": "acceleration", "compensated": True, "low": [-1.0], "high": [1.0]}
    one = make_episodes("docking", 2, settings={"action": {**action, "function": own("of_one")}})
    bounds = {"low": [-1.0] * 3, "high": [1.0] * 3}
    six = make_episodes("docking", 2, settings={"action": {**action, **bounds}})
    assert (one.size, six.size) == (1, 6)
    for _ in range(5):
        one.step(np.full((2, 1), 0.5))
        six.step(np.tile([0.0, 0.0, 0.05], (2, 2)))
    np.testing.assert_array_equal(one.worlds.pairs.x, six.worlds.pairs.x)


@pytest.mark.parametrize(
    ("task", "settings", "line"),
    [
        ("docking", {"observation": {own("pair_too"): 1.0}}, "'own_of_kinds:pair_too': IndexError"),
        ("wall_push", {"observation": {own("late"): 1.0}}, "returns 0.0; a tuple of floats is expected"),
        (
            "wall_push", {"own": {"fails_beyond": {own("tip"): 1.0}}},
            "key 'own.fails_beyond': numba cannot compile 'own_of_kinds:tip': ",
        ),
        ("arm_reach", {"own": {"fails_beyond": {own("error"): 1.0}}}, r"returns \(.*; one float is expected"),
        ("docking", {"own": {"fails_beyond": {"away": 1.0}}}, "key 'own.fails_beyond.away"),
        (
            "wall_push",
            {"action": {"kind": "normal_velocity", "function": own("of_one"), "low": [0.0], "high": [1.0]}},
            "'own_of_kinds:of_one' returns 6 numbers; 1 are expected",
        ),
    ],
)  # fmt: skip
def test_a_function_that_does_not_fit_is_refused_in_a_line(task, settings, line):
    with pytest.raises(BadInput, match=line) as refused:
        make_episodes(task, 1, settings=settings)
    assert "\n" not in str(refused.value)
