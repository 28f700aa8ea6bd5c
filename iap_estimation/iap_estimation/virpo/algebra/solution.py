# SPDX-License-Identifier: BSD-3-Clause
r"""The solution of normal equations, some blocks eliminated before the others.

Velocities and biases between the first and the newest keyframe touch only what is next to them. Each such block p
goes with the few places q that it touches: with :math:`H_{pp} = L L^T` and :math:`X = H_{qp} L^{-T}`,

.. math::
    H_{qq} \leftarrow H_{qq} - X X^T, \quad g_q \leftarrow g_q - X L^{-1} g_p, \quad
    x_p = -L^{-T} (L^{-1} g_p + X^T x_q) .
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers

Blocks = Integers  # (B, w)
Flags = NDArray[np.bool_]


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


def solve(H: Array, g: Array, damping: float, early: Blocks) -> tuple[Array, Array]:
    """Step x of (H + damping diag H) x = -g.

    Args:
        H: (n, n) lower triangle; overwritten.
        g: (n,); overwritten.
        damping: share of the diagonal that is added to it.
        early: (B, w) places of blocks that are eliminated before the others. Where each touches few places, this is
            much less work than one dense factor.

    Returns:
        The step, and the Cholesky factor of the information on the places that are not in `early`.

    Raises:
        numpy.linalg.LinAlgError: H is not positive definite.
    """
    if damping > 0.0:
        H[np.diag_indices_from(H)] *= 1.0 + damping
    n, (count, width) = len(g), early.shape
    couplings = BlockCouplings(
        np.zeros(count, dtype=np.int64),
        np.empty((count, n), dtype=np.int64),
        np.empty((count, n, width)),
        np.zeros((count, width, width)),
    )
    if not eliminate_early(H, g, early, couplings):
        raise np.linalg.LinAlgError("an early block is not positive definite")
    late = np.delete(np.arange(n), early.ravel())
    x = -g
    L = np.asarray(np.linalg.cholesky(_lower(H, late)), dtype=np.float64)
    x_late = x[late]
    substitute(L, x_late)
    x[late] = x_late
    follow(x, early, couplings)
    return x, L


@njit(cache=True)
def _lower(H: Array, indices: Integers) -> Array:
    """Lower triangle of the rows and columns of some places."""
    n = len(indices)
    out = np.zeros((n, n))
    for i in range(n):
        row = H[indices[i]]
        for j in range(i + 1):
            out[i, j] = row[indices[j]]
    return out


class BlockCouplings(NamedTuple):
    """Blocks that early blocks touch, for each; p are its places, q those that it touches.

    Attributes:
        counts: (B,) how many those are.
        indices: (B, n) which.
        X: (B, n, w) H_qp L^-T.
        L: (B, w, w) Cholesky factor of its own information.
    """

    counts: Integers
    indices: Integers
    X: Array
    L: Array


@njit(cache=True)
def eliminate_early(H: Array, g: Array, early: Blocks, couplings: BlockCouplings) -> bool:
    """Eliminate blocks one after the other; False where one is not positive definite.

    Args:
        H: (n, n) lower triangle; the places that remain are changed to H_qq - X X^T.
        g: (n,); of a block it becomes L^-1 g_p, of what remains g_q - X L^-1 g_p.
        early: see `solve`.
        couplings: overwritten.
    """
    n, width = len(g), early.shape[1]
    gone, y = np.zeros(n, dtype=np.bool_), np.empty(width)
    for b in range(len(early)):
        p, X, L, coupled_at = early[b], couplings.X[b], couplings.L[b], couplings.indices[b]
        for i in range(width):
            gone[p[i]] = True
            y[i] = g[p[i]]
            for j in range(i + 1):
                L[i, j] = H[p[i], p[j]]
        if not _factorize(L):
            return False
        _forward(L, y)
        for i in range(width):
            g[p[i]] = y[i]
        count = _touch(H, p, gone, X, coupled_at)
        couplings.counts[b] = count
        for c in range(count):
            _forward(L, X[c])
            _subtract(H, g, coupled_at, X, y, c)
    return True


@njit(cache=True)
def _subtract(H: Array, g: Array, indices: Integers, X: Array, y: Array, c: int) -> None:
    """Subtract what the place of row c of X has of a block from its row of H and from its gradient."""
    row = indices[c]
    for i in range(len(y)):
        g[row] -= X[c, i] * y[i]
    for d in range(c + 1):
        total = 0.0
        for i in range(len(y)):
            total += X[c, i] * X[d, i]
        H[row, indices[d]] -= total


@njit(cache=True)
def _touch(H: Array, p: Integers, gone: Flags, X: Array, indices: Integers) -> int:
    """Gather the rows H_qp of all places that a block touches and that are not gone; returns how many."""
    count = 0
    for q in range(len(H)):
        if gone[q]:
            continue
        touches = False
        for i in range(len(p)):
            value = H[q, p[i]] if q > p[i] else H[p[i], q]
            X[count, i] = value
            touches |= value != 0.0
        if touches:
            indices[count] = q
            count += 1
    return count


@njit(cache=True)
def _factorize(L: Array) -> bool:
    """Cholesky factor in place of a lower triangle; False where there is none."""
    for j in range(len(L)):
        for i in range(j, len(L)):
            total = L[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = total / L[j, j]
            elif total > 0.0:
                L[j, j] = math.sqrt(total)
            else:
                return False
    return True


@njit(cache=True)
def _forward(L: Array, b: Array) -> None:
    """Solve L x = b in place."""
    for i in range(len(b)):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]


@njit(cache=True)
def follow(x: Array, early: Blocks, couplings: BlockCouplings) -> None:
    """Solve for the early blocks, the last first: x_p = L^-T (x_p - X^T x_q), where x_p holds -L^-1 g_p."""
    width = early.shape[1]
    for b in range(len(early) - 1, -1, -1):
        p, X, L, coupled_at = early[b], couplings.X[b], couplings.L[b], couplings.indices[b]
        for c in range(couplings.counts[b]):
            value = x[coupled_at[c]]
            for i in range(width):
                x[p[i]] -= X[c, i] * value
        for i in range(width - 1, -1, -1):
            x[p[i]] /= L[i, i]
            for k in range(i):
                x[p[k]] -= L[i, k] * x[p[i]]
