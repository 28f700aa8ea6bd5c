# SPDX-License-Identifier: BSD-3-Clause
"""A task in many worlds: each world is the one alone, episodes follow one another, experts succeed."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.evaluation.baselines import baselines
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_learning.tasks.seeds import episode_seeds
from iap_learning.tasks.task import TASKS
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import OUTCOMES

DRAWN = {"draw.mass": 0.1, "draw.thrust": 0.05, "wind.speed": 2.0, "wind.turbulence": 8.0}


def flown(episodes, seeds, actions):
    """Observations, rewards and ends of all steps; what is over begins anew."""
    rows = [episodes.reset(seeds=seeds)]
    for each in actions:
        step = episodes.step(each)
        over = step.terminated | step.truncated
        seen = step.observation.copy()
        seen[over] = episodes.reset(over)
        rows.append(np.column_stack([seen, step.reward, over, step.success]))
    return np.stack([row[:, : episodes.observed] for row in rows]), np.stack(rows[1:])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "navigate" else name
        for name in TASKS.names()
    ],
)
def test_every_world_is_the_one_alone(name):
    task = make_task(name, {"seconds": 15 * make_episodes(name, 1).dt})
    rng = np.random.default_rng(len(name))
    count, scenario = int(rng.integers(2, 70)), DRAWN if name == "hold" else {}
    many = make_episodes(task, count, scenario=scenario, threads=2)
    actions = rng.uniform(-1.0, 1.0, (40, count, many.size))
    seen, judged = flown(many, range(7, 7 + count), actions)
    assert judged[:, :, -2].any()  # some are at their second episode
    alone = make_episodes(task, 1, scenario=scenario)
    for i in {0, count - 1, int(rng.integers(count))}:
        seen_alone, judged_alone = flown(alone, [7 + i], actions[:, i : i + 1])
        np.testing.assert_array_equal(seen[:, i], seen_alone[:, 0])
        np.testing.assert_array_equal(judged[:, i], judged_alone[:, 0])


def test_a_first_episode_is_the_flight_of_its_seed():
    task = PlatformTask.of("hold", {"repeat": 1})
    episodes = PlatformEpisodes(task, 3)
    episodes.reset(seeds=[5, 6, 7])
    for _ in range(20):
        episodes.step(None)
    with Simulation.of(episodes.worlds.world(1)) as simulation:
        assert simulation.scenario.seed == 6
        for _ in range(20):
            simulation.step()
        np.testing.assert_array_equal(episodes.worlds.state[1], simulation.state)


def test_seeds_of_episodes_depend_on_nothing_but_seed_and_number():
    bases, numbers = np.array([3, 3, 4, 3]), np.array([0, 1, 1, 2])
    seeds = episode_seeds(bases, numbers)
    assert seeds[0] == 3
    assert len(set(seeds.tolist())) == 4
    assert seeds.min() >= 0
    assert seeds.max() < 2**53
    np.testing.assert_array_equal(episode_seeds(bases[::-1], numbers[::-1]), seeds[::-1])


@pytest.mark.parametrize("platform", ["three_star", "f450"])
@pytest.mark.parametrize("column", [0, 3])
def test_an_action_that_is_no_number_ends_its_world_alone(platform, column):
    episodes = PlatformEpisodes(PlatformTask.of("hold"), 3, platform=platform)
    actions = np.zeros((3, episodes.size))
    actions[1, column] = np.nan
    step = episodes.step(actions)
    assert episodes.outcome.tolist() == [RUNNING, INVALID_COMMAND, RUNNING]
    assert OUTCOMES[INVALID_COMMAND] == "invalid_command"
    assert step.terminated.tolist() == [False, True, False]
    assert np.isfinite(step.observation).all()
    assert step.reward[1] == episodes.task.reward.failure
    episodes.reset(step.terminated)
    assert not episodes.step(np.zeros((3, episodes.size))).terminated.any()


@pytest.mark.parametrize("actions", [np.zeros(4), np.zeros((2, 4)), np.zeros((3, 5)), 1.0])
def test_actions_of_another_shape_are_refused(actions):
    with pytest.raises(BadInput, match=r"action: has shape .*; \(3, 4\) is expected"):
        PlatformEpisodes(PlatformTask.of("hold"), 3).step(actions)


def test_actions_are_clipped_to_their_range():
    ends = []
    for size in (1.0, 50.0):
        episodes = PlatformEpisodes(PlatformTask.of("hold"), 1)
        ends.append(episodes.step(np.full((1, 4), size)).observation)
    np.testing.assert_array_equal(*ends)


def test_seeds_must_be_as_many_as_worlds():
    with pytest.raises(BadInput, match="reset: 2 seeds are expected, got 3"):
        PlatformEpisodes(PlatformTask.of("hold"), 4).reset([0, 3], seeds=[1, 2, 3])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "module_docking" else name
        for name in TASKS.names()
        if name not in ("navigate", "docking_hard")
    ],
)
def test_the_suite_s_controller_succeeds_where_random_actions_do_not(name):
    scores = baselines(name, 16, seed=100)
    assert scores["controller"].row["success_rate"] >= 0.9
    assert scores["random"].row["success_rate"] <= 0.2
    assert scores["controller"].returns.mean() > scores["zero"].returns.mean()
    assert scores["controller"].returns.mean() > scores["random"].returns.mean() + 5.0
