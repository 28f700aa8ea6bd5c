# SPDX-License-Identifier: BSD-3-Clause
"""The end of a physics_node's pause: once all that is recorded, and answers its standing state, has arrived."""

import time
from collections.abc import Callable, Iterable, Sequence

from iap_bringup.nodes.recorded_topics import expected_topics
from iap_io.runs import topics
from iap_simulation.flights.flight import Flight

REPEATS = 3  # of the standing state, 0.1 s apart, in which the other nodes find each other, too
QUIET_TIME = (
    10.0  # in which nodes start and nothing is said of those that are missing [s of wall time]
)


class PauseEnd:
    """Waits for all that is recorded, and for the standing state some times more.

    Args:
        vehicles: names of the vehicles, by their numbers.
        missing: vehicle and topic of all that is answered while time stands, again and again.
        missing_sensors: topics of the sensors that are not there.
        resume: ends the pause, and returns whether it could.
    """

    def __init__(
        self,
        vehicles: Sequence[str],
        missing: set[tuple[int, str]],
        missing_sensors: Callable[[], Iterable[str]],
        resume: Callable[[], bool],
    ) -> None:
        self._vehicles, self._missing = vehicles, missing
        self._missing_sensors, self._resume = missing_sensors, resume
        self._repeats, self._is_over = 0, False
        self._begun = time.monotonic()

    @classmethod
    def of(
        cls,
        flight: Flight,
        missing_sensors: Callable[[], Iterable[str]],
        resume: Callable[[], bool],
    ) -> "PauseEnd":
        """The end of the pause before a flight."""
        missing = {
            (number, topic)
            for number, expected in enumerate(expected_topics(flight))
            for topic in (topics.STATE, *expected)
        }
        names = [vehicle.name for vehicle in flight.vehicles]
        return cls(names, missing, missing_sensors, resume)

    def note(self, number: int, topic: str) -> None:
        """Note a message of a vehicle's topic."""
        if self._is_over:
            return
        self._missing.discard((number, topic))
        if topic == topics.STATE and not self._missing and not any(self._missing_sensors()):
            self._repeats += 1
        if self._repeats >= REPEATS:
            self._is_over = self._resume()

    @property
    def obstacle(self) -> str:
        """A sentence on the topics without which the pause goes on; empty before it is long, and once it is over."""
        if self._is_over or time.monotonic() - self._begun < QUIET_TIME:
            return ""
        of_vehicles = {f"{self._vehicles[number]}/{topic}" for number, topic in self._missing}
        awaited = sorted({*of_vehicles, *self._missing_sensors()})
        return f"the flight waits until somebody publishes {', '.join(awaited)}" if awaited else ""
