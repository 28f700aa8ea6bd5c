# SPDX-License-Identifier: BSD-3-Clause
"""How a rod sits in a hole at the end of a flight, and the planes in which that is drawn."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_bringup.geometry.scene_objects import SceneObject
from iap_bringup.geometry.sections import Plane, cuts
from iap_description import so3
from iap_description.states import P, Q
from iap_description.vehicles.tool import Tool
from iap_description.world.objects import Board, Funnel
from iap_description.world.world import World
from iap_io.runs.columns import Columns

Array = NDArray[np.float64]
BEFORE, BEHIND, ASIDE = 0.10, 0.08, 0.02  # what is drawn around the hole [m]
BOARD_REACH = 3.0  # of a board, in radii of its hole
STEEP = 1e-3  # horizontal share below which a hole counts as vertical


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
        """Of the tip at the end, past the origin of O [m]."""
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
        places = plane.flat(self.hole.row[P] + ends[:, None] * self.axis)
        across = self.radius * np.array([[1.0], [-1.0]]) * self._across(plane)
        corners = (places[:, None] + across).reshape(-1, 2)
        low, high = corners.min(axis=0), corners.max(axis=0)
        seen = np.vstack([*cuts(self.hole, plane), plane.flat(self.tip[-1:])])
        bottom, top = max(low[1], seen[:, 1].min()), min(high[1], seen[:, 1].max())
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
        hole = SceneObject(item.pieces(), item.row(float(c.t[-1])))
        found = Insertion(hole, *_measures(item), tool, tip_P, c.x[:, 0])
        off = found.tip[-1] - hole.row[P] - found.depth * found.axis
        if found.depth > 0.0 and np.linalg.norm(off) < found.radius:
            return found
    return None


def _measures(item: Funnel | Board) -> tuple[float, float, float]:
    """Length of the hole, what is in front of it, and the radius to draw [m]."""
    if isinstance(item, Funnel):
        return item.throat_length, item.cone_length, item.mouth_radius + item.wall
    return item.thickness, 0.0, BOARD_REACH * item.hole.radius
