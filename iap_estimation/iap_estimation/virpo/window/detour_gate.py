# SPDX-License-Identifier: BSD-3-Clause
r"""Single ranges that took a detour, as around a body or off a wall: those are left out.

A range that the window's states foresee as :math:`\hat d` counts where

.. math::
    (d - \hat d)^2 \le g^2 ( u^T P u + \sigma^2 ) ,

with u the way from the anchor, P the covariance of the place and g the gate (Bar-Shalom, Li and Kirubarajan,
"Estimation with Applications to Tracking and Navigation", 5.4.2). Huber's kernel alone pulls by its width for ever:
of a third of the ranges, all too long, that is a place beside the right one. Where most ranges are at odds with the
states, those are off, and all count.
"""

from collections import deque

import numpy as np

from iap_description.arrays import Array, Booleans

MEMORY = 60  # ranges, of which so many have to fit
FEWEST = 0.4  # share of them


class DetourGate:
    """Says which ranges count.

    Args:
        aircraft: how many aircraft there are.
        gate: deviations beyond which a range took a detour.
    """

    def __init__(self, aircraft: int, gate: float) -> None:
        self._gate = gate
        self._fitting: list[deque[bool]] = [deque(maxlen=MEMORY) for _ in range(aircraft)]

    def begin(self) -> None:
        """Forget which ranges did not fit: the states are new ones."""
        for fitting in self._fitting:
            fitting.clear()

    def direct(self, a: int, measured: Array, P: Array) -> Booleans:
        """(n,) whether ranges count.

        Args:
            a: the aircraft.
            measured: (n, 6) anchor, range less the foreseen one [m], its deviation [m], direction from the anchor (3).
            P: (3, 3) covariance of the foreseen place [m^2].
        """
        off, sigma, ways = measured[:, 1], measured[:, 2], measured[:, 3:]
        spread = np.einsum("ni,ij,nj->n", ways, P, ways) + sigma**2
        fits: Booleans = off**2 <= self._gate**2 * spread
        fitting = self._fitting[a]
        fitting.extend(fits.tolist())
        is_lost = len(fitting) == MEMORY and sum(fitting) < FEWEST * MEMORY
        return np.ones(len(fits), dtype=bool) if is_lost else fits
