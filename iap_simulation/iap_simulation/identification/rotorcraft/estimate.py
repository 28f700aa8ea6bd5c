# SPDX-License-Identifier: BSD-3-Clause
r"""Linear estimates with intervals that allow for residuals which stay alike over seconds.

With regressors A, instruments Z (A itself in least squares) and residuals r, two-stage least squares and its
covariance by blocks b of `BLOCK` seconds are [White, "Asymptotic Theory for Econometricians", 1984, ch. 4 and 6]

.. math::
    \hat A = Z Z^+ A, \quad c = \hat A^+ y, \quad
    \mathrm{cov}\, c = H \Big(\sum_b s_b s_b^T\Big) H, \quad H = (\hat A^T \hat A)^{-1}, \quad
    s_b = \sum_{k \in b} \hat A_k r_k .
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_simulation.identification.least_squares import NORMAL_95

BLOCK = 2.0  # over which residuals may be alike [s]
FLOOR = 0.01  # least half-width of an interval, relative to the value: models are never better


class Parameter(NamedTuple):
    """One parameter.

    Attributes:
        value: its estimate.
        half_width: of the 95 % interval.
        unit: of both.
        method: how it was found, in words.
    """

    value: float
    half_width: float
    unit: str
    method: str


class Regression(NamedTuple):
    """Coefficients of a linear model.

    Attributes:
        values: (n,).
        covariance: (n, n), by blocks.
        residuals: (K,).
        share: of the variance that the model explains (R^2).
    """

    values: Array
    covariance: Array
    residuals: Array
    share: float

    def half_width(self, gradient: Array) -> float:
        """Half-width of the 95 % interval of a combination of the coefficients, by its gradient (n,)."""
        return NORMAL_95 * float(np.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0)))


def regression(A: Array, y: Array, dt: float, instruments: Array | None = None) -> Regression:
    """Coefficients of y (K,) by regressors A (K, n), by instruments (K, m) or else by least squares.

    Args:
        A: regressors.
        y: what they explain.
        dt: time between rows [s].
        instruments: signals that move the regressors, and are not moved by what disturbs y.
    """
    size = np.sqrt(np.mean(A**2, axis=0))
    scale = np.where(size > 0.0, size, 1.0)
    A = A / scale
    projected = A
    if instruments is not None:
        projected = instruments @ np.linalg.lstsq(instruments, A, rcond=None)[0]
    H = np.linalg.pinv(projected.T @ projected)
    values = H @ (projected.T @ y)
    residuals = y - A @ values
    covariance = H @ block_scatter(projected * residuals[:, None], dt) @ H
    share = 1.0 - float(np.var(residuals) / max(np.var(y), np.finfo(float).tiny))
    return Regression(values / scale, covariance / np.outer(scale, scale), residuals, share)


def block_scatter(scores: Array, dt: float) -> Array:
    """Sum (n, n) over blocks of `BLOCK` seconds of the outer products of the sums of scores (K, n)."""
    rows = max(round(BLOCK / dt), 1)
    sums = np.add.reduceat(scores, np.arange(0, len(scores), rows), axis=0)
    return np.asarray(sums.T @ sums)


def estimate(value: float, half_width: float, unit: str, method: str) -> Parameter:
    """An estimate whose interval is no narrower than `FLOOR` of its value."""
    return Parameter(float(value), max(float(half_width), FLOOR * abs(float(value))), unit, method)
