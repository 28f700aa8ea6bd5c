# SPDX-License-Identifier: BSD-3-Clause
"""Wall time beside the loop: keeping pace with it, and measuring a control step. Nothing here changes a result."""

import time

from iap_description.signals import Step


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

    def stop(self, steps: int = 1) -> None:
        """So many control steps are done."""
        self._total += time.perf_counter() - self._began
        self._steps += steps
