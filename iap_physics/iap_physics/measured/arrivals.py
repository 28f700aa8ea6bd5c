# SPDX-License-Identifier: BSD-3-Clause
"""Arrivals of measured rows: each comes late by whole periods, or not at all, and the newest one stands."""

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.states import STATE_SIZE


class Arrivals:
    """Measured state rows on their way, in B worlds.

    Args:
        batch: B.
        most: periods by which a row can be late at most.

    Attributes:
        late: (B,) periods by which rows are late.
    """

    def __init__(self, batch: int, most: int) -> None:
        self.late = np.zeros(batch, dtype=np.int64)
        self._sent = np.zeros((batch, most + 1, STATE_SIZE))
        self._count = np.zeros(batch, dtype=np.int64)

    def reset(self, world: int, late: int) -> None:
        """Forget what is on its way in a world; its rows are late by a number of periods from now on."""
        self._count[world], self.late[world] = 0, late

    def __call__(self, rows: Array, lost: Booleans, worlds: Integers) -> None:
        """Put the newest row that has arrived in the place of each that is measured.

        The first row of a flight is there at once.

        Args:
            rows: (n, 13) as measured now; overwritten.
            lost: (n,) whether the measurement gets lost, and the one before stands.
            worlds: (n,) numbers of the worlds.
        """
        _pass(self._sent, self._count, self.late, rows, lost, worlds)


@njit(cache=True)
def _pass(
    sent: Array, count: Integers, late: Integers, rows: Array, lost: Booleans, worlds: Integers
) -> None:
    size = sent.shape[1]
    for n in range(len(worlds)):
        b = worlds[n]
        k = count[b]
        sent[b, k % size] = sent[b, (k - 1) % size] if lost[n] and k > 0 else rows[n]
        rows[n] = sent[b, max(0, k - late[b]) % size]
        count[b] = k + 1
