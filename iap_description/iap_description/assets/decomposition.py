# SPDX-License-Identifier: BSD-3-Clause
"""Convex pieces of meshes that are not convex, by coacd, kept in the user's cache folder.

Wei, Liu, Ling and Su, "Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree Search"
(SIGGRAPH 2022). A mesh whose pieces are kept needs no coacd.
"""

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.array_files import DAMAGE
from iap_description.config.text_files import reason_of
from iap_description.config.whole_files import write_whole
from iap_description.errors import BadInput
from iap_description.kernel_folder import user_cache, writable
from iap_description.process.extras import missing

PARAMETERS: dict[str, Any] = {"threshold": 0.05, "seed": 1}  # largest concavity, and dice of coacd


def convex_pieces(vertices: Array, faces: Integers) -> list[Array]:
    """Corners (n, 3) of convex pieces that a closed mesh is made of, nearly.

    Args:
        vertices: (n, 3).
        faces: (m, 3), counter-clockwise from outside.

    Raises:
        BadInput: coacd is not installed, finds no pieces, or the cache cannot be written.
    """
    path = _folder() / f"{_key(vertices, faces)}.npz"
    pieces = _read(path)
    if pieces is None:
        pieces = _made(vertices, faces)
        _write(path, pieces)
    return pieces


def _made(vertices: Array, faces: Integers) -> list[Array]:
    try:
        import coacd
    except ModuleNotFoundError as error:
        raise missing("coacd", "key 'contact': decomposed meshes need", "scenes") from error
    coacd.set_log_level("error")
    pieces = coacd.run_coacd(coacd.Mesh(vertices, faces.astype(np.int32)), **PARAMETERS)
    if not pieces:
        raise BadInput("key 'contact': coacd finds no convex pieces in a mesh: take 'hulls'")
    return [np.asarray(points, dtype=np.float64) for points, _ in pieces]


def _folder() -> Path:
    return writable(user_cache() / "iap" / "decomposed")


def _key(vertices: Array, faces: Integers) -> str:
    """A key of all that pieces depend on: the triangles and the parameters."""
    digest = hashlib.sha256(repr(sorted(PARAMETERS.items())).encode())
    digest.update(np.ascontiguousarray(vertices, np.float64).tobytes())
    digest.update(np.ascontiguousarray(faces, np.int64).tobytes())
    return digest.hexdigest()[:24]


def _read(path: Path) -> list[Array] | None:
    """Pieces of a file, all points with the number of each piece's; None without one, or of one that was cut short."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            points, sizes = arrays["points"], arrays["sizes"]
    except DAMAGE:
        return None
    if points.ndim != 2 or points.shape[1:] != (3,) or sizes.ndim != 1 or not len(sizes):
        return None
    ends = np.cumsum(sizes)
    return np.split(points, ends[:-1]) if ends[-1] == len(points) else None


def _write(path: Path, pieces: list[Array]) -> None:
    data = io.BytesIO()
    np.savez(data, points=np.vstack(pieces), sizes=np.array([len(each) for each in pieces]))
    try:
        write_whole(path, data.getvalue())
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {reason_of(error)}") from error
