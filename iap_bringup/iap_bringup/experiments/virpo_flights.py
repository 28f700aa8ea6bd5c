# SPDX-License-Identifier: BSD-3-Clause
"""Flights as estimators hear them: images become tracks as they are rendered, so that none is kept.

What is seen does not depend on the seed, as images have no noise; inertial units and tags have. So a
flight is rendered once, and flown again without cameras for every seed.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from iap_bringup.experiments.unrecorded_flight import Log, fly_unrecorded
from iap_bringup.experiments.virpo_cases import Case
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.vehicles.assembly import Assembly
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.navigation.aircraft_frontend import FleetFrontend
from iap_estimation.navigation.data import Seen
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.virpo.messages import Tracks
from iap_sensors.cameras.renderer import Renderer
from iap_simulation.flight import Flight
from iap_simulation.run import Progress
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.sensor_infos import sensor_infos

Array = NDArray[np.float64]
Event = tuple[int, Seen]  # an aircraft's index or CENTRE, and a measurement


@dataclass
class ReadingLog:
    """Takes readings of one vehicle and keeps what estimators use of them.

    Attributes:
        own: what the vehicle carries.
        events: in the order in which they came.
        biases: (t, 6 numbers) of each aircraft's inertial unit.
    """

    own: SensorSet
    frontend: FrontendSpec
    events: list[Event] = field(default_factory=list)
    biases: list[list[Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = self.own
        self._adapter = ReadingAdapter(own.carried, own.central)
        self._frontend = FleetFrontend(own.name, own.aircraft, self.frontend)
        self._units = {its.imu.topic: number for number, its in enumerate(own.carried)}
        self.biases = [[] for _ in own.carried]

    def receive(self, reading: Reading) -> None:
        """Receive a reading."""
        self._note_biases(reading)
        event = self._adapter(reading)
        if event is not None:
            self.events.append(self._frontend(event))

    def _note_biases(self, reading: Reading) -> None:
        number = self._units.get(reading.source.topic)
        if number is not None and isinstance(reading, ImuReading):
            if reading.gyro_bias is not None and reading.accel_bias is not None:
                self.biases[number].append(
                    np.concatenate([[reading.t], reading.gyro_bias, reading.accel_bias])
                )


@dataclass(frozen=True, eq=False)
class ObservedFlight:
    """A flight.

    Attributes:
        seed: of the noise.
        own: what the vehicle carries.
        t: (T,) times of the true states [s].
        x: (T, bodies, 13) these.
        events: what estimators hear, in order of time.
        biases: (n, 7) time and true biases of each aircraft's inertial unit.
        anchors: (n, 3) places of the anchors [m].
    """

    seed: int
    own: SensorSet
    t: Array
    x: Array
    events: list[Event]
    biases: list[Array]
    anchors: Array


def hear(
    case: Case, seed: int, frontend: FrontendSpec, renderer: Renderer | None, tell: Progress
) -> ObservedFlight:
    """Fly a case.

    Args:
        case: see there.
        seed: of the noise.
        frontend: how images are followed.
        renderer: for a flight with cameras; None flies without.
        tell: is told the time in the flight [s].
    """
    scenario, _ = case.resolve(seed)
    vehicle = scenario.vehicles[0]
    assembly = Assembly.of(vehicle.platform, vehicle.name)
    own = SensorSet.of(assembly, sensor_infos(scenario), scenario.world.gravity)
    uwb = vehicle.sensors.uwb
    anchors = np.array([each.position for each in uwb.anchors] if uwb is not None else [])
    flight = Flight.of(scenario if renderer is not None else _blind(scenario))
    hearing, log = ReadingLog(own, frontend), Log()
    fly_unrecorded(flight, log, hearing, renderer, tell)
    biases = [np.array(rows).reshape(-1, 7) for rows in hearing.biases]
    return ObservedFlight(
        seed, own, np.array(log.t), np.array(log.x), hearing.events, biases, anchors
    )


def with_noise_of(seen: ObservedFlight, other: ObservedFlight) -> ObservedFlight:
    """The tracks of one flight among what the other sensors said in another of the same motion."""
    tracks = [event for event in seen.events if isinstance(event[1], Tracks)]
    events = sorted(other.events + tracks, key=lambda event: event[1].t)
    return replace(other, events=events)


def _blind(scenario: Scenario) -> Scenario:
    """The same without cameras."""
    vehicles = [
        vehicle.model_copy(update={"sensors": vehicle.sensors.model_copy(update={"cameras": {}})})
        for vehicle in scenario.vehicles
    ]
    return scenario.model_copy(update={"vehicles": vehicles})
