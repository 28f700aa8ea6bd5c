# SPDX-License-Identifier: BSD-3-Clause
"""Solids made of triangles: convex pieces, and volume, centre and inertia of any shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.math import euler, so3

Faces = Integers


@dataclass(frozen=True)
class Bulk:
    """Integrals over a solid of unit density: volume [m^3], centre (3,) [m], inertia (3, 3) about it [m^5]."""

    volume: float
    center: Array
    inertia: Array

    @classmethod
    def of(cls, shapes: Sequence[Shape]) -> Self:
        """The sum over shapes that do not overlap, in the frame in which they are placed."""
        parts = [_bulk(shape) for shape in shapes]
        volume = sum(part[0] for part in parts)
        center = sum((part[0] * part[1] for part in parts), np.zeros(3)) / volume
        inertia = np.zeros((3, 3))
        for mass, at, about in parts:
            d = so3.hat(at - center)
            inertia += about - mass * d @ d
        return cls(volume, center, inertia)


def triangles(shape: Shape) -> tuple[Array, Faces]:
    """Vertices (n, 3) in the body's frame and faces (m, 3) of a hull or a surface."""
    if shape.vertices is None or shape.faces is None:
        raise TypeError(f"a {shape.shape} is not made of triangles")
    R = euler.matrix_from_rpy_deg(shape.rpy_deg)
    return np.array(shape.vertices) @ R.T + shape.position, np.array(shape.faces)


def wide_normals(corners: Array) -> tuple[Array, Array]:
    """Normals (m, 3) of triangles (m, 3, 3), as long as twice their areas, and these lengths (m,)."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals, np.linalg.norm(normals, axis=1)


def moments(vertices: Array, faces: Faces) -> tuple[float, Array, Array]:
    """Volume, first (3,) and second (3, 3) moments about the origin, by tetrahedra that end there."""
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    total = a + b + c
    first = volumes @ total / 4.0
    second = sum(np.einsum("i,ij,ik->jk", volumes, p, p) for p in (a, b, c, total)) / 20.0
    return float(volumes.sum()), first, np.asarray(second)


def prism(below: Array, above: Array, color: Rgba) -> Shape:
    """The convex piece between two plane polygons (n, 3) whose corners belong to each other."""
    return hull(*stacked_rings([below, above]), color)


def stacked_rings(rings: Sequence[Array]) -> tuple[Array, Faces]:
    """Vertices and faces of the solid between plane polygons (n, 3), from below to above, closed by the outer two."""
    n, last = len(rings[0]), len(rings[0]) * (len(rings) - 1)
    i, j = np.arange(n), (np.arange(n) + 1) % n
    faces = []
    for first in range(0, last, n):
        a, b = first + i, first + j
        faces += [np.stack([a, b, n + b], -1), np.stack([a, n + b, n + a], -1)]
    k = np.arange(1, n - 1)
    faces += [np.stack([0 * k, k + 1, k], -1), last + np.stack([0 * k, k, k + 1], -1)]
    return np.vstack(rings), np.vstack(faces)


def hull(vertices: Array, faces: Faces, color: Rgba, **more: Any) -> Shape:  # noqa: ANN401
    """A hull, its faces turned so that they look outwards all together."""
    if moments(vertices, faces)[0] < 0.0:
        faces = faces[:, ::-1]
    # Not validated: made here, and there can be thousands of numbers.
    return Shape.model_construct(
        **{
            "shape": "hull",
            "vertices": tuple(map(tuple, vertices.tolist())),
            "faces": tuple(map(tuple, faces.tolist())),
            "color": color,
            **more,
        }
    )


def _bulk(shape: Shape) -> tuple[float, Array, Array]:
    """Volume, centre and inertia about it, of one shape in its body's frame."""
    if shape.vertices is not None:
        volume, first, second = moments(*triangles(shape))
        center = first / volume
        second = second - volume * np.outer(center, center)
        return volume, center, np.trace(second) * np.eye(3) - second
    volume, diagonal = _of_primitive(shape)
    R = euler.matrix_from_rpy_deg(shape.rpy_deg)
    return volume, np.array(shape.position), volume * (R * diagonal) @ R.T


def _of_primitive(shape: Shape) -> tuple[float, Array]:
    """Volume, and principal moments per volume, of a box, a cylinder or a sphere."""
    r = shape.radius or 0.0
    if shape.size is not None:
        square = np.square(shape.size)
        return float(np.prod(shape.size)), (square.sum() - square) / 12.0
    if shape.shape == "sphere":
        return 4.0 / 3.0 * np.pi * r**3, np.full(3, 0.4 * r**2)
    if shape.shape == "cylinder" and shape.length is not None:
        across = r**2 / 4.0 + shape.length**2 / 12.0
        return np.pi * r**2 * shape.length, np.array([across, across, 0.5 * r**2])
    raise TypeError(f"a {shape.shape} has no mass of its own")
