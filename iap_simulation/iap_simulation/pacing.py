# SPDX-License-Identifier: BSD-3-Clause
"""Wall time beside the loop: keeping pace with it, and measuring a control step. Nothing here changes a result."""

import time
from collections import deque
from collections.abc import Callable

import numpy as np

from iap_description.step import Step


class WallClock:
    """Holds the loop back to real time; sees every control step as an observer."""

    def __init__(self) -> None:
        self._began: float | None = None

    def record(self, vehicle: int, step: Step) -> None:
        """Wait until the wall clock has come to the step's time."""
        t = step.t
        now = time.perf_counter()
        if self._began is None:
            self._began = now - t
        ahead = self._began + t - now
        if ahead > 0.0:
            time.sleep(ahead)


class StepTimer:
    """Measures the control steps of a run."""

    def __init__(self) -> None:
        self._total = 0.0
        self._steps = 0
        self._began = 0.0

    @property
    def mean_us(self) -> float:
        """Mean wall time of one control step of one vehicle [us]."""
        return 1e6 * self._total / max(1, self._steps)

    def start(self) -> None:
        """A control step begins."""
        self._began = time.perf_counter()

    def stop(self) -> None:
        """The control step is done."""
        self._total += time.perf_counter() - self._began
        self._steps += 1


class Metronome:
    """Says when control periods are due in real time, to a caller that asks every half period.

    A period whose commands are still on their way waits for them for the length of a period, which
    jitters the time but leaves the flight as it would be. Who falls behind catches up as fast as the
    commands come; what is further behind than `PATIENCE` is given up.

    Args:
        period: length of a control period [s].
        clock: wall time [s].

    Attributes:
        missed: periods that began late by more than their length.
    """

    PATIENCE = 0.2  # [s]

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
        """Whether a period is due and ready, or has waited for long enough; if so it counts as done."""
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
        self._due = now if behind > self.PATIENCE else self._due + self._period
        return True


class Window:
    """The last values of something that is measured again and again."""

    def __init__(self, length: int = 2000) -> None:
        self._values: deque[float] = deque(maxlen=length)

    def add(self, value: float) -> None:
        """Note a value."""
        self._values.append(value)

    def percentile(self, share: float) -> float:
        """A percentile of the last values; NaN before the first."""
        return float(np.percentile(self._values, share)) if self._values else float("nan")
