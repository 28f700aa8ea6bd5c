# SPDX-License-Identifier: BSD-3-Clause
"""Normal equations: what every factor adds to them, and their solution.

A factor gives whitened residuals r (m,), their derivatives J (m, n), and the n places in the state that
these belong to, ascending. H keeps its lower triangle only.
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers

Places = Integers


@njit(cache=True)
def accumulate(H: Array, g: Array, places: Places, J: Array, r: Array) -> None:
    """Add J^T J to the lower triangle of H and J^T r to g, at ascending `places` (n,)."""
    n = len(places)
    for m in range(len(r)):
        for a in range(n):
            u = J[m, a]
            if u != 0.0:
                row = places[a]
                g[row] += u * r[m]
                for b in range(a + 1):
                    H[row, places[b]] += u * J[m, b]


@njit(cache=True)
def run(start: int, count: int, places: Places, at: int) -> None:
    """Write start, start + 1, ... into `count` places from `at`."""
    for i in range(count):
        places[at + i] = start + i


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


@njit(cache=True)
def substitute(L: Array, b: Array) -> None:
    """Solve L L^T x = b in place, L lower triangular."""
    n = len(b)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]


def solve(H: Array, g: Array, damping: float) -> tuple[Array, Array]:
    """Step x of (H + damping diag H) x = -g, and the Cholesky factor.

    Raises:
        numpy.linalg.LinAlgError: H is not positive definite.
    """
    if damping > 0.0:
        H = H + np.diag(damping * np.diag(H))
    L = np.asarray(np.linalg.cholesky(H), dtype=np.float64)
    x = -g
    substitute(L, x)
    return x, L
