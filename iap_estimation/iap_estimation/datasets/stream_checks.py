# SPDX-License-Identifier: BSD-3-Clause
"""Checks of numbers as sensors sent them: times, constant and held ones, ends of ranges, pairs, the truth's clock."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.navigation.streams import STAMP_TOLERANCE

FASTEST = 20e3  # rate of inertial units [Hz]
STAMP_UNITS = (("us", 1e3), ("ms", 1e6), ("s", 1e9))  # and how many ns they have
FEWEST = 50  # samples that are looked at
EMPTY = 0.1  # share of samples without any specific force, as no unit measures it
HELD = 2.0  # samples in the median that repeat one number, of a unit that is read faster than it measures
EVEN = 0.5  # spread of these numbers over their median, at most
VALUES, OFTEN, RUNS = (
    100,
    5.0,
    10,
)  # different numbers, times the usual one, samples at an end of a range
WORTH_A_WORD = 0.01  # share of samples at the end of a range
STEP, SMOOTH, FARTHEST = 0.02, 5, 2.0  # of even times [s], of them a mean, lags that are tried [s]
LEAST_TURNING, ALIKE, BETTER = 0.05, 0.9, 0.1  # deviation [rad/s], correlation, and what it gains
LEAST_LAG = 0.04  # that is taken out [s]
GYRO, FORCE = "gyroscope", "accelerometer"


def times(sample: DataSample) -> str | None:
    """Times of inertial samples.

    Raises:
        BadInput: they come faster than any unit measures, as by stamps of another unit, or not while there are images.
    """
    if len(sample.samples) < 2:
        return None
    _check_overlap(sample)
    rate = 1.0 / max(float(np.median(np.diff(sample.t))), 1e-9)
    if rate <= FASTEST:
        return None
    unit, factor = next((u for u in STAMP_UNITS if rate / u[1] <= FASTEST), STAMP_UNITS[-1])
    raise BadInput(
        f"{sample.dataset.source}: {rate:.0f} inertial samples a second: its stamps are in {unit}, not in ns: multiply"
        f" those of all tables by {factor:.0f}"
    )


def _check_overlap(sample: DataSample) -> None:
    """Refuse inertial samples that all lie before, or behind, all images."""
    t, images = sample.t, sample.image_times
    if not images or (t[0] <= images[-1] and images[0] <= t[-1]):
        return
    ways = ("before", images[0] - t[-1]) if t[-1] < images[0] else ("after", t[0] - images[-1])
    raise BadInput(
        f"{sample.dataset.source}: its inertial samples come {ways[1]:.2f} s or more {ways[0]} its images: are both by"
        " clocks of their own? Shift the stamps of one of them"
    )


def constant(sample: DataSample) -> str | None:
    """A sensor that says one number while the other one measures.

    Raises:
        BadInput: naming it.
    """
    if len(sample.samples) < FEWEST:
        return None
    moves = {
        name: bool(np.ptp(x, axis=0).any())
        for name, x in ((GYRO, sample.w_B), (FORCE, sample.f_B))
    }
    for name, other in ((GYRO, FORCE), (FORCE, GYRO)):
        if moves[other] and not moves[name]:
            raise BadInput(
                f"{sample.dataset.source}: the {name} says one number in all {len(sample.samples)} samples, the {other}"
                " does not: drivers that have a topic for each write such samples: join both into one (--imu names"
                " another topic)"
            )
    return None


def in_halves(sample: DataSample) -> str | None:
    """Samples of which each has one sensor's numbers, and zeros for the other's.

    Raises:
        BadInput: there are many.
    """
    if len(sample.samples) < FEWEST:
        return None
    empty = ~sample.f_B.any(axis=1)
    if float(empty.mean()) < EMPTY:
        return None
    raise BadInput(
        f"{sample.dataset.source}: {empty.mean():.0%} of the inertial samples have no specific force at all, as where a"
        " driver sends gyroscope and accelerometer in turns: interpolate one to the other's times, as"
        " 'unite_imu_method' of a driver does"
    )


def repeated(sample: DataSample) -> str | None:
    """Samples that repeat the one before, of a unit that measures more slowly than it is read."""
    if len(sample.samples) < FEWEST:
        return None
    changes = (np.diff(np.hstack([sample.w_B, sample.f_B]), axis=0) != 0.0).any(axis=1)
    starts = np.flatnonzero(changes)
    runs = np.diff(starts)
    if len(starts) < FEWEST // 2 or np.median(runs) < HELD:
        return None
    if np.ptp(np.quantile(runs, [0.1, 0.9])) > EVEN * np.median(runs):
        return None  # coarse numbers, or rest
    rate = 1.0 / float(np.median(np.diff(sample.t[1:][starts])))
    share = 1.0 - float(changes.mean())
    return f"{share:.0%} of its samples repeat the one before: it measures at {rate:.0f} Hz, and half a period late"


def saturated(sample: DataSample) -> str | None:
    """Numbers that stop at the end of a sensor's range."""
    ends = []
    for name, unit, values in ((GYRO, "rad/s", sample.w_B), (FORCE, "m/s^2", sample.f_B)):
        for axis in range(3) if len(values) >= FEWEST else ():
            count, end = _at_an_end(values[:, axis])
            if count >= max(RUNS, WORTH_A_WORD * len(values)):
                share = count / len(values)
                ends.append(
                    f"the {name} stops at {end:.3g} {unit} along {'xyz'[axis]} in {share:.0%} of samples"
                )
    return (
        f"{', '.join(ends)}: saturated, and what it misses leads estimates astray"
        if ends
        else None
    )


