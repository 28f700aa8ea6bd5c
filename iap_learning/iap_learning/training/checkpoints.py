# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of training: all that it goes on from, in one file that is there as a whole or not at all."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_learning.training.libraries import jax

CHECKPOINT = "checkpoint.npz"
HEADER = "header"
Tree = TypeVar("Tree")


class Checkpoint(NamedTuple):
    """A checkpoint's file, read.

    Attributes:
        path: of it.
        header: what training noted.
        arrays: by their places in the tree.
    """

    path: Path
    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def save(path: Path, header: dict[str, Any], tree: Any) -> None:  # noqa: ANN401 - of arrays
    """Write a tree of arrays; equal ones give equal files.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    places, _ = jax.tree_util.tree_flatten_with_path(tree)
    arrays = {jax.tree_util.keystr(place): np.asarray(leaf) for place, leaf in places}
    text = np.array(json.dumps(header, sort_keys=True, allow_nan=False))
    buffer = io.BytesIO()
    np.savez(buffer, **{HEADER: text}, **arrays)  # type: ignore[arg-type] # of no other keys
    write_file(path, buffer.getvalue())


def load(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        BadInput: there is none, or it is cut short or damaged.
    """
    try:
        # NumPy leaves a file open that it opened itself and cannot read
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return Checkpoint(path, json.loads(str(arrays.pop(HEADER))), arrays)
    except FileNotFoundError as error:
        raise BadInput(f"{path}: there is no checkpoint to go on from") from error
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise BadInput(f"{path}: not a checkpoint, or cut short: {error}") from error


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
    for name, found, (_, wanted) in zip(names, leaves, places, strict=True):
        kind = (np.shape(wanted), np.asarray(wanted).dtype)
        if (found.shape, found.dtype) != kind:
            raise BadInput(
                f"{checkpoint.path}: array '{name}': has shape {found.shape} of {found.dtype};"
                f" {kind[0]} of {kind[1]} is expected"
            )
    return jax.tree_util.tree_unflatten(structure, leaves)
