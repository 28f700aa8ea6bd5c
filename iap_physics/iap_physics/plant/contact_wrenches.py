# SPDX-License-Identifier: BSD-3-Clause
"""Mean contact wrenches on vehicles over control periods, in one world and in batches."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

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

    def wrench(self, vehicle: int) -> Array:
        """(6,) mean over the last control period: force [N] and torque about the CoM [N m], world axes.

        It is zero for a vehicle of which it is not measured; the next period overwrites it.
        """
        return self._sums.get(vehicle, np.zeros(6))

    def reset(self, x: Array, worlds: Integers) -> None:
        """Nothing has touched yet."""
        self._clear()

    def begin_period(self, k: int, t: float) -> None:
        """Begin a new mean."""
        self._clear()

    def _clear(self) -> None:
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


@runtime_checkable
class ContactSums(Protocol):
    """An engine of a batch that sums up contact wrenches of its steps."""

    def measure_contacts(self, rows: Sequence[int]) -> None:
        """Sum up what contacts do to these state rows."""

    @property
    def felt(self) -> Array:
        """(B, M, 6) sums on these rows about their CoMs, world axes; whoever reads them begins them anew."""


class BatchContactWrenches(PlantPart):
    """Measures what contacts do to central bodies, in each world of a batch.

    Args:
        engine: that sums them up.
        rows: state rows of the central bodies of the vehicles that are measured, by the vehicles' numbers.
        substeps: physics steps of a control period.
    """

    def __init__(self, engine: ContactSums, rows: Mapping[int, int], substeps: int) -> None:
        self._engine, self._substeps = engine, substeps
        self._places = {vehicle: m for m, vehicle in enumerate(rows)}
        engine.measure_contacts(list(rows.values()))

    def wrenches(self, vehicle: int) -> Array:
        """(B, 6) means over the last control period, as `ContactWrenches.wrench` of each world."""
        felt = self._engine.felt
        if vehicle not in self._places:
            return np.zeros((len(felt), 6))
        return felt[:, self._places[vehicle]] / self._substeps

    def begin_period(self, k: int, t: float) -> None:
        """Begin new means."""
        self._engine.felt[:] = 0.0
