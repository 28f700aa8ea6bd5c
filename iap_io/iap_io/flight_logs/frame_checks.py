# SPDX-License-Identifier: BSD-3-Clause
r"""Signals of a log against each other: do their frames and units fit the motion.

With p, v, R, w and f position, velocity, attitude, body rates and specific force,

.. math:: \Delta p = \int v, \quad \log(R_k^T R_{k+1}) = \int \omega, \quad \Delta v = \int (R f - g e_3) .

The last two are looked at for the attitude as it was read, and for three others: with the world's axes, the body's or
both not turned. Both leave alone what stands level, so that without motion nothing can be said.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.frames import R_ENU_NED, R_FLU_FRD
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import InTheAir

WINDOW = 0.5  # over which velocities and accelerations are compared [s]
BETTER = 2.0  # factor by which the right frames leave less than others
RESIDUAL_FLOOR = 1e-4  # residual below which nothing is told apart by it
FEWEST = 10  # samples
_SHARE = 68.0  # percentile of residuals [%]
OF_THE_BODY = "the body's axes not turned"
OTHERS: dict[str, Callable[[Array], Array]] = {
    "the world's axes not turned": lambda R: R_ENU_NED @ R,
    OF_THE_BODY: lambda R: R @ R_FLU_FRD,
    "neither axes turned": lambda R: R_ENU_NED @ R @ R_FLU_FRD,
}


class FrameCheck(NamedTuple):
    """Residuals between a log's signals; None where one of them is missing.

    Attributes:
        velocity: median difference of dp/dt and v along an axis [m/s].
        rates: of the attitude's turning and the body rates about an axis [rad/s], 68 % lie below.
        acceleration: of v and the integral of the accelerometer over `WINDOW` [m/s], RMS.
        verdict: whether the frames are confirmed, in words.
        is_contradicted: whether other frames fit better.
        is_confirmed: whether all other frames fit worse.
    """

    velocity: float | None
    rates: float | None
    acceleration: float | None
    verdict: str
    is_contradicted: bool = False
    is_confirmed: bool = False


def check_frames(log: FlightLog, when: InTheAir) -> FrameCheck:
    """Compare a log's signals in the time of a flight."""
    cut = {name: each.between(*when) for name, each in log.signals.items()}
    usable = {name: each for name, each in cut.items() if len(each.t) >= FEWEST}
    velocity = _velocity(usable)
    attitude = usable.get(names.ATTITUDE)
    if attitude is None:
        return FrameCheck(velocity, None, None, "frames cannot be checked: no attitude")
    R = so3.matrix_from_quaternion(so3.normalized(attitude.values))
    as_read = _residuals(usable, attitude.t, R)
    if not as_read:
        return FrameCheck(velocity, None, None, "frames cannot be checked: no rates")
    ratios = {
        text: _ratios(_residuals(usable, attitude.t, turn(R)), as_read)
        for text, turn in OTHERS.items()
    }
    rates, acceleration = as_read.get("rates"), as_read.get("acceleration")
    contradiction = next((text for text, each in ratios.items() if max(each) < 1.0 / BETTER), None)
    is_confirmed = all(max(each) >= BETTER for each in ratios.values())
    if contradiction is not None:
        verdict = f"frames contradicted: the attitude fits with {contradiction}"
    elif is_confirmed:
        verdict = f"frames confirmed ({'NED, FRD' if log.axes == 'ned' else 'ENU, FLU'})"
    elif acceleration is not None:
        verdict = "frames cannot be checked: no motion"
    else:
        verdict = _by_rates(usable, ratios[OF_THE_BODY])
    is_contradicted = contradiction is not None
    return FrameCheck(velocity, rates, acceleration, verdict, is_contradicted, is_confirmed)


def _by_rates(usable: dict[str, Signal], ratios: list[float]) -> str:
    """Verdict on a log in which rates alone can be compared, which do not show how the world's axes are turned."""
    pair = (names.VELOCITY, names.SPECIFIC_FORCE)
    reason = f"no {' and no '.join(name for name in pair if name not in usable)}"
    if min(ratios) < BETTER:
        return f"frames cannot be checked: {reason}, no rotation"
    return f"attitude confirmed by gyro, velocity cannot be checked: {reason}"


def _ratios(other: dict[str, float], as_read: dict[str, float]) -> list[float]:
    return [
        max(other[name], RESIDUAL_FLOOR) / max(as_read[name], RESIDUAL_FLOOR) for name in as_read
    ]


def _residuals(usable: dict[str, Signal], t: Array, R: Array) -> dict[str, float]:
    """Residuals of rates and accelerations, with attitudes (K, 3, 3) at times (K,)."""
    residuals, dt = {}, np.diff(t)
    of_rates = [usable[each] for each in (names.RATES, names.GYROSCOPE) if each in usable]
    rates = max(of_rates, key=lambda each: each.rate, default=None)
    if rates is not None:
        turned = so3.log(np.swapaxes(R[:-1], 1, 2) @ R[1:]) / dt[:, None]
        off = np.abs(turned - means(rates, t))
        residuals["rates"] = float(np.percentile(off, _SHARE))
    force, velocity = usable.get(names.SPECIFIC_FORCE), usable.get(names.VELOCITY)
    if force is not None and velocity is not None:
        middle = so3.exp(0.5 * so3.log(np.swapaxes(R[:-1], 1, 2) @ R[1:]))
        f_W = np.einsum("kij,kj->ki", R[:-1] @ middle, means(force, t))
        a = f_W - np.array([0.0, 0.0, GRAVITY])
        integral = np.concatenate([np.zeros((1, 3)), np.cumsum(a * dt[:, None], axis=0)])
        at, later = _windows(t, velocity)
        gained = Signal(t, integral, "", "").at(later) - Signal(t, integral, "", "").at(at)
        off = np.linalg.norm(velocity.at(later) - velocity.at(at) - gained, axis=1)
        residuals["acceleration"] = float(np.sqrt(np.mean(off**2)))
    return residuals


def _windows(t: Array, velocity: Signal) -> tuple[Array, Array]:
    """Begins and ends of windows within both signals."""
    begin, end = max(t[0], velocity.t[0]), min(t[-1], velocity.t[-1]) - WINDOW
    at = np.arange(begin, max(end, begin + 1e-9), 0.5 * WINDOW)
    return at, at + WINDOW


def means(signal: Signal, t: Array) -> Array:
    """Means (K - 1, n) of a signal between times (K,)."""
    steps = 0.5 * (signal.values[1:] + signal.values[:-1]) * np.diff(signal.t)[:, None]
    integral = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
    first = signal.at(
        t[[0]]
    )  # before the first sample and after the last, the signal stays as it is
    at = Signal(signal.t, integral, "", "").at(t)
    dt = np.diff(t)[:, None]
    outside = (t[:-1] < signal.t[0]) | (t[1:] > signal.t[-1])
    means = np.diff(at, axis=0) / dt
    return np.where(
        outside[:, None], np.where(t[:-1, None] < signal.t[0], first, signal.values[-1]), means
    )


def _velocity(usable: dict[str, Signal]) -> float | None:
    position, velocity = usable.get(names.POSITION), usable.get(names.VELOCITY)
    if position is None or velocity is None:
        return None
    steps = np.diff(position.values, axis=0) / np.diff(position.t)[:, None]
    return float(np.median(np.abs(steps - means(velocity, position.t))))
