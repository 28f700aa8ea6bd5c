# SPDX-License-Identifier: BSD-3-Clause
"""The line on which a patch comes to its wall."""

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import Latch
from iap_description.vehicles.tool import TOOL
from iap_learning.tasks.kinds.perch_on_wall.task import PerchTask
from iap_learning.tasks.push_line import PushLine
from iap_simulation.scenario.scenario import Scenario


def latch_of(task: PerchTask, scenario: Scenario) -> Latch:
    """The latch by which a task's platform sticks.

    Raises:
        BadInput: the scenario has several vehicles, or no such latch of a face and a tool.
    """
    latch = scenario.latches.get(task.latch)
    of_face = [name for name, each in scenario.latches.items() if each.face is not None]
    if len(scenario.vehicles) > 1 or latch is None or latch.face is None:
        known = ", ".join(of_face) or "none"
        raise BadInput(
            f"task '{task.name}': key 'latch': the scenario needs one vehicle, and a latch '{task.latch}' whose socket"
            f" is an object (such: {known})"
        )
    if latch.probe.split("/")[1] != TOOL:
        raise BadInput(
            f"task '{task.name}': key 'latch': the probe of '{task.latch}' is no tool's tip"
        )
    return latch


def line_of(task: PerchTask, scenario: Scenario, row: Array) -> PushLine:
    """The line along the normal of the wall, from a scenario's first reference on, without a force.

    Raises:
        BadInput: see `latch_of`; or the wall's normal is not level.
    """
    wall = scenario.world.objects[latch_of(task, scenario).socket]
    towards = -so3.matrix_from_quaternion(wall.q_WO)[:, 0]
    sideways = np.cross([0.0, 0.0, 1.0], towards)
    if np.linalg.norm(sideways) < 0.5:
        raise BadInput(f"task '{task.name}': key 'latch': the wall's normal is not level")
    sideways /= np.linalg.norm(sideways)
    vehicle = scenario.vehicles[0]
    tip_P = Assembly.of(vehicle.platform, vehicle.name).tool_tip_P
    assert tip_P is not None  # noqa: S101 - a latch holds the tool's tip
    axes = np.array([towards, sideways, np.cross(towards, sideways)])
    start, attitude = row[REF_P].copy(), row[REF_Q].copy()
    place = np.array(wall.position)
    return PushLine(0.0, axes, tip_P, start, attitude, so3.rotate(attitude, tip_P), place)
