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
    """

    seed: int
    observations: Floats
    actions: Floats
    rewards: Array
    terminations: Booleans
    truncations: Booleans
    success: bool
    outcome: str


class EpisodeAgent(Protocol):
    """An agent or a policy that flies."""

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Begin with some worlds' new episodes, or with all."""

    def __call__(self) -> Floats:
        """Actions (B, m) at the present instant."""


def collect(
    episodes: AnyEpisodes,
    flyer: EpisodeAgent,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
) -> list[Rollout]:
    """One episode of each seed, in their order; worlds that are done take the next seed.

    Args:
        episodes: that fly them; each comes out the same however many worlds there are.
        flyer: who flies.
        seeds: of the episodes.
        progress: is told how many are over.
    """
    recording = _RolloutRecording(episodes, flyer, seeds)
    while recording.is_flying:
        recording.step()
        progress(len(recording.done))
    return [recording.done[k] for k in range(len(seeds))]


class _RolloutRecording:
    """Episodes that are being flown.

    Attributes:
        done: finished ones by their number among the seeds.
    """

    def __init__(self, episodes: AnyEpisodes, flyer: EpisodeAgent, seeds: Sequence[int]) -> None:
        self._episodes, self._flyer, self._seeds = episodes, flyer, seeds
        flown = min(episodes.count, len(seeds))
        self._numbers = np.arange(flown)  # of the episodes that worlds fly
        self._worlds = np.arange(flown)  # that record
        self._next = flown
        self.done: dict[int, Rollout] = {}
        count, limit = episodes.count, episodes.limit
        self._seen = np.zeros((count, limit + 1, episodes.observed), np.float32)
        self._actions = np.zeros((count, limit, episodes.size), np.float32)
        self._rewards = np.zeros((count, limit))
        self._seen[self._worlds, 0] = episodes.reset(
            self._worlds, [seeds[k] for k in range(flown)]
        )
        flyer.reset()

    @property
    def is_flying(self) -> bool:
        return bool(len(self._worlds))

    def step(self) -> None:
        """Fly a step and record it; finish what is over and begin what is left."""
        worlds = self._worlds
        before = self._episodes.steps[worlds]
        actions = self._flyer()
        step = self._episodes.step(actions)
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
        last = np.arange(steps) == steps - 1
        return Rollout(
            self._seeds[number],
            self._seen[world, : steps + 1].copy(),
            self._actions[world, :steps].copy(),
            self._rewards[world, :steps].copy(),
            last & (not is_late),
            last & is_late,
            bool(success),
            OUTCOMES[int(self._episodes.outcome[world])],
        )

    def _go_on(self, free: NDArray[np.int64]) -> None:
        """Let worlds, by their places among those that record, take the next seeds, or rest."""
        begun = free[: len(self._seeds) - self._next]
        if len(begun):
            numbers = np.arange(self._next, self._next + len(begun))
            worlds = self._worlds[begun]
            self._numbers[begun], self._next = numbers, self._next + len(begun)
            seeds = [self._seeds[k] for k in numbers.tolist()]
            self._seen[worlds, 0] = self._episodes.reset(worlds, seeds)
            self._flyer.reset(worlds)
        rest = free[len(begun) :]
        self._worlds, self._numbers = np.delete(self._worlds, rest), np.delete(self._numbers, rest)
