# SPDX-License-Identifier: BSD-3-Clause
"""A rod in a hole at the end of a flight, and flat outlines of both: cuts through pieces, silhouettes of a tool."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import triangles
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.tool import PlateTip, SphereTip, Tool
from iap_description.world.objects import Board, Funnel
from iap_description.world.scene_objects import SceneObject
from iap_description.world.world import World
from iap_io.runs.columns import Columns

BEFORE, BEHIND, ASIDE = 0.10, 0.08, 0.02  # what is drawn around the hole [m]
BOARD_REACH = 3.0  # of a board, in radii of its hole
SIDES = 48  # of a circle
ROUNDING = 1e-9  # corners of a cut that are nearer to each other are one [m]
STEEP = 1e-3  # horizontal share below which a hole counts as vertical


@dataclass(frozen=True)
class Plane:
    """A plane in `map` with axes to draw in.

    Attributes:
        origin: (3,) where both coordinates are zero [m].
        right: (3,) unit vector of the first coordinate.
        up: (3,) unit vector of the second, perpendicular to the first.
    """

    origin: Array
    right: Array
    up: Array

    def flat(self, points_W: Array) -> Array:
        """Coordinates (..., 2) of points (..., 3) seen across the plane [m]."""
        return (points_W - self.origin) @ np.stack([self.right, self.up], axis=-1)

    def height(self, points_W: Array) -> Array:
        """Distances (...) of points (..., 3) from the plane [m]."""
        return np.asarray((points_W - self.origin) @ np.cross(self.right, self.up))


def cuts(standing: SceneObject, plane: Plane) -> list[Array]:
    """Polygons (n, 2) in which a plane cuts the convex pieces of an object; none of primitives."""
    polygons = [_cut(piece, standing.row, plane) for piece in standing.pieces if piece.vertices]
    return [polygon for polygon in polygons if len(polygon) > 2]


def silhouette(tool: Tool, tip_P: Array, row: Array, plane: Plane) -> list[Array]:
    """Polygons (n, 2) that a tool covers, seen across a plane.

    Args:
        tool: rod and tip.
        tip_P: (3,) the tip in P [m].
        row: (13,) state row of the platform.
        plane: nearly along the rod.
    """
    base_P = tip_P - tool.length * tool.R_PT[:, 0]
    ends = plane.flat(_placed(row, np.stack([base_P, tip_P])))
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    across = tool.radius * np.array([-along[1], along[0]])
    rod = np.array([ends[0] + across, ends[1] + across, ends[1] - across, ends[0] - across])
    return [rod, *_tip(tool, tip_P, row, plane)]


def _tip(tool: Tool, tip_P: Array, row: Array, plane: Plane) -> list[Array]:
    if isinstance(tool.tip, SphereTip):
        angles = np.linspace(0.0, 2.0 * np.pi, SIDES)
        circle = tool.tip.radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        return [plane.flat(_placed(row, tip_P)) + circle]
    if isinstance(tool.tip, PlateTip):
        half = 0.5 * np.array(tool.tip.size)
        corners = half * np.array(list(product((-1.0, 1.0), repeat=3))) - [half[0], 0.0, 0.0]
        flat = plane.flat(_placed(row, tip_P + corners @ tool.R_PT.T))
        return [flat[list(face)] for face in _FACES]
    return []


_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


def _placed(row: Array, points_P: Array) -> Array:
    return row[P] + so3.rotate(row[Q], points_P)


def _cut(piece: Shape, row: Array, plane: Plane) -> Array:
    """The convex polygon (n, 2), in order, in which a plane cuts a convex piece."""
    vertices, faces = triangles(piece)
    corners = _placed(row, vertices)
    heights = plane.height(corners)
    i, j = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).T
    crosses = (heights[i] < 0.0) != (heights[j] < 0.0)
    i, j = i[crosses], j[crosses]
    share = heights[i] / (heights[i] - heights[j])
    points = plane.flat(corners[i] + share[:, None] * (corners[j] - corners[i]))
    if not len(points):
        return points
    points = np.unique(np.round(points / ROUNDING), axis=0) * ROUNDING
    away = points - points.mean(axis=0)
    return np.asarray(points[np.argsort(np.arctan2(away[:, 1], away[:, 0]))])


@dataclass(frozen=True)
class Insertion:
    """A rod and the hole that it is in at the end of a flight.

    Attributes:
        hole: the object, things enter it along -x of its frame O.
        length: of the hole [m].
        before: how far the object reaches beyond the origin of O [m].
        radius: around the axis, of what is drawn [m].
        tool: the rod.
        tip_P: (3,) its tip in P [m].
        rows: (n, 13) states of the platform from the first contact to the end.
    """

    hole: SceneObject
    length: float
    before: float
    radius: float
    tool: Tool
    tip_P: Array
    rows: Array

    @property
    def axis(self) -> Array:
        """(3,) into the hole, in `map`."""
        return so3.rotate(self.hole.row[Q], np.array([-1.0, 0.0, 0.0]))

    @property
    def tip(self) -> Array:
        """(n, 3) the tip in `map` [m]."""
        return self.rows[:, P] + so3.rotate(self.rows[:, Q], self.tip_P)

    @property
    def depth(self) -> float:
        """Depth of the tip at the end, past the origin of O [m]."""
        return float((self.tip[-1] - self.hole.row[P]) @ self.axis)

    @property
    def rod_axis(self) -> Array:
        """(3,) of the rod at the end, towards its tip, in `map`."""
        return so3.rotate(self.rows[-1, Q], self.tool.R_PT[:, 0])

    @property
    def planes(self) -> tuple[Plane, Plane]:
        """Through the hole's axis: upright, and across that one."""
        axis, origin = self.axis, self.hole.row[P]
        level = axis * [1.0, 1.0, 0.0]
        level = level if np.linalg.norm(level) > STEEP else np.array([1.0, 0.0, 0.0])
        level /= np.linalg.norm(level)
        up = np.array([0.0, 0.0, 1.0])
        return Plane(origin, level, up), Plane(origin, axis, np.cross(up, level))

    def window(self, plane: Plane) -> Array:
        """(2, 2) lowest and highest coordinates that are drawn [m]."""
        ends = np.array([-self.before - BEFORE, max(self.length, self.depth) + BEHIND])
        ends_flat = plane.flat(self.hole.row[P] + ends[:, None] * self.axis)
        across = self.radius * np.array([[1.0], [-1.0]]) * self._across(plane)
        corners = (ends_flat[:, None] + across).reshape(-1, 2)
        low, high = corners.min(axis=0), corners.max(axis=0)
        outline = np.vstack([*cuts(self.hole, plane), plane.flat(self.tip[-1:])])
        bottom, top = max(low[1], outline[:, 1].min()), min(high[1], outline[:, 1].max())
        return np.array([[low[0], bottom - ASIDE], [high[0], top + ASIDE]])

    def _across(self, plane: Plane) -> Array:
        """(2,) unit vector across the hole's axis, which lies in the plane."""
        x, y = plane.flat(plane.origin + self.axis)
        return np.array([-y, x])


def insertion(world: World, tool: Tool, tip_P: Array, c: Columns) -> Insertion | None:
    """The first hole of a world that a tool's tip is in at the end, None without any.

    Args:
        world: with its objects.
        tool: of the vehicle.
        tip_P: (3,) its tip in P [m].
        c: the vehicle's columns from the first contact on.
    """
    for item in world.objects.values():
        if not isinstance(item, Funnel | Board):
            continue
        hole = SceneObject(item.visual(), item.row(float(c.t[-1])))
        inserted = Insertion(hole, *_measures(item), tool, tip_P, c.x[:, 0])
        off = inserted.tip[-1] - hole.row[P] - inserted.depth * inserted.axis
        if inserted.depth > 0.0 and np.linalg.norm(off) < inserted.radius:
            return inserted
    return None


def _measures(item: Funnel | Board) -> tuple[float, float, float]:
    """Length of the hole, what is in front of it, and the radius to draw [m]."""
    if isinstance(item, Funnel):
        return item.throat_length, item.cone_length, item.mouth_radius + item.wall
    return item.thickness, 0.0, BOARD_REACH * item.hole.radius
