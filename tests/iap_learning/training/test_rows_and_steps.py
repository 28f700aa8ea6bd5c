# SPDX-License-Identifier: BSD-3-Clause
"""A training's table keeps its rows, and steps are collected as they are flown, both by episodes worked out by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.training.experience import Collector, EndedEpisodes, fly_once
from iap_learning.training.log import COLUMNS, EVENTS, PROGRESS, TrainingLog, read_progress
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Layer
from iap_learning.training.policy_network import NetworkFlight, PolicyNetwork

IDENTITY = Scaling(np.array([1.0], np.float32), np.array([2.0], np.float32))
DOUBLE = PolicyNetwork((Layer(np.array([[2.0]], np.float32), np.array([0.5], np.float32)),))


class Counting:
    """Worlds that observe the number of their steps; world b ends after b + 2 of them, world 0 as a success."""

    count, observed, size, dt = 3, 1, 1, 0.25

    def __init__(self, reward: float = 1.0) -> None:
        self.steps, self.returns = np.zeros(3, np.int64), np.zeros(3)
        self.actions: list[np.ndarray] = []
        self.seeds: list[int] = []
        self.reward = reward

    def observe(self) -> np.ndarray:
        return self.steps[:, None].astype(np.float32)

    def reset(self, worlds: Any = None, seeds: Any = None) -> np.ndarray:
        chosen = slice(None) if worlds is None else worlds
        self.steps[chosen], self.returns[chosen] = 0, 0.0
        self.seeds += seeds or []
        return self.observe()[chosen]

    def step(self, actions: np.ndarray) -> SimpleNamespace:
        self.actions.append(actions.copy())
        self.steps += 1
        rewards = self.reward * np.array([1.0, 10.0, 100.0])
        self.returns += rewards
        over = self.steps >= [2, 3, 4]
        return SimpleNamespace(
            reward=rewards, observation=self.observe(), terminated=over & [True, False, True],
            truncated=over & [False, True, False], success=np.array([True, False, False]),
        )  # fmt: skip


def test_steps_are_collected_with_what_they_led_to_and_ended_worlds_begin_anew() -> None:
    episodes = Counting()
    collector = Collector(episodes, "task.yaml")  # type: ignore[arg-type]
    collector.restart(np.array([7, 8, 9]))
    assert episodes.seeds == [7, 8, 9]
    got = collector.collect(
        DOUBLE, np.full(1, -40.0, np.float32), IDENTITY, 5, np.random.default_rng(0)
    )
    steps = np.array([[0, 0, 0], [1, 1, 1], [0, 2, 2], [1, 0, 3], [0, 1, 0]], np.float32)
    np.testing.assert_array_equal(got.observations[..., 0], steps)
    np.testing.assert_array_equal(got.following[..., 0], steps + 1.0)  # of the old episode
    np.testing.assert_allclose(got.actions[..., 0], 2.0 * (steps - 1.0) / 2.0 + 0.5, atol=1e-6)
    np.testing.assert_array_equal(got.actions, episodes.actions)
    np.testing.assert_array_equal(got.rewards, [[1.0, 10.0, 100.0]] * 5)
    ends = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(got.terminated, ends == 1)
    np.testing.assert_array_equal(got.truncated, ends == 2)
    np.testing.assert_array_equal(got.ended.success, [True, False, True, False])
    np.testing.assert_array_equal(got.ended.returns, [2.0, 30.0, 2.0, 400.0])
    np.testing.assert_array_equal(got.ended.seconds, [0.5, 0.75, 0.5, 1.0])
    more = collector.collect(
        DOUBLE, np.zeros(1, np.float32), IDENTITY, 1, np.random.default_rng(3)
    )
    np.testing.assert_array_equal(more.observations[0, :, 0], [1, 2, 1])  # it goes on where it was
    noise = np.random.default_rng(3).standard_normal((1, 3, 1), dtype=np.float32)
    mean = np.array([0.5, 1.5, 0.5])
    np.testing.assert_allclose(more.actions[0, :, 0], mean + noise[0, :, 0], atol=1e-6)
    collector.restart(np.array([1, 2, 3]))
    anew = collector.collect(
        DOUBLE, np.zeros(1, np.float32), IDENTITY, 1, np.random.default_rng(3)
    )
    np.testing.assert_array_equal(anew.observations[0, :, 0], 0.0)
    wide = Collector(Counting(), "task.yaml")  # type: ignore[arg-type]
    drawn = wide.collect(
        DOUBLE, np.log(np.full(1, 3.0, np.float32)), IDENTITY, 1, np.random.default_rng(3)
    )
    np.testing.assert_allclose(drawn.actions[0, :, 0], -0.5 + 3.0 * noise[0, :, 0], atol=1e-5)


def test_a_reward_that_is_no_number_names_the_task() -> None:
    collector = Collector(Counting(reward=np.inf), "task.yaml")  # type: ignore[arg-type]
    with pytest.raises(
        BadInput, match=r"^task.yaml: key 'reward': a reward is not finite \(got inf\)$"
    ):
        collector.collect(DOUBLE, np.zeros(1, np.float32), IDENTITY, 1, np.random.default_rng(0))


def test_one_episode_of_each_seed_is_flown_without_noise() -> None:
    episodes = Counting()
    act = NetworkFlight((), DOUBLE, IDENTITY, 3)
    got = fly_once(episodes, act, np.array([4, 5, 6]))  # type: ignore[arg-type]
    assert episodes.seeds == [4, 5, 6]
    np.testing.assert_array_equal(got.success, [True, False, False])
    np.testing.assert_array_equal(got.returns, [2.0, 30.0, 400.0])
    np.testing.assert_array_equal(got.seconds, [0.5, 0.75, 1.0])
    np.testing.assert_allclose(episodes.actions[1][:, 0], 0.5, atol=1e-6)
    nothing = EndedEpisodes.of([])
    assert [len(part) for part in nothing] == [0, 0, 0] and nothing.success.dtype == bool


def test_rows_of_a_training_are_read_back_and_later_ones_are_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 102.0, 106.0, 106.5, 200.0, 201.0])
    own_time = SimpleNamespace(perf_counter=lambda: next(clock))  # threads beside keep theirs
    monkeypatch.setattr("iap_learning.training.log.time", own_time)
    told: list[dict[str, Any]] = []
    with TrainingLog(tmp_path, told.append) as log:
        log.add("offline", 10, {"error": 0.5, "value": np.nan})
        log.add("online", 1000, {"success": 1.0, "return": -2.5, "sigma": np.inf})
        log.add("online", 1600, {"clipped": 0.25})
        assert log.reached == {"offline": 10, "online": 1600}
    rows = [
        {"stage": "offline", "steps": 10, "error": 0.5, "steps_per_s": 5.0},
        {"stage": "online", "steps": 1000, "success": 1.0, "return": -2.5, "steps_per_s": 250.0},
        {"stage": "online", "steps": 1600, "clipped": 0.25, "steps_per_s": 1200.0},
    ]
    assert told == log.rows == read_progress(tmp_path / PROGRESS) == rows
    assert (tmp_path / PROGRESS).read_text().splitlines()[0] == ",".join(COLUMNS)
    (events,) = (tmp_path / EVENTS).iterdir()
    written = events.read_bytes()
    for key in ("offline/error", "online/success", "online/return", "online/clipped"):
        assert key.encode() in written
    assert b"offline/value" not in written  # it was no number
    with TrainingLog(tmp_path, known=2) as again:
        assert again.rows == rows[:2]
        assert again.reached == {"offline": 10.0, "online": 1000.0}
        again.add("online", 1500, {})
    assert read_progress(tmp_path / PROGRESS)[2]["steps_per_s"] == 500.0
    assert read_progress(tmp_path / "none.csv") == []


@pytest.mark.parametrize(
    "line", ["online,ten", "online", "online,1.5", "online,5,x", "online" + ",1" * 30]
)
def test_a_damaged_line_of_a_table_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / PROGRESS).write_text(f"{','.join(COLUMNS)}\noffline,1\n{line}\n")
    with pytest.raises(BadInput, match=f"{PROGRESS}: line 3 is damaged"):
        read_progress(tmp_path / PROGRESS)
