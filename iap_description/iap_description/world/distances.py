# SPDX-License-Identifier: BSD-3-Clause
"""Distances of points to the objects of their worlds, and to bodies among them, of many worlds at once."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import IapError
from iap_description.geometry.shapes import Shape
from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.math.kernels import (
    Vec,
    add,
    cross,
    dot,
    quat_at,
    scale,
    sub,
    unrotate,
    vec,
)
from iap_description.states import STATE_SIZE, P, Q
from iap_description.world.objects import WorldObject
from iap_description.world.obstacles import Obstacles
from iap_description.world.world import World

BodyShapes = Sequence[Sequence[Shape]]  # of each body, in its own frame
STANDS = -1  # in place of the object in whose frame a piece is
SIDES = 32  # of what is round: its flat sides are 0.5 % of the radius too far in
SHEET, CONVEX, CLOSED = 0, 1, 2  # kinds of pieces: nothing is within it, or a convex or any solid


class Surroundings:
    """The objects of B worlds, and bodies that are alike in all of them, as triangles; the ground is none of them.

    What stands is in `map`. Triangles of what moves stay in its frame, into which points are turned.

    Args:
        worlds: with as many objects each.
        bodies: shapes of each body, such as those of other vehicles.
    """

    def __init__(self, worlds: Sequence[World], bodies: BodyShapes = ()) -> None:
        B = len(worlds)
        self._bodies = [_surfaces(shapes) for shapes in bodies]
        self._sizes: Integers = np.zeros(B, dtype=np.int64)  # pieces of each world
        self._spheres: Array = np.zeros((B, 0, 4))  # around each piece: middle and radius [m]
        self._firsts: Integers = np.zeros((B, 1), dtype=np.int64)  # triangle of each piece
        self._kinds: Integers = np.zeros((B, 0), dtype=np.int64)
        self._movers: Integers = np.full(
            (B, 0), STANDS, dtype=np.int64
        )  # object of each piece, or STANDS
        self._corners: Array = np.zeros((B, 0, 3, 3))
        for b, world in enumerate(worlds):
            self.set_world(b, world)

    def set_world(self, b: int, world: World) -> None:
        """Let world b be another one."""
        pieces = _pieces(world)
        first = len(world.objects)  # row of the first body, behind the objects
        for k, surfaces in enumerate(self._bodies):
            pieces += [_Piece(corners, kind, first + k) for corners, kind in surfaces]
        ends = np.cumsum([0, *(len(each.corners) for each in pieces)])
        self._make_room(len(pieces), int(ends[-1]))
        self._sizes[b], self._firsts[b, : len(ends)] = len(pieces), ends
        for k, (corners, kind, mover) in enumerate(pieces):
            self._corners[b, ends[k] : ends[k + 1]] = corners
            self._kinds[b, k], self._movers[b, k] = kind, mover
            middle = corners.reshape(-1, 3).mean(axis=0)
            radius = np.linalg.norm(corners - middle, axis=-1).max()
            self._spheres[b, k] = (*middle, radius)

    def _make_room(self, pieces: int, triangles: int) -> None:
        """Room for so many in every world; what is there stays."""
        self._spheres = _widened(self._spheres, pieces)
        self._firsts = _widened(self._firsts, pieces + 1)
        self._kinds = _widened(self._kinds, pieces)
        self._movers = _widened(self._movers, pieces)
        self._corners = _widened(self._corners, triangles)

    def distances(self, p_W: Array, objects: Array | None = None) -> Array:
        """Distances (B,) of points (B, 3) from the nearest surface in their worlds [m].

        Zero inside of a solid, infinite where there is nothing.

        Args:
            p_W: (B, 3) the points [m].
            objects: (B, objects + bodies, 13) state rows of each world's objects and of the bodies; None where nothing
                moves.
        """
        out, rows = np.empty(len(self._sizes)), self._rows(objects)
        _distances(np.ascontiguousarray(p_W, dtype=np.float64), rows, self.pieces, out)
        return out

    def distances_of(self, b: int, p_W: Array) -> Array:
        """The same (n,) of points (n, 3) in world b alone, in which nothing moves [m]."""
        out, points = np.empty(len(p_W)), np.ascontiguousarray(p_W, dtype=np.float64)
        _distances_of(points, self._rows(None)[b], Pieces(*(each[b] for each in self.pieces)), out)
        return out

    def _rows(self, objects: Array | None) -> Array:
        """State rows of the objects, as they are given.

        Raises:
            IapError: they are not, and some move.
        """
        if objects is not None:
            return objects
        if any(
            (row[:n] != STANDS).any() for row, n in zip(self._movers, self._sizes, strict=True)
        ):
            raise IapError("distances: states of objects and bodies are needed, for some move")
        return np.zeros((len(self._sizes), 0, STATE_SIZE))

    @property
    def pieces(self) -> "Pieces":
        """The pieces of all worlds, for compiled loops."""
        kinds, corners = self._kinds, self._corners
        return Pieces(self._sizes, self._spheres, self._firsts, kinds, self._movers, corners)


def _widened(array: NDArray[Any], size: int) -> NDArray[Any]:
    """An array (B, n, ...) with room for at least so many in its second axis."""
    more = size - array.shape[1]
    if more <= 0:
        return array
    return np.concatenate(
        [array, np.zeros((array.shape[0], more, *array.shape[2:]), array.dtype)], 1
    )


class Pieces(NamedTuple):
    """Pieces of a world, or of B worlds with one more axis before all others."""

    sizes: Any  # number of pieces
    spheres: Array  # (n, 4) around each: middle and radius [m]
    firsts: Integers  # (n + 1,) triangle of each
    kinds: Integers  # (n,) SHEET, CONVEX or CLOSED
    movers: Integers  # (n,) object in whose frame it is, or STANDS
    corners: Array  # (triangles, 3, 3) [m]


class _Piece(NamedTuple):
    """Triangles (n, 3, 3) [m], their kind, and the object in whose frame they are, or STANDS."""

    corners: Array
    kind: int
    mover: int


def _pieces(world: World) -> list[_Piece]:
    """All pieces of a world."""
    found = []
    for k, item in enumerate(world.objects.values()):
        row = item.row(0.0)
        for corners, kind in _pieces_of(item):
            placed = corners if item.moves else row[P] + so3.rotate(row[Q], corners)
            found.append(_Piece(placed, kind, k if item.moves else STANDS))
    return found


def _pieces_of(item: WorldObject) -> list[tuple[Array, int]]:
    """The same of one object in its frame O."""
    if isinstance(item, Obstacles):  # made of triangles already
        solids = item.solids()
        return [(corners, CONVEX if is_convex else CLOSED) for corners, is_convex in solids]
    return _surfaces(item.pieces())


def _surfaces(shapes: Sequence[Shape]) -> list[tuple[Array, int]]:
    """Triangles of shapes in the frame of what has them, and their kinds."""
    surfaces = []
    for shape in shapes:
        vertices, _, faces = mesh(shape, sides=SIDES)
        kind = SHEET if shape.shape in ("surface", "mesh") else CONVEX
        surfaces.append((vertices[faces], kind))
    return surfaces


@njit(cache=True)
def _distances(points: Array, objects: Array, pieces: Pieces, out: Array) -> None:
    """Write the distance of every world's point."""
    sizes, spheres, firsts, kinds, movers, corners = pieces
    for b in range(len(points)):
        of_world = (sizes[b], spheres[b], firsts[b], kinds[b], movers[b], corners[b])
        out[b] = distance_to(vec(points[b]), objects[b], of_world)


