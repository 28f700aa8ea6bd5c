# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a pose that stand still while the rest moves on: an axis, the position, the attitude, or the heading.

Trackers and estimators that lose one of them go on with its last number. Set-points may stand still, too, and come
to rest as a body does. What a part of a body cannot do is noted, with place and time:

- it stops or starts **at once**, by several times what its velocity usually changes by, while the others go on as
  before. At the corner of a path of straight lines they do not.
- its **noise is gone**: it shook from sample to sample, and then repeats one number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.runs import true_runs
from iap_io.trajectories.headings import headings
from iap_io.trajectories.samples import Samples, continuous

MIN_STILL, FEWEST = (
    0.5,
    10,
)  # least time [s] and number of samples: no noise repeats a number as often
REPEATED = 0.2  # share of samples that may repeat the one before elsewhere; rounded and held numbers have more
STRIDES = 1, 2, 4, 8  # of samples that are looked at
VELOCITY_STEPS = 3  # steps over which a velocity is formed
AT_ONCE = 3.0  # least change of a velocity over what it usually is, its 99 % quantile, or the largest third difference
LEAST_STOP = 0.01  # of a velocity that is one [m/s, rad/s]
WHITE = 1.2  # least fifth over fourth differences of noise: 1.9 of white noise, 1.8 of white velocities
ROUNDING = (
    6.0  # last digits, above which fourth differences are not those of rounding, which come to 3
)
DIGITS = (1e-2, 1e-3, 1e-4, 1e-5)  # last ones that are looked for
LAST_DIGITS = (
    -2.0,
    -1.0,
    0.0,
    1.0,
    2.0,
)  # last digits by which the length 1 moves a number at most
LAST = 1e-4  # last digit of quaternions in the tables of others
NOISY = 30  # samples beside a stretch whose noise is looked at
ROUNDED = 1e-5  # step of a heading whose quaternion was written with six digits [rad]
COARSE = 3.0  # the same over the last digit of its quaternion, where that is larger
ALL, CORNERS = (
    (0.99, 1.0),
    (0.9, 0.9),
)  # such shares, of a part that may be lost, and of one at a corner
TURNS, IN_TURNS = (
    0.002,
    0.75,
)  # least distance of two ways [m], and likeness of differences in turns
STEEP = 0.5  # least cosine of a tilt at which there is a heading


@dataclass(frozen=True)
class PosePart:
    """A part of a pose.

    Attributes:
        name: for the user.
        x: (K, n) its numbers.
        digit: last one of its numbers.
        least: step from one sample to the next that is one.
        holds: names of the parts that stand still with it.
    """

    name: str
    x: Array
    digit: float = 0.0
    least: float = 0.0
    holds: tuple[str, ...] = ()


def with_still_parts(samples: Samples, stamps: Integers) -> Samples:
    """The samples with a note of each stretch through which a part stands still as that of no body does.

    Args:
        samples: in the order of their stamps.
        stamps: (K,) increasing [ns].
    """
    t = (stamps - stamps[0]) * 1e-9
    if len(t) < 4 * FEWEST:
        return samples
    parts = _parts(samples, t)
    known: list[tuple[PosePart, list[tuple[int, int]]]] = []
    for part in parts:
        wholes = [each for whole, found in known if part.name in whole.holds for each in found]
        found = [
            (start, stop)
            for start, stop in _lost(part, parts, t)
            if not any(start < last and first < stop for first, last in wholes)
        ]
        known += [(part, found)] if found else []
    notes = [_text(part, t, found) for part, found in known]
    return samples.noted(*notes, *_never_measured(samples.p))


def _never_measured(p: Array) -> Iterator[str]:
    """Yield a note of each axis that has one number in all samples (K, 3), where another one shakes as measured."""
    shakes = [_is_noisy(p[:, [i]], _digit(p[:, [i]])) for i in range(3)]
    for i, axis in enumerate("xyz"):
        if any(shakes) and not np.ptp(p[:, i]):
            others = " and ".join(other for j, other in enumerate("xyz") if shakes[j])
            yield f"its {axis} is {p[0, i]:.3f} m in every sample, while {others} shake as measured: was it, too?"


