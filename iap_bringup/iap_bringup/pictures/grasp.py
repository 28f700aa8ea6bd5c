# SPDX-License-Identifier: BSD-3-Clause
"""The time over which a gripper has carried its object, from the recorded places of both."""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import ChainState, MountedArm, link_rows
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import GripperSpec
from iap_io.runs.run_folder import RunData
from iap_simulation.scenario.scenario import Scenario


class Grasp(NamedTuple):
    """An object at the tip of an arm, from a time to another [s]."""

    object: str
    start: float
    end: float


def grasp_of(scenario: Scenario, run: RunData) -> Grasp | None:
    """The grasp of a run: while the gripper is closed, from when the tip first reaches the object's point on.

    None without a gripper at a recorded arm, without recorded objects, or where the tip does not reach the object.
    """
    gripper, objects = scenario.gripper, run.objects
    if gripper is None or objects is None or gripper.object not in objects.names:
        return None
    number = objects.names.index(gripper.object)
    for vehicle, recorded in zip(scenario.vehicles, run.vehicles, strict=True):
        arm, c = Assembly.of(vehicle.platform, vehicle.name).arm, recorded.columns
        if arm is None or c.arm is None:
            continue
        closed = np.flatnonzero(
            [is_closed(gripper, *each) for each in zip(c.t, c.arm.load, strict=True)]
        )
        for k in closed.tolist():
            item, q = objects.at(float(c.t[k]))[number], ChainState(c.arm.q[k], c.arm.v[k])
            if is_reached(gripper, arm, c.x[k, 0], q, item):
                return Grasp(gripper.object, float(c.t[k]), float(c.t[closed[-1]]))
    return None


def is_closed(gripper: GripperSpec, t: float, load: Array) -> bool:
    """True if a gripper is closed at a time [s]; one by commands as far as it says that it holds a load (10,)."""
    return bool(load[0] > 0.0) if gripper.is_commanded else gripper.closes_at(t)


def is_reached(
    gripper: GripperSpec, arm: MountedArm, row: Array, chain: ChainState, item: Array
) -> bool:
    """True if the tip of an arm on a body's row (13,) is within a gripper's reach of its object, a row (13,)."""
    link = link_rows(arm, row, chain)[-1]
    tip = link[P] + so3.rotate(link[Q], arm.chain.tip)
    point = item[P] + so3.rotate(item[Q], np.array(gripper.point))
    return bool(np.linalg.norm(tip - point) <= gripper.reach)
