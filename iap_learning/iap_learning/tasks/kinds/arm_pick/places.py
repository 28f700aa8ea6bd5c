# SPDX-License-Identifier: BSD-3-Clause
"""Places of picks: the arm's tip, where objects lie, and where they shall be."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.math.random_streams import uniform
from iap_description.states import REF_Q, P, Q, V
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.serial_chain import tip_pose
from iap_learning.tasks.kinds.arm_pick.observations import JOINTS
from iap_learning.tasks.kinds.arm_pick.task import PickTask
from iap_physics.arm.batch_grippers import find_tips
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario

UP = np.array([0.0, 0.0, 1.0])


def gripping_arm(task: PickTask, scenario: Scenario) -> tuple[MountedArm, GripperSpec]:
    """The arm of a scenario that takes an object, and its gripper.

    Raises:
        BadInput: the scenario has several vehicles, no arm of three joints or no gripper, or what that takes is no
            loose object.
    """
    vehicle, source, spec = scenario.vehicles[0], f"task '{task.name}'", scenario.gripper
    arm = Assembly.of(vehicle.platform, vehicle.name).arm
    if len(scenario.vehicles) > 1 or arm is None or spec is None:
        raise BadInput(
            f"{source}: the scenario needs one vehicle with an arm, and its key 'gripper'"
        )
    if len(arm.record.joints) != JOINTS:
        count = len(arm.record.joints)
        raise BadInput(f"{source}: an arm of {JOINTS} joints is expected (got {count})")
    loose = [name for name, item in scenario.world.objects.items() if item.is_free]
    if spec.object not in loose:
        known = ", ".join(loose) or "none"
        raise BadInput(
            f"{source}: key 'gripper.object': no loose object '{spec.object}' (such: {known})"
        )
    return arm, spec


@dataclass(frozen=True, eq=False)
class Places:
    """Places of B worlds.

    Attributes:
        name: of the object.
        number: of it among those of the scenario.
        arm: that takes it.
        home: (n,) its joints at the start.
        point: (3,) where it takes the object, in the object's frame O [m].
        middle: (3,) of O at the start, as the scenario has it and no seed [m].
        axes: (3, 3) rows: level axes of the platform at its start, forwards, to the left and up.
        starts: (B, 3) of O at the start [m].
        goals: (B, 3) of O in the end [m].
    """

    name: str
    number: int
    arm: MountedArm
    home: Array
    point: Array
    middle: Array
    axes: Array
    starts: Array
    goals: Array

    @classmethod
    def of(cls, task: PickTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """Places of so many worlds of a scenario whose first reference is this one, all at the mean.

        Raises:
            BadInput: the scenario has several vehicles, no arm of three joints or no gripper, or what that takes is no
                loose object.
        """
        arm, spec = gripping_arm(task, scenario)
        objects = scenario.world.objects
        middle, yaw = np.array(objects[spec.object].position), yaw_of(row[REF_Q])
        cosine, sine = np.cos(yaw), np.sin(yaw)
        axes = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        starts, goals = np.tile(middle, (2, batch, 1))
        goals += np.array([*task.goal.way, 0.0]) @ axes
        point, home = np.array(spec.point), np.array(arm.record.home_pose)
        number = list(objects).index(spec.object)
        return cls(spec.object, number, arm, home, point, middle, axes, starts, goals)

    @property
    def tip_P(self) -> Array:
        """(3,) the tip in P at the start [m]."""
        return tip_pose(self.arm.chain, np.zeros(3), np.eye(3), self.home)[0]

    def draw(self, world: int, task: PickTask, scenario: Scenario) -> None:
        """Take the places of a world's seed."""
        self.starts[world] = placed_world(scenario).objects[self.name].position
        dice = uniform(scenario.seed, f"{task.kind}/goal", 2)
        way = np.array(task.goal.way) + np.array(task.goal.width) * dice
        self.goals[world] = self.middle + np.append(way, 0.0) @ self.axes

    def components(self, vectors: Array) -> Array:
        """(B, 3) components of vectors (B, 3) along the axes."""
        return np.asarray(vectors @ self.axes.T)

    def tips(self, x: Array, q: Array) -> Array:
        """(B, 3) tips of arms at coordinates (B, n) on central bodies (B, 13) [m]."""
        tips = np.empty((len(x), 3))
        find_tips(self.arm.chain, x[:, P], so3.matrix_from_quaternion(x[:, Q]), q, tips)
        return tips

    def points(self, objects: Array) -> Array:
        """(B, 3) points where objects (B, 13) are taken [m]."""
        points: Array = objects[:, P] + so3.rotate(objects[:, Q], self.point)
        return points

    def measures(self, objects: Array) -> Array:
        """(B, 4) of objects (B, 13), as `PickCounts` counts them."""
        left, rise = self.goals - objects[:, P], objects[:, 2] - self.starts[:, 2]
        up = so3.rotate(objects[:, Q], UP)[:, 2]
        tilt, speed = np.arccos(np.clip(up, -1.0, 1.0)), np.linalg.norm(objects[:, V], axis=1)
        return np.column_stack([np.linalg.norm(left[:, :2], axis=1), rise, speed, tilt])
