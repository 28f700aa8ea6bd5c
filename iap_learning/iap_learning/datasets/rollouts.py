# SPDX-License-Identifier: BSD-3-Clause
"""Whole episodes, recorded while somebody flies them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Booleans
from iap_learning.tasks.episodes import AnyEpisodes
from iap_simulation.tasks.outcomes import OUTCOMES

AT_ONCE = 256  # worlds
Floats = NDArray[np.float32]


class Rollout(NamedTuple):
    """One episode of T steps.

    Attributes:
        seed: with which it was flown.
        observations: (T + 1, n) from its start to its end.
        actions: (T, m) in [-1, 1].
        rewards: (T,).
        terminations: (T,) whether it has failed or arrived.
        truncations: (T,) whether its time is up.
        success: whether it has succeeded.
        outcome: see `iap_simulation.tasks.outcomes.OUTCOMES`.
        expert_actions: (T, m) of an expert at the same instants; None without one.
    """

    seed: int
    observations: Floats
    actions: Floats
    rewards: Array
    terminations: Booleans
    truncations: Booleans
    success: bool
    outcome: str
    expert_actions: Floats | None = None


class EpisodeAgent(Protocol):
    """An agent or a policy that flies."""

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Begin with some worlds' new episodes, or with all."""

    def __call__(self, observations: Floats, /) -> Floats:
        """Actions (B, m) at the present instant, at which observations (B, n) are made; once in every step."""


def collect(
    episodes: AnyEpisodes,
    flyer: EpisodeAgent,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
    *,
    expert: EpisodeAgent | None = None,
) -> list[Rollout]:
    """One episode of each seed, in their order; worlds that are done take the next seed.

    Args:
        episodes: that fly them; each comes out the same however many worlds there are.
        flyer: who flies.
        seeds: of the episodes.
        progress: is told how many are over.
        expert: whose actions are recorded, too.
    """
    recording = _RolloutRecording(episodes, flyer, seeds, expert)
    while recording.is_flying:
        recording.step()
        progress(len(recording.done))
    return [recording.done[k] for k in range(len(seeds))]


class _RolloutRecording:
    """Episodes that are being flown.

    Attributes:
        done: finished ones by their number among the seeds.
    """

    def __init__(
        self,
        episodes: AnyEpisodes,
        flyer: EpisodeAgent,
        seeds: Sequence[int],
        expert: EpisodeAgent | None,
    ) -> None:
        self._episodes, self._flyer, self._seeds = episodes, flyer, seeds
        self._expert = expert
        flown = min(episodes.count, len(seeds))
        self._numbers = np.arange(flown)  # of the episodes that worlds fly
        self._worlds = np.arange(flown)  # that record
        self._next = flown
        self.done: dict[int, Rollout] = {}
        count, limit = episodes.count, episodes.limit
        self._seen = np.zeros((count, limit + 1, episodes.observed), np.float32)
        self._now = np.zeros((count, episodes.observed), np.float32)
        self._actions = np.zeros((count, limit, episodes.size), np.float32)
        self._expert_actions = np.zeros_like(self._actions)
        self._rewards = np.zeros((count, limit))
        self._begin(self._worlds, seeds[:flown])

    @property
    def is_flying(self) -> bool:
        return bool(len(self._worlds))

    def step(self) -> None:
        """Fly a step and record it; finish what is over and begin what is left."""
        worlds = self._worlds
        before = self._episodes.steps[worlds]
        actions = self._flyer(self._now)
        if self._expert is not None:
            is_flying = self._expert is self._flyer  # and has been asked in this step
            expert_actions = actions if is_flying else self._expert(self._now)
            self._expert_actions[worlds, before] = expert_actions[worlds]
        step = self._episodes.step(actions)
        self._now = step.observation.copy()
        self._actions[worlds, before] = actions[worlds]
        self._rewards[worlds, before] = step.reward[worlds]
        self._seen[worlds, before + 1] = step.observation[worlds]
        over = (step.terminated | step.truncated)[worlds]
        for world, number in zip(worlds[over].tolist(), self._numbers[over].tolist(), strict=True):
            self.done[number] = self._rollout(
                world, number, step.truncated[world], step.success[world]
            )
        self._go_on(np.flatnonzero(over))

    def _rollout(self, world: int, number: int, is_late: bool, success: bool) -> Rollout:
        steps = int(self._episodes.steps[world])
        last, has_expert = np.arange(steps) == steps - 1, self._expert is not None
        return Rollout(
            self._seeds[number],
            self._seen[world, : steps + 1].copy(),
            self._actions[world, :steps].copy(),
            self._rewards[world, :steps].copy(),
            last & (not is_late),
            last & is_late,
            bool(success),
            OUTCOMES[int(self._episodes.outcome[world])],
            self._expert_actions[world, :steps].copy() if has_expert else None,
        )

    def _go_on(self, free: NDArray[np.int64]) -> None:
        """Let worlds, by their places among those that record, take the next seeds, or rest."""
        begun = free[: len(self._seeds) - self._next]
        if len(begun):
            numbers = np.arange(self._next, self._next + len(begun))
            worlds = self._worlds[begun]
            self._numbers[begun], self._next = numbers, self._next + len(begun)
            self._begin(worlds, [self._seeds[k] for k in numbers.tolist()])
        rest = free[len(begun) :]
        self._worlds, self._numbers = np.delete(self._worlds, rest), np.delete(self._numbers, rest)

    def _begin(self, worlds: NDArray[np.int64], seeds: Sequence[int]) -> None:
        """Begin the episodes of seeds in worlds."""
        start = self._episodes.reset(worlds, seeds)
        self._seen[worlds, 0] = self._now[worlds] = start
        self._flyer.reset(worlds)
        if self._expert is not None and self._expert is not self._flyer:
            self._expert.reset(worlds)
