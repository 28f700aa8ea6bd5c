# SPDX-License-Identifier: BSD-3-Clause
"""Shapes that meshes are touched by: as they are, by the hulls of their bodies, or by convex pieces."""

from collections.abc import Callable
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.assets.decomposition import convex_pieces
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import hull

Color = tuple[float, float, float, float]
GREY: Color = (0.6, 0.6, 0.6, 1.0)
FLAT = 1e-5  # thickness of what is flat, of its size
CLOSE = 1e-6  # vertices so near to each other are one, of the mesh's size


def surface(vertices: Array, faces: Integers) -> list[Shape]:
    """The triangles as they are."""
    keys: dict[str, Any] = {
        "shape": "surface",
        "color": GREY,
        "vertices": tuple(map(tuple, vertices.tolist())),
        "faces": _tuples(faces),
    }
    return [Shape.model_construct(**keys)]  # not validated: made here, of thousands of numbers


def hulls(vertices: Array, faces: Integers) -> list[Shape]:
    """The convex hull of each body, which is closed.

    Raises:
        ValueError: a body is open.
    """
    shapes = []
    for points, triangles in bodies(vertices, faces):
        edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        _, counts = np.unique(edges, axis=0, return_counts=True)
        if (counts == 1).any():
            raise ValueError(
                f"it is open, {(counts == 1).sum()} edges have one face only: hulls are of closed meshes, take"
                " 'contact: surface'"
            )
        shapes.append(hull_of(points))
    return shapes


def decomposed(vertices: Array, faces: Integers) -> list[Shape]:
    """Convex pieces, see `decomposition.convex_pieces`."""
    return [hull_of(points) for points in convex_pieces(vertices, faces)]


CONTACTS: dict[str, Callable[[Array, Integers], list[Shape]]] = {
    "surface": surface,
    "hulls": hulls,
    "decomposed": decomposed,
    "none": lambda vertices, faces: [],  # noqa: ARG005
}


def bodies(vertices: Array, faces: Integers) -> list[tuple[Array, Integers]]:
    """The parts of a mesh that hang together."""
    import trimesh  # takes half a second

    whole = trimesh.Trimesh(*welded(vertices, faces), process=False)
    parts = whole.split(only_watertight=False, repair=False)  # what is open is refused, not filled
    return [(np.asarray(part.vertices), np.asarray(part.faces)) for part in parts]


def welded(vertices: Array, faces: Integers) -> tuple[Array, Integers]:
    """A mesh whose vertices at the same place are one, without faces that have no area then."""
    step = max(float(np.ptp(vertices, axis=0).max()), 1e-9) * CLOSE
    cells = np.round((vertices - vertices.min(axis=0)) / step).astype(np.int64)
    _, first, inverse = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    made = inverse.reshape(-1)[faces]
    a, b, c = made.T
    return vertices[first], made[(a != b) & (b != c) & (c != a)]


def hull_of(points: Array) -> Shape:
    """The convex hull of points.

    Raises:
        ValueError: they lie in a plane.
    """
    import trimesh

    if np.linalg.matrix_rank(points - points[0], tol=FLAT * np.ptp(points)) < 3:
        raise ValueError("it is flat, and has no hull: take 'contact: surface'")
    solid = trimesh.convex.convex_hull(points)
    return hull(np.asarray(solid.vertices), np.asarray(solid.faces), GREY)


def _tuples(faces: Integers) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, faces.tolist()))
