# SPDX-License-Identifier: BSD-3-Clause
"""The end of a physics_node's pause: once all that answers its standing state has arrived."""

from collections.abc import Callable

from iap_io.runs import topics

REPEATS = 3  # of the standing state, 0.1 s apart, in which the other nodes find each other, too


class PauseEnd:
    """Waits for all that is recorded, and for the standing state some times more.

    Args:
        missing: vehicle and topic of all that is answered while time stands, again and again.
        has_sensors: whether all sensors are there.
        resume: ends the pause, and returns whether it could.
    """

    def __init__(
        self,
        missing: set[tuple[int, str]],
        has_sensors: Callable[[], bool],
        resume: Callable[[], bool],
    ) -> None:
        self._missing, self._has_sensors, self._resume = missing, has_sensors, resume
        self._repeats, self._is_over = 0, False

    def note(self, number: int, topic: str) -> None:
        """Note a message of a vehicle's topic."""
        if self._is_over:
            return
        self._missing.discard((number, topic))
        if topic == topics.STATE and not self._missing and self._has_sensors():
            self._repeats += 1
        if self._repeats >= REPEATS:
            self._is_over = self._resume()
