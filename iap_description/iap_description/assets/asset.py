# SPDX-License-Identifier: BSD-3-Clause
"""Files of meshes as triangles with textures: glTF 2.0, OBJ, PLY, STL, OFF. They need not be closed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.assets import headers
from iap_description.assets.kinds import GLTF_KINDS, MESH_KINDS
from iap_description.assets.matter import AssetMatter, matter_of
from iap_description.config.text_files import is_file, reason_of

FARTHEST = 1e6  # coordinate of a vertex, in units of the file


@dataclass(frozen=True, eq=False)
class AssetPiece:
    """Triangles of one matter, in the frame of their file.

    Attributes:
        names: of its node, its mesh and its material, as far as they have some.
        vertices: (n, 3).
        normals: (n, 3) of unit length; None where the file has none.
        uv: (n, 2) places in its texture, v upwards; None where it has none.
        faces: (m, 3), counter-clockwise from outside.
        matter: what it is made of.
    """

    names: tuple[str, ...]
    vertices: Array
    normals: Array | None
    uv: Array | None
    faces: Integers
    matter: AssetMatter


def load_asset(path: Path, most: int) -> list[AssetPiece]:
    """All triangles of a file, its nodes' instances where they are.

    Args:
        path: of the file.
        most: triangles that are loaded.

    Raises:
        ValueError: the file, or one that it names, is missing; it is no mesh, needs an extension that is not
            supported, has more triangles, or an image that is too large.
    """
    kind = path.suffix.lower().removeprefix(".")
    if not is_file(path):
        raise ValueError(f"there is no file {path}")
    if kind not in MESH_KINDS:
        raise ValueError(f"{path} is of no known kind of mesh: choose {', '.join(MESH_KINDS)}")
    headers.check(path, kind, most)
    with np.errstate(all="ignore"):  # what becomes endless is refused by its place
        pieces = list(_pieces(_trimesh_scene(path), path, is_gltf=kind in GLTF_KINDS))
    if not pieces:
        raise ValueError(f"{path} holds no triangles")
    headers.check_count(path, sum(len(piece.faces) for piece in pieces), most)
    return pieces


def _trimesh_scene(path: Path) -> Any:  # noqa: ANN401
    import trimesh  # takes half a second

    try:
        return trimesh.load_scene(path, process=False)
    except Exception as error:  # its readers raise whatever they meet
        raise ValueError(f"{path} is not a mesh that can be read: {reason_of(error)}") from error


def _pieces(scene: Any, path: Path, *, is_gltf: bool) -> Iterator[AssetPiece]:  # noqa: ANN401
    """The pieces of a scene of trimesh's; z upwards."""
    matters: dict[int, AssetMatter] = {}
    strengths = headers.emissive_strengths(path) if is_gltf else {}
    for node in scene.graph.nodes_geometry:
        T, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not len(getattr(mesh, "faces", ())):
            continue  # lines and points
        material = getattr(mesh.visual, "material", None)
        if id(mesh) not in matters:
            matters[id(mesh)] = matter_of(mesh, strengths)
        names = (node, name, getattr(material, "name", None) or "")
        yield _piece(mesh, np.asarray(T), names, matters[id(mesh)], path, y_up=is_gltf)


def _piece(
    mesh: Any,  # noqa: ANN401
    T: Array,
    names: tuple[str, ...],
    matter: AssetMatter,
    path: Path,
    *,
    y_up: bool,
) -> AssetPiece:
    R = T[:3, :3]
    vertices = np.asarray(mesh.vertices, dtype=np.float64) @ R.T + T[:3, 3]
    if not (np.abs(vertices) < FARTHEST).all():
        raise ValueError(f"{path}: part '{names[0]}' has a vertex that is not within {FARTHEST:g}")
    faces = np.asarray(mesh.faces, dtype=np.int64)
    if not (0 <= faces.min() and faces.max() < len(vertices)):
        raise ValueError(f"{path}: part '{names[0]}' has a triangle of a vertex that is not there")
    normals = None
    mirroring = np.linalg.det(R)
    if "vertex_normals" in mesh._cache and mirroring:  # noqa: SLF001 - else they are made up
        normals = np.asarray(mesh.vertex_normals) @ np.linalg.inv(R)
        sizes = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = normals / np.maximum(sizes, 1e-12) if (sizes > 1e-12).all() else None
    if mirroring < 0.0:
        faces = faces[:, ::-1]
    uv = _texture_coordinates(mesh, len(vertices), f"{path}: part '{names[0]}'")
    if y_up:
        vertices = _z_up(vertices)
        normals = None if normals is None else _z_up(normals)
    return AssetPiece(names, vertices, normals, uv, faces, matter)


def _texture_coordinates(mesh: Any, count: int, part: str) -> Array | None:  # noqa: ANN401
    """Places (count, 2) of the vertices in a texture; None without one for each."""
    uv = getattr(mesh.visual, "uv", None)
    if uv is None or len(uv) != count:
        return None
    # A third number is of textures of a volume.
    uv = np.asarray(uv, dtype=np.float64).reshape(count, -1)[:, :2]
    if uv.shape[1] != 2 or not (np.abs(uv) < FARTHEST).all():
        raise ValueError(
            f"{part} has a texture coordinate that is not two numbers within {FARTHEST:g}: export it anew"
        )
    return uv


def _z_up(points: Array) -> Array:
    """Points (n, 3) with y upwards and z to the front, as z upwards and x to the front."""
    return np.stack([points[:, 2], points[:, 0], points[:, 1]], -1)
