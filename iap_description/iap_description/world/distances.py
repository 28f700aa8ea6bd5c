# SPDX-License-Identifier: BSD-3-Clause
"""Distances of points to what stands in their worlds, of many worlds at once."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.math.kernels import Vec, add, cross, dot, scale, sub, vec
from iap_description.states import P, Q
from iap_description.world.objects import WorldObject
from iap_description.world.obstacles import Obstacles
from iap_description.world.world import World

SIDES = 32  # of what is round: its flat sides are 0.5 % of the radius too far in


class Surroundings:
    """The objects of B worlds as triangles in `map`; the ground is none of them.

    Args:
        worlds: of which no object moves.

    Raises:
        BadInput: one does.
    """

    def __init__(self, worlds: Sequence[World]) -> None:
        B = len(worlds)
        self._sizes: Integers = np.zeros(B, dtype=np.int64)  # pieces of each world
        self._spheres: Array = np.zeros((B, 0, 4))  # around each piece: middle and radius [m]
        self._firsts: Integers = np.zeros((B, 1), dtype=np.int64)  # triangle of each piece
        self._is_solid: Booleans = np.zeros((B, 0), dtype=bool)
        self._corners: Array = np.zeros((B, 0, 3, 3))
        for b, world in enumerate(worlds):
            self.set_world(b, world)

    def set_world(self, b: int, world: World) -> None:
        """Let world b be another one.

        Raises:
            BadInput: an object of it moves.
        """
        pieces = _pieces(world)
        ends = np.cumsum([0, *(len(corners) for corners, _ in pieces)])
        self._make_room(len(pieces), int(ends[-1]))
        self._sizes[b], self._firsts[b, : len(ends)] = len(pieces), ends
        for k, (corners, is_solid) in enumerate(pieces):
            self._corners[b, ends[k] : ends[k + 1]] = corners
            self._is_solid[b, k] = is_solid
            middle = corners.reshape(-1, 3).mean(axis=0)
            radius = np.linalg.norm(corners - middle, axis=-1).max()
            self._spheres[b, k] = (*middle, radius)

    def _make_room(self, pieces: int, triangles: int) -> None:
        """Room for so many in every world; what is there stays."""
        self._spheres = _widened(self._spheres, pieces)
        self._firsts = _widened(self._firsts, pieces + 1)
        self._is_solid = _widened(self._is_solid, pieces)
        self._corners = _widened(self._corners, triangles)

    def distances(self, p_W: Array) -> Array:
        """Distances (B,) of points (B, 3) from the nearest surface in their worlds [m].

        Zero inside of a solid, infinite where there is nothing.
        """
        out = np.empty(len(self._sizes))
        where = (self._sizes, self._spheres, self._firsts, self._is_solid, self._corners)
        _distances(np.ascontiguousarray(p_W, dtype=np.float64), *where, out)
        return out

    def distances_of(self, b: int, p_W: Array) -> Array:
        """The same (n,) of points (n, 3) in world b alone [m]."""
        out = np.empty(len(p_W))
        points = np.ascontiguousarray(p_W, dtype=np.float64)
        size, corners = self._sizes[b], self._corners[b]
        _distances_of(
            points, size, self._spheres[b], self._firsts[b], self._is_solid[b], corners, out
        )
        return out


def _widened(array: NDArray[Any], size: int) -> NDArray[Any]:
    """An array (B, n, ...) with room for at least so many in its second axis."""
    more = size - array.shape[1]
    if more <= 0:
        return array
    return np.concatenate(
        [array, np.zeros((array.shape[0], more, *array.shape[2:]), array.dtype)], 1
    )


def _pieces(world: World) -> list[tuple[Array, bool]]:
    """Triangles (n, 3, 3) of each piece of a world in `map` [m], and whether it is a convex solid."""
    surfaces = []
    for name, item in world.objects.items():
        if item.moves:
            raise BadInput(
                f"key 'world.objects.{name}': it moves, distances are to what stands still"
            )
        row = item.row(0.0)
        for corners, is_solid in _pieces_of(item):
            surfaces.append((row[P] + so3.rotate(row[Q], corners), is_solid))
    return surfaces


def _pieces_of(item: WorldObject) -> list[tuple[Array, bool]]:
    """The same of one object in its frame O."""
    if isinstance(item, Obstacles):  # made of triangles already
        return [(corners, True) for corners in item.corners()]
    surfaces = []
    for shape in item.pieces():
        vertices, _, faces = mesh(shape, sides=SIDES)
        surfaces.append((vertices[faces], shape.shape not in ("surface", "mesh")))
    return surfaces


@njit(cache=True)
def _distances(
    points: Array,
    sizes: Integers,
    spheres: Array,
    firsts: Integers,
    is_solid: Booleans,
    corners: Array,
    out: Array,
) -> None:
    """Write the distance of every world's point."""
    for b in range(len(points)):
        where = (sizes[b], spheres[b], firsts[b], is_solid[b], corners[b])
        out[b] = _distance(vec(points[b]), *where)


@njit(cache=True)
def _distances_of(
    points: Array,
    size: int,
    spheres: Array,
    firsts: Integers,
    is_solid: Booleans,
    corners: Array,
    out: Array,
) -> None:
    for i in range(len(points)):
        out[i] = _distance(vec(points[i]), size, spheres, firsts, is_solid, corners)


@njit(cache=True)
def _distance(
    p: Vec, size: int, spheres: Array, firsts: Integers, is_solid: Booleans, corners: Array
) -> float:
    """Distance of a point; pieces whose spheres are farther than the nearest are passed over."""
    nearest = math.inf
    for k in range(size):
        away = sub(p, vec(spheres[k]))
        if math.sqrt(dot(away, away)) - spheres[k, 3] >= nearest:
            continue
        nearest = min(nearest, _to_piece(p, corners[firsts[k] : firsts[k + 1]], is_solid[k]))
    return nearest


@njit(cache=True)
def _to_piece(p: Vec, corners: Array, is_solid: bool) -> float:
    """Distance from a piece; of a convex solid no face that looks away is nearest, and none looks at what is inside."""
    square, is_outside = math.inf, False
    for t in range(len(corners)):
        a, b, c = vec(corners[t, 0]), vec(corners[t, 1]), vec(corners[t, 2])
        if is_solid and dot(cross(sub(b, a), sub(c, a)), sub(p, a)) <= 0.0:
            continue
        is_outside = True
        away = sub(p, nearest_of_triangle(p, a, b, c))
        square = min(square, dot(away, away))
    return math.sqrt(square) if is_outside else 0.0


@njit(cache=True)
def nearest_of_triangle(p: Vec, a: Vec, b: Vec, c: Vec) -> Vec:
    """The point of a triangle that is nearest to p, by the regions of its plane (Ericson 2005, section 5.1.5)."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a
    bp = sub(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return add(a, scale(d1 / (d1 - d3), ab))
    cp = sub(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return add(a, scale(d2 / (d2 - d6), ac))
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        return add(b, scale((d4 - d3) / ((d4 - d3) + (d5 - d6)), sub(c, b)))
    share = 1.0 / (va + vb + vc)
    return add(a, add(scale(vb * share, ab), scale(vc * share, ac)))
