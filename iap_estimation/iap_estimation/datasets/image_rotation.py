# SPDX-License-Identifier: BSD-3-Clause
r"""Turns of a camera, as its images show them, beside those of a gyroscope: its unit, and the images' delay.

The directions :math:`b_1, b_2` of a still point from two images are in one plane with the way :math:`t` between them,
once the turn R of the camera is taken out: :math:`t^T (b_1 \times R b_2) = 0` (Longuet-Higgins, Nature 293, 1981;
linear in t where the turn is known: Kneip, Siegwart and Pollefeys, ECCV 2012). Of all n corners,

.. math::
    \lambda_{min} \Big( \tfrac{1}{n} \sum (b_1 \times R b_2) (b_1 \times R b_2)^T \Big)

is the square of an angle that is smallest with the right turn, whatever the way. R is the gyroscope's, between the
images' stamps less a delay, its rates times a factor.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3

FARTHEST, STEP = 0.3, 0.02  # delays that are tried [s]
BLOCKS = 10  # parts of the data, whose delays differ by their errors
CONTRAST = 3.0  # mean of a curve over its least, from which on it says anything
FEWEST_PAIRS, FEWEST_BLOCKS = 40, 3
KEPT = 0.9  # share of corners; those that were lost on their way are far off


NO_PAIR: Array = np.zeros(0)


class RayPairs(NamedTuple):
    """Directions of corners that two images in a row show.

    Attributes:
        t: times of both images [s].
        rays: (2, n, 3) directions in the body's axes of each time.
        nearness: (n,) inverse distances in the first image by a pair of cameras [1/m], NaN of those that the right one
            does not show; empty without a pair.
    """

    t: tuple[float, float]
    rays: Array
    nearness: Array = NO_PAIR

    def earlier(self, by: float) -> "RayPairs":
        """The same some time earlier [s]."""
        return self._replace(t=(self.t[0] - by, self.t[1] - by))


class Delay(NamedTuple):
    """A delay of images, and its standard deviation [s]; of stamps that are too late it is positive."""

    value: float
    deviation: float


class GyroTurns:
    """Turns between two times by the samples of a gyroscope.

    Args:
        t: (n,) times [s].
        w_B: (n, 3) angular velocities, each from the time before to its own [rad/s].
    """

    def __init__(self, t: Array, w_B: Array) -> None:
        self._t, self._w_B = t, w_B
        q = np.empty((len(t), 4))
        q[0] = 0.0, 0.0, 0.0, 1.0
        steps = so3.quaternion_exp(w_B[1:] * np.diff(t)[:, None])
        for k, step in enumerate(steps):
            q[k + 1] = so3.multiply(q[k], step)
        self._q = so3.normalized(q)

    def between(self, begins: Array, ends: Array) -> Array:
        """Turns (k, 4) from begins to ends (k,) [s]."""
        return so3.multiply(so3.conjugate(self._at(begins)), self._at(ends))

    def _at(self, t: Array) -> Array:
        k = np.clip(np.searchsorted(self._t, t) - 1, 0, len(self._t) - 2)
        return so3.multiply(
            self._q[k], so3.quaternion_exp(self._w_B[k + 1] * (t - self._t[k])[:, None])
        )


class Corners(NamedTuple):
    """Corners of pairs of images, in arrays of one size: times (2, k) [s], rays (2, k, n, 3) with NaN where none is."""

    t: Array
    rays: Array

    @classmethod
    def of(cls, pairs: Sequence[RayPairs]) -> "Corners":
        """The corners of pairs."""
        most = max(each.rays.shape[1] for each in pairs)
        rays = np.full((2, len(pairs), most, 3), np.nan)
        for k, each in enumerate(pairs):
            rays[:, k, : each.rays.shape[1]] = each.rays
        return cls(np.array([each.t for each in pairs]).T, rays)


def misfits(corners: Corners, turns: GyroTurns, delay: float) -> Array:
    """The square (k,) of the angle above, of each pair of images [rad^2]; a tenth of its corners is left out."""
    q = turns.between(*(corners.t - delay))
    before, after = corners.rays
    turned = so3.rotate(np.broadcast_to(q[:, None], (*after.shape[:2], 4)), after)
    n = np.cross(before, turned)
    size = np.linalg.norm(n, axis=2)
    is_kept = size <= _largest_kept(size)[:, None]
    n = np.where(is_kept[..., None], n, 0.0)
    counts = np.sum(is_kept, axis=1)
    spreads = np.einsum("kni,knj->kij", n, n) / counts[:, None, None]
    return np.maximum(np.linalg.eigvalsh(spreads)[:, 0], 0.0)


def _largest_kept(sizes: Array) -> Array:
    """The size (k,) of the last of each row's sizes (k, n) that are kept, in the order of the numbers among them."""
    last = np.floor(KEPT * (np.isfinite(sizes).sum(axis=1) - 1)).astype(int)  # NaN is sorted last
    return np.asarray(np.sort(sizes, axis=1)[np.arange(len(sizes)), np.maximum(last, 0)])


class Misfits(NamedTuple):
    """The squares (d, k) of the angle above at delays (d,) [s], of each pair of images [rad^2]."""

    delays: Array
    squares: Array

    @classmethod
    def of(cls, corners: Corners, turns: GyroTurns) -> "Misfits":
        """Those of turns."""
        delays = np.arange(-FARTHEST, FARTHEST + 0.5 * STEP, STEP)
        return cls(delays, np.array([misfits(corners, turns, delay) for delay in delays]))

    @property
    def least(self) -> float:
        """The angle in the mean, at the delay of the images at which it is least [rad]."""
        return math.sqrt(float(self.squares.mean(axis=1).min()))


def image_delay(fits: Misfits) -> Delay | None:
    """The delay of images at which turns fit best; None where nothing turns enough to tell."""
    delays, curves = fits
    count = curves.shape[1]
    if count < FEWEST_PAIRS:
        return None
    blocks = np.array_split(np.arange(count), BLOCKS)
    each = [_least(delays, curves[:, block].mean(axis=1)) for block in blocks]
    known = [one for one in each if one is not None]
    if len(known) < FEWEST_BLOCKS:
        return None
    weights = np.array([one.sharpness for one in known])
    weights /= weights.sum()
    found = np.array([one.delay for one in known])
    delay = float(weights @ found)
    variance = float(weights @ (found - delay) ** 2) / (len(known) - 1)
    return Delay(delay, math.sqrt(variance))


class _Least(NamedTuple):
    """The least of a curve [s], and its second difference."""

    delay: float
    sharpness: float


def _least(delays: Array, curve: Array) -> _Least | None:
    """Minimum of a curve, by a parabola through three points; None at its ends, and of a flat one."""
    k = int(np.argmin(curve))
    if k in (0, len(curve) - 1) or curve.mean() < CONTRAST * curve[k]:
        return None
    a, b, c = curve[k - 1 : k + 2]
    sharpness = float(max(a - 2.0 * b + c, 1e-15))
    return _Least(float(delays[k] + 0.5 * STEP * (a - c) / sharpness), sharpness)
