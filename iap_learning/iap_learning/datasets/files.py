# SPDX-License-Identifier: BSD-3-Clause
"""Data sets of episodes in Minari's format (https://minari.farama.org): HDF5 and a JSON file beside it.

The library whose format data sets have: an extra.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.errors import BadInput
from iap_description.process.extras import missing
from iap_learning.datasets.rollouts import Rollout
from iap_learning.environments.spaces import action_space, gymnasium, observation_space
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.task import Task

DATA = "data"  # folder of a data set's files in its own, as Minari has it


try:
    import h5py as h5py  # which Minari needs for its files
    import minari as minari
except ModuleNotFoundError as error:
    raise missing(error.name, "data sets need", "training") from error


class Dataset(NamedTuple):
    """A data set.

    Attributes:
        path: its folder.
        rollouts: its episodes.
        metadata: what else is known of it.
    """

    path: Path
    rollouts: tuple[Rollout, ...]
    metadata: dict[str, Any]


def free_id(root: Path, task: str, policy: str) -> str:
    """Minari's name of a new data set in a folder of data sets: ``iap/TASK/POLICY-vN`` with the next N."""
    base = f"iap/{task}/{policy}"
    version = 0
    while (root / f"{base}-v{version}").exists():
        version += 1
    return f"{base}-v{version}"


def write_dataset(
    root: Path,
    name: str,
    rollouts: Sequence[Rollout],
    episodes: AnyEpisodes,
    policy: str,
    spec: gymnasium.envs.registration.EnvSpec,
) -> Path:
    """Write a data set, return its folder; ``minari.load_dataset(name)`` finds it with MINARI_DATASETS_PATH at `root`.

    Args:
        root: folder of data sets.
        name: Minari's, see `free_id`.
        rollouts: its episodes.
        episodes: that have flown them.
        policy: who has.
        spec: from which gymnasium makes its environment, see `iap_learning.registration.spec_of`.

    Raises:
        BadInput: there is one of this name.
    """
    folder = root / name
    try:
        (folder / DATA).mkdir(parents=True)
    except FileExistsError as error:
        raise BadInput(f"{folder}: there is a data set already") from error
    spaces = {
        "observation_space": observation_space(episodes),
        "action_space": action_space(episodes),
    }
    whole = (folder / DATA).absolute()  # Minari measures a relative one from within itself
    storage = minari.dataset.minari_storage.MinariStorage.new(
        whole, **spaces, env_spec=spec, jpeg_encoding=False
    )
    successes = sum(each.success for each in rollouts)
    storage.update_metadata(
        {
            "dataset_id": name,
            "minari_version": minari.__version__,
            "algorithm_name": policy,
            "iap_task": episodes.task.name,
            "iap_task_sha256": episodes.task.digest,
            "iap_policy": policy,
            "iap_successes": successes,
        }
    )
    storage.update_episodes([_buffer(k, each) for k, each in enumerate(rollouts)])
    return folder


def _buffer(number: int, rollout: Rollout) -> Any:  # noqa: ANN401 - Minari's
    return minari.data_collector.EpisodeBuffer(
        id=number,
        seed=rollout.seed,
        options={"success": rollout.success, "outcome": rollout.outcome},
        observations=rollout.observations,
        actions=rollout.actions,
        rewards=rollout.rewards.tolist(),
        terminations=rollout.terminations.tolist(),
        truncations=rollout.truncations.tolist(),
        infos={},
    )


def read_dataset(folder: Path, task: Task) -> Dataset:
    """Read a data set of a task, or one of the same observations and actions that another program has written.

    Args:
        folder: of the data set, with the folder `DATA` in it.
        task: that it is to be of.

    Raises:
        BadInput: it cannot be read, or is of another task.
    """
    try:
        dataset = minari.MinariDataset(folder / DATA)
        metadata = dict(dataset.storage.metadata)
        rollouts = tuple(_rollout(each) for each in _raw_episodes(dataset))
    except (OSError, ValueError, KeyError, json.JSONDecodeError) as error:
        raise BadInput(f"{folder}: no data set of Minari can be read there ({error})") from error
    digest, expected = metadata.get("iap_task_sha256"), task.digest
    if digest is not None and digest != expected:
        raise BadInput(
            f"{folder}: key 'iap_task_sha256': it is of task '{metadata.get('iap_task')}' as that was, not of"
            f" '{task.name}' as it is"
        )
    return Dataset(folder, rollouts, metadata)


def _raw_episodes(dataset: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:  # noqa: ANN401
    """Arrays and metadata of every episode."""
    numbers = range(dataset.total_episodes)
    storage = dataset.storage
    pairs = zip(storage.get_episodes(numbers), storage.get_episode_metadata(numbers), strict=True)
    return list(pairs)


def _rollout(pair: tuple[dict[str, Any], dict[str, Any]]) -> Rollout:
    episode, about = pair
    options = about.get("options", {})
    return Rollout(
        int(about.get("seed") or 0),
        np.asarray(episode["observations"], np.float32),
        np.asarray(episode["actions"], np.float32),
        np.asarray(episode["rewards"], np.float64),
        np.asarray(episode["terminations"], bool),
        np.asarray(episode["truncations"], bool),
        bool(options.get("success", False)),
        str(options.get("outcome", "unknown")),
    )
