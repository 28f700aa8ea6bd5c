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

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import vec
from iap_estimation.virpo.algebra.matrices import right_jacobian_inverse
from iap_estimation.virpo.algebra.normal_equations import add_block
from iap_estimation.virpo.algebra.states import States, difference

_MIN_INFORMATION_SHARE = 1e-12  # of the largest, below which a direction counts as unknown
_ROUNDING = 2e-16  # share of the largest diagonal element below which one is rounding


@dataclass
class Prior:
    """A quadratic cost around states.

    It has something to say of few velocities and biases, so that it keeps just the places that it speaks of.

    Attributes:
        H: (n, n) symmetric.
        g: (n,) gradient at `base`.
        base: the states, of as many keyframes as the prior is of.
        indices: (n,) where these are in a step of `base`, ascending; a rotation's three are all there or none.
    """

    H: Array
    g: Array
    base: States
    indices: Integers

    @classmethod
    def of(cls, H: Array, g: Array, base: States) -> "Prior":
        """The cost of normal equations of all places of `base`; H needs its lower triangle only."""
        speaks = np.diag(H) != 0.0
        turns = base.rotations()[:, None] + np.arange(3)
        speaks[turns] = speaks[turns].any(axis=1, keepdims=True)
        indices = np.flatnonzero(speaks)
        block = H[np.ix_(indices, indices)]
        mirror(block)
        return cls(block, g[indices], base, indices)

    def add(self, states: States, H: Array, g: Array) -> float:
        """Add it to the normal equations of states that have as many keyframes or more; returns its cost."""
        xi = self._step_to(states)
        slope = self.H @ xi
        cost = float(self.g @ xi + 0.5 * xi @ slope)
        slope += self.g
        turned = self.H.copy()
        turn(self.indices, self.base.rotations(), xi, turned, slope)
        old, new = (len(one.x) * one.stride for one in (self.base, states))
        indices = np.where(self.indices < old, self.indices, self.indices + new - old)
        add_block(H, g, indices, turned, slope)
        return cost

    def cost(self, states: States) -> float:
        """The cost alone."""
        xi = self._step_to(states)
        return float(self.g @ xi + 0.5 * xi @ (self.H @ xi))

    def without(self, frame: int) -> "Prior":
        """The prior of the remaining keyframes when one is minimised away."""
        stride = self.base.stride
        begin, end = np.searchsorted(self.indices, [frame * stride, (frame + 1) * stride])
        H, g = eliminate(self.H, self.g, slice(begin, end))
        indices = np.concatenate([self.indices[:begin], self.indices[end:] - stride])
        return Prior(H, g, self.base.without(frame), indices)

    def _step_to(self, states: States) -> Array:
        xi = np.empty(self.base.size)
        difference(states, self.base, xi)
        return xi[self.indices]


def eliminate(H: Array, g: Array, out: slice) -> tuple[Array, Array]:
    """H and g of what remains when the places in `out` are minimised away.

    Args:
        H: (n, n) symmetric.
        g: (n,).
        out: places that go, or none; directions of theirs without information go without trace.
    """
    stay = np.r_[0 : out.start, out.stop : len(g)]
    diagonal = np.diag(H)[out]
    is_measured = diagonal > _ROUNDING * diagonal.max(initial=0.0)
    scale = np.where(is_measured, 1.0 / np.sqrt(np.where(is_measured, diagonal, 1.0)), 0.0)
    values, vectors = np.linalg.eigh(scale[:, None] * H[out, out] * scale)
    measured = values > _MIN_INFORMATION_SHARE * values.max(initial=0.0)
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
def turn(columns: Integers, rotations: Integers, xi: Array, H: Array, slope: Array) -> None:
    """Chain rule for the rotations: a step d changes xi by J_r^-1(xi) d.

    Args:
        columns: of a prior, ascending.
        rotations: first places of all that its base has, ascending.
        xi: step from the base.
        H: lower triangle; changed in place.
        slope: gradient; changed in place.
    """
    at = 0
    for first in rotations:
        while at < len(columns) and columns[at] < first:
            at += 1
        if at < len(columns) and columns[at] == first:
            _turn_at(at, xi, H, slope)


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
