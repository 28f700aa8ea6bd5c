# SPDX-License-Identifier: BSD-3-Clause
"""Flights as estimators observe them: images become tracks as they are rendered, so that none is kept.

Tracks do not depend on the seed, as images have no noise; inertial units and tags have. So a flight is
rendered once, and flown again without cameras for every seed.
"""

from copy import copy

import numpy as np

from iap_bringup.experiments.virpo.cases import LocalizationCase
from iap_description.arrays import Array
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.vehicles.assembly import Assembly
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.navigation.aircraft_frontend import FleetFrontend
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.virpo.messages import Measurement, Tracks
from iap_sensors.cameras.renderer import Renderer
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import Progress
from iap_simulation.runs.unrecorded_flight import UnrecordedFlight, fly_unrecorded
from iap_simulation.scenario.rig_spec import sensor_infos
from iap_simulation.scenario.scenario import Scenario

Event = tuple[int, Measurement]  # an aircraft's index or CENTRE, and a measurement


class ObservedFlight(UnrecordedFlight):
    """States of a flight of one vehicle, and of its readings what estimators use.

    Args:
        scenario: as resolved.
        frontend: settings by which images become tracks.

    Attributes:
        own: the vehicle's sensors.
        events: measurements in order of time.
        anchors: (n, 3) places of the anchors [m].
    """

    def __init__(self, scenario: Scenario, frontend: FrontendSpec) -> None:
        super().__init__(scenario)
        vehicle, infos = scenario.vehicles[0], sensor_infos(scenario)
        assembly, uwb = Assembly.of(vehicle.platform, vehicle.name), vehicle.sensors.uwb
        self.own = own = SensorSet.of(assembly, infos, scenario.world.gravity)
        self.events: list[Event] = []
        self.anchors = np.array([each.position for each in uwb.anchors] if uwb is not None else [])
        self._adapter = ReadingAdapter(own.carried, own.central)
        self._frontend = FleetFrontend(own.name, own.aircraft, frontend)
        self._biases: dict[str, list[Array]] = {each.imu.topic: [] for each in own.carried}

    def receive(self, reading: Reading) -> None:
        """Keep the measurement of a reading, and the true biases with it."""
        if isinstance(reading, ImuReading) and reading.source.topic in self._biases:
            if reading.gyro_bias is not None and reading.accel_bias is not None:
                row = np.concatenate([[reading.t], reading.gyro_bias, reading.accel_bias])
                self._biases[reading.source.topic].append(row)
        event = self._adapter(reading)
        if event is not None:
            self.events.append(self._frontend(event))

    def biases(self, aircraft: int) -> Array:
        """(n, 7) times [s] and true biases of an aircraft's inertial unit, gyro before accelerometer."""
        return np.array(self._biases[self.own.carried[aircraft].imu.topic]).reshape(-1, 7)


def observe(
    case: LocalizationCase,
    seed: int,
    frontend: FrontendSpec,
    renderer: Renderer | None,
    progress: Progress,
) -> ObservedFlight:
    """Fly a case.

    Args:
        case: the flight.
        seed: of the noise.
        frontend: settings by which images become tracks.
        renderer: for a flight with cameras; None flies without.
        progress: called with the simulation time [s].
    """
    scenario, _ = case.resolve(seed)
    log = ObservedFlight(scenario, frontend)
    flight = Flight.of(scenario if renderer is not None else _without_cameras(scenario))
    fly_unrecorded(flight, log, renderer, progress)
    return log


def with_noise_of(rendered: ObservedFlight, other: ObservedFlight) -> ObservedFlight:
    """The tracks of one flight among the other measurements of another flight of the same motion."""
    out, tracks = copy(other), [event for event in rendered.events if isinstance(event[1], Tracks)]
    out.events = sorted(other.events + tracks, key=lambda event: event[1].t)
    return out


def _without_cameras(scenario: Scenario) -> Scenario:
    vehicles = [
        vehicle.model_copy(update={"sensors": vehicle.sensors.model_copy(update={"cameras": {}})})
        for vehicle in scenario.vehicles
    ]
    return scenario.model_copy(update={"vehicles": vehicles})
