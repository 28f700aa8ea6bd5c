# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of slides, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.states import V
from iap_learning.tasks.kinds.slide_along_wall.observations import TERMS, SlideInputs
from iap_learning.tasks.kinds.slide_along_wall.task import SlideTask
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.touch_interface import TipInterface
from iap_simulation.scenario.scenario import Scenario


class SlideInterface(TipInterface):
    """Velocities of the tip's reference in the wall's axes, and wrenches.

    Args:
        task: of it.
        line: towards the wall.
        row: first reference of the scenario.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        line: as given.
    """

    TERMS = TERMS

    def __init__(
        self, task: SlideTask, line: PushLine, row: Array, *, dt: float, batch: int
    ) -> None:
        super().__init__(task, task.sensor, row, line.tip_P, dt=dt, batch=batch)
        self.line = line

    @classmethod
    def of(cls, task: SlideTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B slides, see `TouchInterface`."""
        line = PushLine.of(task.name, task.wall, scenario, row)
        return cls(task, line, row, dt=scenario.dt, batch=batch)

    def inputs(self, x: Array, action: Array) -> SlideInputs:
        """Inputs of observations; forces are means over the last step."""
        return self.inputs_of(x, action, self.force_W(x), 0.0)

    def inputs_of(
        self, x: Array, action: Array, force_W: Array, early: Array | float
    ) -> SlideInputs:
        """Inputs of forces (B, 3) [N], and walls that are so much early [m]."""
        line = self.line
        lag = (line.tips_W(x) - self.reference.tip) @ line.axes.T
        gap = line.gaps(line.tips(x)) - early
        known = (-force_W @ line.axes.T, line.desired, gap, line.way_along(x), lag)
        return SlideInputs(*known, x[:, V] @ line.axes.T, action)

    def _move(self, x: Array, values: Array) -> None:
        """Move the reference at velocities (B, 3) in the wall's axes."""
        self.reference.move(values @ self.line.axes, np.zeros((len(x), 3)), self._dt)
