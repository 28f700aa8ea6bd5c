# SPDX-License-Identifier: BSD-3-Clause
"""Least squares by scipy, and confidence intervals of what they find."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array

NORMAL_95 = 1.959964  # of a standard deviation, on both sides
UNSEEN = 1e-6  # singular values, relative to the largest, below which parameters leave no trace
CAREFUL = 0.99  # largest autocorrelation that is believed


@dataclass(frozen=True)
class Fit:
    """Results of least squares.

    Attributes:
        values: (n,) parameters.
        half_widths: (n,) of their 95 % confidence intervals; infinite where the data say nothing, and at a bound.
        cost: root of the sum of squares of the residuals.
        evaluations: of the residuals, without those of their derivative.
    """

    values: Array
    half_widths: Array
    cost: float
    evaluations: int


def fitted(
    residuals: Callable[[Array], Array],
    start: Array,
    *,
    scale: Array,
    bounds: tuple[Array, Array] | None = None,
    steps: int = 100,
    penalty: float = 0.0,
) -> Fit:
    """Parameters of the smallest residuals.

    With a penalty alpha the cost is (1 - alpha) sum of squares + alpha sum |values|, aerial_manipulator eq. (20).

    Args:
        residuals: (m,) of parameters (n,); channels side by side, so that the samples of one follow each other.
        start: (n,).
        scale: (n,) sizes of the parameters.
        bounds: lowest and highest values, (n,) each.
        steps: evaluations at most.
        penalty: alpha, from 0 to below 1.
    """
    from scipy.optimize import least_squares  # takes a quarter of a second

    def with_penalty(values: Array) -> Array:
        if not penalty:
            return residuals(values)
        weighted = np.sqrt(1.0 - penalty) * residuals(values)
        return np.concatenate([weighted, np.sqrt(penalty * np.abs(values))])

    limits = (-np.inf, np.inf) if bounds is None else bounds
    solution = least_squares(
        with_penalty, start, x_scale=scale, bounds=limits, max_nfev=steps, method="trf"
    )
    rest, is_free = residuals(solution.x), solution.active_mask == 0
    jacobian = solution.jac[: len(rest)] / np.sqrt(1.0 - penalty)
    spread = np.full(len(start), np.inf)
    spread[is_free] = half_widths(jacobian[:, is_free], rest, scale[is_free])
    return Fit(solution.x, spread, float(np.linalg.norm(rest)), int(solution.nfev))


def half_widths(jacobian: Array, residuals: Array, scale: Array) -> Array:
    r"""Half-widths of 95 % confidence intervals, (n,), of the linearised problem.

    The covariance is s^2 (J^T J)^-1, with as many independent samples in s^2 as the residuals' autocorrelation r from
    one sample to the next leaves: m (1 - r) / (1 + r), as for a process of first order.
    """
    m, n = jacobian.shape
    if not n:  # every parameter lies at a bound
        return np.zeros(0)
    _, values, rows = np.linalg.svd(jacobian * scale, full_matrices=False)
    observed = values > UNSEEN * values[0]
    power = float(residuals @ residuals)
    r = float(residuals[1:] @ residuals[:-1]) / power if power > 0.0 else 0.0
    r = min(max(r, 0.0), CAREFUL)
    independent = max(m * (1.0 - r) / (1.0 + r) - n, 1.0)
    shares = np.sum((rows[observed] / values[observed, None]) ** 2, axis=0)
    lost = np.sum(rows[~observed] ** 2, axis=0) > UNSEEN
    spread = NORMAL_95 * np.sqrt(power / independent * shares) * np.abs(scale)
    return np.where(lost, np.inf, spread)
