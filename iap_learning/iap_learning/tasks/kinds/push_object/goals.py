# SPDX-License-Identifier: BSD-3-Clause
"""Goals of loose objects: where they are, and how far an object is from its own."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.math.random_streams import uniform
from iap_description.states import Q, V
from iap_description.vehicles.assembly import Assembly
from iap_learning.tasks.kinds.push_object.task import ShoveTask
from iap_simulation.scenario.scenario import Scenario

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Goals:
    """Goals of B worlds.

    Attributes:
        number: of the object among those of the scenario.
        tip_P: (3,) the tool's tip in P [m].
        start: (3,) of the object [m].
        yaw: of the object at its start [rad].
        axes: (2, 2) rows: level axes of the object at its start, forwards and to the left.
        ways: (B, 2) from the start to the goals in these axes [m].
    """

    number: int
    tip_P: Array
    start: Array
    yaw: float
    axes: Array
    ways: Array

    @classmethod
    def of(cls, task: ShoveTask, scenario: Scenario, batch: int) -> Self:
        """Goals of so many worlds, all at the mean.

        Raises:
            BadInput: the scenario has several vehicles, no tool or no such loose object.
        """
        vehicle, source = scenario.vehicles[0], f"task '{task.name}'"
        if len(scenario.vehicles) > 1 or vehicle.platform.tool is None:
            raise BadInput(f"{source}: the scenario needs one vehicle with a tool")
        objects = scenario.world.objects
        loose = [name for name, item in objects.items() if item.is_free]
        if task.pushed not in loose:
            known = ", ".join(loose) or "none"
            raise BadInput(
                f"{source}: key 'pushed': no loose object '{task.pushed}' (such: {known})"
            )
        tip_P = Assembly.of(vehicle.platform, vehicle.name).tool_tip_P
        assert tip_P is not None  # noqa: S101 - there is a tool
        item = objects[task.pushed]
        ways = np.tile([task.goal.along, 0.0], (batch, 1))
        number, yaw = list(objects).index(task.pushed), yaw_of(item.q_WO)
        cosine, sine = np.cos(yaw), np.sin(yaw)
        axes = np.array([[cosine, sine], [-sine, cosine]])
        return cls(number, tip_P, np.array(item.position), yaw, axes, ways)

    def draw(self, world: int, task: ShoveTask, seed: int) -> None:
        """Take the goal of a world's seed."""
        goal = task.goal
        along, aside = uniform(seed, f"{task.kind}/goal", 2).tolist()
        self.ways[world] = goal.along + goal.along_width * along, goal.aside_width * aside

    def components(self, vectors: Array) -> Array:
        """(B, 2) components of level parts of vectors (B, 2 or 3) along these axes."""
        return np.asarray(vectors[:, :2] @ self.axes.T)

    def left(self, places: Array) -> Array:
        """(B, 2) ways along these axes from places (B, 2 or 3) to the goals [m]."""
        return self.ways - self.components(places[:, :2] - self.start[:2])

    def poses(self, objects: Array) -> Array:
        """(B, 3) places, level [m], and turns since the start [rad] of objects (B, 13)."""
        turns = np.array([yaw_of(q) for q in objects[:, Q]]) - self.yaw
        return np.column_stack([objects[:, :2], np.remainder(turns + np.pi, 2.0 * np.pi) - np.pi])

    def measures(self, objects: Array) -> Array:
        """(B, 6) of objects (B, 13), as `ShoveCounts` counts them."""
        poses = self.poses(objects)
        up = so3.rotate(objects[:, Q], UP)[:, 2]
        tilt, drop = np.arccos(np.clip(up, -1.0, 1.0)), self.start[2] - objects[:, 2]
        speed = np.linalg.norm(objects[:, V], axis=1)
        return np.column_stack([self.left(poses), np.abs(poses[:, 2]), speed, tilt, drop])
