# SPDX-License-Identifier: BSD-3-Clause
r"""Check of an accelerometer's axes against its gyroscope's: gravity stays where it is while the body turns.

Means of specific force of a while, and a second later, are one direction of the world but for accelerations. With
:math:`f_0` and :math:`f_1` these means in the body's axes, and R the turn between them by the gyroscope, the angle of
:math:`S f_0` and :math:`R S f_1` is small for the signed axes S in which the accelerometer really measures. S and -S
fit alike: the sign is for the vertical to say.
"""

from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.image_rotation import GyroTurns

SPAN, MEAN = 1.0, 0.4  # between two means of specific force, and of each [s]
FEWEST = 10  # of them that say anything
TURNS = 4.0  # angle by which gravity goes in the body's axes, at least [deg]
LARGE = 6.0  # by which it misses its place, from which on other axes are tried [deg]
BETTER = 0.35  # part of that which the right axes leave, at most


class Gravity(NamedTuple):
    """Directions (k, 3) of mean specific forces, and those of a second later, in the body's axes; turns (k, 4)."""

    before: Array
    after: Array
    q: Array

    def misses(self, axes: Array | None = None) -> float:
        """Median angle between the two, the later ones turned back [deg].

        Args:
            axes: signed ones (3, 3) that map those of the accelerometer to the gyroscope's.
        """
        f0, f1 = (x if axes is None else x @ axes.T for x in (self.before, self.after))
        return _median_angle(f0, so3.rotate(self.q, f1))

    @property
    def tilts(self) -> float:
        """Median angle by which the turns take gravity to another direction of the body [deg]."""
        return _median_angle(self.before, so3.rotate(self.q, self.before))


def gravity_of(sample: DataSample, rate: float = 1.0) -> Gravity | None:
    """Where gravity goes in the axes of a sample, its rates times a factor; None where there are few times."""
    if len(sample.samples) < 2:
        return None
    t, f = sample.t, sample.f_B
    begins = np.arange(t[0], t[-1] - SPAN - MEAN, MEAN)
    if len(begins) < 3:
        return None
    middle = begins + 0.5 * MEAN
    q = GyroTurns(t, rate * sample.w_B).between(middle, middle + SPAN)
    return Gravity(_means(t, f, begins), _means(t, f, begins + SPAN), q)


def accelerometer_axes(sample: DataSample) -> str | None:
    """Axes of the accelerometer beside those of the gyroscope.

    Raises:
        BadInput: gravity goes along with the gyroscope's turns in other axes alone.
    """
    gravity = gravity_of(sample)
    if gravity is None or len(gravity.q) < FEWEST:
        return None
    if gravity.tilts < TURNS:
        return "it tilts too little to check the accelerometer's axes by its turns"
    now = gravity.misses()
    if now > LARGE:
        best = min(_OTHERS, key=gravity.misses)
        if gravity.misses(best) < BETTER * now:
            raise BadInput(
                f"{sample.dataset.source}: gravity does not go along with the gyroscope's turns (off by {now:.0f} deg),"
                f" but would if x, y, z of the accelerometer were its {axes_text(best)}: has a driver flipped one?"
                " Convert it in the recording"
            )
    return f"gravity goes along with its turns, within {now:.0f} deg"


def axes_text(axes: Array) -> str:
    """Rows of signed axes (n, 3) in words."""
    which = np.abs(axes).argmax(axis=1)
    return ", ".join(f"{'-' if axes[k, n] < 0.0 else ''}{'xyz'[n]}" for k, n in enumerate(which))


def signed_axes() -> list[Array]:
    """All signed axes (3, 3) but the identity, rotations and reflections."""
    every = (
        np.diag(signs)[:, order]
        for order in permutations(range(3))
        for signs in product((1.0, -1.0), repeat=3)
    )
    return [axes for axes in every if not np.array_equal(axes, np.eye(3))]


_OTHERS = [
    axes for axes in signed_axes() if axes.sum() > 0.0
]  # one of each two that differ in sign


def _median_angle(a: Array, b: Array) -> float:
    """Median angle between directions (k, 3) [deg]."""
    return float(np.degrees(np.median(np.arccos(np.clip(np.sum(a * b, axis=1), -1.0, 1.0)))))


def _means(t: Array, f: Array, begins: Array) -> Array:
    """Directions (k, 3) of mean specific forces of times that begin so [s]."""
    total = np.vstack([np.zeros(3), np.cumsum(f, axis=0)])
    first, last = np.searchsorted(t, begins), np.searchsorted(t, begins + MEAN)
    sums = total[last] - total[first]
    means: Array = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return means
