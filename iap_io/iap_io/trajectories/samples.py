# SPDX-License-Identifier: BSD-3-Clause
"""Stamped samples as a file gives them, and the checks of their numbers.

Samples with NaN or a quaternion of length zero are left out and counted. Those with infinity are so where they are few.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary, counted

Stamps = Integers

MAX_PLACE = 1e10  # of positions, which may count from the Earth's centre in mm
MAX_LEFT_OUT = 0.05  # share of samples without a place or attitude that are left out
_ZERO_NORM = 1e-6
_FAR_OFF = 0.1  # that no rounding explains
_ODD_NORM = 0.01  # float32 and printed quaternions stay well below


@dataclass(frozen=True)
class StampedSamples:
    """Samples of anything in the order of the file, and what their stamps are.

    Attributes:
        source: file and topic, to name in errors.
        about: what they were read as.
        header_ns: (K,) header stamps, or a file's time column [ns]; None where there are none.
        bag_ns: (K,) times of reception [ns]; None for a file without them.
    """

    source: str
    about: RecordingSummary
    header_ns: Stamps | None
    bag_ns: Stamps | None

    def noted(self, *notes: str) -> Self:
        """The same with more notes."""
        return replace(self, about=self.about.noted(*notes))

    def at(self, index: NDArray[Any] | slice) -> Self:
        """The samples at these indices."""
        arrays: Any = {n: x[index] for n, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)

    def distances(self, index: Integers) -> Array:
        """(K,) of each sample from that at an index [m]; 0 of samples that have no place."""
        return np.zeros(len(index))


@dataclass(frozen=True)
class Samples(StampedSamples):
    """Stamped poses, as `StampedSamples`.

    Attributes:
        p: (K, 3) positions [m].
        q: (K, 4) attitudes, xyzw.
        v: (K, 3) world-frame velocities [m/s], or None; likewise below.
        w: (K, 3) body rates in body axes [rad/s].
        a: (K, 3) world-frame accelerations [m/s^2].
        alpha: (K, 3) angular accelerations in body axes [rad/s^2].
    """

    p: Array
    q: Array
    v: Array | None = None
    w: Array | None = None
    a: Array | None = None
    alpha: Array | None = None

    def distances(self, index: Integers) -> Array:
        """(K,) of each sample from that at an index [m]."""
        return np.linalg.norm(self.p - self.p[index], axis=1)


_FIELDS = {
    "p": ("position.x", "position.y", "position.z"),
    "q": ("orientation.x", "orientation.y", "orientation.z", "orientation.w"),
    "v": ("linear velocity.x", "linear velocity.y", "linear velocity.z"),
    "w": ("angular velocity.x", "angular velocity.y", "angular velocity.z"),
    "a": ("linear acceleration.x", "linear acceleration.y", "linear acceleration.z"),
    "alpha": ("angular acceleration.x", "angular acceleration.y", "angular acceleration.z"),
}


def check_finite(
    source: str,
    values: Array,
    names: tuple[str, ...],
    most: float = MAX_SI_NUMBER,
    remedy: str = "",
) -> None:
    """Refuse NaN, infinity and numbers too large to be meant.

    Raises:
        BadInput: names the source, the sample and the field.
    """
    bad = np.argwhere(~(np.abs(values) <= most))
    if len(bad):
        row, column = bad[0]
        raise BadInput(f"{source}: sample {row}: {names[column]} is {values[row, column]}{remedy}")


def checked(samples: Samples) -> Samples:
    """Samples with usable values and quaternions of unit length.

    Samples without a place or an attitude are left out and counted, velocities with a number that is none are not used.

    Raises:
        BadInput: fewer than two samples are left, or many have infinity or a number too large to be meant.
    """
    if len(samples.p) < 2:
        raise BadInput(f"{samples.source}: {len(samples.p)} sample(s); a replay needs at least 2")
    samples = _placed(samples)
    for name, columns in _FIELDS.items():
        values = getattr(samples, name)
        if values is not None and name not in ("p", "q") and not is_usable(values).all():
            samples = replace(samples, **{name: None})  # type: ignore[arg-type]
            samples = samples.noted(f"{columns[0].split('.')[0]}: not numbers, not used")
    norms = np.linalg.norm(samples.q, axis=1)
    odd = np.abs(norms - 1.0) > _ODD_NORM
    if np.abs(norms - 1.0).max() > _FAR_OFF and odd.mean() > MAX_LEFT_OUT:
        raise BadInput(
            f"{samples.source}: its quaternions have lengths of {norms.min():.3g} to {norms.max():.3g}, not 1:"
            " are other numbers in their place? (--columns names a table's)"
        )
    if odd.any():
        samples = samples.noted(f"{odd.sum()} quaternions off unit length were normalised")
    return replace(samples, q=samples.q / norms[:, None])


def _placed(samples: Samples) -> Samples:
    """The samples that have a place and an attitude; the time without them is a gap as any other.

    Raises:
        BadInput: hardly any has them, or many have numbers too large to be meant; the first one is named.
    """
    has_place = ~np.isnan(samples.p).any(axis=1)
    has_attitude = ~np.isnan(samples.q).any(axis=1)
    has_attitude &= np.abs(np.nan_to_num(samples.q)).max(axis=1) >= _ZERO_NORM
    usable = is_usable(samples.p, MAX_PLACE) & is_usable(samples.q) & has_attitude
    out = int((~usable).sum())
    if not out:
        return samples
    if len(usable) - out < 2:
        missing = "place" if has_place.sum() < 2 else "attitude"
        zero = (
            ""
            if missing == "place" or np.isnan(samples.q).any()
            else " (its quaternions are zero)"
        )
        raise BadInput(
            f"{samples.source}: {len(usable) - out} of its {counted(len(usable), 'sample')} have {missing}s{zero}: was"
            " it measured at all? Another one is read by --topic or --columns"
        )
    large = has_place & has_attitude & ~usable
    if large.sum() > MAX_LEFT_OUT * len(usable):
        remedy = f" ({int(large.sum())} of {len(usable)} samples are none: --topic or --columns name others)"
        p, q = (np.where(large[:, None], x, 0.0) for x in (samples.p, samples.q))
        check_finite(samples.source, p, _FIELDS["p"], MAX_PLACE, remedy)
        check_finite(samples.source, q, _FIELDS["q"], remedy=remedy)
    first = int(np.argmin(usable))
    return samples.at(usable).noted(
        f"{counted(out, 'sample')} without a place or attitude left out, the first is number {first}"
    )


def is_usable(values: Array, most: float = MAX_SI_NUMBER) -> Booleans:
    """(K,) whether all numbers of a row are some."""
    return np.asarray((np.abs(values) <= most).all(axis=1))


def scaled(samples: Samples, reading: PoseReading) -> Samples:
    """The samples in metres, from the origin that is asked for.

    Raises:
        BadInput: they are too far away from it for a flight.
    """
    scale = reading.scale or 1.0
    lengths: Any = {n: getattr(samples, n) for n in ("p", "v", "a")}
    turned = {n: np.array(scale) * x for n, x in lengths.items() if x is not None}
    if reading.origin == "first":
        turned["p"] = turned["p"] - turned["p"][0]
    largest = np.abs(turned["p"]).max(axis=0)
    if largest.max() > MAX_SI_NUMBER:
        raise BadInput(
            f"{samples.source}: positions of up to {largest.max():.4g} m: UTM or the like? --origin first counts them"
            " from the first one; another unit is mended by --scale"
        )
    return replace(samples, about=replace(samples.about, scale=scale), **turned)


def continuous(q: Array) -> Array:
    """Quaternions (K, 4) with signs chosen such that neighbours lie on one side."""
    steps = np.einsum("ki,ki->k", q[1:], q[:-1])
    return q * np.cumprod(np.concatenate([[1.0], np.where(steps < 0.0, -1.0, 1.0)]))[:, None]
