# SPDX-License-Identifier: BSD-3-Clause
r"""Quintic smoothing splines on uniform knots: second derivatives fit to be fed forward.

A spline :math:`s` is fitted to samples :math:`y_k` of a curve, and to samples of its derivatives
where there are any:

.. math:: \min_s \sum_d \tau^{2d} \sum_k w_k |y_k^{(d)} - s^{(d)}(t_k)|^2
    + \tau^6 \int |s^{(3)}|^2 dt, \quad \tau = 1 / (2 \pi f_c)

With :math:`w_k` the time that sample k stands for, this is, away from the ends, the zero-phase
filter :math:`1 / (1 + (f / f_c)^6)`, the same at any sample rate [Eilers1996, P-splines; Wahba1990
for the frequency view]. The spline is linear in its coefficients, and only neighbours within five
knots meet: the normal equations are solved in blocks of five.
SciPy's smoothing splines are cubic and take no samples of derivatives; its basis is the oracle of a test.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from iap_description.arrays import Array

DEGREE = 5
ACTIVE = DEGREE + 1  # basis functions that are not zero on an interval
NUMBERS = 100  # that a fit has in memory for each interval
KNOTS_PER_CUTOFF_PERIOD = 6  # the filter passes 1/730 at the knots' Nyquist frequency of 3 f_c
# Weight of |s''|^2 relative to a filter of its own at f_c: it settles what two or three samples
# leave open.
_STRAIGHTEN = 1e-6
# On [0, 1]; exact for the squared third derivative, a quartic.
_GAUSS_NODES = np.array([-np.sqrt(0.6), 0.0, np.sqrt(0.6)]) / 2.0 + 0.5
_GAUSS_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


def _basis_polynomials() -> list[Array]:
    """Per derivative 0..5 the active basis functions on an interval: (powers of u, ACTIVE)."""
    pieces = [np.array([1.0])]
    for degree in range(1, DEGREE + 1):
        lower = [np.zeros(1), *pieces, np.zeros(1)]
        pieces = [
            polynomial.polyadd(
                polynomial.polymul([(degree - j) / degree, 1.0 / degree], lower[j]),
                polynomial.polymul([(1 + j) / degree, -1.0 / degree], lower[j + 1]),
            )[: degree + 1]
            for j in range(degree + 1)
        ]
    values = np.stack(pieces, axis=1)
    return [polynomial.polyder(values, d) for d in range(ACTIVE)]


_BASIS = _basis_polynomials()


@dataclass(frozen=True)
class Spline:
    """A fitted curve on [0, duration].

    Attributes:
        duration: end of the curve [s].
        coefficients: (intervals + 5, dimensions).
    """

    duration: float
    coefficients: Array

    def __call__(self, t: Array, derivative: int = 0) -> Array:
        """The derivative (T, dimensions) at times (T,) within [0, duration]."""
        intervals = len(self.coefficients) - DEGREE
        first, values = _basis(np.asarray(t), self.duration, intervals, derivative)
        return np.einsum(
            "tj,tjd->td", values, self.coefficients[first[:, None] + np.arange(ACTIVE)]
        )


def fit(t: Array, samples: Mapping[int, Array], cutoff_hz: float) -> Spline:
    """Fit a smoothing spline.

    Args:
        t: (K,) sample times, strictly increasing from 0, K >= 2 [s].
        samples: derivative order -> (K, dimensions) samples of that derivative; order 0 must be
            there.
        cutoff_hz: f_c above; half of the amplitude passes there [Hz].
    """
    duration, tau = float(t[-1]), 1.0 / (2.0 * np.pi * cutoff_hz)
    intervals = intervals_in(duration, cutoff_hz)
    count = intervals + DEGREE
    band, right = np.zeros((count, ACTIVE)), np.zeros((count, samples[0].shape[1]))
    weights = np.gradient(t)
    for derivative, values in samples.items():
        first, basis = _basis(t, duration, intervals, derivative)
        scaled = weights[:, None] * tau ** (2 * derivative) * basis
        _add_products(band, first, basis, scaled)
        for j in range(ACTIVE):
            np.add.at(right, first + j, scaled[:, j, None] * values)
    for derivative, weight in ((3, tau**6), (2, _STRAIGHTEN * tau**4)):
        _add_roughness(band, duration, intervals, derivative, weight)
    return Spline(duration, _solve_banded(band, right))


def intervals_in(duration: float, cutoff_hz: float) -> int:
    """Number of intervals between the knots of a curve that lasts so long [s]."""
    return int(np.ceil(duration * KNOTS_PER_CUTOFF_PERIOD * cutoff_hz))


def _basis(
    t: Array, duration: float, intervals: int, derivative: int
) -> tuple[NDArray[np.intp], Array]:
    """Index (T,) of the first active basis function, and all active ones (T, ACTIVE)."""
    knots = t * (intervals / duration)
    first = np.clip(knots.astype(np.intp), 0, intervals - 1)
    u = knots - first
    powers = np.vander(u, len(_BASIS[derivative]), increasing=True)
    return first, powers @ _BASIS[derivative] * (intervals / duration) ** derivative


def _add_products(band: Array, first: NDArray[np.intp], left: Array, right: Array) -> None:
    """Add sum_k left_k right_k^T to the symmetric M of which ``band[i, d]`` is M[i, i + d]."""
    for j in range(ACTIVE):
        for d in range(ACTIVE - j):
            band[:, d] += np.bincount(first + j, left[:, j] * right[:, j + d], len(band))


def _add_roughness(
    band: Array, duration: float, intervals: int, derivative: int, weight: float
) -> None:
    """Add the matrix of weight * integral |s^(derivative)|^2 dt, by Gauss quadrature."""
    step = duration / intervals
    nodes = ((np.arange(intervals)[:, None] + _GAUSS_NODES) * step).ravel()
    first, basis = _basis(nodes, duration, intervals, derivative)
    scale = weight * step * np.tile(_GAUSS_WEIGHTS, intervals)
    _add_products(band, first, basis, scale[:, None] * basis)


def _solve_banded(band: Array, right: Array) -> Array:
    """Solve M x = right for the positive definite M of `_add_products`, block by block."""
    size = DEGREE
    blocks = -(-len(band) // size)
    diagonal, upper = _blocks(band, blocks)
    filled = np.zeros((blocks * size, right.shape[1]))
    filled[: len(right)] = right
    rhs = filled.reshape(blocks, size, -1)
    # Forward elimination leaves x_k = reduced_k - gain_k x_(k+1).
    gain, reduced = np.zeros_like(upper), np.zeros_like(rhs)
    pivot, target = diagonal[0], rhs[0]
    for k in range(blocks):
        solved = np.linalg.solve(pivot, np.hstack([upper[k], target]))
        gain[k], reduced[k] = solved[:, :size], solved[:, size:]
        if k + 1 < blocks:
            pivot = diagonal[k + 1] - upper[k].T @ gain[k]
            target = rhs[k + 1] - upper[k].T @ reduced[k]
    for k in range(blocks - 2, -1, -1):
        reduced[k] -= gain[k] @ reduced[k + 1]
    return reduced.reshape(blocks * size, -1)[: len(right)]


def _blocks(band: Array, blocks: int) -> tuple[Array, Array]:
    """Diagonal and upper blocks (blocks, 5, 5) of M, filled up with a unit diagonal."""
    size = DEGREE
    padded = np.zeros((blocks * size, ACTIVE))
    padded[: len(band)] = band
    padded[len(band) :, 0] = 1.0
    wide = np.zeros((blocks, size, 2 * size))
    rows = padded.reshape(blocks, size, ACTIVE)
    for i in range(size):
        wide[:, i, i : i + ACTIVE] = rows[:, i]
    diagonal = wide[:, :, :size]
    symmetric = np.triu(diagonal) + np.swapaxes(np.triu(diagonal, 1), 1, 2)
    return symmetric, wide[:, :, size:]
