# SPDX-License-Identifier: BSD-3-Clause
"""Trained networks as a policy's file."""

from pathlib import Path
from typing import Any

import numpy as np

from iap_learning.episodic import Episodic
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Hashes, Header, Policy, task_hash
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Network

POLICY = "policy.npz"


def header_of(episodes: Episodic, training: dict[str, Any], data: str | None) -> Header:
    """What stands beside the numbers of a policy that was trained in these episodes."""
    task = episodes.task
    layout = Layout.of_episodes(episodes)
    return Header(
        task=task.name,
        scenario=task.scenario,
        **{key: getattr(layout, key) for key in Layout.model_fields},
        activation="tanh",
        hashes=Hashes(task=task_hash(task), data=data),
        training=training,
    )


def write_policy(
    path: Path,
    episodes: Episodic,
    actor: Network,
    seen: Scaling,
    training: dict[str, Any],
    data: str | None,
) -> None:
    """Write a policy's file.

    Args:
        path: of it.
        episodes: that it was trained in.
        actor: its network.
        seen: how it sees observations.
        training: what is to be noted of the training.
        data: SHA-256 of the data set it learned from; None without one.
    """
    weights = [np.asarray(layer.weights) for layer in actor]
    biases = [np.asarray(layer.biases) for layer in actor]
    header = header_of(episodes, training, data)
    Policy(header, seen.mean, seen.deviation, weights, biases).save(path)
