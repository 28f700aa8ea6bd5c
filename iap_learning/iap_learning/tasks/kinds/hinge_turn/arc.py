# SPDX-License-Identifier: BSD-3-Clause
"""The arc on which a tool's tip turns an object: about the axis of the object's hinge."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import WorldObject
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_learning.tasks.kinds.hinge_turn.torques import check_torque
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


def turned_object(task: TurnTask, scenario: Scenario) -> WorldObject:
    """The object of a scenario that a task turns.

    Raises:
        BadInput: the scenario has several vehicles, no tool or no such object with a hinge.
    """
    vehicle, source = scenario.vehicles[0], f"task '{task.name}'"
    if len(scenario.vehicles) > 1 or vehicle.platform.tool is None:
        raise BadInput(f"{source}: the scenario needs one vehicle with a tool")
    objects = scenario.world.objects
    hinged = [name for name, item in objects.items() if item.hinge is not None]
    if task.turned not in hinged:
        known = ", ".join(hinged) or "none"
        raise BadInput(
            f"{source}: key 'turned': no object '{task.turned}' with a hinge (such: {known})"
        )
    return objects[task.turned]


@dataclass(frozen=True, eq=False)
class Arc:
    """Arcs of B worlds.

    Attributes:
        tip_P: (3,) the tool's tip in P [m].
        start: (3,) reference of the tip at the start [m].
        believed: (3,) a point of the axis, as the scenario has it and no seed [m].
        axis: (3,) its direction, likewise.
        points: (B, 3) points of the true axes [m].
        axes: (B, 3) their directions.
    """

    tip_P: Array
    start: Array
    believed: Array
    axis: Array
    points: Array
    axes: Array

    @classmethod
    def of(cls, task: TurnTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """Arcs of so many worlds of a scenario whose first reference is this one, all where the scenario has them.

        Raises:
            BadInput: the scenario has several vehicles, no tool or no such object with a hinge, or the platform is too
                weak to turn it.
        """
        item, vehicle = turned_object(task, scenario), scenario.vehicles[0]
        tip_P = Assembly.of(vehicle.platform, vehicle.name).tool_tip_P
        assert tip_P is not None  # noqa: S101 - there is a tool
        start = row[REF_P] + so3.rotate(row[REF_Q], tip_P)
        point, axis = _axis_of(item)
        points, axes = np.tile(point, (batch, 1)), np.tile(axis, (batch, 1))
        arc = cls(tip_P, start, point, axis, points, axes)
        check_torque(task, scenario, item, arc.reach)
        return arc

    @property
    def reach(self) -> float:
        """From the axis as it is believed to the tip at the start [m]."""
        return float(np.linalg.norm(np.cross(self.start - self.believed, self.axis)))

    def draw(self, world: int, name: str, scenario: Scenario) -> None:
        """Take the axis of a world's seed."""
        self.points[world], self.axes[world] = _axis_of(placed_world(scenario).objects[name])

    def polar(self, places: Array) -> "PolarPlaces":
        """Places (B, 3) about the axis as it is believed."""
        return PolarPlaces.of(places, self.start, self.believed, self.axis)

    def true_polar(self, places: Array) -> "PolarPlaces":
        """Places (B, 3) about the true axes."""
        return PolarPlaces.of(places, self.start, self.points, self.axes)


@dataclass(frozen=True, eq=False)
class PolarPlaces:
    """Places of B points about axes.

    Attributes:
        turns: (B,) about the axis since the start [rad].
        radii: (B,) over that of the start [m].
        heights: (B,) along the axis since the start [m].
        frames: (B, 3, 3) rows: along the arc, away from the axis, along it.
    """

    turns: Array
    radii: Array
    heights: Array
    frames: Array

    @classmethod
    def of(cls, places: Array, start: Array, points: Array, axes: Array) -> Self:
        """Places (B, 3) about axes (B, 3) or (3,) through points, from where they start (3,)."""
        axes = np.broadcast_to(axes, places.shape)
        away, first = _across(places - points, axes), _across(start - points, axes)
        radii, reach = np.linalg.norm(away, axis=1), np.linalg.norm(first, axis=1)
        outwards = away / radii[:, None]
        sine = (np.cross(first, away) * axes).sum(axis=1)
        turns = np.arctan2(sine, (first * away).sum(axis=1))
        frames = np.stack([np.cross(axes, outwards), outwards, axes], axis=1)
        heights = ((places - start) * axes).sum(axis=1)
        return cls(turns, radii - reach, heights, frames)

    def components(self, vectors: Array) -> Array:
        """(B, 3) components of vectors (B, 3) along the arc, away from the axis and along it."""
        return np.asarray(np.einsum("bij,bj->bi", self.frames, vectors))

    def vectors(self, components: Array) -> Array:
        """(B, 3) vectors of such components."""
        return np.asarray(np.einsum("bij,bi->bj", self.frames, components))


def _across(ways: Array, axes: Array) -> Array:
    """Parts of ways (B, 3) across axes (B, 3)."""
    return np.asarray(ways - (ways * axes).sum(axis=1, keepdims=True) * axes)


def _axis_of(item: WorldObject) -> tuple[Array, Array]:
    """A point of an object's axis (3,) [m], and its direction (3,)."""
    assert item.hinge is not None  # noqa: S101 - the caller has looked
    point = item.position + so3.rotate(item.q_WO, np.array(item.hinge.point))
    return point, so3.rotate(item.q_WO, item.hinge.direction)
