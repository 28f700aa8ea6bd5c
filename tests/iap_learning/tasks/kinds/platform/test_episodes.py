# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of a platform: episodes and outcomes."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math.lanes import LANES
from iap_learning.evaluation.baselines import baselines
from iap_learning.tasks.kinds.platform.block import MEASURES, REWARD
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.outcome import EpisodeCounts, Rules, write_outcomes
from iap_learning.tasks.kinds.platform.quantities import DISTANCE, SPEED
from iap_learning.tasks.kinds.platform.rewards import FACTORS
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_learning.tasks.seeds import episode_seeds
from iap_learning.tasks.task import TASKS
from iap_physics.engines.engine import DIVERGED, INVALID_COMMAND, RUNNING
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import ARRIVED, OUT_OF_BOUNDS, OUTCOMES, TIME_IS_UP

WORLDS = dict.fromkeys(("hold", "docking"), LANES + 2)  # of kernels that fly worlds in blocks
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
        pytest.param(name, marks=pytest.mark.slow) if name.startswith("navigate") else name
        for name in TASKS.names()
    ],
)
def test_every_world_is_the_one_alone(name):
    task = make_task(name, {"seconds": 8 * make_episodes(name, 1).dt})
    count, scenario = WORLDS.get(name, 4), DRAWN if name == "hold" else {}
    many = make_episodes(task, count, scenario=scenario, threads=2)
    actions = np.random.default_rng(7).uniform(-1.0, 1.0, (20, count, many.size))
    seen, judged = flown(many, range(7, 7 + count), actions)
    assert judged[:, :, -2].any()  # some are at their second episode
    alone = make_episodes(task, 1, scenario=scenario)
    for i in (1, count - 1):
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
        if name
        not in ("navigate", "docking_hard", "wall_push", "peg_in_hole")  # whose controllers fail
        and name
        not in (
            "push_door",
            "turn_valve",
            "open_door",
            "slide_along_wall",
            "push_object",
            "arm_pick",
            "perch_on_wall",
            "navigate_moving",
        )  # have tests of their own
    ],
)
def test_the_suite_s_controller_succeeds_where_random_actions_do_not(name):
    scores = baselines(name, 16, seed=100)
    assert scores["controller"].row["success_rate"] >= 0.9
    assert scores["random"].row["success_rate"] <= 0.2
    assert scores["controller"].returns.mean() > scores["zero"].returns.mean()
    assert scores["controller"].returns.mean() > scores["random"].returns.mean() + 5.0


class Judged:
    """One world that is judged step by step; steps take 0.1 s."""

    def __init__(self, **success):
        settings = {"success": {"within": {"distance": 0.1}, **success}, "seconds": 0.5}
        settings["fails_beyond"] = {"speed": 3.0}
        self.rules = Rules.of(PlatformTask.of("land", settings), 0.1)
        self.counts = EpisodeCounts.of(1)

    def __call__(self, *, distance=0.0, speed=0.0, status=RUNNING):
        rows = np.zeros((int(FACTORS), LANES))
        rows[REWARD], rows[int(MEASURES) + DISTANCE] = 1.0, distance
        rows[int(MEASURES) + SPEED] = speed
        write_outcomes(rows.reshape(-1), 0, 1, np.array([status]), self.rules, self.counts)
        assert self.counts.distance[0] == distance
        reward = float(rows[REWARD, 0])
        return int(self.counts.outcome[0]), bool(self.counts.success[0]), reward


def test_success_must_last_and_a_break_starts_it_anew():
    step = Judged(lasting=0.2, ends=True)
    assert step() == (RUNNING, False, 1.0)
    assert step(distance=0.2) == (RUNNING, False, 1.0)
    assert step() == (RUNNING, False, 1.0)
    assert step() == (ARRIVED, True, 11.0)  # land's arrival is 10


def test_success_that_ends_nothing_counts_at_the_end():
    step = Judged(lasting=0.2, ends=False)
    assert [step()[:2] for _ in range(5)] == [
        (RUNNING, False),
        (RUNNING, True),
        (RUNNING, True),
        (RUNNING, True),
        (TIME_IS_UP, True),
    ]


def test_failures_come_before_success_and_have_their_own_reward():
    step = Judged(lasting=0.0, ends=True)
    assert step(speed=4.0) == (OUT_OF_BOUNDS, False, -10.0)
    assert Judged(lasting=0.0, ends=True)(status=DIVERGED) == (DIVERGED, False, -10.0)


def test_what_is_no_number_is_a_failure():
    assert Judged(lasting=0.0, ends=True)(speed=np.nan)[0] == OUT_OF_BOUNDS


def test_every_outcome_has_a_name():
    assert sorted(OUTCOMES) == list(range(len(OUTCOMES)))
    assert len(set(OUTCOMES.values())) == len(OUTCOMES)


@pytest.mark.parametrize("name", TASKS.names())
def test_shipped_tasks_can_be_flown(name):
    episodes = make_episodes(name, 2)
    step = episodes.step(0.1 * episodes.observe()[:, : episodes.size])
    assert step.observation.shape == (2, episodes.observed)
    assert not (step.terminated | step.truncated).any()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"colour": 1}, "unknown key 'colour'"),
        ({"action.kind": "magic"}, "key 'action.kind': choose pose, velocity"),
        ({"action.low": [0.0]}, "key 'low': kind 'acceleration' has 4 columns"),
        ({"action.low": [9.0, 0.0, 0.0, 0.0]}, "key 'low': it must not be above 'high'"),
        ({"observation": {"colour": 1.0}}, "no term 'colour': choose position_error"),
        ({"observation": {"velocity": 0.0}}, "key 'observation.velocity'"),
        ({"fails_beyond": {"colour": 1.0}}, "key 'fails_beyond.colour"),
        ({"success.within": {}}, "key 'success.within'"),
        ({"repeat": 0}, "key 'repeat'"),
        ({"seconds": float("inf")}, "key 'seconds'"),
        ({"seconds": 1e9}, "key 'seconds'"),
    ],
)
def test_what_is_wrong_is_named(settings, text):
    with pytest.raises(BadInput, match=text.replace("[", r"\[")) as error:
        PlatformTask.of("hold", settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["hold", "docking"])
def test_a_step_longer_than_an_episode_is_refused_before_it_is_flown(name):
    with pytest.raises(BadInput, match="key 'repeat': a step of .* s is longer than an episode"):
        make_episodes(name, 1, settings={"repeat": 1_000_000_000})


def test_keys_that_a_file_lacks_or_should_not_have_are_named(tmp_path):
    text = TASKS.file("hold").read_text(encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("seconds: 5.0", "minutes: 1.0"), encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.yaml: missing key 'seconds'"):
        PlatformTask.of(str(path))
    path.write_text(text + "minutes: 1.0\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.yaml: unknown key 'minutes'"):
        PlatformTask.of(str(path))


def test_an_unknown_task_is_refused_with_those_that_there_are():
    with pytest.raises(BadInput, match="unknown task 'juggle': choose .*hold"):
        PlatformTask.of("juggle")


def test_scenarios_that_worlds_cannot_fly_are_refused():
    with pytest.raises(BadInput, match="cannot be flown side by side"):
        PlatformEpisodes(PlatformTask.of("hold", {"scenario": "wall_push"}), 2)
