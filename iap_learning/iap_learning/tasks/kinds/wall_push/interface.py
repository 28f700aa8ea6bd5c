# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of pushes, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.states import V
from iap_learning.tasks.kinds.wall_push.observations import TERMS, PushInputs
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.touch_interface import BY_VELOCITY, LineInterface
from iap_simulation.scenario.scenario import Scenario


class PushInterface(LineInterface):
    """Velocities towards the wall, and forces as they are measured with what has been counted of them.

    Args:
        task: of it.
        line: of the pushes.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        line: as given.
        integral: (B,) of the missing force, from when the wall was felt [N s].
        largest: (B,) measured force so far [N].
    """

    TERMS, NEEDS = TERMS, BY_VELOCITY

    def __init__(self, task: WallPushTask, line: PushLine, *, dt: float, batch: int) -> None:
        sensor, samples = task.sensor, task.periods(dt)
        how = {"delay": sensor.delay, "samples": samples, "batch": batch, "window": task.repeat}
        self._sensors = LateSensors(task.kind, [sensor.noise], [sensor.bias], **how)
        super().__init__(line, task.centering)
        self._touch, self._dt = sensor.touch, dt
        self.integral, self.largest = np.zeros((2, batch))

    @classmethod
    def of(cls, task: WallPushTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B pushes, see `TouchInterface`."""
        line = PushLine.of(task.name, task.wall, scenario, row)
        return cls(task, line, dt=scenario.dt, batch=batch)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        self._sensors.reset(worlds, seeds)
        self.integral[worlds] = self.largest[worlds] = 0.0

    def measure(self, x: Array, wrenches_W: Array) -> None:  # noqa: ARG002 - as of all that touch
        """Measure the end of a control period, see `TouchInterface`."""
        self._sensors(self.line.forces(wrenches_W)[:, None])
        known = self._sensors.known[:, 0]
        np.maximum(self.largest, known, out=self.largest)
        missing = self.line.desired - known
        self.integral += self._dt * np.where(self.largest > self._touch, missing, 0.0)

    def inputs(self, x: Array, action: Array) -> PushInputs:
        """Inputs of observations, see `TouchInterface`."""
        line = self.line
        known = (self._sensors.mean[:, 0], self.largest, line.desired, self.integral)
        has_felt = self.largest > self._touch
        moved = (line.gaps(line.tips(x)), x[:, V] @ line.axes.T, line.way_along(x))
        return PushInputs(*known, has_felt, *moved, action)
