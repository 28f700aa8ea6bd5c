# SPDX-License-Identifier: BSD-3-Clause
"""Mean contact wrenches on vehicles over control periods."""

from collections.abc import Mapping, Sequence

import numpy as np

from iap_description.arrays import Array, Integers
from iap_physics.engines.engine import Engine
from iap_physics.plant.part import PlantPart, overriding


class ContactWrenches(PlantPart):
    """Measures what engine and other parts do to central bodies, in a world that is no batch.

    Args:
        engine: that tells its contacts.
        rows: state rows of the central bodies of the vehicles that are measured, by the vehicles' numbers.
        others: parts that act on bodies as contacts do.
    """

    def __init__(
        self, engine: Engine, rows: Mapping[int, int], others: Sequence[PlantPart] = ()
    ) -> None:
        self._engine = engine
        self._others = overriding(tuple(others), "add_reaction")
        self._sums = {vehicle: np.zeros(6) for vehicle in rows}
        self._measured = [(row, self._sums[vehicle]) for vehicle, row in rows.items()]
        self._steps = 0

    def wrench(self, vehicle: int) -> Array:
        """(6,) mean over the last control period: force [N] and torque about the CoM [N m], world axes.

        It is zero for a vehicle of which it is not measured; the next period overwrites it.
        """
        return self._sums.get(vehicle, np.zeros(6))

    def reset(self, x: Array, worlds: Integers) -> None:
        """Nothing has touched yet."""
        self.begin_period(0, 0.0)

    def begin_period(self, k: int, t: float) -> None:
        """Begin a new mean."""
        self._steps = 0
        for _, wrench_sum in self._measured:
            wrench_sum[:] = 0.0

    def end_step(self, before: Array, t: float) -> None:
        """Add what has acted in a step."""
        self._steps += 1
        for row, wrench_sum in self._measured:
            for part in self._others:
                part.add_reaction(row, before, wrench_sum)
            wrench_sum += self._engine.contact_wrench(row)

    def end_period(self) -> None:
        """Divide by the number of steps."""
        for _, wrench_sum in self._measured:
            wrench_sum /= self._steps
