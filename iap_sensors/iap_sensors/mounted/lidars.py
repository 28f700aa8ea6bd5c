# SPDX-License-Identifier: BSD-3-Clause
"""Lidars of one vehicle."""

import numpy as np
from numpy.typing import NDArray

from iap_description.random_streams import stream
from iap_description.sensors.mounts import places, seat_meta, seats_on_aircraft
from iap_description.sensors.readings import CloudReading
from iap_description.sensors.sensor_info import LidarInfo
from iap_description.vehicles.assembly import Assembly
from iap_sensors.lidar import Lidar
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.ray_caster import RayCaster
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]
TOPIC = "lidar"


class Lidars:
    """The lidars of one vehicle, one on each aircraft.

    Args:
        scenario: what is flown.
        vehicle: whose lidars; it must have some.
        assembly: its bodies.

    Attributes:
        notes: sentences for the user.
    """

    def __init__(self, scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly) -> None:
        spec = vehicle.sensors.lidar
        assert spec is not None  # noqa: S101 - the caller has looked
        self._spec, self._assembly = spec, assembly
        self._seats = seats_on_aircraft(assembly, spec.mount, TOPIC)
        self._lidars = [
            Lidar(place.source, spec, stream(scenario.seed, place.source.topic))
            for place in self._seats
        ]
        self._sampling = Sampling.of(spec.rate, scenario.rates.control_hz, TOPIC)
        self.notes = [self._sampling.note] if self._sampling.note else []

    def reset(self, seed: int) -> None:
        """Noise starts anew."""
        for lidar in self._lidars:
            lidar.reset(stream(seed, lidar.source.topic))

    def look(self, k: int, t: float, x: Array, rays: RayCaster) -> list[CloudReading]:
        """The turns that are due at control instant k.

        Args:
            k: the instant.
            t: its time [s].
            x: (bodies, 13) the vehicle's state.
            rays: of the world with its vehicles.
        """
        if not self._sampling.is_due(k):
            return []
        rows = zip(self._lidars, *places(self._seats, x), strict=True)
        return [lidar.measure(t, p, q, rays) for lidar, p, q in rows]

    @property
    def metas(self) -> list[LidarInfo]:
        """What a recording says of the lidars."""
        points = self._spec.channels * self._spec.columns
        return [
            LidarInfo(**seat_meta(self._assembly, place), rate=self._sampling.rate, points=points)
            for place in self._seats
        ]
