# SPDX-License-Identifier: BSD-3-Clause
"""A flight of a log on one grid of time, filtered for the identification of a rotorcraft."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.crashes import SMOOTH_FORCE, before_crash, low_passed
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import longest_flight, why_never
from iap_io.trajectories.samples import continuous

RATES = (50.0, 250.0)  # least and largest of a grid [Hz]
MARGIN = 1.5  # at both ends of a flight, for take-off, landing and filters [s]
SHORTEST = 10.0  # time in the air that is of use [s]
FASTEST_LOW_PASS = 40.0  # of rates [Hz]
FULL, MOST_SATURATED = (
    0.999,
    0.05,
)  # command of a motor at its end, and the share of the time that is of use
SQUARE = 2.0  # exponent of thrust by speed
SPEEDS = (names.SPEED_SHARE, names.MEASURED_SPEED)  # units of motors that are speeds
INSTRUMENT_DELAYS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6)  # of set-points that explain inputs [s]
LEAST_LEVEL = 1e-3  # level part of a body's x axis that still has a heading

ROWS = (
    "t",
    "q",
    "w",
    "f",
    "v",
    "p",
    "motors",
    "torque",
    "thrust",
    "instruments",
    "level_instruments",
    "q_setpoint",
    "voltage",
)  # fields of K rows


@dataclass(frozen=True)
class FlightTable:
    """Rows of one flight, in ENU and FLU.

    Attributes:
        name: of the log.
        t: (K,) times [s], evenly spaced.
        q: (K, 4) attitudes, xyzw.
        w: (K, 3) body rates [rad/s].
        f: (K, 3) specific force in the body, low-passed [m/s^2]; None without an accelerometer.
        v: (K, 3) velocity in the world [m/s]; None where the log has none.
        p: (K, 3) position [m].
        motors: (K, n) commands 0..1; None where the log has none.
        torque: (K, 3) normalised set-points; None where the log has none.
        thrust: (K,) normalised set-point.
        instruments: (K, m) vertical set-points and their pasts; None where the log has none.
        input_rate: at which motors or torques were logged [Hz].
        rate: at which rates were logged [Hz].
        exponent: of the motors' thrust by their commands, where these are speeds; None where it is not known.
        q_setpoint: (K, 4) attitudes that were asked for; None where the log has none.
        has_measured_speeds: whether motors are speeds as measured, which have no lag.
        voltage: (K,) of the battery [V]; None where the log has none.
        resets: times at which the estimator was set anew [s]: no window goes across.
        level_instruments: (K, 2, m) level velocities that were asked for along the heading and to its left, and their
            pasts; None where the log has none.
    """

    name: str
    t: Array
    q: Array
    w: Array
    f: Array | None
    v: Array | None
    p: Array | None
    motors: Array | None
    torque: Array | None
    thrust: Array | None
    instruments: Array | None
    input_rate: float
    rate: float
    exponent: float | None
    q_setpoint: Array | None
    has_measured_speeds: bool = False
    resets: tuple[float, ...] = ()
    voltage: Array | None = None
    level_instruments: Array | None = None

    @property
    def dt(self) -> float:
        """Time between rows [s]."""
        return float(self.t[1] - self.t[0])

    @property
    def saturation(self) -> str:
        """Reason why motors that are at their end tell nothing; empty where they rarely are."""
        if self.motors is None:
            return ""
        share = float(np.mean((self.motors > FULL).any(axis=1)))
        return (
            f"a motor is at its end for {100 * share:.0f} % of the time"
            if share > MOST_SATURATED
            else ""
        )

    @property
    def input(self) -> Array:
        """(K, n) what turns the vehicle: torque set-points where there are some, or else motors.

        Raises:
            BadInput: there is neither.
        """
        for each in (self.torque, self.motors):
            if each is not None:
                return each
        raise BadInput(f"{self.name}: no motors and no torque set-points")

    def smoothed(self, x: Array) -> Array:
        """A signal (K, ...), low-passed as forces are."""
        from scipy.signal import butter, sosfiltfilt  # takes a quarter of a second

        low = butter(2, min(SMOOTH_FORCE, 0.4 / self.dt), fs=1.0 / self.dt, output="sos")
        return np.asarray(sosfiltfilt(low, x, axis=0))

    def rows(self, part: slice) -> Self:
        """Some of the rows."""
        whole = {key: getattr(self, key) for key in ROWS}
        kept: dict[str, Any] = {k: None if x is None else x[part] for k, x in whole.items()}
        return replace(self, **kept)


def flight_table(log: FlightLog, rate: float | None = None) -> FlightTable:
    """The longest flight of a log.

    Args:
        log: of an autopilot, or of a run.
        rate: of the grid [Hz]; None is that of the body rates, within `RATES`.

    Raises:
        BadInput: never in the air for long enough, or a signal is missing.
    """
    where = str(log.path)
    flight = longest_flight(log)
    if flight is None:
        raise BadInput(f"{where}: never in the air: {why_never(log)}")
    rates = _signal(log, names.RATES, names.GYROSCOPE)
    inputs = _signal(log, names.TORQUE, names.MOTORS)
    begin, end = flight.begin + MARGIN, before_crash(log, flight) - MARGIN
    needed = [rates, inputs, *(log.signals[x] for x in (names.ATTITUDE,) if x in log.signals)]
    begin, end = max(begin, *(x.t[0] for x in needed)), min(end, *(x.t[-1] for x in needed))
    if end - begin < SHORTEST:
        raise BadInput(
            f"{where}: {max(end - begin, 0.0):.1f} s in the air; {SHORTEST:g} s are needed"
        )
    rate = min(max(rates.rate, RATES[0]), RATES[1]) if rate is None else rate
    t = np.arange(begin, end, 1.0 / rate)
    top = min(0.45 * rate, FASTEST_LOW_PASS)
    w = low_passed(rates, t, top) if rates.rate > 3.0 * FASTEST_LOW_PASS else rates.at(t)
    motors = log.signals.get(names.MOTORS)
    unit = "" if motors is None else motors.unit

    def at(name: str) -> Array | None:
        return log.signals[name].at(t) if name in log.signals else None

    force, thrust = log.signals.get(names.SPECIFIC_FORCE), at(names.THRUST)
    volts, q = at(names.VOLTAGE), _attitudes(log, t, w)
    return FlightTable(
        name=log.path.name, t=t, q=q, w=w,
        f=None if force is None else low_passed(force, t, SMOOTH_FORCE), v=at(names.VELOCITY),
        p=at(names.POSITION), motors=at(names.MOTORS), torque=at(names.TORQUE),
        thrust=None if thrust is None else thrust[:, 0], instruments=_instruments(log, t),
        level_instruments=_level_instruments(log, t, q),
        input_rate=inputs.rate, rate=rates.rate, exponent=SQUARE if unit in SPEEDS else None,
        q_setpoint=_setpoints(log, t), has_measured_speeds=unit == names.MEASURED_SPEED,
        resets=log.resets, voltage=None if volts is None else volts[:, 0],
    )  # fmt: skip


def _signal(log: FlightLog, *choice: str) -> Signal:
    for name in choice:
        if name in log.signals:
            return log.signals[name]
    reason = next((log.missing[name] for name in choice if name in log.missing), "not logged")
    raise BadInput(f"{log.path}: no {' and no '.join(choice)} ({reason})")


def _attitudes(log: FlightLog, t: Array, w: Array) -> Array:
    """Attitudes (T, 4) at times; integrals of the body rates where the log has none."""
    attitude = log.signals.get(names.ATTITUDE)
    if attitude is not None:
        return _quaternions_at(attitude, t)
    q = np.zeros((len(t), 4))
    q[0, 3] = 1.0
    steps = so3.quaternion_exp(0.5 * (w[1:] + w[:-1]) * np.diff(t)[:, None])
    for k, step in enumerate(steps):
        q[k + 1] = so3.multiply(q[k], step)
    return q


def _quaternions_at(signal: Signal, t: Array) -> Array:
    """Attitudes (T, 4) at times, of samples whose signs may change."""
    whole = replace(signal, values=continuous(so3.normalized(signal.values)))
    return so3.normalized(whole.at(t))


def _setpoints(log: FlightLog, t: Array) -> Array | None:
    """Attitude set-points (T, 4) at times; None where the log has none over most of the flight."""
    signal = log.signals.get(names.ATTITUDE_SETPOINT)
    if signal is None:
        return None
    usable = np.isfinite(signal.values).all(axis=1)
    inside = usable & (signal.t >= t[0]) & (signal.t <= t[-1])
    if inside.sum() < 2 or inside.sum() < 0.5 * signal.rate * (t[-1] - t[0]):
        return None
    return _quaternions_at(replace(signal, t=signal.t[usable], values=signal.values[usable]), t)


def _instruments(log: FlightLog, t: Array) -> Array | None:
    """Heights and vertical velocities that were asked for, with their pasts, and a constant."""
    columns = []
    for name in (names.POSITION_SETPOINT, names.VELOCITY_SETPOINT):
        pasts = _pasts(log, name, t, 2)
        columns += [] if pasts is None else list(pasts)
    if not columns:
        return None
    return _with_constant(np.stack(columns, axis=1))


def _level_instruments(log: FlightLog, t: Array, q: Array) -> Array | None:
    """Level velocities that were asked for along the heading and to its left, with their pasts, and a constant.

    They are those of the set-points, or else differences of the positions that were asked for.
    """
    steps = np.diff(INSTRUMENT_DELAYS)[:, None]
    for name in (names.VELOCITY_SETPOINT, names.POSITION_SETPOINT):
        x, y = (_pasts(log, name, t, axis) for axis in (0, 1))
        known = x if x is not None else y
        if known is None:
            continue
        x, y = (np.zeros_like(known) if each is None else each for each in (x, y))
        if name == names.POSITION_SETPOINT:
            x, y = -np.diff(x, axis=0) / steps, -np.diff(y, axis=0) / steps
        ahead = so3.rotate(q, np.array([1.0, 0.0, 0.0]))[:, :2]
        ahead = ahead / np.maximum(np.linalg.norm(ahead, axis=1), LEAST_LEVEL)[:, None]
        along = ahead[:, 0] * x + ahead[:, 1] * y
        left = ahead[:, 0] * y - ahead[:, 1] * x
        return np.stack([_with_constant(each.T) for each in (along, left)], axis=1)
    return None


def _pasts(log: FlightLog, name: str, t: Array, axis: int) -> Array | None:
    """A set-point's component (D, T) at times and `INSTRUMENT_DELAYS` before; None where it never changes."""
    signal = log.signals.get(name)
    if signal is None:
        return None
    values = signal.values[:, axis]
    usable = np.isfinite(values)
    inside = usable & (signal.t >= t[0] - 1.0) & (signal.t <= t[-1])
    if inside.sum() < 2 or not np.ptp(values[inside]):
        return None
    return np.stack(
        [np.interp(t - d, signal.t[usable], values[usable]) for d in INSTRUMENT_DELAYS]
    )


def _with_constant(table: Array) -> Array:
    """Columns (T, m) without their means, and a constant behind them."""
    return np.column_stack([table - table.mean(axis=0), np.ones(len(table))])
