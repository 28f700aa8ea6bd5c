# SPDX-License-Identifier: BSD-3-Clause
"""The newest points of sensors whose readings come while they are shown."""

import time
from collections.abc import Mapping

from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.scene_notes import has_points, in_map, points_of, rows_by_frame
from iap_description.arrays import Array
from iap_description.sensors.readings import CloudReading, ImageReading, Reading
from iap_description.vehicles.assembly import Assembly
from iap_simulation.flights.flight import Flight

CLOUD_PERIOD = 0.2  # wall time between two looks at points [s]


class PointReadings:
    """Readings of lidars and depth cameras, as points of the scene.

    Args:
        flight: that is shown.

    Attributes:
        sensors: those that measure points, by their topics.
    """

    def __init__(self, flight: Flight) -> None:
        self._vehicles = [Assembly.of(v.platform, v.name) for v in flight.scenario.vehicles]
        self.sensors = {each.topic: each for each in flight.meta.sensors if has_points(each)}
        self._readings: dict[str, tuple[Reading, Steps]] = {}
        self._clouds: dict[str, Array] = {}
        self._due = 0.0

    def receive(self, reading: Reading, steps: Steps = ()) -> None:
        """Keep the last reading of a sensor that measures points, with one step of every vehicle at its instant.

        Without steps those count that it is looked at with: here a flight stands still while it is looked at.
        """
        is_image = isinstance(reading, CloudReading | ImageReading)
        if is_image and reading.source.topic in self.sensors:
            self._readings[reading.source.topic] = reading, steps

    def at(self, steps: Steps) -> Mapping[str, Array]:
        """The last points (n, 3) in `map` [m] by the topics of their sensors, with one step of every vehicle."""
        if self._readings and time.perf_counter() >= self._due:
            self._due = time.perf_counter() + CLOUD_PERIOD
            for topic, (reading, own) in self._readings.items():
                rows = rows_by_frame(self._vehicles, own or steps)
                points = points_of(self.sensors[topic], reading)
                if points is not None:
                    self._clouds[topic] = in_map(self.sensors[topic], points, rows)
            self._readings.clear()
        return dict(self._clouds)
