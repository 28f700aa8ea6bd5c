# SPDX-License-Identifier: BSD-3-Clause
"""Faults of one clock that no second clock shows: it is set back or ahead, or messages come in bursts.

A clock that is set back, header's and receiver's alike, puts what comes behind it before or among what was there. The
body tells it: what the clock has last is where what was behind the step begins.

A clock that is set ahead leaves a hole that the body does not cross: it moves on by one usual step, as fast as before
and behind. Messages that come in bursts have times of reception that are those of the bursts. Their samples are
evenly apart in space, and so they were in time, from the end of one burst to the end of the next.
"""

from typing import TypeVar

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.runs import true_runs
from iap_io.trajectories.samples import StampedSamples

S = TypeVar("S", bound=StampedSamples)
LATE = 5  # samples in a row that are a clock's step, not late messages
FEW = 2  # steps back, more of which are those of late messages or of uneven stamps
LEAST_BACK, EVEN_PERIODS = (
    0.02,
    1.6,
)  # least step back [s], and periods and ways that are usual, over these
HOLE_PERIODS, HOLE_WAY = (
    3.0,
    0.03,
)  # least hole of a clock set ahead: usual periods, and way that is missing [m]
USUAL = 0.9  # share of the periods that are usual ones
LATE_SHARE = 0.8  # of the usual time that samples behind it take, at least; they come sooner behind a late one
ALIKE = 0.7  # least ratio of the speeds before and behind it
AROUND = 5  # samples whose median is the speed beside it
BURSTS = 0.1  # share of the time that lies within bursts, at most
FEWEST = 20  # samples in which bursts are looked for
PER_BURST = 2.5  # samples a burst, at least
WOVEN_STEP = 0.02  # least distance of two runs that are woven into one [m]
FASTER = 4.0  # least ratio of speeds from one run to the other to usual ones
LEAPS, WOVEN = 3, 0.3  # least number of such steps, and share of the steps there
DENSER = 1.5  # least ratio of samples a second where two runs are
SEAM = 0.5  # greatest distance at the seam of two runs, over that between them
SHORTER = 0.97  # share of the way by the times of reception that shows that these are out of order
LEAST_WAY = 0.03  # by which it is shorter at least [m]
EVEN = 3.0  # ratio of steps within bursts to those between them, at most


def check_order(samples: StampedSamples, stamps: Integers) -> None:
    """Refuse a lone clock that steps back and stays there."""
    behind = stamps < np.maximum.accumulate(stamps)
    if samples.header_ns is not None and samples.bag_ns is not None:
        return
    runs = list(true_runs(behind))
    for start, stop in runs:
        is_long = stop - start >= LATE and (np.diff(stamps[start:stop]) >= 0).all()
        if is_long or (len(runs) <= FEW and _goes_on(samples, stamps, start, stop)):
            step = (stamps[start - 1] - stamps[start]) * 1e-9
            at = (stamps[start - 1] - stamps[0]) * 1e-9
            raise BadInput(
                f"{samples.source}: the stamps step back by {step:.3f} s at t = {at:.3f} s and stay there; --to"
                f" {at:.3f} ends before"
            )


def _goes_on(samples: StampedSamples, stamps: Integers, start: int, stop: int) -> bool:
    """True if clock and body go on behind a step back as before it; a late message is followed by a step ahead.

    Args:
        samples: in the order of the file.
        stamps: (K,) of them [ns].
        start: first sample behind the step.
        stop: first one beyond the times before it.
    """
    first, last = max(0, start - LATE), min(len(stamps), stop + LATE)
    near = np.diff(stamps[first:last]) * 1e-9
    steps = samples.at(np.arange(first, last)).distances(
        np.maximum(np.arange(last - first) - 1, 0)
    )[1:]
    back = start - 1 - first
    period, step = float(np.median(near)), float(np.median(steps))
    is_even = bool(
        (np.delete(near, back) < EVEN_PERIODS * period).all()
        and (np.delete(near, back) > 0.0).all()
    )
    return (
        is_even
        and -near[back] > LEAST_BACK
        and step < steps[back] * EVEN_PERIODS
        and steps[back] < EVEN_PERIODS * step
    )


def _steps(samples: StampedSamples, count: int, order: int = 1) -> Array:
    """(K - 1,) distances of samples, but for the first one, from those `order` before them [m]."""
    return samples.distances(np.maximum(np.arange(count) - order, 0))[1:]


