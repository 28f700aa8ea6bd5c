# SPDX-License-Identifier: BSD-3-Clause
r"""The second-order low-pass of iap_simulator VI-E, discretised exactly.

Rigid contact spikes to hundreds of newtons for one physics step; only what is left behind this
filter says what pushes:

.. math::
    G(s) = \frac{\omega_c^2}{s^2 + 2 \xi \omega_c s + \omega_c^2}
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.config import Positive, Record
from iap_description.errors import BadInput
from iap_description.second_order import transition

Array = NDArray[np.float64]


class WrenchFilter(Record):
    """Second-order low-pass of the contact wrench."""

    cutoff: Positive  # [rad/s]
    damping: Positive


class SecondOrderLowPass:
    """Filters a signal channel by channel; its output at t = 0 is zero, at rest.

    Args:
        cutoff: omega_c [rad/s].
        damping: xi; below 1 it overshoots.
        dt: sampling period [s].
        size: number of channels.

    Raises:
        BadInput: a number is not positive.
    """

    def __init__(self, cutoff: float, damping: float, dt: float, size: int = 6) -> None:
        for name, value in (("cutoff", cutoff), ("damping", damping), ("dt", dt)):
            if not 0.0 < value < math.inf:
                raise BadInput(f"wrench filter: {name} must be positive (got {value})")
        self._A = transition(cutoff, damping, dt)
        self._y, self._dy = np.zeros(size), np.zeros(size)

    def reset(self) -> None:
        """Forget the past: the output is zero, at rest."""
        self._y[:] = self._dy[:] = 0.0

    def __call__(self, u: Array) -> Array:
        """The output (size,) at the end of a period in which the input was `u` (size,); overwritten by the next."""
        _step(self._A, u, self._y, self._dy)
        return self._y


@njit(cache=True)
def _step(A: Array, u: Array, y: Array, dy: Array) -> None:
    for i in range(y.shape[0]):
        e, de = y[i] - u[i], dy[i]
        y[i] = u[i] + A[0, 0] * e + A[0, 1] * de
        dy[i] = A[1, 0] * e + A[1, 1] * de
