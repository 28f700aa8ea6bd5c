# SPDX-License-Identifier: BSD-3-Clause
"""Signals that no multirotor has, left out or mended: estimators that stand still, are lost or leap, absent sensors."""

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_io.flight_logs.flight_log import (
    CURRENT,
    POSITION,
    VELOCITY,
    VOLTAGE,
    FlightLog,
    Signal,
)

MAX_SPEED = 100.0  # of a multirotor [m/s]
NO_POWER_MODULE = 2.0  # voltage below which no battery is measured [V]
LEAP = 1.0  # step of a position beyond its velocity that is none of the vehicle [m]
MANY_LEAPS, MANY_SHARE = 10, 0.05  # from which on a position is none
LEAP_RUN, BACK = (
    5,
    0.3,
)  # rows that can leap away and back, and share of the leap that may be left then
LEAP_TIME = 0.5  # longest time between two samples in which one is looked for [s]


def plausible(log: FlightLog) -> FlightLog:
    """The log without what cannot be, and the reasons."""
    both = (POSITION, VELOCITY)
    position, velocity = (log.signals.get(name) for name in both)
    if position is not None and not np.ptp(position.values[:, :2], axis=0).any():
        log = log.without("does not change: the estimator has no position", *both)
    if velocity is not None:
        speed = float(np.linalg.norm(velocity.values, axis=1).max())
        if speed > MAX_SPEED:
            log = log.without(f"of {speed:.4g} m/s: the estimator has lost its way", *both)
    if VOLTAGE in log.signals:
        volts = float(np.median(log.signals[VOLTAGE].values))
        if volts < NO_POWER_MODULE:
            log = log.without(f"{volts:.2f} V: no power module", VOLTAGE, CURRENT)
    if POSITION in log.signals and VELOCITY in log.signals:
        log = _without_leaps(log, log.signals[POSITION], log.signals[VELOCITY])
    return log


def _without_leaps(log: FlightLog, position: Signal, velocity: Signal) -> FlightLog:
    """The log without steps of the position that its velocity denies: the estimator was set anew, or rows are damaged.

    A few rows that leap away and back are left out. Where it stays, what follows is moved back.
    """
    off, leaps = _leaps(position, velocity)
    sound = np.ones(len(position.t), np.bool_)
    for k in np.flatnonzero(leaps):
        sums = np.linalg.norm(np.cumsum(off[k : k + LEAP_RUN + 1], axis=0), axis=1)
        back = np.flatnonzero(sums < BACK * sums[0])
        if sound[k] and len(back):
            sound[k + 1 : k + 1 + back[0]] = False
    if not sound.all():
        position = Signal(
            position.t[sound], position.values[sound], position.source, position.unit
        )
        log = log.noted(f"position: {(~sound).sum()} rows that leap away and back left out")
        off, leaps = _leaps(position, velocity)
    if leaps.sum() > max(MANY_LEAPS, MANY_SHARE * len(leaps)):
        rows = f"{leaps.sum()} of {len(leaps)} rows"
        reason = (
            f"leaps from its velocity in {rows}: another unit, or the estimator has lost its way"
        )
        return log.without(reason, POSITION, VELOCITY)
    if not leaps.any():
        return log.with_signal(POSITION, position)
    shift = np.cumsum(np.where(leaps[:, None], off, 0.0), axis=0)
    values = position.values - np.concatenate([np.zeros((1, 3)), shift])
    shifted = Signal(position.t, values, position.source, position.unit)
    log = log.with_signal(POSITION, shifted)
    largest = np.linalg.norm(off, axis=1)[leaps].max()
    return log.noted(
        f"position: {leaps.sum()} leaps that the velocity denies, the largest of {largest:.2f} m, taken out"
    )


def _leaps(position: Signal, velocity: Signal) -> tuple[Array, Booleans]:
    """Steps (K - 1, 3) of a position beyond those of its velocity [m], and which of them are none of a vehicle."""
    dt, v = np.diff(position.t)[:, None], velocity.at(position.t)
    off = np.diff(position.values, axis=0) - 0.5 * (v[1:] + v[:-1]) * dt
    return off, np.asarray((np.linalg.norm(off, axis=1) > LEAP) & (dt[:, 0] < LEAP_TIME))
