# SPDX-License-Identifier: BSD-3-Clause
"""Notes of a flight in this process, besides its steps, see `SceneNotes`."""

from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.point_readings import PointReadings
from iap_bringup.viewing.scene_notes import SceneNotes
from iap_control.modules.joint_states import NUMBERS
from iap_description.arrays import Array
from iap_description.sensors.readings import Reading
from iap_physics.latching.latches import Latches
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.simulation.simulation import Simulation


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

    def receive(self, reading: Reading) -> None:
        """Keep the last reading of a sensor that measures points."""
        self._points.receive(reading)

    def at(self, steps: Steps) -> SceneNotes:
        """Notes of the present instant."""
        covariances = self._estimates.at(steps[0].t)
        clouds = self._points.at(steps)
        return SceneNotes(self._couplings(), covariances, clouds, self._objects())

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