def _parts(samples: Samples, t: Array) -> list[PosePart]:
    """The parts of poses, those that hold others first."""
    p, q = samples.p, continuous(samples.q)
    digit = _digit_of_attitudes(samples.q)
    last = max(LAST, digit)
    out = [
        PosePart("position", p, _digit(p), holds=tuple("xyz")),
        PosePart("attitude", q, last, holds=("heading",)),
    ]
    out += [PosePart(axis, p[:, [i]], _digit(p[:, [i]])) for i, axis in enumerate("xyz")]
    upright = 1.0 - 2.0 * (q[:, 0] ** 2 + q[:, 1] ** 2)
    if upright.min() > STEEP:
        least = max(ROUNDED, COARSE * digit)
        out.append(PosePart("heading", headings(t, q)[:, None], 2.0 * last, least))
    return out


def _lost(part: PosePart, parts: list[PosePart], t: Array) -> Iterator[tuple[int, int]]:
    """Yield first and last samples of stretches through which a part stands still as that of no body does."""
    for stride in STRIDES:  # numbers that are rounded repeat at a high rate
        at = slice(None, None, stride)
        still = _still(replace(part, x=part.x[at]))
        stretches = [
            (start, stop)
            for start, stop in true_runs(still)
            if stop - start >= FEWEST and t[at][stop] - t[at][start] >= MIN_STILL
        ]
        inside = np.zeros(len(still), np.bool_)
        for start, stop in stretches:
            inside[start:stop] = True
        if not stretches or inside.sum() > len(inside) - 2 * FEWEST:
            return
        if still[~inside].mean() <= REPEATED:
            thinned = [replace(each, x=each.x[at]) for each in parts if not _is_of(each, part)]
            of_part = replace(part, x=part.x[at])
            lost = [each for each in stretches if _is_lost(of_part, thinned, t[at], inside, each)]
            yield from ((start * stride, stop * stride) for start, stop in lost)
            if lost or part.least <= ROUNDED:
                return


def _is_lost(
    part: PosePart, others: list[PosePart], t: Array, inside: Booleans, stretch: tuple[int, int]
) -> bool:
    """True if a part stands still through a stretch as that of no body does.

    Args:
        part: that stands still.
        others: that may go on.
        t: (K,) times [s].
        inside: (K - 1,) steps of all its stretches.
        stretch: its first and last sample.
    """
    start, stop = stretch
    if _noise_is_gone(part, start, stop):
        return True
    if not VELOCITY_STEPS <= start < len(t) - VELOCITY_STEPS:
        return False
    nowhere = np.zeros(len(inside), np.bool_)
    is_alone = any(np.mean(_still(each)[start:stop]) < 0.5 for each in others) and not any(
        _turns_at_once(each, t, start, nowhere, CORNERS) for each in others
    )
    return is_alone and _turns_at_once(part, t, start, inside, ALL)


def _is_of(part: PosePart, other: PosePart) -> bool:
    """True if one of two parts is the other, or holds it."""
    return part is other or part.name in other.holds or other.name in part.holds


def _still(part: PosePart) -> Booleans:
    """(K - 1,) steps from sample to sample that are none."""
    return np.asarray(np.linalg.norm(np.diff(part.x, axis=0), axis=1) <= part.least)


def _turns_at_once(
    part: PosePart, t: Array, k: int, inside: Booleans, most: tuple[float, float]
) -> bool:
    """True if a part changes its velocity at a sample as it does nowhere else.

    Where it is smooth its third differences say so, where it shakes velocities over several steps do.

    Args:
        part: of a pose.
        t: (K,) times [s].
        k: number of the sample.
        inside: (K - 1,) steps that do not count as usual.
        most: shares of the other samples at which its velocity and third differences change by less, at least.
    """
    padded = np.convolve(np.r_[inside, False], np.ones(2 * VELOCITY_STEPS + 1), "same") > 0.0
    v = (part.x[VELOCITY_STEPS:] - part.x[:-VELOCITY_STEPS]) / (
        t[VELOCITY_STEPS:] - t[:-VELOCITY_STEPS]
    )[:, None]
    changes = np.linalg.norm(
        v[VELOCITY_STEPS:] - v[:-VELOCITY_STEPS], axis=1
    )  # at samples from VELOCITY_STEPS on
    bends = np.linalg.norm(np.diff(part.x, 3, axis=0), axis=1)  # from the second one on
    usual = changes[~padded[VELOCITY_STEPS:-VELOCITY_STEPS]], bends[~padded[2:-1]]
    if not all(len(each) for each in usual):
        return False
    dt = (t[k + 1] - t[k - 1]) / 2.0
    step = max(
        float(np.linalg.norm(part.x[k] - part.x[k - 1])),
        float(np.linalg.norm(part.x[k + 1] - part.x[k])),
    )
    is_fast = changes[k - VELOCITY_STEPS] > max(
        LEAST_STOP, AT_ONCE * float(np.quantile(usual[0], most[0]))
    )
    is_bent = bends[k - 2 : k].max() > max(
        LEAST_STOP * dt, AT_ONCE * float(np.quantile(usual[1], most[1]))
    )
    return bool(step > LEAST_STOP * dt and (is_fast or is_bent))


