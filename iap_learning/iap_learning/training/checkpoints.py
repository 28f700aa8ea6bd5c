# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of trainings: files with all that one goes on from, which are there as a whole or not at all."""

import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from iap_description.config.record import Record, validate
from iap_description.config.text_files import is_file
from iap_description.config.values import Real, Share
from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_learning.policies.array_file import array_file_bytes, read_array_file
from iap_learning.training.libraries import jax

Tree = TypeVar("Tree")


class TrainingProgress(Record):
    """Progress of a training, which a checkpoint notes beside its arrays.

    Attributes:
        experiment: its digest.
        stage: that was under way.
        done: legs of it.
        best: share, mean sum of rewards and steps of the policy that was kept; None before the first.
        data: SHA-256 of the data set; None without one.
        rows: of the table.
    """

    experiment: str = ""
    stage: str | None = None
    done: Annotated[int, Field(strict=True, ge=0)] = 0
    best: tuple[Share, Real, int] | None = None
    data: str | None = None
    rows: Annotated[int, Field(strict=True, ge=0)] = 0


class Checkpoint(NamedTuple):
    """A file with all that a training goes on from, which is there as a whole or not at all.

    Attributes:
        path: of it.
        progress: as the training noted it.
        arrays: by their places in the tree.
    """

    path: Path
    progress: TrainingProgress
    arrays: dict[str, np.ndarray]


def save(path: Path, progress: TrainingProgress, tree: Any) -> None:  # noqa: ANN401 - of arrays
    """Write a tree of arrays; equal ones give equal files.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    places, _ = jax.tree_util.tree_flatten_with_path(tree)
    arrays = {jax.tree_util.keystr(place): np.asarray(leaf) for place, leaf in places}
    text = json.dumps(progress.model_dump(mode="json"), sort_keys=True, allow_nan=False)
    write_file(path, array_file_bytes(text, arrays))


def load(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        BadInput: there is none, or it is cut short or damaged.
    """
    if not is_file(path):
        raise BadInput(f"{path}: there is no checkpoint to go on from")
    header, arrays = read_array_file(path, "a checkpoint")
    return Checkpoint(path, validate(TrainingProgress, header, source=f"{path}: header"), arrays)


def restored(checkpoint: Checkpoint, like: Tree) -> Tree:
    """The tree of a checkpoint.

    Args:
        checkpoint: of `load`.
        like: a tree with its shapes and types.

    Raises:
        BadInput: it has other arrays.
    """
    places, structure = jax.tree_util.tree_flatten_with_path(like)
    names = [jax.tree_util.keystr(place) for place, _ in places]
    if set(names) != set(checkpoint.arrays):
        odd = min(set(names) ^ set(checkpoint.arrays))
        raise BadInput(f"{checkpoint.path}: array '{odd}': the experiment has other ones")
    leaves = [checkpoint.arrays[name] for name in names]
    for name, leaf, (_, expected) in zip(names, leaves, places, strict=True):
        kind = (np.shape(expected), np.asarray(expected).dtype)
        if (leaf.shape, leaf.dtype) != kind:
            raise BadInput(
                f"{checkpoint.path}: array '{name}': has shape {leaf.shape} of {leaf.dtype};"
                f" {kind[0]} of {kind[1]} is expected"
            )
    return jax.tree_util.tree_unflatten(structure, leaves)
