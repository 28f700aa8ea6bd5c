# SPDX-License-Identifier: BSD-3-Clause
r"""Signals of a flight log that are the same motion, beside each other.

With p, v, R, w and f position, velocity, attitude, body rates and specific force,

.. math:: v = \dot p, \quad w = \log(R_k^T R_{k+1}) / \Delta t, \quad f = R^T (\dot v + g e_3) .

The slope of one by the other tells units and senses, the lag of their correlation a clock, the rest a bias.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import longest_flight
from iap_io.trajectories.samples import continuous
from iap_simulation.identification.offsets import offset_of

CLOSE = 0.9  # correlation of signals that are the same motion
MIN_DEVIATION = 1e-6  # of a signal that is alive, relative to what it is to be
SLOPES = (0.75, 1.33)  # of the same motion in the same unit
WINDOW = 0.1  # over which differences of positions and attitudes are taken [s]
MOVING = {
    names.RATES: 0.05,
    names.VELOCITY: 0.1,
}  # least RMS at which a slope shows [rad/s], [m/s]
SHIFTS, LATEST = 0.4, 0.06  # lags that are looked at, and the one that clocks may be apart by [s]
LEAST_OFFSET = {  # that is worth a note [rad/s], [m/s], [m/s^2]
    names.RATES: 0.05, names.VELOCITY: 0.1, names.SPECIFIC_FORCE: 0.6,
}  # fmt: skip
RATIOS = {
    names.RATES: {"deg/s": 180.0 / np.pi, "rpm": 30.0 / np.pi},
    names.VELOCITY: {"km/h": 3.6, "cm/s": 100.0, "mm/s": 1000.0, "ft/s": 1.0 / 0.3048, "kn": 3600.0 / 1852.0},
}  # fmt: skip


class SameMotion(NamedTuple):
    """A signal beside the derivative of another one.

    Attributes:
        name: of the signal.
        of: what was derived, in words.
        t: (K,) times [s].
        measured: (K, 3) the signal.
        derived: (K, 3) the derivative.
    """

    name: str
    of: str
    t: Array
    measured: Array
    derived: Array


def same_motions(log: FlightLog) -> Iterator[SameMotion]:
    """Signals of a log beside what they are derivatives of."""
    flight = longest_flight(log)
    if flight is None:
        return
    cut = {name: each.between(*flight) for name, each in log.signals.items()}
    usable = {name: each for name, each in cut.items() if len(each.t) > 1}
    turn, place, speed = (
        usable.get(each) for each in (names.ATTITUDE, names.POSITION, names.VELOCITY)
    )
    rates, force = usable.get(names.RATES), usable.get(names.SPECIFIC_FORCE)
    if turn is not None and rates is not None:
        t, step, measured = _means(rates, turn)
        q = _attitudes(turn, t)
        derived = so3.quaternion_log(so3.multiply(so3.conjugate(q[:-2]), q[2:])) / step
        yield SameMotion(names.RATES, "the derivative of attitude", t[1:-1], measured, derived)
    if place is not None and speed is not None:
        t, step, measured = _means(speed, place)
        p = place.at(t)
        derived = (p[2:] - p[:-2]) / step
        yield SameMotion(names.VELOCITY, "the derivative of position", t[1:-1], measured, derived)
    if turn is not None and force is not None and speed is not None:
        t, step, measured = _means(force, speed)
        q = _attitudes(turn, t[1:-1])
        v = speed.at(t)
        derived = so3.rotate(so3.conjugate(q), (v[2:] - v[:-2]) / step + [0.0, 0.0, GRAVITY])
        yield SameMotion(
            names.SPECIFIC_FORCE, "the derivative of velocity", t[1:-1], measured, derived
        )


def _attitudes(signal: Signal, t: Array) -> Array:
    """Attitudes (K, 4) at times (K,), between those of a signal."""
    return so3.normalized(replace(signal, values=continuous(so3.normalized(signal.values))).at(t))


def _means(signal: Signal, other: Signal) -> tuple[Array, float, Array]:
    """Times (K + 2,) at which two signals are compared, twice their distance [s], and means (K, n) of the first one."""
    step = max(WINDOW, 2.0 / other.rate, 2.0 / signal.rate)
    begin, end = max(signal.t[0], other.t[0]), min(signal.t[-1], other.t[-1])
    t = np.arange(begin, max(end, begin + 2.0 * step), 0.5 * step)
    pieces = 0.5 * (signal.values[1:] + signal.values[:-1]) * np.diff(signal.t)[:, None]
    integral = np.concatenate([np.zeros((1, pieces.shape[1])), np.cumsum(pieces, axis=0)])
    at = Signal(signal.t, integral, "", "").at(t)
    return t, step, (at[2:] - at[:-2]) / step


def compared(log: FlightLog, each: SameMotion) -> FlightLog:
    """The log with notes of biases.

    Raises:
        BadInput: dead, or another unit, sense or clock.
    """
    signal = log.signals[each.name]
    for axis, (x, y) in enumerate(zip(each.measured.T, each.derived.T, strict=True)):
        what = f"{each.name} {'xyz'[axis]} ({signal.source})"
        if each.name in RATIOS:
            if np.std(y) < MOVING[each.name]:
                continue
            if np.std(x) < MIN_DEVIATION * np.std(y):
                raise BadInput(
                    f"{log.path}: {what} stands still, and {each.of} moves: was it not recorded?"
                )
            _check_clock(log, each, what, x, y)
            _check_slope(log, each, what, x, y)
        count = np.ones(len(x), np.bool_)
        offset = offset_of(each.t, x - y, count, signal.unit, LEAST_OFFSET[each.name])
        if offset is not None:
            text = offset.text.replace("its free run", each.of)
            log = log.noted(f"{what} {text}: a bias of one of them")
    return log


def _check_slope(log: FlightLog, each: SameMotion, what: str, x: Array, y: Array) -> None:
    """Refuse a signal that is a multiple of what it is to be, or its opposite."""
    correlation = float(np.corrcoef(x, y)[0, 1])
    slope = float(np.std(x) / np.std(y)) * np.sign(correlation)
    if abs(correlation) > CLOSE and not SLOPES[0] < slope < SLOPES[1]:
        raise BadInput(
            f"{log.path}: {what} is {slope:.3g} times {each.of}{_unit_of(each.name, slope)}"
        )


def _check_clock(log: FlightLog, each: SameMotion, what: str, x: Array, y: Array) -> None:
    """Refuse signals whose correlation is clearly better at another time."""
    dt = float(each.t[1] - each.t[0])
    most = round(SHIFTS / dt)
    inner = slice(most, len(y) - most)
    if len(y) < 6 * most:
        return
    values = [
        float(np.corrcoef(x[most + k : len(x) - most + k], y[inner])[0, 1])
        for k in range(-most, most + 1)
    ]
    best = int(np.argmax(values))
    lag = (best - most) * dt
    rest, now = 1.0 - values[best], 1.0 - values[most]
    if abs(lag) > LATEST and values[best] > CLOSE and now > 3.0 * rest:
        raise BadInput(
            f"{log.path}: {what} comes {abs(lag):.2f} s {'after' if lag > 0.0 else 'before'} {each.of}: one of their"
            " clocks is apart: correct its times by that"
        )


def _unit_of(name: str, slope: float) -> str:
    """Words on a slope: another sense, or the unit that it is the ratio of."""
    if slope < 0.0:
        return ": is that axis turned round?"
    ratios = RATIOS[name]
    unit = min(ratios, key=lambda each: abs(np.log(slope / ratios[each])))
    if abs(slope / ratios[unit] - 1.0) < 0.1:
        return f": is it in {unit}?"
    return ": in which units are they?"
