# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a flight in this process besides its steps, see `SceneNotes`."""

import time

from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.scene_notes import SceneNotes, has_points, in_map, points_of
from iap_control.modules.joint_states import NUMBERS
from iap_description.arrays import Array
from iap_description.sensors.readings import CloudReading, ImageReading, Reading
from iap_physics.latching.latches import Latches
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.simulation.simulation import Simulation

CLOUD_PERIOD = 0.2  # wall time between two looks at points [s]


class LiveSceneNotes:
    """Looks at latches, joints between modules, estimators and sensors of a simulation.

    Args:
        simulation: that has begun.
        flight: that it flies.
    """

    def __init__(self, simulation: Simulation, flight: Flight) -> None:
        self._simulation, self._meta = simulation, flight.meta
        self._estimates = EstimateCovariances(flight)
        self._sensors = {each.topic: each for each in self._meta.sensors if has_points(each)}
        self._readings: dict[str, Reading] = {}
        self._clouds: dict[str, Array] = {}
        self._due = 0.0

    def receive(self, reading: Reading) -> None:
        """Keep the last reading of a sensor that measures points."""
        is_image = isinstance(reading, CloudReading | ImageReading)
        if is_image and reading.source.topic in self._sensors:
            self._readings[reading.source.topic] = reading

    def at(self, steps: Steps) -> SceneNotes:
        """What is known at the present instant."""
        if self._readings and time.perf_counter() >= self._due:
            self._due = time.perf_counter() + CLOUD_PERIOD
            self._take_clouds(steps)
        return SceneNotes(self._couplings(), self._estimates.at(steps[0].t), dict(self._clouds))

    def _couplings(self) -> dict[str, int]:
        simulation, states = self._simulation, dict[str, int]()
        latches = simulation.plant.part(Latches) if self._meta.latches else None
        if latches is not None:
            states |= dict(zip(self._meta.latches, latches.numbers, strict=True))
        if simulation.modules is not None:
            machines = simulation.modules.coordinator.machines
            states |= {name: NUMBERS[each.state] for name, each in machines.items()}
        return states

    def _take_clouds(self, steps: Steps) -> None:
        states = [each.x for each in steps]
        for topic, reading in self._readings.items():
            points = points_of(self._sensors[topic], reading)
            if points is not None:
                self._clouds[topic] = in_map(self._sensors[topic], points, self._meta, states)
        self._readings.clear()
