# SPDX-License-Identifier: BSD-3-Clause
r"""Correlations of velocities with commands, and linear responses to the command's last second.

.. math:: v(t) = \sum_k w_k \, u(t + s - \tau_k), \quad 0 \le \tau_k \le T

is solved for w by least squares. Its steady gain is the sum of w. A lead s > 0 says how much better it explains the
velocity if the command had come earlier.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers

TAPS, LEAST_WEIGHT = 24, 1e-2  # of a command's past, and of their singular values
LEAST_POWER = 1e-18  # share of a velocity's power that is its motion


class LinearResponse(NamedTuple):
    """A velocity by its command's past: the share of its variance that is explained, and the steady gain."""

    explained: float
    gain: float


def response_of(
    u: Array, v: Array, longest: int, lead: int = 0, most_lead: int = 0
) -> LinearResponse:
    """The response of a velocity (K,) to a command (K,).

    Args:
        u: command.
        v: velocity.
        longest: number of samples of the command's past.
        lead: samples by which the command is taken earlier.
        most_lead: largest lead that others are compared with, whose samples are left out at the end.
    """
    lags = np.unique(np.linspace(0, longest, TAPS).round().astype(int))
    rows = np.arange(longest, len(v) - most_lead)
    if len(rows) < 3 * len(lags):
        return LinearResponse(0.0, 0.0)
    A = u[rows[:, None] + lead - lags[None, :]]
    A, y = A - A.mean(axis=0), v[rows] - v[rows].mean()
    power = float(y @ y)
    if not power > LEAST_POWER * float(v @ v):
        return LinearResponse(0.0, 0.0)
    weights = np.linalg.lstsq(A, y, rcond=LEAST_WEIGHT)[0]
    left = y - A @ weights
    return LinearResponse(1.0 - float(left @ left) / power, float(weights.sum()))


def correlations(command: Array, v: Array, first: int, last: int) -> Array:
    """Correlations (last - first + 1,) of a velocity (K,) with a command that is so many samples older."""
    count, lags = len(v), np.arange(first, last + 1)
    u, x = command - command.mean(), v - v.mean()
    size = 1 << (2 * count - 1).bit_length()  # no product of two ends comes round to another lag
    spectrum = np.fft.rfft(x, size) * np.conj(np.fft.rfft(u, size))
    products = np.fft.irfft(spectrum, size)[lags]
    n = count - np.abs(lags)
    sums = [_sums(each, lags, at) for each, at in ((u, 0), (x, 1), (u**2, 0), (x**2, 1))]
    covariance = products - sums[0] * sums[1] / n
    power = np.maximum(sums[2] - sums[0] ** 2 / n, 0.0) * np.maximum(
        sums[3] - sums[1] ** 2 / n, 0.0
    )
    least = 1e-18 * float(u @ u) * float(x @ x)
    return np.where(power > least, covariance / np.sqrt(np.maximum(power, least or 1.0)), 0.0)


def _sums(x: Array, lags: Integers, side: int) -> Array:
    """Sums of the part of x (K,) that overlaps at each lag: of a command (0) or of a velocity (1)."""
    total = np.concatenate([[0.0], np.cumsum(x)])
    count = len(x)
    from_start = total[count - np.abs(lags)]  # without the last ones
    to_end = total[-1] - total[np.abs(lags)]  # without the first ones
    return np.where((lags >= 0) == (side == 0), from_start, to_end)
