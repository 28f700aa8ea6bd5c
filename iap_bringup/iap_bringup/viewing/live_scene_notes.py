# SPDX-License-Identifier: BSD-3-Clause
"""Notes of a flight in this process, besides its steps, see `SceneNotes`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iap_bringup.viewing.events import events_until
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.live_happenings import LiveHappenings
from iap_bringup.viewing.point_readings import PointReadings
from iap_bringup.viewing.scene_notes import SceneNotes
from iap_control.modules.joint_states import NUMBERS
from iap_description.arrays import Array
from iap_description.sensors.readings import Reading
from iap_physics.latching.latches import Latches
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.runs.events_so_far import events_so_far
from iap_simulation.simulation.simulation import Simulation

SOON = 1.0  # within which a slider is still on its way [s]


class LiveSceneNotes:
    """Looks at latches, joints between modules, estimators and sensors of a simulation.

    Args:
        simulation: that has begun.
        flight: that it flies.
    """

    def __init__(self, simulation: Simulation, flight: Flight) -> None:
        self._simulation, self._meta = simulation, flight.meta
        self._estimates = EstimateCovariances(flight)
        self._points = PointReadings(flight)
        self._flight, self._by_hand = flight, list[dict[str, Any]]()
        self._slid = -np.inf  # time of the last event, where it was slid [s]
        self._happenings = LiveHappenings(flight)
        self.record, self.record_rows = self._happenings.record, self._happenings.record_rows

    @property
    def metrics(self) -> Mapping[str, dict[str, Any]]:
        """Key `hand` of metrics.json, of a flight that a person has touched."""
        return {"hand": {"events": list(self._by_hand)}} if self._by_hand else {}

    def note_by_hand(self, t: float, what: str, *, is_slid: bool) -> None:
        """Note what a person does at a time [s]; what is slid on stands in the place of what was slid just before."""
        if is_slid and t < self._slid + SOON:
            self._by_hand.pop()
        self._slid = t if is_slid else -np.inf
        self._by_hand.append({"t_s": t, "what": what})

    def receive(self, reading: Reading) -> None:
        """Keep the last reading of a sensor that measures points."""
        self._points.receive(reading)

    def at(self, steps: Steps) -> SceneNotes:
        """Notes of the present instant."""
        covariances = self._estimates.at(steps[0].t)
        clouds = self._points.at(steps)
        objects = self._objects()
        metrics = {**events_so_far(self._simulation, self._flight, self._meta), **self.metrics}
        events = events_until(self._meta, self._happenings.at(steps, objects, metrics))
        return SceneNotes(self._couplings(), covariances, clouds, objects, events)

    def _objects(self) -> dict[str, Array]:
        if not self._meta.objects:
            return {}
        rows = self._simulation.plant.engine.object_states()
        return dict(zip(self._meta.objects, rows, strict=True))

    def _couplings(self) -> dict[str, int]:
        simulation, states = self._simulation, dict[str, int]()
        latches = simulation.plant.part(Latches) if self._meta.latches else None
        if latches is not None:
            states |= dict(zip(self._meta.latches, latches.numbers, strict=True))
        if simulation.modules is not None:
            machines = simulation.modules.coordinator.machines
            states |= {name: NUMBERS[each.state] for name, each in machines.items()}
        return states
