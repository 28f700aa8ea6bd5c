# SPDX-License-Identifier: BSD-3-Clause
"""Trained networks as a policy's file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iap_learning.policies.policy import Header, Policy
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Network

POLICY = "policy.npz"


def write_policy(
    path: Path,
    episodes: AnyEpisodes,
    actor: Network,
    seen: Scaling,
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
        seen: how it sees observations.
        training: what is to be noted of the training.
        settings: of the task's keys, with which it was made.
        data: SHA-256 of the data set it learned from; None without one.
    """
    weights = [np.asarray(layer.weights) for layer in actor]
    biases = [np.asarray(layer.biases) for layer in actor]
    header = Header.for_episodes(episodes, training, settings=settings, data=data)
    Policy(header, seen.mean, seen.deviation, weights, biases).save(path)
