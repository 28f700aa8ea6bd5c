# SPDX-License-Identifier: BSD-3-Clause
"""Triangles of shapes, and the parts of a picture that are made of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.geometry.mesh_files import mesh_path, read_mesh
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.solids import triangles, wide_normals
from iap_description.math import euler

Faces = Integers
Vertices = NDArray[np.float32]
Mesh = tuple[Array, Array, Faces]  # vertices (n, 3) [m], their normals (n, 3), faces (m, 3)

SEGMENTS, FEW_SEGMENTS = 16, 8  # flat sides of what is round, and of what is thin
THIN = 0.013  # radius up to which a shape is thin [m]
RINGS = 4  # of a hemisphere, at least

_TURNS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Triangles in the frame of a body, or in `map`; they are seen from their front, where they run ccw.

    Attributes:
        name: of what they belong to.
        vertices: (n, 3) [m].
        normals: (n, 3) of the surface at each vertex, of unit length.
        uv: (n, 2) place of each vertex in the texture, which repeats; v is upwards.
        faces: (m, 3) vertices of each triangle.
        texture: name of a texture of the scene; None for plain colour.
        color: of the surface, sRGB and opacity in 0..1; multiplies the texture.
        label: in segmented images; 0 is nothing.
        material: what it is made of, for renderers in physical light; None for plain matter.
        metres: (n, 2) place of each vertex on the surface [m], for its material; None: as in `uv`.
    """

    name: str
    vertices: Vertices
    normals: Vertices
    uv: Vertices
    faces: NDArray[np.int32]
    texture: str | None
    color: Rgba
    label: int
    material: str | None = None
    metres: Vertices | None = None


def mesh(shape: Shape, *, sides: int | None = None) -> Mesh:
    """The triangles of a shape in its body's frame, counter-clockwise from outside.

    What is flat has the normals of its faces, what is round those of the surface it stands for.

    Args:
        shape: to cover with triangles.
        sides: flat sides of what is round; None: as many as pictures need.
    """
    if shape.vertices is not None:
        return _flat(*triangles(shape))
    if shape.mesh is not None:
        vertices, normals, faces = _flat(*read_mesh(mesh_path(shape.mesh)))
    elif shape.size is not None:
        vertices, normals, faces = _box(np.array(shape.size))
    else:
        vertices, normals, faces = _round(shape, sides)
    R = euler.matrix_from_rpy_deg(shape.rpy_deg)
    return vertices @ R.T + shape.position, normals @ R.T, faces


def parts_by_color(name: str, shapes: Iterable[Shape], label: int) -> tuple[MeshPart, ...]:
    """The parts of what some shapes make up, one for each of their colours.

    Args:
        name: of what they belong to.
        shapes: that are seen, in its frame.
        label: in segmented images.
    """
    groups: dict[tuple[float, float, float, float], list[Mesh]] = {}
    for shape in shapes:
        groups.setdefault(shape.color, []).append(mesh(shape))
    parts = []
    for color, meshes in groups.items():
        vertices, normals, faces = joined(meshes)
        uv = np.zeros((len(vertices), 2), np.float32)
        arrays = vertices.astype(np.float32), normals.astype(np.float32)
        parts.append(MeshPart(name, *arrays, uv, faces.astype(np.int32), None, color, label))
    return tuple(parts)


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """Several meshes as one."""
    all_vertices, all_normals, all_faces = zip(*meshes, strict=True)
    firsts = np.cumsum([0, *(len(vertices) for vertices in all_vertices[:-1])])
    faces = [each + first for each, first in zip(all_faces, firsts, strict=True)]
    return np.vstack(all_vertices), np.vstack(all_normals), np.vstack(faces)


def _flat(vertices: Array, faces: Faces) -> Mesh:
    """Every face with corners and a normal of its own."""
    corners = vertices[faces]
    normals, sizes = wide_normals(corners)
    kept = sizes > 0.0  # a face without area is not seen
    normals = normals[kept] / sizes[kept, None]
    return (
        corners[kept].reshape(-1, 3),
        np.repeat(normals, 3, axis=0),
        np.arange(3 * len(normals)).reshape(-1, 3),
    )


def _box(size: Array) -> Mesh:
    """A box around the origin: four vertices for each side, so that normals and textures end there."""
    corners, normals = [], []
    for axis in range(3):
        for sign in (1, -1):
            across = (axis + 1) % 3, (axis + 2) % 3
            side = np.full((4, 3), float(sign))
            side[:, across] = _TURNS[::sign]
            corners.append(0.5 * size * side)
            normals.append(np.tile(sign * np.eye(3)[axis], (4, 1)))
    first = 4 * np.arange(6)[:, None]
    faces = (first + np.array([0, 1, 2, 0, 2, 3])).reshape(-1, 3)
    return np.vstack(corners), np.vstack(normals), faces


def _round(shape: Shape, sides: int | None) -> Mesh:
    """A cylinder, capsule or sphere around its axis z, of rings from its lower to its upper end."""
    r = shape.radius or 0.0
    segments = sides or (FEW_SEGMENTS if r <= THIN else SEGMENTS)
    rings = max(RINGS, segments // 4)
    half = 0.5 * (shape.length or 0.0)
    if shape.shape == "cylinder":
        profile = [(-half, 0.0, -1.0), (-half, r, -1.0), (-half, r, 0.0)]
    else:
        angles = np.linspace(-0.5 * np.pi, 0.0, rings + 1)
        profile = [(-half + r * np.sin(a), r * np.cos(a), np.sin(a)) for a in angles]
        if shape.shape == "sphere":
            return revolved([*profile, *_mirrored(profile[:-1])], segments)
    return revolved([*profile, *_mirrored(profile)], segments)


def _mirrored(profile: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    return [(-z, r, -n) for z, r, n in reversed(profile)]


def revolved(profile: list[tuple[float, float, float]], segments: int) -> Mesh:
    """The surface that a profile makes around z.

    Args:
        profile: height [m], radius [m] and upward part of the normal at points from below to above.
        segments: flat sides.
    """
    # the first angle again at the end: textures end there
    angles = 2.0 * np.pi * np.arange(segments + 1) / segments
    across = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], -1)
    up = np.array([0.0, 0.0, 1.0])
    vertices = np.vstack([z * up + r * across for z, r, _ in profile])
    normals = np.vstack([n * up + np.sqrt(1.0 - n * n) * across for _, _, n in profile])
    n = segments + 1
    a = (n * np.arange(len(profile) - 1)[:, None] + np.arange(segments)).ravel()
    faces = np.vstack([np.stack([a, a + 1, a + n + 1], -1), np.stack([a, a + n + 1, a + n], -1)])
    return vertices, normals, faces[wide_normals(vertices[faces])[1] > 1e-12]
