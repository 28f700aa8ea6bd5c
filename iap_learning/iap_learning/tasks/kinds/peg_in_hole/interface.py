# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of pegs, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_Q, Q, V
from iap_learning.tasks.kinds.peg_in_hole.holes import Holes
from iap_learning.tasks.kinds.peg_in_hole.observations import TERMS, PegInputs
from iap_learning.tasks.kinds.peg_in_hole.task import PegTask
from iap_learning.tasks.touch_interface import TipInterface
from iap_simulation.scenario.scenario import Scenario


class PegInterface(TipInterface):
    """Twists of the tip's reference, and wrenches.

    Args:
        task: of it.
        holes: of the worlds, of which the believed place alone is looked at.
        row: first reference of the scenario.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        holes: as given.
    """

    TERMS = TERMS

    def __init__(self, task: PegTask, holes: Holes, row: Array, *, dt: float, batch: int) -> None:
        super().__init__(task, task.sensor, row, holes.tip_P, dt=dt, batch=batch)
        self.holes = holes

    @classmethod
    def of(cls, task: PegTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B pegs, see `TouchInterface`."""
        return cls(task, Holes.of(task, scenario, batch), row, dt=scenario.dt, batch=batch)

    def inputs(self, x: Array, action: Array) -> PegInputs:
        """Inputs of observations; wrenches are means over the last step."""
        q_PW, known_P = so3.conjugate(x[:, Q]), self.mean_P
        force_P, torque_P = known_P[:, :3], known_P[:, 3:]
        reference = self.reference
        start = np.tile(so3.conjugate(self.row[REF_Q]), (len(x), 1))
        return PegInputs(
            force_P,
            torque_P - np.cross(self.tip_P, force_P),
            so3.rotate(start, reference.tip - self.holes.believed),
            so3.rotate(q_PW, self.tips(x) - reference.tip),
            so3.quaternion_log(so3.multiply(start, reference.q))[:, 1:],
            so3.rotate(q_PW, x[:, V]),
            action,
        )

    def _move(self, x: Array, values: Array) -> None:
        """Move the reference at twists (B, 5) of the tip: three velocities, and turns about y and z."""
        turns_P = np.column_stack([np.zeros(len(x)), values[:, 3:]])
        self.reference.move(so3.rotate(self.reference.q, values[:, :3]), turns_P, self._dt)
