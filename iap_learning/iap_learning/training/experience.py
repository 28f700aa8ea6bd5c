# SPDX-License-Identifier: BSD-3-Clause
"""Steps of many worlds under a policy that explores, and what has become of the episodes that ended in them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_learning.policies.layout import AnyBlock
from iap_learning.tasks.episodes import AnyEpisodes, step_until_over
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Floats
from iap_learning.training.policy_network import NetworkFlight, PolicyNetwork, memory_size


class EndedEpisodes(NamedTuple):
    """Episodes that are over.

    Attributes:
        success: (k,) whether each was one.
        returns: (k,) sums of rewards.
        seconds: (k,) how long each lasted [s].
    """

    success: Booleans
    returns: Array
    seconds: Array

    @classmethod
    def of(cls, parts: list["EndedEpisodes"]) -> "EndedEpisodes":
        """All episodes of several parts."""
        none = cls(np.zeros(0, bool), np.zeros(0), np.zeros(0))
        return cls(*map(np.concatenate, zip(none, *parts, strict=True)))


class Experience(NamedTuple):
    """T steps of B worlds.

    Attributes:
        observations: (T, B, n) before each step.
        actions: (T, B, m) as they were drawn, not clipped.
        rewards: (T, B).
        following: (T, B, n) observations after each step, of the old episode.
        terminated: (T, B).
        truncated: (T, B).
        means: (T, B, m) of the actions.
        memories: (T, B, k) of the policy before each step.
        memories_after: (T, B, k) after it, of the old episode.
        ended: the episodes that are over.
    """

    observations: Floats
    actions: Floats
    rewards: Array
    following: Floats
    terminated: Booleans
    truncated: Booleans
    means: Floats
    memories: Floats
    memories_after: Floats
    ended: EndedEpisodes

    @property
    def starts(self) -> Floats:
        """(T, B) 1 where an episode begins after one that has ended in the step before; else 0."""
        over = self.terminated | self.truncated
        return np.vstack([np.zeros_like(over[:1]), over[:-1]]).astype(np.float32)


class Collector:
    """Flies worlds on and on; what is over begins anew.

    Args:
        episodes: the worlds.
        source: the task's file, for errors.
        blocks: of policies, before their perceptron.
    """

    def __init__(
        self, episodes: AnyEpisodes, source: str, blocks: Sequence[AnyBlock] = ()
    ) -> None:
        self.episodes, self.source, self._blocks = episodes, source, blocks
        self._seen = episodes.observe()
        self._memory = np.zeros((episodes.count, memory_size(blocks)), np.float32)

    def restart(self, seeds: np.ndarray) -> None:
        """Begin the first episodes of new seeds (B,) in all worlds."""
        self.episodes.reset(seeds=seeds.tolist())
        self._seen = self.episodes.observe()
        self._memory[:] = 0.0

    def collect(
        self,
        actor: PolicyNetwork,
        log_sigma: Floats,
        scaling: Scaling,
        steps: int,
        rng: np.random.Generator,
    ) -> Experience:
        """Fly some steps.

        Args:
            actor: network from scaled observations to the mean of actions.
            log_sigma: (m,) logarithm of their deviation.
            scaling: of observations.
            steps: T.
            rng: draws the noise.

        Raises:
            BadInput: a reward is not finite.
        """
        episodes = self.episodes
        shape, size = (steps, episodes.count), (episodes.observed, episodes.size)
        observations, following = np.empty((2, *shape, size[0]), np.float32)
        noise = rng.standard_normal((*shape, size[1]), dtype=np.float32) * np.exp(log_sigma)
        actions, means = np.empty((2, *shape, size[1]), np.float32)
        memories, memories_after = np.empty((2, *shape, self._memory.shape[1]), np.float32)
        flight = NetworkFlight(self._blocks, actor, scaling, episodes.count)
        flight.memory, rewards = self._memory, np.empty(shape)
        terminated, truncated = np.empty((2, *shape), bool)
        ended = []
        for t in range(steps):
            observations[t] = self._seen
            memories[t] = flight.memory
            means[t] = flight(self._seen)
            memories_after[t], actions[t] = flight.memory, means[t] + noise[t]
            step = episodes.step(actions[t])
            rewards[t], following[t] = step.reward, step.observation
            terminated[t], truncated[t] = step.terminated, step.truncated
            self._seen = step.observation
            over = step.terminated | step.truncated
            if over.any():
                ended.append(self._summary(step.success, over))
                self._seen = following[t].copy()
                self._seen[over] = episodes.reset(over)
                flight.reset(over)
        self._check(rewards)
        return Experience(
            observations,
            actions,
            rewards,
            following,
            terminated,
            truncated,
            means,
            memories,
            memories_after,
            EndedEpisodes.of(ended),
        )

    def _summary(self, success: Booleans, over: Booleans) -> EndedEpisodes:
        episodes = self.episodes
        seconds = episodes.steps[over].astype(np.float64) * episodes.dt
        return EndedEpisodes(success[over], episodes.returns[over], seconds)

    def _check(self, rewards: Array) -> None:
        finite = np.isfinite(rewards)
        if not finite.all():
            t, b = np.argwhere(~finite)[0]
            value = rewards[t, b]
            raise BadInput(f"{self.source}: key 'reward': a reward is not finite (got {value})")


def fly_once(
    episodes: AnyEpisodes, act: Callable[[Floats], Floats], seeds: np.ndarray
) -> EndedEpisodes:
    """Fly the first episode of each seed (B,), one in each world, by actions (B, m) at observations (B, n)."""
    episodes.reset(seeds=seeds.tolist())
    count = episodes.count
    result = EndedEpisodes(np.zeros(count, bool), np.zeros(count), np.zeros(count))
    for step, over in step_until_over(episodes, episodes.observe(), act):
        result.success[over], result.returns[over] = step.success[over], episodes.returns[over]
        result.seconds[over] = episodes.steps[over] * episodes.dt
    return result
