# SPDX-License-Identifier: BSD-3-Clause
"""Signals that no multirotor has, left out or mended: estimators that stand still, are lost or leap, absent sensors."""

import numpy as np

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
            log = log.without(f"of {speed:.0f} m/s: the estimator has lost its way", *both)
    if VOLTAGE in log.signals:
        volts = float(np.median(log.signals[VOLTAGE].values))
        if volts < NO_POWER_MODULE:
            log = log.without(f"{volts:.2f} V: no power module", VOLTAGE, CURRENT)
    if POSITION in log.signals and VELOCITY in log.signals:
        log = _without_leaps(log, log.signals[POSITION], log.signals[VELOCITY])
    return log


def _without_leaps(log: FlightLog, position: Signal, velocity: Signal) -> FlightLog:
    """The log without steps of the position that its velocity denies: the estimator was set anew."""
    dt, v = np.diff(position.t)[:, None], velocity.at(position.t)
    off = np.diff(position.values, axis=0) - 0.5 * (v[1:] + v[:-1]) * dt
    size = np.linalg.norm(off, axis=1)
    leaps = (size > LEAP) & (dt[:, 0] < LEAP_TIME)
    if not leaps.any():
        return log
    shift = np.cumsum(np.where(leaps[:, None], off, 0.0), axis=0)
    values = position.values - np.concatenate([np.zeros((1, 3)), shift])
    shifted = Signal(position.t, values, position.source, position.unit)
    log = log.with_signal(POSITION, shifted)
    return log.noted(
        f"position: {leaps.sum()} leaps that the velocity denies, the largest of {size[leaps].max():.2f} m, taken out"
    )
