# SPDX-License-Identifier: BSD-3-Clause
"""Follows modules in the loop of one process, and says what came of their flight."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_description.arrays import Array
from iap_physics.plant.plant import Plant
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.modules.record import ModulesInstant, ModulesRecord, error_of
from iap_simulation.modules.scores import KEY, MISSED, Course, ModulesScores
from iap_simulation.vehicles.vehicle import Vehicle


class ModulesJudge:
    """Follows modules, and says what came of it.

    Args:
        modules: in flight.
        vehicles: the modules.

    Attributes:
        key: of metrics.json.
        is_over: never: the flight ends with its references.
    """

    key, missed = KEY, MISSED
    is_over = False

    def __init__(self, modules: ModulesInFlight, vehicles: Sequence[Vehicle]) -> None:
        self._modules, self._vehicles = modules, vehicles
        self._record = ModulesRecord(list(modules.coordinator.machines), len(vehicles))

    @classmethod
    def of(cls, modules: ModulesInFlight | None, vehicles: Sequence[Vehicle]) -> Self | None:
        """The judge of modules in flight, if there are any."""
        return None if modules is None else cls(modules, vehicles)

    @property
    def coordinator(self) -> Coordinator:
        """Of the modules."""
        return self._modules.coordinator

    @property
    def columns(self) -> dict[str, Array]:
        """All that was seen, see `ModulesRecord.columns`."""
        return self._record.columns

    @property
    def failure(self) -> str | None:
        """Why the mission has failed, in a sentence; None of one that was done."""
        return self._course.why_missed(self.coordinator.spec)

    def watch(self, plant: Plant) -> None:
        """Take the present instant, where the coordinator has just been at work."""
        modules, machines = self._modules, self.coordinator.machines
        if not modules.is_due:
            return
        borne = modules.joints.wrenches_S()
        seen = ModulesInstant(
            t=plant.t,
            states=[each.state for each in machines.values()],
            roles=self.coordinator.roles,
            joint_wrenches=np.array([borne.get(name, np.zeros(6)) for name in machines]),
            errors=np.array([self._error(plant, i) for i in range(len(self._vehicles))]),
            feed_forward=self.coordinator.feed_forward.wrenches_P,
            external=modules.external_P,
        )
        self._record.take(seen)

    def metrics(self, plant: Plant) -> dict[str, Any]:  # noqa: ARG002 - all has been seen
        """Key `modules` of metrics.json."""
        names = [vehicle.name for vehicle in self._vehicles]
        window = window_of(self._vehicles)
        spec = self.coordinator.spec
        return ModulesScores(spec, names, window, self.columns, self._course).metrics()

    def write(self, folder: Path) -> None:
        """Write what was seen into a run folder.

        Raises:
            RecordingFailed: that is not possible.
        """
        self._record.write(folder)

    @property
    def _course(self) -> Course:
        return Course.of(self.coordinator, self._modules.orders)

    def _error(self, plant: Plant, i: int) -> Array:
        bias = self._vehicles[i].sense.position_bias
        return error_of(plant.state(i)[0, 0], bias, self._modules.rows[i])


def window_of(vehicles: Sequence[Vehicle]) -> tuple[float, float]:
    """From the first one's take-off to the last one's landing [s]."""
    starts, stops = zip(*(vehicle.timeline.window for vehicle in vehicles), strict=True)
    return min(starts), max(stops)
