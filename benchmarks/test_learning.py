# SPDX-License-Identifier: BSD-3-Clause
"""Cost of environments over the worlds that fly in them, and their speed; seconds of a core's own time."""

import time
from collections.abc import Callable

import gymnasium
import numpy as np
import pytest

import iap_learning  # noqa: F401 - gymnasium knows the tasks from here on
from iap_learning.policies.policy import Policy, shipped_policies
from iap_learning.registration import name_of
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_learning.tasks.task import TASKS
from iap_simulation.batch.actions import act
from iap_simulation.batch.worlds import Worlds

WORLDS = 1000
TURN = 10  # steps with an environment, and as many without: each finds its own worlds in memory
PAIRS = 256  # dockings and the like side by side
BAR = 150_000  # control periods of 5 ms a second of a core
MOST_MICROSECONDS, MOST_WITH_BLOCKS = 50.0, 500.0  # for an action
TASKS_MADE = {name: make_task(name) for name in TASKS.names()}
# Tasks whose worlds can be flown bare under the same actions. A step of one with images is mostly images, and the
# tasks of other kinds fly pairs, modules or an identified plant: these have benchmarks of their own below.
BARE = [
    name
    for name, task in TASKS_MADE.items()
    if isinstance(task, PlatformTask) and task.depth is None
]
OTHERS = [
    name
    for name, task in TASKS_MADE.items()
    if name not in BARE and not isinstance(task, DockingTask)
]
DRAWN = {
    "draw.mass": 0.1,
    "draw.inertia": 0.1,
    "draw.com": 0.005,
    "draw.thrust": 0.05,
    "draw.rotor_lag": 0.2,
}


def seconds(work: Callable[[], object], calls: int) -> float:
    """A core's time for a call, the mean of some."""
    began = time.thread_time()
    for _ in range(calls):
        work()
    return (time.thread_time() - began) / calls


def staggered(env: gymnasium.vector.VectorEnv) -> None:
    """Let the episodes of an environment be at different instants, as in training."""
    env.reset(seed=0)
    still, limit = np.zeros(env.action_space.shape), env.unwrapped.episodes.limit
    for k in range(limit):
        env.step(still)
        env.reset(options={"reset_mask": np.arange(WORLDS) % limit == k})