def _noise_is_gone(part: PosePart, start: int, stop: int) -> bool:
    """True if a part shakes up to a stretch, or from it on, as measurements do and set-points do not."""
    still = _still(part)
    beside = [slice(max(0, start - NOISY), start), slice(stop + 1, stop + 1 + NOISY)]
    return any(
        _is_noisy(part.x[near], part.digit) and still[near].mean() < REPEATED
        for near in beside
        if len(still[near]) == NOISY
    )


def _is_noisy(x: Array, digit: float) -> bool:
    """True if samples (K, n) shake: high differences of a smooth motion get smaller, those of noise larger.

    Medians leave out the few samples at which a set-point turns at once.
    """
    fourth, fifth = (np.linalg.norm(np.diff(x, n, axis=0), axis=1) for n in (4, 5))
    size = float(np.median(fourth))
    return float(np.median(fifth)) > WHITE * size > WHITE * ROUNDING * digit


def _digit(p: Array) -> float:
    """The last digit of numbers that are rounded to some [m]."""
    for digits in DIGITS:
        if np.abs(p / digits - np.round(p / digits)).max() < 1e-3:
            return digits
    return 1e-6


def _digit_of_attitudes(q: Array) -> float:
    """The last digit of quaternions (K, 4) as they were before they got the length 1.

    Rounded numbers are a little longer or shorter, so that the largest of each row was one of a few.
    """
    largest = np.take_along_axis(q, np.abs(q).argmax(axis=1)[:, None], axis=1)
    for digit in DIGITS:
        was = [np.round(largest / digit) + near for near in LAST_DIGITS]
        numbers = np.stack([q * each / largest for each in was])
        if np.abs(numbers - np.round(numbers)).max(axis=2).min(axis=0).max() < 1e-3:
            return digit
    return 1e-6


def _text(part: PosePart, t: Array, stretches: list[tuple[int, int]]) -> str:
    """The note of a part's stretches."""
    start, stop = stretches[0]
    place = f" at {part.x[start, 0]:.3f} m" if part.name in tuple("xyz") else ""
    more = f", and {len(stretches) - 1} times more" if len(stretches) > 1 else ""
    cuts = ([f"--to {t[start]:.3f}"] if start else []) + (
        [f"--from {t[stop]:.3f}"] if stop < len(t) - 1 else []
    )
    return (
        f"its {part.name} stands still{place} from t = {t[start]:.3f} to {t[stop]:.3f} s{more}, at once or without its"
        f" noise: unless it is a set-point, a tracker or estimate lost it; {' or '.join(cuts)} cuts it off"
    )


def woven_by(p: Array) -> float:
    """Distance [m] of two ways that samples (K, 3) take in turns; 0 where they do not, or by less than `TURNS`.

    Fourth differences of such samples have one size, and one sign in turns; those of noise are alike by 0.4 alone.
    """
    e = np.diff(p, 4, axis=0) / 8.0  # 1, -4, 6, -4, 1
    if len(e) < FEWEST:
        return 0.0
    power = float(np.mean(np.sum(e**2, axis=1)))
    alike = float(np.mean(np.sum(e[2:] * e[:-2], axis=1)))
    turned = float(np.mean(np.sum(e[1:] * e[:-1], axis=1)))
    is_woven = power > TURNS**2 and alike > IN_TURNS * power and turned < -IN_TURNS * power
    return float(np.sqrt(power)) if is_woven else 0.0
