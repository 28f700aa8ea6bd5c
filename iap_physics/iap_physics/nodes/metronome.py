# SPDX-License-Identifier: BSD-3-Clause
"""Real time for physics_node: when control periods are due by the wall clock."""

import time
from collections.abc import Callable


class Metronome:
    """The beat of control periods in real time, for a caller that asks every half period.

    A period whose commands are still on their way waits for them for the length of a period, which
    jitters the time but leaves the flight as it would be. Who falls behind catches up as fast as the
    commands come; what is further behind than `MAX_LAG` is given up.

    Args:
        period: length of a control period [s].
        clock: wall time [s].

    Attributes:
        missed: periods that began late by more than their length.
    """

    MAX_LAG = 0.2  # [s]

    def __init__(self, period: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._period = period
        self._clock = clock
        self._due: float | None = None
        self._last = 0.0
        self.missed = 0

    def stop(self) -> None:
        """Time stands still until the next `beat`."""
        self._due = None

    def beat(self, *, ready: bool) -> bool:
        """True if a period is due and ready, or has waited for long enough; if so it counts as done."""
        now = self._clock()
        if self._due is None:
            self._due, self._last = now + self._period, now
        behind = now - self._due
        if behind < -0.1 * self._period:
            return False
        if not ready and now < max(self._due, self._last) + self._period:
            return False
        self._last = now
        self.missed += behind > self._period
        self._due = now if behind > self.MAX_LAG else self._due + self._period
        return True