@pytest.mark.parametrize("task", BARE)
def test_vector_environment_over_worlds(benchmark, figure, task):
    """The same worlds under the same actions with and without an environment around them, in turn.

    Episodes that are over begin anew in the environment, a few in each step, and the bare worlds with them.
    """
    env = gymnasium.make_vec(name_of(task), WORLDS, vectorization_mode="vector_entry_point")
    staggered(env)
    episodes = env.unwrapped.episodes
    bare = Worlds(episodes.worlds.scenario, range(WORLDS))
    actions = np.zeros(env.action_space.shape, np.float32)
    middle = 0.5 * np.add(episodes.task.action.low, episodes.task.action.high)
    values = np.tile(middle, (WORLDS, episodes.size // len(middle)))
    kind, repeat = episodes.task.action.kind, episodes.task.repeat
    over: list[np.ndarray] = []  # worlds whose episodes each step has ended

    def around() -> None:
        over.clear()
        for _ in range(TURN):
            *_, terminated, truncated, _ = env.step(actions)
            over.append(np.flatnonzero(terminated | truncated))

    def inside() -> None:
        for ended in over:
            act(kind, values, bare, repeat)
            bare.reset(ended)

    around(), inside()
    took = [(seconds(around, 1), seconds(inside, 1)) for _ in range(30)]
    benchmark.pedantic(lambda: env.step(actions), rounds=5)
    whole, worlds = np.median(took, axis=0) / TURN
    share, rate = whole / worlds - 1.0, WORLDS / whole
    figure(task, rate, "steps/s of a core")
    figure(f"{task}, over its worlds", 100 * share, "%", 1)


OWN_TERM = """
def to_goal(world):
    return (world.goal[0] - world.x[0, 0], world.goal[1] - world.x[0, 1], world.goal[2] - world.x[0, 2])
"""


def test_own_term_over_a_step(benchmark, figure, tmp_path, monkeypatch):
    """A term of three numbers in place of the suite's own, in turn; both observe the same."""
    (tmp_path / "term_of_mine.py").write_text(OWN_TERM)
    monkeypatch.syspath_prepend(str(tmp_path))
    others = {"velocity": 1.0, "attitude_error": 0.5, "rates": 1.0, "action": 1.0}
    first = ("position_error", "term_of_mine:to_goal")
    settings = [{"observation": {name: 1.0, **others}} for name in first]
    suite, mine = (make_episodes("hold", WORLDS, settings=each) for each in settings)
    actions = np.zeros((WORLDS, suite.size), np.float32)
    for _ in range(2):
        same = [each.step(actions).observation for each in (suite, mine)]
        np.testing.assert_array_equal(*same)
    took = [[seconds(lambda e=e: e.step(actions), TURN) for e in (suite, mine)] for _ in range(30)]
    benchmark.pedantic(lambda: mine.step(actions), rounds=5)
    plain, own = np.median(took, axis=0)
    figure("own term", 100 * (own / plain - 1.0), "% of a step", 1)
    figure("a step of a world", 1e6 * plain / WORLDS, "us", 2)
    assert own < 1.1 * plain


@pytest.mark.parametrize("task", OTHERS)
def test_other_environments(benchmark, figure, task):
    """Steps of environments with images, modules or an arm, under actions of zero from their starts on.

    Episodes that are over begin anew.
    """
    env = gymnasium.make_vec(name_of(task), PAIRS, vectorization_mode="vector_entry_point")
    env.reset(seed=0)
    actions = np.zeros(env.action_space.shape, np.float32)
    env.step(actions)
    took = [seconds(lambda: env.step(actions), 1) for _ in range(30)]
    benchmark.pedantic(lambda: env.step(actions), rounds=5)
    periods = env.unwrapped.episodes.task.repeat
    rate = PAIRS / np.mean(took)
    figure(task, rate, f"steps/s of a core, of {periods} control periods each")


@pytest.mark.parametrize("task", ["docking", "docking_hard"])
@pytest.mark.parametrize("when", ["apart", "whole episodes"])
def test_docking_environment(benchmark, figure, task, when):
    """Dockings at first, or at all instants: those that are over begin anew, as in training."""
    env = gymnasium.make_vec(name_of(task), PAIRS, vectorization_mode="vector_entry_point")
    env.reset(seed=0)
    episodes = env.unwrapped.episodes
    expert = agent_of("script", episodes)
    took, steps = [], 20 if when == "apart" else 400

    def step() -> None:
        actions = expert()
        began = time.process_time()
        *_, terminated, truncated, _ = env.step(actions)
        took.append(time.process_time() - began)
        expert.reset(terminated | truncated)

    step()
    benchmark.pedantic(step, rounds=steps)
    rate = PAIRS * episodes.task.repeat / np.mean(took[1:])
    figure(f"{task}, {when}", rate, "env-steps/s of a core", bar=BAR)


@pytest.mark.parametrize("repeat", [1, 4])
def test_single_environment(benchmark, figure, repeat):
    """`hold` alone, with as many control periods in a step."""
    options = {"settings": {"repeat": repeat}, "disable_env_checker": True}
    env = gymnasium.make("iap/Hold-v0", **options).unwrapped
    env.reset(seed=0)
    action = np.zeros(4, np.float32)
    found = min(seconds(lambda: env.step(action), 100) for _ in range(20))
    benchmark.pedantic(lambda: env.step(action), rounds=100)
    figure(f"hold alone, {repeat} control periods a step", 1.0 / found, "steps/s of a core")


@pytest.mark.parametrize(("what", "settings"), [("starts", {}), ("starts and vehicles", DRAWN)])
@pytest.mark.parametrize("count", [1, 100])
def test_resets(benchmark, figure, what, settings, count):
    """Some of a thousand worlds begin anew."""
    worlds = Worlds.of("hover", WORLDS, settings={"draw.position": 0.2, **settings})
    chosen = np.arange(count) * (WORLDS // count)
    found = min(seconds(lambda: worlds.reset(chosen), 5) for _ in range(10)) / count
    benchmark.pedantic(lambda: worlds.reset(chosen), rounds=10)
    figure(f"reset of {count}, {what} drawn", 1e6 * found, "us a world")


@pytest.mark.parametrize("name", shipped_policies())
def test_one_action(benchmark, figure, name):
    """One action of a policy that ships, as a flight asks for it in every period."""
    policy = Policy.load(name)
    act, observation = policy.acting(), np.zeros(len(policy.mean), np.float32)
    act(observation)
    found = min(seconds(lambda: act(observation), 100) for _ in range(20))
    benchmark.pedantic(lambda: act(observation), rounds=100)
    most = MOST_WITH_BLOCKS if policy.header.blocks else MOST_MICROSECONDS
    figure(f"one action of {name}", 1e6 * found, "us", 1, bar=most)
