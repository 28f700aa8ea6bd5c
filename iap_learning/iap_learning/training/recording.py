# SPDX-License-Identifier: BSD-3-Clause
"""Episodes that the stage offline learns from: flown anew by an expert, or read from a data set."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.errors import BadInput
from iap_learning.datasets.rollouts import Rollout, collect
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import agent_of
from iap_learning.training.experiment import Data
from iap_learning.training.transitions import Transitions


class Recorded(NamedTuple):
    """Recorded steps.

    Attributes:
        steps: of all episodes that are kept.
        success: share of successes in all episodes.
        digest: SHA-256 of the steps' numbers, in hexadecimal.
    """

    steps: Transitions
    success: float
    digest: str


def recorded(data: Data, episodes: AnyEpisodes, seeds: np.ndarray) -> Recorded:
    """Let an expert fly, or read a data set.

    Args:
        data: what is learned from.
        episodes: that are flown.
        seeds: of as many episodes as there are to be.

    Raises:
        BadInput: there is no such expert or data set for this task, or nothing is kept.
    """
    rollouts: Sequence[Rollout]
    if data.folder is None:
        rollouts = collect(episodes, agent_of(data.policy, episodes), seeds.tolist())
        source = f"data of '{data.policy}'"
    else:
        rollouts, source = _read(Path(data.folder), episodes), data.folder
    success = float(np.mean([each.success for each in rollouts]))
    kept = [each for each in rollouts if each.success or data.keep == "all"]
    if not kept:
        raise BadInput(f"{source}: no episode is a success, and offline.data.keep wants these")
    steps = transitions(kept, source)
    digest = hashlib.sha256(b"".join(part.tobytes() for part in steps))
    return Recorded(steps, success, digest.hexdigest())


def _read(folder: Path, episodes: AnyEpisodes) -> Sequence[Rollout]:
    from iap_learning.datasets.files import read_dataset  # which needs Minari and gymnasium

    rollouts = read_dataset(folder, episodes.task).rollouts
    if not rollouts:
        raise BadInput(f"{folder}: the data set has no episodes")
    sizes = rollouts[0].observations.shape[1], rollouts[0].actions.shape[1]
    if sizes != (episodes.observed, episodes.size):
        raise BadInput(
            f"{folder}: has {sizes[0]} observed numbers and {sizes[1]} of actions; task"
            f" '{episodes.task.name}' has {episodes.observed} and {episodes.size}"
        )
    return rollouts


def transitions(rollouts: Sequence[Rollout], source: str) -> Transitions:
    """The steps of episodes, one after the other.

    Raises:
        BadInput: a number is not finite.
    """
    return Transitions.of(
        np.concatenate([each.observations[:-1] for each in rollouts]),
        np.concatenate([each.actions for each in rollouts]),
        np.concatenate([each.rewards for each in rollouts]),
        np.concatenate([each.observations[1:] for each in rollouts]),
        np.concatenate([each.terminations for each in rollouts]),
        source=source,
    )
