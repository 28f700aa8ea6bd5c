# SPDX-License-Identifier: BSD-3-Clause
"""Follows modules in the closed loop or by topics: their mission, and key `modules` of metrics.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.settings import ModulesSpec
from iap_description.arrays import Array
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.modules.record import ModulesInstant, ModulesRecord, error_of
from iap_simulation.modules.scores import KEY, MISSED, Course, ModulesScores
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor
from iap_simulation.vehicles.vehicle import Vehicle


class ModulesSource(Protocol):
    """Modules in flight as their monitor reads them."""

    @property
    def spec(self) -> ModulesSpec:
        """Specification of the modules."""

    @property
    def course(self) -> Course:
        """Course of the modules so far."""

    def instant(self, plant: ObservedPlant) -> ModulesInstant | None:
        """The present instant, if the coordinator has just been at work."""


class CoordinatedModules:
    """Modules in the closed loop.

    Args:
        modules: in flight.
        vehicles: the modules.
    """

    def __init__(self, modules: ModulesInFlight, vehicles: Sequence[Vehicle]) -> None:
        self._modules = modules
        self._biases = [vehicle.position_bias for vehicle in vehicles]

    @property
    def coordinator(self) -> Coordinator:
        """Coordinator of the modules."""
        return self._modules.coordinator

    @property
    def spec(self) -> ModulesSpec:
        """Specification of the modules."""
        return self.coordinator.spec

    @property
    def course(self) -> Course:
        """Course of the modules so far."""
        return Course.of(self.coordinator, self._modules.orders)

    def instant(self, plant: ObservedPlant) -> ModulesInstant | None:
        """The present instant, if the coordinator has just been at work."""
        modules, machines = self._modules, self.coordinator.machines
        if not modules.is_due:
            return None
        wrenches = modules.joints.wrenches_S()
        states = [plant.state(i)[0, 0] for i in range(len(self._biases))]
        rows = zip(states, self._biases, modules.rows, strict=True)
        return ModulesInstant(
            t=plant.t,
            states=[each.state for each in machines.values()],
            roles=self.coordinator.roles,
            joint_wrenches=np.array([wrenches.get(name, np.zeros(6)) for name in machines]),
            errors=np.array([error_of(x, bias, reference) for x, bias, reference in rows]),
            feed_forward=self.coordinator.feed_forward.wrenches_P,
            external=modules.external_P,
        )


class ModulesMonitor(TaskMonitor[ObservedPlant]):
    """Follows modules, whose flight ends with their references.

    Args:
        source: the modules in flight.
        vehicles: the modules.

    Attributes:
        source: as given.
    """

    key, missed = KEY, MISSED

    def __init__(self, source: ModulesSource, vehicles: Sequence[Vehicle]) -> None:
        self.source = source
        self._names, self._window = [vehicle.name for vehicle in vehicles], window_of(vehicles)
        self._record = ModulesRecord(list(source.spec.joints), len(vehicles))

    @classmethod
    def of(cls, modules: ModulesInFlight | None, vehicles: Sequence[Vehicle]) -> Self | None:
        """The monitor of modules in the closed loop, if there are any."""
        return None if modules is None else cls(CoordinatedModules(modules, vehicles), vehicles)

    @property
    def columns(self) -> dict[str, Array]:
        """All that was recorded, see `ModulesRecord.columns`."""
        return self._record.columns

    @property
    def failure(self) -> str | None:
        """Why the mission has failed, in a sentence; None of one that was done."""
        return self.source.course.why_missed(self.source.spec)

    @property
    def success(self) -> str:
        """The steps of the mission."""
        return f"mission done: {len(self.source.spec.mission)} steps"

    def observe(self, plant: ObservedPlant) -> None:
        """Record the present control instant, where the coordinator has just been at work."""
        instant = self.source.instant(plant)
        if instant is not None:
            self._record.add(instant)

    def metrics(self, plant: ObservedPlant) -> dict[str, Any]:  # noqa: ARG002 - all is recorded
        """Key `modules` of metrics.json."""
        about = (self.source.spec, self._names, self._window)
        return ModulesScores(*about, self.columns, self.source.course).metrics()

    def events(self, plant: ObservedPlant) -> list[dict[str, Any]]:  # noqa: ARG002 - the source knows
        """States that joints came into so far."""
        return self.source.course.event_rows

    def write(self, folder: Path) -> None:
        """Write the record into a run folder.

        Raises:
            RecordingFailed: that is not possible.
        """
        self._record.write(folder)


def window_of(vehicles: Sequence[Vehicle]) -> tuple[float, float]:
    """From the first one's take-off to the last one's landing [s]."""
    starts, stops = zip(*(vehicle.timeline.window for vehicle in vehicles), strict=True)
    return min(starts), max(stops)
