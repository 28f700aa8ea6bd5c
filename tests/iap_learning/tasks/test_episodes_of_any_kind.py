# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of episodes, agents and tasks of every kind, with worlds that only count."""

import math
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from iap_description.config.record import Record
from iap_description.errors import BadInput
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.episodes import Episodes, step_until_over
from iap_learning.tasks.kind import EngineEpisode, SingleRun, TaskKind
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.scaling import ActionScale
from iap_learning.tasks.seeds import episode_seeds
from iap_learning.tasks.task import Task, changed, reward_weights, task_tree
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, CRASHED, TIME_IS_UP


class Worlds:
    """Worlds whose state is the sum of what they were told."""

    def __init__(self, count):
        self.seeds, self.x = np.arange(count) + 7, np.zeros((count, 2))
        platform = SimpleNamespace(name="craft")
        self.scenario = SimpleNamespace(
            dt=0.01, rates=SimpleNamespace(control_hz=100.0), vehicles=[SimpleNamespace(platform=platform)]
        )  # fmt: skip

    def reset(self, worlds=None, seeds=None):
        self.seeds[worlds], self.x[worlds] = seeds, 0.0


class Sums(Episodes):
    """Sums up its actions; an episode arrives at 3, crashes below -3 and ends after its limit."""

    def __init__(self, count=3, seconds=0.2, repeat=4):
        task = SimpleNamespace(
            name="t", seconds=seconds, repeat=repeat,
            action=SimpleNamespace(meaning="sum", function=None, low=(-1.0, 0.0), high=(1.0, 4.0)),
        )  # fmt: skip
        super().__init__(task, Worlds(count), ActionScale.of([-1.0, 0.0], [1.0, 4.0]))
        self.ends, self.scripted = np.zeros(count, np.int64), 0

    layout = (("x", 2, 0.5), ("action", 2, 1.0))
    viewpoint = None

    @property
    def status(self):
        return self.ends

    def _fly(self, values):
        self.worlds.x += values

    def _fly_scripted(self):
        self.scripted += 1

    def _assess(self):
        self.steps += 1
        x = self.worlds.x[:, 0]
        self.outcome[:] = np.where(self.steps >= self.limit, TIME_IS_UP, RUNNING)
        self.outcome[x >= 3.0], self.outcome[x <= -3.0] = ARRIVED, CRASHED
        return x - self._before[:, 0]

    def observe(self, indices=None):
        which = slice(None) if indices is None else indices
        return np.hstack([self.worlds.x, self._action])[which].astype(np.float32)


def test_sizes_and_times_of_episodes_are_those_of_task_and_worlds():
    episodes = Sums()
    assert (episodes.count, episodes.size, episodes.observed) == (3, 2, 4)
    assert episodes.dt == pytest.approx(0.04) and episodes.limit == 5
    assert Sums(seconds=0.045).limit == 1 and Sums(seconds=0.175).limit == 4
    assert episodes.platform == "craft" and episodes.report() == {}
    layout = episodes.policy_layout
    assert layout.rate_hz == 25.0 and layout.platform == "craft" and layout.size == 4
    assert (layout.action.kind, layout.action.low, layout.action.high) == (
        "sum",
        (-1.0, 0.0),
        (1.0, 4.0),
    )
    with pytest.raises(
        BadInput,
        match="^task 't': key 'repeat': a step of 0.04 s is longer than an episode, 0.03 s$",
    ):
        Sums(seconds=0.03)
    assert Sums(seconds=0.04).limit == 1


