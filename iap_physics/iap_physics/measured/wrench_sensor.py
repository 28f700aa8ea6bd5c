# SPDX-License-Identifier: BSD-3-Clause
r"""A wrench sensor at the platform's centre: the contact wrench, raw and low-passed, in the world and in P.

Rigid contact spikes to hundreds of newtons for one physics step; only what is left behind the second-order low-pass
of iap_simulator VI-E, discretised exactly, shows the push:

.. math::
    G(s) = \frac{\omega_c^2}{s^2 + 2 \xi \omega_c s + \omega_c^2}
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import Positive
from iap_description.errors import BadInput
from iap_description.math.kernels import put, quat, rotate, unrotate, vec
from iap_description.math.second_order import transition


class WrenchFilter(Record):
    """Second-order low-pass of the contact wrench."""

    cutoff: Positive  # omega_c [rad/s]
    damping: Positive  # xi


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


class WrenchSensor:
    """Measures the wrench of the environment on the platform, about P's origin.

    The low-pass works in world axes, as iap_simulator VI-E has it.

    Args:
        low_pass: of the contact wrench.
        dt: sampling period [s].

    Attributes:
        raw_W: (6,) in world axes [N, N m].
        raw_P: (6,) in P.
        filtered_W: (6,) low-passed, world axes.
        filtered_P: (6,) the same in P.
    """

    def __init__(self, low_pass: WrenchFilter, dt: float) -> None:
        self._low_pass = SecondOrderLowPass(low_pass.cutoff, low_pass.damping, dt)
        self.reset()

    def reset(self) -> None:
        """Nothing was measured yet."""
        self.raw_W, self.raw_P, self.filtered_W, self.filtered_P = np.zeros((4, 6))
        self._low_pass.reset()

    def __call__(self, wrench_W: Array, q_WP: Array) -> None:
        """Measure the mean wrench (6,) of the last period at the platform's present attitude (4,)."""
        self.raw_W[:] = wrench_W
        self.filtered_W[:] = self._low_pass(wrench_W)
        to_platform(self.raw_W, q_WP, self.raw_P)
        to_platform(self.filtered_W, q_WP, self.filtered_P)


class WrenchSensors:
    """A `WrenchSensor` in each of B worlds.

    Args:
        low_pass: of the contact wrench.
        dt: sampling period [s].
        batch: number of worlds.

    Attributes:
        raw_P: (B, 6) in P [N, N m].
        filtered_P: (B, 6) low-passed, in P.
    """

    def __init__(self, low_pass: WrenchFilter, dt: float, batch: int) -> None:
        self._A = transition(low_pass.cutoff, low_pass.damping, dt)
        self.raw_P, self.filtered_P, self._y, self._dy = np.zeros((4, batch, 6))

    def reset(self, worlds: Integers) -> None:
        """Nothing was measured yet in some worlds."""
        for each in (self.raw_P, self.filtered_P, self._y, self._dy):
            each[worlds] = 0.0

    def __call__(self, wrenches_W: Array, q_WP: Array, worlds: Integers) -> None:
        """Measure the mean wrenches (B, 6) of the last period at present attitudes (B, 4), in some worlds."""
        memory = (self._A, self._y, self._dy)
        _measure(wrenches_W, q_WP, worlds, *memory, self.raw_P, self.filtered_P)


@njit(cache=True)
def _measure(
    wrenches_W: Array,
    q_WP: Array,
    worlds: Integers,
    A: Array,
    y: Array,
    dy: Array,
    raw_P: Array,
    filtered_P: Array,
) -> None:
    for b in worlds:
        _step(A, wrenches_W[b], y[b], dy[b])
        to_platform(wrenches_W[b], q_WP[b], raw_P[b])
        to_platform(y[b], q_WP[b], filtered_P[b])


@njit(cache=True)
def to_platform(wrench_W: Array, q_WP: Array, out: Array) -> None:
    """Write a wrench (6,) given in world axes in P; the point stays."""
    q = quat(q_WP)
    put(out, unrotate(q, vec(wrench_W)))
    put(out[3:], unrotate(q, vec(wrench_W[3:])))


@njit(cache=True)
def to_world(wrench_P: Array, q_WP: Array, out: Array) -> None:
    """Write a wrench (6,) given in P in world axes; the point stays."""
    q = quat(q_WP)
    put(out, rotate(q, vec(wrench_P)))
    put(out[3:], rotate(q, vec(wrench_P[3:])))