def _at_an_end(x: Array) -> tuple[int, float]:
    """Samples at the least or greatest number, if that comes far more often than others do, and that number."""
    numbers, counts = np.unique(x, return_counts=True)
    if len(numbers) < VALUES:
        return 0, 0.0
    best = max((0, -1), key=lambda at: int(counts[at]))
    usual = float(np.mean(counts[1:-1]))
    return (int(counts[best]), float(numbers[best])) if counts[best] > OFTEN * usual else (0, 0.0)


def unpaired(sample: DataSample) -> str | None:
    """Images of two cameras that have no times in common.

    Raises:
        BadInput: there is no pair.
    """
    cameras = sample.dataset.aircraft[0].calibration
    lone = sample.dataset.tally.unpaired
    if sample.image_times or cameras is None or cameras.right is None or not lone:
        return None
    raise BadInput(
        f"{sample.dataset.source}: none of {lone} images has a partner of the other camera within"
        f" {1e3 * STAMP_TOLERANCE:.0f} ms: two cameras that are not triggered together are no pair: leave one out"
        " (--left alone, or a folder without cam1)"
    )


class _Lag(NamedTuple):
    """A lag [s], and the correlation there and without it."""

    value: float
    at_best: float
    at_zero: float


def truth_in_time(sample: DataSample) -> str | None:
    """Bring a truth whose turns come late or early against the gyroscope's to its clock, and say so.

    Sizes of turns are compared, which do not depend on how the unit is mounted on what the truth is of.
    """
    one = sample.dataset.aircraft[0]
    if one.truth is None or not one.truth.has_attitude or len(sample.samples) < FEWEST:
        return None
    lag = _lag_of_turns(sample.t, sample.w_B, one.truth.t, one.truth.poses[:, 3:])
    if lag is None or abs(lag.value) < LEAST_LAG or lag.at_best < ALIKE:
        return None
    if lag.at_best - lag.at_zero < BETTER:
        return None
    in_time = replace(one, truth=replace(one.truth, t=one.truth.t - lag.value))
    sample.dataset = replace(sample.dataset, aircraft=(in_time, *sample.dataset.aircraft[1:]))
    way = "late" if lag.value > 0.0 else "early"
    return f"the truth is {1e3 * abs(lag.value):.0f} ms {way} by its turns and the gyroscope's: taken out"


def _lag_of_turns(t: Array, w: Array, t_truth: Array, q: Array) -> _Lag | None:
    """The lag at which sizes of turning rates fit best; None where they hardly change, or times hardly overlap."""
    known = np.isfinite(q).all(axis=1)
    t_truth, q = t_truth[known], q[known]
    if len(t_truth) < FEWEST:
        return None
    rates = (
        so3.quaternion_log(so3.multiply(so3.conjugate(q[:-1]), q[1:])) / np.diff(t_truth)[:, None]
    )
    count = round(FARTHEST / STEP)
    at = np.arange(max(t[0], t_truth[0] - FARTHEST), min(t[-1], t_truth[-1] + FARTHEST), STEP)
    if len(at) < 2 * FEWEST:
        return None
    kernel = np.ones(SMOOTH) / SMOOTH
    gyro, truth = (
        np.convolve(
            np.interp(at, times_, np.linalg.norm(x, axis=1), left=np.nan, right=np.nan),
            kernel,
            "same",
        )
        for times_, x in ((t, w), (0.5 * (t_truth[1:] + t_truth[:-1]), rates))
    )
    fits = {k: _correlation(gyro, truth, k) for k in range(-count, count + 1)}
    if max(fits.values()) <= 0.0:
        return None
    most = max(fits.values())
    best = min((k for k, fit in fits.items() if fit > most - 1e-3), key=abs)
    return _Lag(best * STEP, fits[best], fits[0])


def _correlation(gyro: Array, truth: Array, lag: int) -> float:
    """Correlation of rates, the truth's taken some steps later; 0 where they hardly change."""
    late, early = max(0, lag), max(0, -lag)
    x, y = gyro[early : len(gyro) - late], truth[late : len(truth) - early]
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 2.0 * FEWEST:
        return 0.0
    x, y = x[known] - x[known].mean(), y[known] - y[known].mean()
    sizes = float(np.sqrt(np.mean(x**2))), float(np.sqrt(np.mean(y**2)))
    return 0.0 if min(sizes) < LEAST_TURNING else float(np.mean(x * y)) / (sizes[0] * sizes[1])
