# SPDX-License-Identifier: BSD-3-Clause
r"""Signals of a log that others deny: of another size than a flight's, or without a change while the vehicle moves.

With f the specific force, p, v, R and :math:`\omega` position, velocity, attitude and body rates, the median of |f| is
about g over a flight, and along each axis :math:`\dot p \approx v` and
:math:`\log(R_k^T R_{k+1}) \approx \omega \Delta t`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_description.math.runs import true_runs
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import InTheAir
from iap_io.flight_logs.frame_checks import FEWEST, means

FORCES = (
    0.5,
    1.6,
)  # median specific force in a flight over gravity; a climb, a turn or a fall does not last
LIKE, SIZES = 0.8, (0.7, 1.4)  # correlation of what has another size, and sizes that are alike
DEGREES = 50.0, 65.0  # sizes of rates in deg/s
WRAP = 1.0  # turn from one sample to the next that is none of a vehicle [rad]
STILL = 1.0  # time without a change that is looked at [s]; receivers measure more often


class SignalPair(NamedTuple):
    """Changes of a signal and another one that measures them.

    Attributes:
        name: of the signal, and of the other one.
        changes: (K - 1, 3) of the signal from sample to sample, over their time.
        measured: (K - 1, 3) the same by the other one.
        least: RMS along an axis that is compared.
    """

    name: tuple[str, str]
    changes: Array
    measured: Array
    least: float


def signal_doubts(log: FlightLog, when: InTheAir, *, is_confirmed: bool = False) -> Iterator[str]:
    """Yield a note of each signal that others deny, or that gravity does.

    Args:
        log: whose signals these are.
        when: it was in the air.
        is_confirmed: whether an accelerometer confirms the attitude, so that rates alone can be off.
    """
    cut = {name: each.between(*when) for name, each in log.signals.items()}
    usable = {name: each for name, each in cut.items() if len(each.t) >= FEWEST}
    force = usable.get(names.SPECIFIC_FORCE)
    if force is not None:
        size = float(np.median(np.linalg.norm(force.values, axis=1)))
        if not FORCES[0] < size / GRAVITY < FORCES[1]:
            unit = "in g, or " if FORCES[0] < size < FORCES[1] else ""
            yield (
                f"{names.SPECIFIC_FORCE} is {size:.3g} m/s^2 in the median, where gravity is {GRAVITY:.2f}: is it"
                f" {unit}of another unit?"
            )
    position, attitude = usable.get(names.POSITION), usable.get(names.ATTITUDE)
    if position is not None and names.VELOCITY in usable:
        v = means(usable[names.VELOCITY], position.t)
        changes = np.diff(position.values, axis=0) / np.diff(position.t)[:, None]
        yield from _doubts(SignalPair((names.POSITION, names.VELOCITY), changes, v, 0.3), position)
    rates = usable.get(names.RATES, usable.get(names.GYROSCOPE))
    if attitude is not None and rates is not None:
        R = so3.matrix_from_quaternion(so3.normalized(attitude.values))
        turns = so3.log(np.swapaxes(R[:-1], 1, 2) @ R[1:]) / np.diff(attitude.t)[:, None]
        pair = SignalPair((names.ATTITUDE, names.RATES), turns, means(rates, attitude.t), 0.05)
        yield from (
            doubt.replace(OR_ITS_ANGLES, "") if is_confirmed else doubt
            for doubt in _doubts(_without_wraps(pair, attitude.t), attitude)
        )


def _doubts(pair: SignalPair, signal: Signal) -> Iterator[str]:
    """Yield notes of a pair, whose first signal is given."""
    (name, by), odd = pair.name, []
    for axis, a, b in zip("xyz", pair.changes.T, pair.measured.T, strict=True):
        still = _longest_still(a == 0.0, signal.t)
        if still is not None and np.sqrt(np.mean(b[still] ** 2)) > pair.least:
            begin, end = signal.t[still.start], signal.t[still.stop]
            yield (
                f"{name} does not change about or along {axis} from {begin:.1f} to {end:.1f} s, while its {by} goes on:"
                " was it lost?"
            )
        elif max(_rms(a), _rms(b)) > pair.least and abs(a @ b) ** 2 > LIKE**2 * (a @ a) * (b @ b):
            size = float(b @ b) / float(a @ b) if a @ b else np.inf
            odd += [] if SIZES[0] < size < SIZES[1] else [(axis, size)]
    if odd:
        times = ", ".join(f"{size:.3g} ({axis})" for axis, size in odd)
        why = _unit_in_words([size for _, size in odd]) if by == names.RATES else OTHER_UNIT
        yield f"{by} are {times} times what {name} says: {why}"


OTHER_UNIT = "are they of another unit or sense?"
OR_ITS_ANGLES = " Or are its angles?"


def _unit_in_words(sizes: Sequence[float]) -> str:
    """The unit that rates of such sizes over an attitude's may have, or its angles."""
    if DEGREES[0] < min(sizes) <= max(sizes) < DEGREES[1]:
        return f"are they in deg/s?{OR_ITS_ANGLES}"
    return f"{OTHER_UNIT}{OR_ITS_ANGLES if min(sizes) > 0.0 else ''}"


def _without_wraps(pair: SignalPair, t: Array) -> SignalPair:
    """The pair, at rest where the turn of one sample is none of a vehicle, as where angles wrap."""
    wraps = np.linalg.norm(pair.changes, axis=1) * np.diff(t) > WRAP
    rest = np.zeros(3)
    changes, measured = (np.where(wraps[:, None], rest, x) for x in (pair.changes, pair.measured))
    return pair._replace(changes=changes, measured=measured)


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))


def _longest_still(still: Booleans, t: Array) -> slice | None:
    """The longest run of steps without a change, if it lasts."""
    runs = [slice(*each) for each in true_runs(still)]
    longest = max(runs, key=lambda run: t[run.stop] - t[run.start], default=None)
    return longest if longest is not None and t[longest.stop] - t[longest.start] > STILL else None
