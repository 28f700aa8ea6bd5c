# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files (STL, OBJ, PLY, OFF), checked: one closed surface around a volume."""

import io
from functools import lru_cache
from os.path import abspath, expanduser  # of every name
from pathlib import Path

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.text_files import is_file, reason_of
from iap_description.geometry.solids import moments

Faces = Integers

DATA = Path(__file__).parents[1] / "data"
PACKAGE = "package://iap_description/"  # of meshes: a URI for ROS, a file for PyBullet
KINDS = ("stl", "obj", "ply", "off")  # endings
TEXTS = ("obj", "off")  # that are no bytes
FLAT = 1e-9  # volume relative to the cube of the largest extent
FARTHEST = 1e6  # coordinate of a vertex [m]
MAX_MESH = 256 << 20  # bytes of a file, which is read as a whole


def mesh_path(mesh_file: str) -> str:
    """The path of a mesh file, which may be one of this package."""
    if mesh_file.startswith(PACKAGE):
        return str(DATA / mesh_file.removeprefix(PACKAGE))
    return str(Path(mesh_file).expanduser())


def whole_path(name: str) -> str:
    """The whole path of a file or folder, which others also find from another folder; one of this package as it is."""
    return name if name.startswith(PACKAGE) else abspath(expanduser(name))


def read_mesh(path: str) -> tuple[Array, Faces]:
    """Vertices (n, 3) and faces (m, 3) of a file; all faces look outwards, or all inwards.

    Raises:
        ValueError: the file is missing, too large or not a mesh, or its surface is open, not
            manifold, or without volume.
    """
    if not is_file(Path(path)):
        raise ValueError(f"there is no file {path}")
    status = Path(path).stat()
    if status.st_size > MAX_MESH:
        raise ValueError(f"{path} is longer than {MAX_MESH >> 20} MiB: give a coarser mesh")
    return _read(path, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: str, _: int) -> tuple[Array, Faces]:
    """The mesh in a file as it was at a time [ns]."""
    import trimesh  # takes half a second, and few worlds have meshes

    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise ValueError(f"{path} is of no known kind of mesh: choose {', '.join(KINDS)}")
    try:
        # Of texts the characters, lest a package that guesses encodings be asked where there is one.
        source = io.StringIO(Path(path).read_text("utf-8-sig")) if kind in TEXTS else path
        with np.errstate(all="ignore"):  # what becomes endless is refused by its place
            mesh = trimesh.load_mesh(source, file_type=kind, process=False)
    except IndexError as error:
        raise ValueError(f"{path} has a triangle of a vertex that is not there") from error
    except Exception as error:  # its readers raise whatever they meet
        reason = reason_of(error)
        if isinstance(error, UnicodeDecodeError | ModuleNotFoundError):
            reason = "its text is not UTF-8"
        raise ValueError(f"{path} is not a mesh that can be read: {reason}") from error
    if not len(mesh.faces):
        raise ValueError(f"{path} holds no triangles")
    if not (0 <= mesh.faces.min() and mesh.faces.max() < len(mesh.vertices)):
        raise ValueError(f"{path} has a triangle of a vertex that is not there")
    if not (np.abs(mesh.vertices) < FARTHEST).all():
        raise ValueError(f"the mesh {path} has a vertex that is not within {FARTHEST:g} m")
    try:
        with np.errstate(all="ignore"):
            mesh.merge_vertices(merge_tex=True, merge_norm=True)
    except OverflowError as error:  # of colours or normals that are no numbers of their kind
        raise ValueError(f"{path} is not a mesh that can be read: {error}") from error
    vertices = np.asarray(mesh.vertices, dtype=np.float64)
    faces = np.asarray(mesh.faces, dtype=np.int64)
    check_closed(path, vertices, faces)
    return vertices, faces


def check_closed(path: str, vertices: Array, faces: Faces) -> None:
    """Refuse triangles that are not the surface of a volume.

    Args:
        path: names the mesh.
        vertices: (n, 3).
        faces: (m, 3).

    Raises:
        ValueError: the surface is open, not manifold, or without volume.
    """
    _check(path, faces)
    if abs(moments(vertices, faces)[0]) < FLAT * np.ptp(vertices, axis=0).max() ** 3:
        raise ValueError(f"the mesh {path} encloses no volume")


def _check(path: str, faces: Faces) -> None:
    """Every edge belongs to two faces, which run along it in opposite directions."""
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    _, count = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    if (count == 1).any():
        raise ValueError(f"the mesh {path} is open: {(count == 1).sum()} edges have one face only")
    if (count != 2).any():
        number = (count != 2).sum()
        raise ValueError(
            f"the mesh {path} is not manifold: {number} edges have more than two faces"
        )
    if len(np.unique(edges, axis=0)) != len(edges):
        raise ValueError(f"the mesh {path} is not manifold: neighbouring faces look opposite ways")
