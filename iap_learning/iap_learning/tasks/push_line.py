# SPDX-License-Identifier: BSD-3-Clause
"""The line along which a platform goes to a wall and pushes: directions, the tool's tip, the wall as it is believed."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.states import REF_P, REF_Q, P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.world.objects import WorldObject
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


@dataclass(frozen=True, eq=False)
class PushLine:
    """A line towards a wall, in world axes.

    Attributes:
        desired: force of the wall on the platform [N].
        axes: (3, 3) rows: towards the wall, and two along it.
        tip_P: (3,) the tool's tip in P [m].
        start: (3,) first reference of the platform [m].
        attitude: (4,) likewise.
        start_tip: (3,) of its tip, from there [m].
        wall: (3,) a point of the wall's face, as the scenario has it and no seed [m].
    """

    desired: float
    axes: Array
    tip_P: Array
    start: Array
    attitude: Array
    start_tip: Array
    wall: Array

    @classmethod
    def of(cls, task: str, wall: str, scenario: Scenario, row: Array) -> Self:
        """The line towards an object of a scenario.

        Args:
            task: name, for errors.
            wall: name of the object.
            scenario: that has it.
            row: its first reference.

        Raises:
            BadInput: the scenario has several vehicles, no push, no tool or no such wall.
        """
        vehicle, source = scenario.vehicles[0], f"task '{task}'"
        if len(scenario.vehicles) > 1 or vehicle.push is None or vehicle.platform.tool is None:
            raise BadInput(
                f"{source}: the scenario needs one vehicle with a tool, and its key 'push'"
            )
        if wall not in scenario.world.objects:
            known = ", ".join(scenario.world.objects) or "none"
            raise BadInput(f"{source}: key 'wall': no object '{wall}' (objects: {known})")
        force_W = so3.rotate(row[REF_Q], np.array(vehicle.push.force))
        size = float(np.linalg.norm(force_W))
        if size == 0.0:
            raise BadInput(f"{source}: key 'push.force' of the scenario is zero")
        towards = -force_W / size
        sideways = np.cross([0.0, 0.0, 1.0], towards)
        if np.linalg.norm(sideways) < 0.5:
            raise BadInput(f"{source}: key 'push.force' of the scenario is not level")
        sideways /= np.linalg.norm(sideways)
        tip_P = Assembly.of(vehicle.platform, vehicle.name).tool_tip_P
        assert tip_P is not None  # noqa: S101 - there is a tool
        place = np.array(scenario.world.objects[wall].position)
        axes = np.array([towards, sideways, np.cross(towards, sideways)])
        start, attitude = row[REF_P].copy(), row[REF_Q].copy()
        return cls(size, axes, tip_P, start, attitude, so3.rotate(attitude, tip_P), place)

    def tips(self, x: Array) -> Array:
        """(B, 3) places of tips along the axes, of central bodies (B, 13), from the first reference [m]."""
        tips: Array = (self.tips_W(x) - self.start) @ self.axes.T
        return tips

    def tips_W(self, x: Array) -> Array:
        """(B, 3) tips of central bodies (B, 13) [m]."""
        tips: Array = x[:, P] + so3.rotate(x[:, Q], self.tip_P)
        return tips

    def way_along(self, x: Array) -> Array:
        """(B, 2) ways of tips of central bodies (B, 13) along the wall from the line of approach [m]."""
        return np.ascontiguousarray(self.tips(x)[:, 1:] - self.axes[1:] @ self.start_tip)

    def gaps(self, tips: Array) -> Array:
        """(B,) distances of tips (B, 3) from the wall as it is believed [m]."""
        gaps: Array = float(self.axes[0] @ (self.wall - self.start)) - tips[:, 0]
        return gaps

    def nearer(self, wall: WorldObject) -> float:
        """Distance by which a wall is nearer than it is believed to be [m]."""
        return float(self.axes[0] @ (self.wall - wall.position))

    def forces(self, wrenches_W: Array) -> Array:
        """(B,) forces of the wall of contact wrenches (B, 6) [N]."""
        forces: Array = -(wrenches_W[:, :3] @ self.axes[0])
        return forces

    def velocities(self, x: Array, towards: Array, rate: float) -> Array:
        """(B, 4) velocities [m/s] and yaw rates [rad/s] that lead platforms level along the line.

        Args:
            x: (B, 13) of central bodies.
            towards: (B,) velocities towards the wall [m/s].
            rate: at which they go back to the line, and turn back [1/s].
        """
        away = (x[:, P] - self.start) @ self.axes.T
        along = np.column_stack([towards, -rate * away[:, 1:]])
        turned = so3.multiply(so3.conjugate(np.tile(self.attitude, (len(x), 1))), x[:, Q])
        yaws = np.array([yaw_of(q) for q in turned])
        return np.column_stack([along @ self.axes, -rate * yaws])


def nearer_walls(line: PushLine, wall: str, worlds: Worlds, indices: Integers) -> Array:
    """Distances (n,) by which the walls of some worlds are nearer than they are believed to be [m].

    Args:
        line: towards the wall.
        wall: name of the object.
        worlds: that have it, each where its seed has placed it.
        indices: (n,) of the worlds.
    """
    scenarios = map(worlds.world, indices.tolist())
    return np.array([line.nearer(placed_world(each).objects[wall]) for each in scenarios])