@njit(cache=True)
def _distances_of(points: Array, objects: Array, pieces: Pieces, out: Array) -> None:
    for i in range(len(points)):
        out[i] = distance_to(vec(points[i]), objects, pieces)


@njit(cache=True)
def distance_to(p_W: Vec, objects: Array, pieces: Pieces) -> float:
    """Distance of a point; pieces whose spheres are farther than the nearest are passed over."""
    size, spheres, firsts, kinds, movers, corners = pieces
    nearest = math.inf
    for k in range(size):
        p = p_W
        if movers[k] != STANDS:
            row = objects[movers[k]]
            p = unrotate(quat_at(row, 3), sub(p_W, vec(row)))
        away = sub(p, vec(spheres[k]))
        if math.sqrt(dot(away, away)) - spheres[k, 3] >= nearest:
            continue
        triangles = corners[firsts[k] : firsts[k + 1]]
        nearest = min(nearest, _to_piece(p, triangles, kinds[k] == CONVEX))
        if kinds[k] == CLOSED and _is_within(p, triangles):
            return 0.0
    return nearest


@njit(cache=True)
def _to_piece(p: Vec, corners: Array, is_convex: bool) -> float:
    """Distance from a piece; of a convex solid no face that looks away is nearest, and none looks at what is inside."""
    square, is_outside = math.inf, False
    for t in range(len(corners)):
        a, b, c = vec(corners[t, 0]), vec(corners[t, 1]), vec(corners[t, 2])
        if is_convex and dot(cross(sub(b, a), sub(c, a)), sub(p, a)) <= 0.0:
            continue
        is_outside = True
        away = sub(p, nearest_of_triangle(p, a, b, c))
        square = min(square, dot(away, away))
    return math.sqrt(square) if is_outside else 0.0


@njit(cache=True)
def _is_within(p: Vec, corners: Array) -> bool:
    """True inside of a closed surface: its solid angle there is 4 pi, and 0 outside (Oosterom, Strackee 1983)."""
    halves = 0.0
    for t in range(len(corners)):
        a, b, c = (
            sub(vec(corners[t, 0]), p),
            sub(vec(corners[t, 1]), p),
            sub(vec(corners[t, 2]), p),
        )
        la, lb, lc = math.sqrt(dot(a, a)), math.sqrt(dot(b, b)), math.sqrt(dot(c, c))
        size = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
        halves += math.atan2(dot(a, cross(b, c)), size)
    return halves > math.pi


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
