# SPDX-License-Identifier: BSD-3-Clause
"""Normal equations: what every factor adds to them.

A factor gives whitened residuals r (m,), their derivatives J (m, n), and the n places in the state that
these belong to, ascending. H keeps its lower triangle only.
"""

import math

from numba import njit

from iap_description.arrays import Array, Integers

Indices = Integers


@njit(cache=True)
def accumulate(H: Array, g: Array, indices: Indices, J: Array, r: Array) -> None:
    """Add J^T J to the lower triangle of H and J^T r to g, at ascending `indices` (n,)."""
    n = len(indices)
    for m in range(len(r)):
        for a in range(n):
            u = J[m, a]
            if u != 0.0:
                row = indices[a]
                g[row] += u * r[m]
                for b in range(a + 1):
                    H[row, indices[b]] += u * J[m, b]


@njit(cache=True)
def accumulate_row(block: Array, slope: Array, J: Array, r: float) -> None:
    """Add J^T J to a small matrix (n, n) and J^T r to its gradient, of one residual with derivatives J (n,)."""
    for a in range(len(J)):
        u = J[a]
        slope[a] += u * r
        for b in range(len(J)):
            block[a, b] += u * J[b]


@njit(cache=True)
def add_block(H: Array, g: Array, indices: Indices, block: Array, slope: Array) -> None:
    """Add the lower triangle of a matrix (n, n), and its gradient, at ascending places (n,)."""
    for a in range(len(indices)):
        row = indices[a]
        g[row] += slope[a]
        for b in range(a + 1):
            H[row, indices[b]] += block[a, b]


@njit(cache=True)
def run(start: int, count: int, indices: Indices, at: int) -> None:
    """Write start, start + 1, ... into `count` places from `at`."""
    for i in range(count):
        indices[at + i] = start + i


@njit(cache=True)
def huber(r: Array, width: float) -> tuple[float, float]:
    """Weight (a factor on r and J) and cost of a whitened residual under Huber's kernel of this width."""
    square = 0.0
    for i in range(len(r)):
        square += r[i] * r[i]
    if square <= width * width:
        return 1.0, 0.5 * square
    size = math.sqrt(square)
    return math.sqrt(width / size), width * (size - 0.5 * width)


@njit(cache=True)
def soften(r: Array, J: Array, width: float) -> float:
    """Apply Huber's kernel to r and J in place; returns the cost."""
    weight, cost = huber(r, width)
    if weight < 1.0:
        for i in range(len(r)):
            r[i] *= weight
            for j in range(J.shape[1]):
                J[i, j] *= weight
    return cost


@njit(cache=True)
def half_square(r: Array) -> float:
    """Cost of a whitened residual without a kernel."""
    total = 0.0
    for i in range(len(r)):
        total += r[i] * r[i]
    return 0.5 * total
