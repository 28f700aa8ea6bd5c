# SPDX-License-Identifier: BSD-3-Clause
"""What modules tell of the wrenches on them, and whose wrench an instant is waited for."""

from collections.abc import Collection

import numpy as np

from iap_description.arrays import Array

TIMEOUT = 100_000_000  # simulation time for which a wrench counts where none follows [ns]
NONE = (-1, np.zeros(6))  # stamp [ns] and wrench before the first


class ExternalWrenches:
    """Wrenches by modules and stamps.

    An instant waits for the wrenches of those modules that told theirs of the instant before. Who was overtaken by
    the next instant shows that time does not wait, and is not waited for until a wrench comes in time again: observers
    fall silent where commands stay away, and commands stay away where references do.

    Args:
        count: number of modules.
    """

    def __init__(self, count: int) -> None:
        self._newest, self._before = [NONE] * count, [NONE] * count
        self._instant = -1  # newest stamp [ns]

    def begin(self) -> None:
        """Begin a flight, of which some wrenches may be there."""
        self._instant = -1

    def late(self, stamp: int) -> list[int]:
        """Numbers of modules that the instant of a stamp [ns] does not wait for, once, when it is new."""
        if stamp <= self._instant:
            return []
        last, self._instant = self._instant, stamp
        return [i for i, (told, _) in enumerate(self._newest) if told != last and last >= 0]

    def is_over(self, stamp: int) -> bool:
        """Whether a newer instant has begun than that of a stamp [ns]."""
        return stamp < self._instant

    def take(self, module: int, stamp: int, wrench_P: Array) -> None:
        """Take a module's wrench (6,) of a stamp [ns]; it is kept."""
        if stamp != self._newest[module][0]:
            self._before[module] = self._newest[module]
            self._newest[module] = (stamp, wrench_P)

    def before(self, stamp: int, lost: Collection[int]) -> Array:
        """Wrenches (n, 6) that modules felt last before a stamp [ns].

        Zero at the start of a flight; nan where they stayed away for longer than `TIMEOUT`, but of lost modules.
        """
        return np.array([self._at(i, stamp, ages=i not in lost) for i in range(len(self._newest))])

    def _at(self, module: int, stamp: int, *, ages: bool) -> Array:
        told = (self._newest[module], self._before[module])
        at, wrench_P = next((each for each in told if 0 <= each[0] < stamp), (0, NONE[1]))
        return np.full(6, np.nan) if ages and stamp - at > TIMEOUT else wrench_P
