# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of perches, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import Q, V, W
from iap_learning.tasks.kinds.perch_on_wall.approach_line import latch_of, line_of
from iap_learning.tasks.kinds.perch_on_wall.observations import TERMS, PerchInputs
from iap_learning.tasks.kinds.perch_on_wall.task import PerchTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.touch_interface import BY_POSE, LineInterface
from iap_physics.latching.kernel import CAUGHT, LOCKED
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


class PerchInterface(LineInterface):
    """Velocities towards the wall, and ranges from it as they are measured.

    Args:
        task: of it.
        line: towards the wall.
        wall: name of it.
        number: of the latch among those of the scenario.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        line: as given.
    """

    TERMS, NEEDS = TERMS, BY_POSE
    ASKS_FOR = (Sense.WRENCH, Sense.PHASES)

    def __init__(
        self, task: PerchTask, line: PushLine, wall: str, number: int, *, dt: float, batch: int
    ) -> None:
        super().__init__(line, task.centering)
        sensor, samples = task.sensor, task.periods(dt)
        noise = [sensor.range_noise, sensor.closing_noise]
        bias = [sensor.range_bias, sensor.closing_bias]
        how = {"delay": sensor.delay, "samples": samples, "batch": batch, "window": task.repeat}
        self._sensors = LateSensors(task.kind, noise, bias, **how)
        self._wall, self._number = wall, number
        self._begins, self._is_held = np.zeros(batch), np.zeros(batch, bool)

    @classmethod
    def of(cls, task: PerchTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B perches, see `TouchInterface`."""
        wall, number = latch_of(task, scenario).socket, list(scenario.latches).index(task.latch)
        line = line_of(task, scenario, row)
        return cls(task, line, wall, number, dt=scenario.dt, batch=batch)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        self._sensors.reset(worlds, seeds)

    def draw(self, world: int, scenario: Scenario) -> None:
        """Take where a world's seed has drawn the wall."""
        place = placed_world(scenario).objects[self._wall].position
        self._begins[world] = float(self.line.axes[0] @ (np.array(place) - self.line.start))

    def begin(self, worlds: Integers, x: Array) -> None:
        """Know the ranges of some worlds at states (B, 13), before the first control period."""
        self._sensors.known[worlds] = self.ranges(x)[worlds]

    def look_at_latches(self, phases: Integers) -> None:
        """Look at the phases (B, m) of latches, see `TouchInterface`."""
        self._is_held = np.isin(phases[:, self._number], (CAUGHT, LOCKED))

    def measure(self, x: Array, wrenches_W: Array) -> None:  # noqa: ARG002 - as of all that touch
        """Measure the end of a control period, see `TouchInterface`."""
        self._sensors(self.ranges(x))

    def ranges(self, x: Array) -> Array:
        """(B, 2) ranges of patches from the walls [m], and rates at which they shrink [m/s]."""
        line = self.line
        arms = so3.rotate(x[:, Q], line.tip_P)
        closing = (x[:, V] + np.cross(x[:, W], arms)) @ line.axes[0]
        return np.column_stack([self._begins - line.tips(x)[:, 0], closing])

    def inputs(self, x: Array, action: Array) -> PerchInputs:
        """Inputs of observations, see `TouchInterface`."""
        return self.inputs_of(x, action, self._sensors.known)

    def inputs_of(self, x: Array, action: Array, ranges: Array) -> PerchInputs:
        """Inputs of ranges, see `ranges`."""
        up = so3.matrix_from_quaternion(x[:, Q])[:, 2]  # of the world, in axes of P
        tilt = np.column_stack([np.arctan2(up[:, 1], up[:, 2]), np.arcsin(-up[:, 0])])
        rates = so3.rotate(so3.conjugate(x[:, Q]), x[:, W])
        held = self._is_held.astype(np.float64)
        return PerchInputs(ranges[:, 0], ranges[:, 1], tilt, rates, held, action)
