# SPDX-License-Identifier: BSD-3-Clause
"""Judging of policies while they learn: always the same episodes without exploration, and the best policy is kept."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_learning.policies.layout import Header
from iap_learning.policies.policy import Policy
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.training.experience import fly_once
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Network

Keep = Callable[[Network, Scaling, "Best"], None]


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
    actor: Network,
    scaler: Scaling,
    training: dict[str, Any],
    *,
    settings: Mapping[str, Any],
    data: str | None,
) -> None:
    """Write a policy's file.

    Args:
        path: of it.
        episodes: that it was trained in.
        actor: its network.
        scaler: how it sees observations.
        training: what is to be noted of the training.
        settings: of the task's keys, with which it was made.
        data: SHA-256 of the data set it learned from; None without one.
    """
    weights = [np.asarray(layer.weights) for layer in actor]
    biases = [np.asarray(layer.biases) for layer in actor]
    header = Header.for_episodes(episodes, training, settings=settings, data=data)
    Policy(header, scaler.mean, scaler.deviation, weights, biases).save(path)


class Judge:
    """Flies policies in the same episodes, and keeps the best.

    Args:
        episodes: the worlds.
        seeds: (B,) of the episodes.
        keep: is given every policy that is better than those before.
        best: of those before; None where there are none.

    Attributes:
        best: so far.
    """

    def __init__(
        self, episodes: AnyEpisodes, seeds: np.ndarray, keep: Keep, best: Best | None
    ) -> None:
        self._episodes, self._seeds, self._keep, self.best = episodes, seeds, keep, best

    def __call__(self, actor: Network, scaling: Scaling, steps: int) -> dict[str, float]:
        """Judge a policy; returns what is to be reported."""
        episodes = fly_once(self._episodes, actor, scaling, self._seeds)
        candidate = Best(float(episodes.success.mean()), float(episodes.returns.mean()), steps)
        if self.best is None or candidate[:2] > self.best[:2]:
            self.best = candidate
            self._keep(actor, scaling, candidate)
        return {
            "judged_success": candidate.success,
            "judged_return": candidate.returns,
            "judged_seconds": float(episodes.seconds.mean()),
        }
