# SPDX-License-Identifier: BSD-3-Clause
"""Judging of policies while they learn: always the same episodes without exploration, and the best policy is kept."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_learning.policies.layout import AnyBlock, Header
from iap_learning.policies.policy import Policy
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.training.experience import fly_once
from iap_learning.training.moments import Scaling
from iap_learning.training.policy_network import NetworkFlight, PolicyNetwork

Keep = Callable[[PolicyNetwork, Scaling, "Best"], None]


class Best(NamedTuple):
    """Results of a policy in an episode of each world; better ones are greater.

    Attributes:
        success: share.
        returns: mean sum of rewards, which decides between equal shares.
        steps: online, after which it was.
    """

    success: float
    returns: float
    steps: int


def write_policy(
    path: Path,
    episodes: AnyEpisodes,
    network: PolicyNetwork,
    scaler: Scaling,
    training: dict[str, Any],
    *,
    settings: Mapping[str, Any],
    data: str | None,
    blocks: Sequence[AnyBlock] = (),
) -> None:
    """Write a policy's file.

    Args:
        path: of it.
        episodes: that it was trained in.
        network: its weights.
        scaler: how it sees observations.
        training: what is to be noted of the training.
        settings: of the task's keys, with which it was made.
        data: SHA-256 of the data set it learned from; None without one.
        blocks: before its perceptron.
    """
    weights = [np.asarray(layer.weights) for layer in network.layers]
    biases = [np.asarray(layer.biases) for layer in network.layers]
    header = Header.for_episodes(episodes, training, settings=settings, data=data, blocks=blocks)
    numbers = (scaler.mean, scaler.deviation, weights, biases)
    Policy(header, *numbers, blocks=network.blocks).save(path)


class Judge:
    """Flies policies in the same episodes, and keeps the best.

    Args:
        episodes: the worlds.
        seeds: (B,) of the episodes.
        keep: is given every policy that is better than those before.
        best: of those before; None where there are none.
        blocks: of policies, before their perceptron.

    Attributes:
        best: so far.
    """

    def __init__(
        self,
        episodes: AnyEpisodes,
        seeds: np.ndarray,
        keep: Keep,
        best: Best | None,
        blocks: Sequence[AnyBlock] = (),
    ) -> None:
        self._episodes, self._seeds, self._keep, self.best = episodes, seeds, keep, best
        self._blocks = blocks

    def __call__(self, network: PolicyNetwork, scaling: Scaling, steps: int) -> dict[str, float]:
        """Judge a policy; returns what is to be reported."""
        act = NetworkFlight(self._blocks, network, scaling, self._episodes.count)
        episodes = fly_once(self._episodes, act, self._seeds)
        candidate = Best(float(episodes.success.mean()), float(episodes.returns.mean()), steps)
        if self.best is None or candidate[:2] > self.best[:2]:
            self.best = candidate
            self._keep(network, scaling, candidate)
        return {
            "judged_success": candidate.success,
            "judged_return": candidate.returns,
            "judged_seconds": float(episodes.seconds.mean()),
        }
