# SPDX-License-Identifier: BSD-3-Clause
"""Mean and deviation of all observations so far, by which networks see them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_learning.training.networks import Floats


class Moments(NamedTuple):
    """Moments of n numbers.

    Attributes:
        samples: () observations so far.
        mean: (n,) of them.
        squares: (n,) sums of squared deviations from it.
    """

    samples: Array
    mean: Array
    squares: Array


class Scaling(NamedTuple):
    """Scaling of observations for networks: ``(observation - mean) / deviation``.

    Attributes:
        mean: (n,).
        deviation: (n,).
    """

    mean: Floats
    deviation: Floats

    def __call__(self, observations: Floats) -> Floats:
        """Observations (..., n) as networks see them."""
        return np.asarray((observations - self.mean) / self.deviation)


def no_moments(size: int) -> Moments:
    """Moments of nothing yet."""
    return Moments(np.zeros(()), np.zeros(size), np.zeros(size))


def updated(moments: Moments, observations: ArrayLike) -> Moments:
    r"""Moments with further observations (..., n).

    Two groups' moments make those of both (Chan, Golub, LeVeque, The American Statistician 37, 1983):

    .. math::
        \bar x = \bar x_A + \delta\,\frac{n_B}{n}, \quad
        S = S_A + S_B + \delta^2\,\frac{n_A n_B}{n}, \quad \delta = \bar x_B - \bar x_A
    """
    rows = np.asarray(observations, dtype=np.float64).reshape(-1, len(moments.mean))
    mean = rows.mean(axis=0)
    squares = ((rows - mean) ** 2).sum(axis=0)
    count, away = moments.samples + len(rows), mean - moments.mean
    share = len(rows) / count
    return Moments(
        count,
        moments.mean + away * share,
        moments.squares + squares + away**2 * moments.samples * share,
    )


def scaling(moments: Moments, least: float) -> Scaling:
    """Scaling by these moments, none by moments of nothing; no deviation is below `least`."""
    if not moments.samples:
        return Scaling(
            np.zeros_like(moments.mean, np.float32), np.ones_like(moments.mean, np.float32)
        )
    deviation = np.maximum(np.sqrt(moments.squares / moments.samples), least)
    return Scaling(moments.mean.astype(np.float32), deviation.astype(np.float32))
