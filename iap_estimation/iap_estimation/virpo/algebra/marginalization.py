# SPDX-License-Identifier: BSD-3-Clause
r"""Marginalisation of old states: the prior r_p - H_p chi of iap_simulator eq. (22).

In the neighbourhood of the states at which it was formed, the cost of all that has gone is
:math:`g^T \xi + \xi^T H \xi / 2`, with xi the step from those states to the present ones. Eliminating a
block a is

.. math::
    H_{bb} \leftarrow H_{bb} - H_{ba} H_{aa}^{-1} H_{ab}, \quad g_b \leftarrow g_b - H_{ba} H_{aa}^{-1} g_a .
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.kernels import vec
from iap_estimation.virpo.algebra.matrices import right_jacobian_inverse
from iap_estimation.virpo.algebra.states import AIRCRAFT, CENTRE, States, difference

_NOTHING = 1e-12  # share of the largest information below which a direction counts as unknown
_ROUNDING = 2e-16  # share of the largest diagonal element below which one is rounding


@dataclass
class Prior:
    """A quadratic cost around states.

    Attributes:
        H: (n, n) symmetric.
        g: (n,) gradient at `base`.
        base: the states, of as many keyframes as the prior is of.
    """

    H: Array
    g: Array
    base: States

    def add(self, states: States, H: Array, g: Array) -> float:
        """Add it to the normal equations of states that have as many keyframes or more; returns its cost."""
        xi = np.empty(len(self.g))
        difference(states, self.base, xi)
        slope = self.H @ xi
        cost = float(self.g @ xi + 0.5 * xi @ slope)
        slope += self.g
        frames, stride = len(self.base.x), self.base.stride
        known, after = frames * stride, len(states.x) * stride
        H[:known, :known] += self.H[:known, :known]
        H[after:, :known] += self.H[known:, :known]
        H[after:, after:] += self.H[known:, known:]
        _turn(states, frames, stride, xi, H, slope)
        g[:known] += slope[:known]
        g[after:] += slope[known:]
        return cost

    def cost(self, states: States) -> float:
        """The cost alone."""
        xi = np.empty(len(self.g))
        difference(states, self.base, xi)
        return float(self.g @ xi + 0.5 * xi @ (self.H @ xi))

    def without(self, frame: int) -> "Prior":
        """The prior of the remaining keyframes when one is minimised away."""
        stride = self.base.stride
        out = slice(frame * stride, (frame + 1) * stride)
        H, g = eliminate(self.H, self.g, out)
        return Prior(H, g, self.base.without(frame))


def eliminate(H: Array, g: Array, out: slice) -> tuple[Array, Array]:
    """H and g of what remains when the places in `out` are minimised away.

    Args:
        H: (n, n) symmetric.
        g: (n,).
        out: places that go; directions of theirs without information go without trace.
    """
    stay = np.r_[0 : out.start, out.stop : len(g)]
    own = np.diag(H)[out]
    is_measured = own > _ROUNDING * own.max(initial=0.0)
    scale = np.where(is_measured, 1.0 / np.sqrt(np.where(is_measured, own, 1.0)), 0.0)
    values, vectors = np.linalg.eigh(scale[:, None] * H[out, out] * scale)
    measured = values > _NOTHING * values[-1]
    half = scale[:, None] * vectors[:, measured] / np.sqrt(values[measured])
    coupling = H[stay, out] @ half
    left = H[np.ix_(stay, stay)] - coupling @ coupling.T
    return 0.5 * (left + left.T), g[stay] - coupling @ (half.T @ g[out])


@njit(cache=True)
def mirror(H: Array) -> None:
    """Copy the lower triangle of H to the upper."""
    for i in range(len(H)):
        for j in range(i):
            H[j, i] = H[i, j]


@njit(cache=True)
def _turn(states: States, frames: int, stride: int, xi: Array, H: Array, slope: Array) -> None:
    """Chain rule for the rotations: a step d changes xi by J_r^-1(xi) d.

    `H` has just the prior in it, and `slope` the prior's order of places.
    """
    aircraft = states.x.shape[1]
    for k in range(frames):
        for a in range(aircraft):
            _turn_at(k * stride + AIRCRAFT * a + 3, xi, H, slope)
        for c in range(states.centre.shape[1]):
            _turn_at((k + 1) * stride - CENTRE * (c + 1), xi, H, slope)


@njit(cache=True)
def _turn_at(at: int, xi: Array, H: Array, slope: Array) -> None:
    """The chain rule for one rotation, whose places begin at `at`."""
    turn = vec(xi[at : at + 3])
    if turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] < 1e-14:
        return
    M = right_jacobian_inverse(turn)
    u, v, w = slope[at], slope[at + 1], slope[at + 2]
    for i in range(3):
        slope[at + i] = M[i] * u + M[3 + i] * v + M[6 + i] * w
    for j in range(3):  # the upper triangle of the block itself is needed once
        for i in range(j):
            H[at + i, at + j] = H[at + j, at + i]
    for j in range(at + 3):  # rows: M^T H
        u, v, w = H[at, j], H[at + 1, j], H[at + 2, j]
        for i in range(3):
            H[at + i, j] = M[i] * u + M[3 + i] * v + M[6 + i] * w
    for j in range(at, len(H)):  # columns: H M
        u, v, w = H[j, at], H[j, at + 1], H[j, at + 2]
        for i in range(3):
            H[j, at + i] = M[i] * u + M[3 + i] * v + M[6 + i] * w