def check_back(samples: S, stamps: Integers, bridge: float) -> S:
    """Refuse samples of a clock that was set back, which stand among those of the time before it.

    Returns:
        The samples, with a note where they may stand before those, across a time that is refused.

    Args:
        samples: in the order of their stamps.
        stamps: (K,) increasing [ns].
        bridge: longest time that is crossed [s].
    """
    t, steps = (stamps - stamps[0]) * 1e-9, _steps(samples, len(stamps))
    if len(t) < FEWEST:
        return samples
    dt = np.diff(t)
    gap = int(dt.argmax())
    if dt[gap] > bridge and _distance(samples, len(t) - 1, 0) < SEAM * steps[gap]:
        samples = samples.noted(
            f"its last sample is where its first one is: was the clock set back by {t[-1]:.2f} s?"
        )
    two = _steps(samples, len(stamps), 2)[1:] / (t[2:] - t[:-2])  # of one run where two are woven
    leaps = np.flatnonzero(steps > np.maximum(WOVEN_STEP, FASTER * float(np.median(two)) * dt))
    if len(leaps) < LEAPS:
        return samples
    k, size = int(leaps[0]), float(np.median(steps[leaps]))
    m, last = int(leaps[-1]), len(t) - 1
    within = dt[k : m + 1]
    rest = (t[-1] - within.sum()) / max(len(dt) - len(within), 1)
    is_woven = len(leaps) >= max(LEAPS, WOVEN * len(within)) and within.mean() * DENSER < rest
    seams = [(k + 1, m), (0, m), (0, m + 1), (k, last), (k + 1, last)]
    if is_woven and min(_distance(samples, *seam) for seam in seams) < SEAM * size:
        raise BadInput(
            f"{samples.source}: from t = {t[k]:.3f} to {t[m + 1]:.3f} s two runs are woven into one, {size:.3g} m"
            f" apart: was the clock set back? --to {t[k]:.3f} ends before, --from {t[m + 1]:.3f} begins after"
        )
    return samples


def _distance(samples: StampedSamples, i: int, j: int) -> float:
    """Distance of one sample from another [m]."""
    return float(samples.at(np.array([i, j])).distances(np.zeros(2, np.int64))[1])


def check_ahead(samples: StampedSamples, stamps: Integers) -> None:
    """Refuse samples whose clock is set ahead while the body moves on as before.

    Args:
        samples: in the order of their stamps.
        stamps: (K,) increasing [ns].
    """
    dt, steps = np.diff(stamps) * 1e-9, _steps(samples, len(stamps))
    if len(dt) < 4 * AROUND:
        return
    period = float(np.median(dt))
    for k in np.flatnonzero(dt > HOLE_PERIODS * float(np.quantile(dt, USUAL))):
        before, behind = slice(max(0, k - AROUND), k), slice(k + 1, k + 1 + AROUND)
        if min(k, len(dt) - 1 - k) < AROUND:
            continue
        speeds = sorted(float(np.median(steps[i] / dt[i])) for i in (before, behind))
        is_on_its_way = speeds[0] > ALIKE * speeds[1] and speeds[0] * dt[k] - steps[k] > HOLE_WAY
        is_late = min(dt[behind].sum(), dt[before].sum()) < LATE_SHARE * AROUND * period
        if is_on_its_way and not is_late and steps[k] < 2.0 * speeds[1] * period:
            t = (stamps[k : k + 2] - stamps[0]) * 1e-9
            raise BadInput(
                f"{samples.source}: the stamps jump ahead by {dt[k]:.3f} s at t = {t[0]:.3f} s, while it moves on by"
                f" {steps[k]:.3f} m: was the clock set? --to {t[0]:.3f} ends before, --from {t[1]:.3f} begins after"
            )


def evened(samples: S, stamps: Integers) -> tuple[S, Integers]:
    """Samples and stamps, these spread evenly where messages come in bursts, with a note.

    Args:
        samples: in the order of their stamps.
        stamps: (K,) increasing times of reception [ns].
    """
    dt, steps = np.diff(stamps).astype(np.float64), _steps(samples, len(stamps))
    if len(dt) < FEWEST:
        return samples, stamps
    between = dt > dt.mean()
    within, ends = dt[~between], np.flatnonzero(between)
    if within.sum() > BURSTS * dt.sum() or len(ends) < 3 or len(dt) < PER_BURST * len(ends):
        return samples, stamps
    inside, across = (float(np.median(steps[x])) for x in (~between, between))
    if not 0.0 < max(inside, across) <= EVEN * min(inside, across):
        return samples, stamps
    index = np.arange(len(stamps))
    period = (stamps[ends[-1]] - stamps[ends[0]]) / (ends[-1] - ends[0])
    anchors = np.concatenate([[0], ends, [len(stamps) - 1]])
    first, last = (
        stamps[ends[i]] + period * (j - ends[i]) for i, j in ((0, 0), (-1, anchors[-1]))
    )
    times = np.concatenate([[first], stamps[ends], [last]]) - stamps[0]
    even = np.round(np.interp(index, anchors, times)).astype(np.int64) + stamps[0]
    usual = float(np.median(dt[between])) * 1e-9
    return samples.noted(
        f"messages come in bursts {usual:.3f} s apart: their times of reception were spread evenly"
    ), even


def is_shorter(samples: StampedSamples, stamps: Integers, others: Integers) -> bool:
    """True if the way through samples in the order of stamps is shorter, from where to where the orders differ."""
    orders = [np.argsort(x, kind="stable") for x in (stamps, others)]
    differ = np.flatnonzero(orders[0] != orders[1])
    if not len(differ):
        return False
    part = slice(max(0, int(differ[0]) - 1), int(differ[-1]) + 2)
    own, other = (_way(samples, order[part]) for order in orders)
    return own < SHORTER * other and other - own > LEAST_WAY


def _way(samples: StampedSamples, order: Integers) -> float:
    """Length of the way through the samples in an order [m]."""
    ordered = samples.at(order)
    return float(ordered.distances(np.maximum(np.arange(len(order)) - 1, 0)).sum())
