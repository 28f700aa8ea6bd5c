# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of pushes, of which observations are made: the same for many worlds, and for a policy that flies one."""

from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.states import V
from iap_learning.tasks.kinds.wall_push.observations import PushInputs
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.push_line import PushLine


class PushMeasurements:
    """Forces of B pushes as they are measured, and what has been counted of them.

    Args:
        sensors: of the forces.
        line: of the pushes.
        touch: measured force from which on the wall is felt [N].
        dt: control period [s].

    Attributes:
        integral: (B,) of the missing force, from when the wall was felt [N s].
        largest: (B,) measured force so far [N].
    """

    def __init__(self, sensors: LateSensors, line: PushLine, touch: float, dt: float) -> None:
        self._sensors, self._line, self._touch, self._dt = sensors, line, touch, dt
        self.integral, self.largest = np.zeros((2, len(sensors.known)))

    @classmethod
    def of(cls, task: WallPushTask, line: PushLine, dt: float, batch: int) -> Self:
        """Measurements of B worlds of a task, with control periods of dt [s]."""
        sensor, samples = task.sensor, task.periods(dt)
        how = {"delay": sensor.delay, "samples": samples, "batch": batch, "window": task.repeat}
        sensors = LateSensors(task.kind, [sensor.noise], [sensor.bias], **how)
        return cls(sensors, line, sensor.touch, dt)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        self._sensors.reset(worlds, seeds)
        self.integral[worlds] = self.largest[worlds] = 0.0

    def measure(self, forces: Array) -> None:
        """Take the forces (B,) of the wall, means over a control period [N]."""
        self._sensors(forces[:, None])
        known = self._sensors.known[:, 0]
        np.maximum(self.largest, known, out=self.largest)
        missing = self._line.desired - known
        self.integral += self._dt * np.where(self.largest > self._touch, missing, 0.0)

    def inputs(self, x: Array, action: Array) -> PushInputs:
        """Inputs of observations of central bodies (B, 13), after the last actions (B, 1)."""
        line = self._line
        known = (self._sensors.mean[:, 0], self.largest, line.desired, self.integral)
        has_felt = self.largest > self._touch
        moved = (line.gaps(line.tips(x)), x[:, V] @ line.axes.T, line.way_along(x))
        return PushInputs(*known, has_felt, *moved, action)
