# SPDX-License-Identifier: BSD-3-Clause
r"""Allan deviation of a sensor at rest, and the densities of its noise that follow from it.

The overlapping estimate of IEEE Std 952-1997, annex C: with the integral :math:`\theta` of the
samples and clusters of m samples, :math:`\tau = m\,dt`,

.. math::
    \sigma^2(\tau) = \frac{1}{2 \tau^2 (N - 2 m)}
        \sum_k (\theta_{k+2m} - 2 \theta_{k+m} + \theta_k)^2 .

White noise of the density N gives :math:`N^2 / \tau`, a rate that walks with the density K gives
:math:`K^2 \tau / 3`.
Own code, because allantools takes one series at a time, and the estimate is three lines.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput

MAX_CLUSTER_SHARE = 1.0 / 50.0  # of the log: longer clusters are too few to be of use


class Densities(NamedTuple):
    """Allan deviation figures of one sensor, in the unit u.

    Attributes:
        noise: density of the white noise [u/sqrt(Hz)].
        walk: density of the bias's random walk [u/s/sqrt(Hz)].
    """

    noise: float
    walk: float


def allan_deviation(samples: Array, dt: float, clusters: Integers) -> Array:
    """Overlapping Allan deviation (M, ...) of samples (N, ...) at intervals dt [s].

    Args:
        samples: the log, along the first axis.
        dt: between samples [s].
        clusters: (M,) samples in a cluster.

    Raises:
        BadInput: the log is shorter than two clusters.
    """
    if len(samples) < 2 * np.max(clusters) + 1:
        raise BadInput(f"Allan deviation: {len(samples)} samples are less than two clusters")
    theta = np.zeros((len(samples) + 1, *samples.shape[1:]))
    # Without the mean, which has no say, the sum keeps its digits.
    np.cumsum((samples - samples.mean(axis=0)) * dt, axis=0, out=theta[1:])
    return np.array([_deviation(theta, m, m * dt) for m in clusters.tolist()])


def _deviation(theta: Array, m: int, tau: float) -> Array:
    second = theta[2 * m :] - 2.0 * theta[m:-m] + theta[: -2 * m]
    return np.asarray(np.sqrt(0.5 * np.mean(second * second, axis=0)) / tau)


def octaves(count: int, longest: float = MAX_CLUSTER_SHARE) -> Integers:
    """Cluster sizes 1, 2, 4, ... up to a share of `count` samples."""
    return 2 ** np.arange(int(np.log2(max(1.0, longest * count))) + 1)


def densities(samples: Array, dt: float) -> Densities:
    """The densities that explain a log (N, axes) of a sensor at rest.

    Least squares of the relative errors of the variances, which count by their independent clusters.
    """
    clusters = octaves(len(samples))
    tau = clusters * dt
    variance = np.mean(allan_deviation(samples, dt, clusters) ** 2, axis=-1)
    weight = np.sqrt(len(samples) / clusters) / variance
    model = np.stack([1.0 / tau, tau / 3.0], axis=-1)
    squares = np.linalg.lstsq(model * weight[:, None], variance * weight, rcond=None)[0]
    noise, walk = np.sqrt(np.maximum(squares, 0.0))
    return Densities(float(noise), float(walk))
