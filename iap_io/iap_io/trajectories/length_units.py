# SPDX-License-Identifier: BSD-3-Clause
"""The unit of a recording's positions, by what speeds and heights vehicles can have."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_io.trajectories.samples import Samples

LEAP = 0.15  # from one sample to the next, however short the time between them [m]
MAX_SPEED = 25.0  # [m/s]
DOUBTFUL_SPEED = 12.0  # [m/s]
MAX_CLIMB = 12.0  # speed along one axis while the others are a tenth of it [m/s]
MAX_HEIGHT = 1000.0  # [m]
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
