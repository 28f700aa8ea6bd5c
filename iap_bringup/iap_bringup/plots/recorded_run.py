# SPDX-License-Identifier: BSD-3-Clause
"""The content of a run folder, each part read once a plot needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from iap_bringup.plots.contact_curves import ContactCurves
from iap_bringup.plots.flight_curves import FlightCurves, flight_curves
from iap_bringup.plots.hole_outlines import Insertion, insertion
from iap_bringup.plots.path_curves import PathCurves, path_curves
from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.signals import ForceMode
from iap_io.runs.run_folder import COMPARED, CONFIG, METRICS, RunData, load_run, read_metrics
from iap_io.runs.run_meta import COMPLETED
from iap_simulation.metrics.errors import finite
from iap_simulation.modules.record import FILE as MODULES_FILE
from iap_simulation.modules.record import read_modules
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.scenario import Scenario

MAX_TICKS = 100_000  # of a run that are drawn; of a longer one so many are chosen evenly


class RecordedRun:
    """A run folder.

    Args:
        folder: of the run.
        data: its recording; None reads it, at most `MAX_TICKS` of it.
        metrics: its metrics.json; None reads it, if there is one: a run that was killed has none.
        scenario: that is shown, in another scene for example; None reads it.

    Raises:
        BadInput: once something is read that is not there or damaged.
    """

    def __init__(
        self,
        folder: Path,
        data: RunData | None = None,
        metrics: Mapping[str, Any] | None = None,
        scenario: Scenario | None = None,
    ) -> None:
        self.folder = folder
        self._data, self._metrics, self._scenario = data, metrics, scenario

    @cached_property
    def data(self) -> RunData:
        """The recording."""
        return self._data or load_run(self.folder, at_most=MAX_TICKS)

    @cached_property
    def finite_data(self) -> RunData:
        """The recording without states that are no numbers."""
        vehicles = (replace(each, columns=finite(each.columns)) for each in self.data.vehicles)
        return RunData(self.data.meta, tuple(vehicles), self.data.objects)

    @cached_property
    def metrics(self) -> Mapping[str, Any]:
        """The flight's metrics; none where there are not any."""
        if self._metrics is not None:
            return self._metrics
        return read_metrics(self.folder) if (self.folder / METRICS).exists() else {}

    @property
    def outcome(self) -> str:
        """One word for how the flight ended."""
        return str(self.metrics.get("outcome", COMPLETED))

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario as it was resolved."""
        if self._scenario is not None:
            return self._scenario
        path = self.folder / CONFIG
        return scenario_of(read_yaml(path), str(path))

    @cached_property
    def flights(self) -> dict[str, FlightCurves]:
        """Curves of the vehicles that have any state, by the ends of their pictures' names."""
        data = self.data
        curves = (flight_curves(data.meta, each, self.outcome) for each in data.vehicles)
        lonely = self.metrics.get("unfollowed", ())
        return {
            self._end(each.meta.name): replace(each, is_followed=each.meta.name not in lonely)
            for each in curves
            if len(each.t)
        }

    def _end(self, vehicle: str) -> str:
        return f"_{vehicle}" if len(self.data.vehicles) > 1 else ""

    @cached_property
    def with_integrals(self) -> dict[str, FlightCurves]:
        """Flights under wrench control that balances integrals of pose and wrench."""
        return {
            end: each
            for end, each in self.flights.items()
            if each.contact is not None and each.contact.mode == ForceMode.PAPER
        }

    @cached_property
    def touching(self) -> dict[str, TouchingVehicle]:
        """Vehicles that were in contact."""
        if not self.flights or not (self.folder / CONFIG).exists():
            return {}
        numbers = {each.meta.name: i for i, each in enumerate(self.data.vehicles)}
        return {
            end: TouchingVehicle(self, numbers[each.meta.name], each, each.contact)
            for end, each in self.flights.items()
            if each.contact is not None and each.contact.first is not None
        }

    @cached_property
    def modules(self) -> dict[str, dict[str, Array]]:
        """Columns of the joints between modules."""
        path = self.folder / MODULES_FILE
        return {"": read_modules(path)} if path.is_file() else {}

    @property
    def has_cameras(self) -> bool:
        """True if any camera was recorded."""
        return any(isinstance(each, CameraSensorInfo) for each in self.data.meta.sensors)

    @cached_property
    def identified(self) -> dict[str, PathCurves]:
        """Curves of an end effector that followed a path on an identified plant."""
        if not (self.folder / CONFIG).exists() or self.scenario.identified is None:
            return {}
        curves = path_curves(self.scenario, self.finite_data.vehicles[0])
        return {} if curves is None else {"": curves}


@dataclass(frozen=True, eq=False)
class TouchingVehicle:
    """A vehicle of a run that was in contact with the world.

    Attributes:
        run: of which it is.
        number: among the run's vehicles.
        flight: its curves.
        contact: curves of its contact.
    """

    run: RecordedRun
    number: int
    flight: FlightCurves
    contact: ContactCurves

    @cached_property
    def compared(self) -> dict[str, ContactCurves]:
        """Its contact, here and in the flights in the run's folder `COMPARED`."""
        contacts = {"this flight": self.contact}
        for other in sorted((self.run.folder / COMPARED).glob("*/")):
            run = load_run(other)
            contact = flight_curves(run.meta, run.vehicles[self.number]).contact
            if contact is not None:
                contacts[other.name] = contact
        return contacts

    @cached_property
    def insertion(self) -> Insertion | None:
        """The hole that its tool is in at the end, if any."""
        vehicle = self.run.finite_data.vehicles[self.number]
        tool, tip_P = (
            self.run.scenario.vehicles[self.number].platform.tool,
            vehicle.meta.tool_tip_P,
        )
        if tool is None or tip_P is None:
            return None
        columns = vehicle.columns.rows(slice(self.contact.first_tick, None))
        return insertion(self.run.scenario.world, tool, np.array(tip_P), columns)
