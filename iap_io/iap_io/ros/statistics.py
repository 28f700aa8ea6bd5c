# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of what a node measures of itself, for diagnostics."""

from collections import deque

import numpy as np


class RecentValues:
    """The last values of something that is measured again and again."""

    def __init__(self, length: int = 2000) -> None:
        self._values: deque[float] = deque(maxlen=length)

    def add(self, value: float) -> None:
        """Note a value."""
        self._values.append(value)

    def percentile(self, share: float) -> float:
        """A percentile of the last values; NaN before the first."""
        return float(np.percentile(self._values, share)) if self._values else float("nan")
