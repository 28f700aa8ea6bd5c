# SPDX-License-Identifier: BSD-3-Clause
"""Flat outlines of solids: cuts through convex pieces, and silhouettes of a tool."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from iap_bringup.geometry.scene_objects import SceneObject
from iap_description import so3
from iap_description.states import P, Q
from iap_description.vehicles.tool import PlateTip, SphereTip, Tool
from iap_description.world.shapes import Shape
from iap_description.world.solids import triangles

Array = NDArray[np.float64]
SIDES = 48  # of a circle
ROUNDING = 1e-9  # corners of a cut that are nearer to each other are one [m]


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
    found = [_cut(piece, standing.row, plane) for piece in standing.pieces if piece.vertices]
    return [polygon for polygon in found if len(polygon) > 2]


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
