# SPDX-License-Identifier: BSD-3-Clause
"""The unit of a recording's positions, by what speeds and heights vehicles can have."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.samples import Samples

LEAP = 0.15  # from one sample to the next, however short the time between them [m]
MAX_SPEED = 25.0  # [m/s]
DOUBTFUL_SPEED = 12.0  # [m/s]
MAX_CLIMB = 12.0  # speed along one axis while the others are a tenth of it [m/s]
MAX_HEIGHT = 1000.0  # [m]
DEGREE = 111195.0  # of latitude on the Earth [m]
FIX_DIGITS = 1e7  # of degrees in integers, as receivers send them
LEAST_DEGREES = 5.0  # from (0, 0), which lies in the sea; rooms and fields have it in their middle
LEAST_FLIGHT, MOST_FLIGHT = 5.0, 1e4  # extents that are looked at [m]
LEG = 0.5  # time between places of which they are made [s]
WAY = 0.5  # most mean square of legs over twice the variance of places; that of noise at one place is 1
WINDOW = 0.1  # over which the usual speed is formed [s]


def check_unit(samples: Samples, stamps: Integers) -> None:
    """Refuse positions whose usual speed no vehicle has.

    Raises:
        BadInput: naming the unit that would explain it.
    """
    t = (stamps - stamps[0]) * 1e-9
    if len(t) < 2:
        return
    later = np.searchsorted(t, t + WINDOW)
    now = np.flatnonzero(later < len(t))
    now, later = (now, later[now]) if len(now) else (np.zeros(1, int), np.array([len(t) - 1]))
    displacement, dt = np.abs(samples.p[later] - samples.p[now]), t[later] - t[now]
    speed = float(np.quantile(np.linalg.norm(displacement, axis=1) / dt, 0.9))
    speeds = np.quantile(displacement / dt[:, None], 0.9, axis=0)
    if np.linalg.norm(displacement, axis=1).max() <= LEAP:
        return
    alone = _alone(samples, speeds)
    if speed > MAX_SPEED or (alone and speed > MAX_CLIMB):
        what = f"is {alone}" if alone else "are the positions"
        units = {"mm": 1e-3} if speed > 5e2 else {"mm": 1e-3, "cm": 1e-2}
        scales = ", ".join(_scale_option(unit, alone) for unit in units.values())
        raise BadInput(
            f"{samples.source}: it moves at {speed:.3g} m/s{f' in {alone} alone' if alone else ''}, as no vehicle here"
            f" does: {what} in {' or '.join(units)} ({scales}), or the times in another unit (--time-unit, --clock)?"
        )


def doubtful_unit(samples: Samples, stamps: Integers) -> Samples:
    """The samples with a note where they are as fast as few vehicles are, and no unit is given."""
    t = (stamps - stamps[0]) * 1e-9
    later = np.minimum(np.searchsorted(t, t + WINDOW), len(t) - 1)
    distance = np.linalg.norm(samples.p[later] - samples.p, axis=1)
    speed = float(np.quantile(distance / np.maximum(t[later] - t, WINDOW), 0.9))
    if speed < DOUBTFUL_SPEED or samples.about.scale != 1.0:
        return samples
    return samples.noted(f"it moves at {speed:.3g} m/s: if its unit is cm, --scale 0.01 reads it")


def check_on_earth(samples: Samples, reading: PoseReading) -> None:
    """Refuse latitudes and longitudes where metres are expected, unless a scale is asked for.

    In degrees a flight takes place far from (0, 0), within some hundredths and, as metres, at less than a millimetre
    per second. No measurement in metres is as calm: a hover wanders by centimetres, and noise goes to and fro.

    Raises:
        BadInput: naming the place.
    """
    stamps = samples.bag_ns if samples.header_ns is None else samples.header_ns
    if stamps is None or reading.scale is not None or len(stamps) < 2:
        return
    _, at = np.unique(np.floor((stamps - stamps.min()) * (1e-9 / LEG)), return_index=True)
    p = samples.p[at, :2]
    place, ends = np.median(p, axis=0), np.quantile(p, [0.05, 0.95], axis=0)
    extent = float(np.linalg.norm(ends[1] - ends[0]))  # without places before a receiver has any
    size = FIX_DIGITS if np.abs(place).max() > FIX_DIGITS else 1.0
    small, large = np.sort(np.abs(place)) / size
    legs = np.linalg.norm(np.diff(p, axis=0), axis=1) * DEGREE / size  # [m], if they are degrees
    is_place = small <= 90.0 and large <= 180.0 and np.hypot(small, large) > LEAST_DEGREES
    if not is_place or not len(legs) or np.quantile(legs, 0.9) > MAX_SPEED * LEG:
        return
    is_way = np.mean(legs**2) < WAY * 2.0 * np.var(p, axis=0).sum() * (DEGREE / size) ** 2
    if is_way and LEAST_FLIGHT < extent * DEGREE / size < MOST_FLIGHT:
        raise BadInput(
            f"{samples.source}: x and y stay within {extent:.2g} of {place[0]:.10g} and {place[1]:.10g}: are they"
            f" latitude and longitude in degrees{'' if size == 1.0 else ' times 1e7'}? Write metres east and north"
            " of a place instead (--scale 1 keeps them as they are)"
        )


def check_height(samples: Samples, *, is_placed: bool) -> None:
    """Refuse heights at which nothing here flies, of samples that are not placed elsewhere.

    Raises:
        BadInput: naming what mends it.
    """
    height = float(samples.p[:, 2].max())
    if height > MAX_HEIGHT and not is_placed:
        raise BadInput(
            f"{samples.source}: it flies up to {height:.0f} m above the ground: --origin first counts positions from"
            " the first one; are they in mm (--scale 0.001)?"
        )


def _alone(samples: Samples, speeds: Array) -> str:
    """The axis whose speed is far above the others', which move; empty without any, and where its unit is given."""
    axis = int(np.argmax(speeds))
    rest = float(np.delete(speeds, axis).max())
    is_given = isinstance(samples.about.scale, tuple) or samples.about.scale != 1.0
    return "" if is_given or not 0.05 < rest < speeds[axis] / 10.0 else "xyz"[axis]


def _scale_option(unit: float, alone: str) -> str:
    """The option for a unit of length [m], of one axis alone or of all."""
    text = ",".join(f"{unit:g}" if axis == alone else "1" for axis in "xyz")
    return f"--scale {text if alone else f'{unit:g}'}"
