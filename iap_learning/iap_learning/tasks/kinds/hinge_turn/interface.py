# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of turns, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import Q, V
from iap_learning.tasks.kinds.hinge_turn.arc import Arc, PolarPlaces
from iap_learning.tasks.kinds.hinge_turn.observations import TERMS, TurnInputs
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_learning.tasks.touch_interface import TipInterface
from iap_simulation.scenario.scenario import Scenario


class TurnInterface(TipInterface):
    """Velocities of the tip's reference about the axis as it is believed, and wrenches.

    Args:
        task: of it.
        arc: of the worlds, of which the believed axis alone is looked at.
        row: first reference of the scenario.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        arc: as given.
    """

    TERMS = TERMS

    def __init__(self, task: TurnTask, arc: Arc, row: Array, *, dt: float, batch: int) -> None:
        super().__init__(task, task.sensor, row, arc.tip_P, dt=dt, batch=batch)
        self.arc, self._heading = arc, np.zeros(batch)

    @classmethod
    def of(cls, task: TurnTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B turns, see `TouchInterface`."""
        return cls(task, Arc.of(task, scenario, row, batch), row, dt=scenario.dt, batch=batch)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        super().reset(worlds, seeds)
        self._heading[worlds] = 0.0

    def inputs(self, x: Array, action: Array) -> TurnInputs:
        """Inputs of observations; forces are means over the last step."""
        return self.inputs_about(x, action, self.arc.polar(self.tips(x)), self.mean_P[:, :3])

    def inputs_about(
        self, x: Array, action: Array, tips: PolarPlaces, force_P: Array
    ) -> TurnInputs:
        """Inputs of places of tips about axes, and of forces (B, 3) in P [N]."""
        arc = self.arc.polar(self.tips(x))
        lag = arc.components(self.tips(x) - self.reference.tip)
        return TurnInputs(
            arc.components(so3.rotate(x[:, Q], force_P)),
            tips.turns,
            tips.radii,
            lag[:, :2],
            self._heading,
            arc.components(x[:, V]),
            action,
            tips.heights,
            lag[:, 2],
        )

    def _move(self, x: Array, values: Array) -> None:
        """Move the reference at velocities (B, 2) or (B, 3) about the axis, and a yaw rate (B,) after them."""
        level, yaw = np.zeros(len(x)), values[:, -1]
        turns = np.column_stack([level, level, yaw])
        axial = values[:, 2] if values.shape[1] > turns.shape[1] else level
        along = np.column_stack([values[:, :2], axial])
        self.reference.move(self.arc.polar(self.tips(x)).vectors(along), turns, self._dt)
        self._heading += self._dt * yaw
