# SPDX-License-Identifier: BSD-3-Clause
"""Rotors that idle while a latch holds their vehicle on a face."""

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from iap_description.arrays import Integers
from iap_description.vehicles.latch import Latch
from iap_physics.latching.kernel import LOCKED
from iap_physics.plant.part import PlantPart
from iap_physics.propulsion.propulsion import Propulsion


class LatchPhases(Protocol):
    """Latches of B worlds."""

    @property
    def phase_numbers(self) -> Integers:
        """(B, latches) phases, as `kernel` numbers them."""


class RotorStops(PlantPart):
    """Commands rotors to idle from the control instant on at which a latch that stops them is locked.

    Args:
        latches: that it looks at.
        stopped: place of each latch that stops rotors among all, and the propulsion of the vehicle that it holds.
    """

    def __init__(self, latches: LatchPhases, stopped: Sequence[tuple[int, Propulsion]]) -> None:
        self._latches, self._stopped = latches, tuple(stopped)

    @classmethod
    def of(
        cls, latches: LatchPhases, specs: Mapping[str, Latch], propulsion: Mapping[str, Propulsion]
    ) -> Self | None:
        """Stops by latches with their records, and propulsion by vehicles' names; None where no latch stops rotors."""
        stopped = [
            (k, propulsion[latch.vehicles[0]])
            for k, latch in enumerate(specs.values())
            if latch.face is not None and latch.face.stops_rotors
        ]
        return cls(latches, stopped) if stopped else None

    def begin_period(self, k: int, t: float) -> None:
        """Let rotors idle for the coming control period."""
        phases = self._latches.phase_numbers
        for place, propulsion in self._stopped:
            is_locked = phases[:, place] == LOCKED
            if is_locked.any():
                propulsion.stop(is_locked)