def test_a_step_scales_clips_and_keeps_its_action_and_the_one_before():
    episodes = Sums()
    step = episodes.step([[0.5, 0.0], [9.0, -1.0], [-0.25, 1.0]])
    np.testing.assert_allclose(episodes.worlds.x, [[0.5, 2.0], [1.0, 0.0], [-0.25, 4.0]])
    np.testing.assert_allclose(episodes.action, [[0.5, 0.0], [1.0, -1.0], [-0.25, 1.0]])
    np.testing.assert_allclose(step.reward, [0.5, 1.0, -0.25])
    np.testing.assert_allclose(step.observation[:, 2:], episodes.action)
    step = episodes.step(np.zeros((3, 2)))
    np.testing.assert_allclose(
        step.reward, [0.0, 0.0, 0.0]
    )  # less the first numbers of the actions before
    np.testing.assert_allclose(episodes.returns, [0.5, 1.0, -0.25])
    assert not (step.terminated | step.truncated | step.success).any()
    episodes.step([[np.nan, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert episodes.ends.tolist() == [INVALID_COMMAND, 0, 0]


def test_without_actions_the_script_flies_and_the_action_is_none():
    episodes = Sums()
    episodes.step(np.ones((3, 2)))
    episodes.step(None)
    assert episodes.scripted == 1 and not episodes.action.any()
    np.testing.assert_allclose(episodes.worlds.x[:, 0], 1.0)


def test_an_episode_is_terminated_where_it_arrives_or_fails_and_truncated_where_its_time_is_up():
    episodes, seen = Sums(seconds=0.16), []
    act = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    for step, over in step_until_over(
        episodes, episodes.observe(), lambda each: seen.append(each) or act
    ):
        last = step, over.tolist()
        seen.append(over.tolist())
    overs = [each for each in seen if isinstance(each, list)]
    assert overs == [[False] * 3, [False] * 3, [True, True, False], [False, False, True]]
    np.testing.assert_allclose(
        seen[2][:, 0], [1.0, -1.0, 0.0]
    )  # what was seen after the first step
    step = last[0]
    assert step.terminated.tolist() == [True, True, False]
    assert step.truncated.tolist() == [False, False, True]
    assert step.success.tolist() == [True, False, False]


def test_worlds_begin_anew_with_their_next_seeds_or_those_that_are_given():
    episodes = Sums()
    episodes.step(np.ones((3, 2)))
    seen = episodes.reset([2, 0], seeds=[5, 6])
    assert episodes.episode_seeds.tolist() == [6, 8, 5] and seen.shape == (2, 4)
    assert episodes.steps.tolist() == [0, 1, 0] and episodes.returns.tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_allclose(episodes.action[:, 0], [0.0, 1.0, 0.0])
    assert not seen.any()
    episodes.reset([2])
    assert episodes.episode_seeds[2] == episode_seeds(np.array([5]), np.array([1]))[0]
    assert episodes.episodes.tolist() == [0, 0, 1]


class Push(ScriptedAgent):
    """Asks for a value that is given."""

    SETTINGS: ClassVar = AgentSettings
    TASKS, ACTION = "sums up", "sum"
    begun: ClassVar = []

    def begin(self, indices):
        self.begun.append(indices.tolist())

    def values(self):
        return np.tile([0.5, 6.0], (self.episodes.count, 1))


def agent(episodes, **keys):
    Push.begun.clear()
    return Push(AgentSettings(description="x", guide="push", **keys), episodes)


def test_an_agents_values_are_scaled_to_actions_and_clipped():
    actions = agent(Sums())()
    np.testing.assert_array_equal(actions, np.array([[0.5, 1.0]] * 3, np.float32))
    assert actions.dtype == np.float32 and Push.begun == [[0, 1, 2]]


def test_noise_of_an_agent_is_held_for_its_time_and_drawn_by_seed():
    episodes = Sums(count=2, seconds=2.0)
    episodes.reset(seeds=[4, 4])
    noisy = agent(episodes, noise=0.01, noise_hold=0.1)  # 2.5 steps: held for two
    given = []
    for _ in range(6):
        given.append(noisy()[:, 0] - 0.5)
        episodes.steps += 1
    given = np.array(given)
    np.testing.assert_allclose(given[:, 0], given[:, 1])
    np.testing.assert_allclose(given[::2], given[1::2])
    assert np.abs(np.diff(given[::2], axis=0)).min() > 1e-5
    episodes.reset([1], seeds=[5])
    noisy.reset([1])
    assert Push.begun[-1] == [1]
    episodes.steps[:] = 0
    again = noisy()[:, 0] - 0.5
    assert again[0] == pytest.approx(given[0, 0], abs=1e-7) and abs(again[1] - again[0]) > 1e-5
    episodes.steps[:] = 999  # beyond its end the last draw stays
    assert np.isfinite(noisy()).all()


def test_noise_has_the_deviation_that_is_asked_for():
    episodes = Sums(count=40, seconds=2.0)
    episodes.reset(seeds=range(40))
    noisy, given = agent(episodes, noise=0.05), []
    for _ in range(50):
        given.append(noisy()[:, 0] - 0.5)
        episodes.steps += 1
    assert np.std(given) == pytest.approx(0.05, rel=0.05) and abs(np.mean(given)) < 0.005


def test_an_agent_that_flies_another_kind_of_action_says_what_it_does():
    episodes = Sums()
    episodes.task.action.kind = "sum"
    assert Push.misfit(episodes) is None
    episodes.task.action.kind = "wrench"
    assert Push.misfit(episodes) == "sums up, not task 't'"
    with pytest.raises(BadInput, match="^expert 'x' sums up, not task 't'$"):
        Push.of("x", episodes)


# tasks


def test_keys_of_a_task_are_changed_by_their_paths_and_those_of_its_scenario_beside_the_others():
    tree = {"seconds": 1.0, "action": {"low": [0.0]}, "settings": {"a.b": 1, "c": 2}}
    out = changed(tree, {"seconds": 2.0, "action.low": [0.5], "settings.a.b": 3})
    assert out == {"seconds": 2.0, "action": {"low": [0.5]}, "settings": {"a.b": 3, "c": 2}}
    assert tree["settings"] == {"a.b": 1, "c": 2}
    assert changed(tree, {"settings": {"d": 4}})["settings"] == {"d": 4}
    assert task_tree("hold", {"seconds": 4.0})["seconds"] == 4.0
    assert task_tree("hold")["name"] == "hold"


def test_a_task_that_ships_is_known_by_its_name_and_another_by_all_its_keys():
    task = make_task("wall_push")
    assert task.definition is None and task.kind == "wall_push" and task.platform_name is None
    own = task.model_copy(update={"name": "mine"})
    assert own.definition["name"] == "mine" and own.definition["wall"] == "wall"
    assert make_task("hold").kind == "platform"
    assert len(task.digest) == 64 and task.digest == make_task("wall_push").digest
    assert task.digest != make_task("wall_push", {"seconds": 7.0}).digest


@pytest.mark.parametrize(
    ("task", "ends"),
    [("wall_push", "velocity, drift, action, module:function"), ("hold", ", module:function")],
)
def test_a_term_that_no_kind_has_is_refused_with_those_that_there_are(task, ends):
    with pytest.raises(BadInput, match=f"no term 'smell': choose .*{ends}"):
        make_task(task, {"observation": {"smell": 1.0}})


class Potential(Record):
    along: float = -2.0


class Reward(Record):
    potential: Potential = Potential()
    time: float = -0.5
    success: float = 7.0


def test_the_weight_of_time_is_that_of_a_step():
    assert reward_weights(Reward(), 0.1) == {
        "along": -2.0,
        "time": pytest.approx(-0.05),
        "success": 7.0,
    }


class Ended(EngineEpisode):
    measures: ClassVar = {}

    def observe(self):
        pass


def test_an_episode_in_an_engine_succeeds_by_its_arrival():
    episode = Ended()
    assert episode.outcome == RUNNING and not episode.succeeded
    episode.outcome = ARRIVED
    assert episode.succeeded


def test_a_kind_gives_its_parts_and_names_those_that_it_lacks():
    run = SingleRun(Ended, "mujoco", None)
    kind = TaskKind("own", Task, single_run=run)
    assert kind.part("single_run", "x") is run and run.duration(None) is None and not run.by_policy
    with pytest.raises(
        BadInput, match="^task 't': tasks of kind 'own' have no part 'policy_agent'$"
    ):
        kind.part("policy_agent", "task 't'")
    assert math.isclose(make_task("hold").repeat, make_task("hold", {}).repeat)


def test_of_a_column_without_a_range_the_action_is_zero() -> None:
    scale = ActionScale.of([1.0, -2.0], [1.0, 2.0])
    np.testing.assert_array_equal(
        scale.invert(np.array([[1.0, 1.0], [5.0, -2.0]])), [[0.0, 0.5], [0.0, -1.0]]
    )
