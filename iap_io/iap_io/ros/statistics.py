# SPDX-License-Identifier: BSD-3-Clause
"""Statistics for a node's diagnostics: recent values, and rates of sensors by their stamps."""

from collections import deque

import numpy as np

from iap_io.wire.stamps import SECOND


class RecentValues:
    """The last values of a quantity that is measured again and again."""

    def __init__(self, length: int = 2000) -> None:
        self._values: deque[float] = deque(maxlen=length)

    def add(self, value: float) -> None:
        """Note a value."""
        self._values.append(value)

    def percentile(self, share: float) -> float:
        """A percentile of the last values; NaN before the first."""
        return float(np.percentile(self._values, share)) if self._values else float("nan")


SPAN = 2 * SECOND  # of simulation time that counts [ns]
MIN_RATE_RATIO = 0.9  # of the rate that is asked for


class RateMonitor:
    """Measures the rate of one sensor.

    Args:
        target_rate: rate that is asked for [Hz].
    """

    def __init__(self, target_rate: float) -> None:
        self.target_rate = target_rate
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._stamps: deque[int] = deque()
        self._began: int | None = None

    def add(self, stamp: int) -> None:
        """Note a sample by its stamp [ns]."""
        self._began = stamp if self._began is None else self._began
        self._stamps.append(stamp)
        while self._stamps[0] <= stamp - SPAN:
            self._stamps.popleft()

    def rate(self, now: int) -> float:
        """Samples per second of simulation time [Hz] up to `now` [ns]; NaN before the second one."""
        if self._began is None or now <= self._began:
            return float("nan")
        start = max(self._began, now - SPAN)
        return sum(stamp > start for stamp in self._stamps) * SECOND / (now - start)

    def is_short(self, now: int) -> bool:
        """True if the rate stays behind what is asked for."""
        is_measured = self._began is not None and now - self._began >= SPAN
        return is_measured and self.rate(now) < MIN_RATE_RATIO * self.target_rate
