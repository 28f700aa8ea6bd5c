# SPDX-License-Identifier: BSD-3-Clause
"""Signals of a flight log by themselves and against each other, before a rotorcraft is identified from them.

Spikes are left out and counted. Where a signal is lost or repeats one number, the longest part without is taken.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import longest_flight
from iap_io.trajectories.pose_reading import counted
from iap_simulation.identification.channel_samples import (
    REPEATS,
    repetitions,
    running_median,
    spikes,
)
from iap_simulation.identification.rotorcraft.flight_table import FULL, MARGIN, SHORTEST
from iap_simulation.identification.rotorcraft.same_motions import compared, same_motions

MEASURED = (names.RATES, names.GYROSCOPE, names.SPECIFIC_FORCE, names.VELOCITY)
INPUTS = (names.MOTORS, names.TORQUE, names.THRUST)
LOST, LOST_PERIODS = 0.4, 8.0  # time without news of a signal [s], and in periods
LEAST_SPIKE = {  # that is worth a word [rad/s], [m/s^2], [m/s], of 1
    names.RATES: 0.5, names.GYROSCOPE: 0.5, names.SPECIFIC_FORCE: 5.0, names.VELOCITY: 0.5, names.MOTORS: 0.1,
}  # fmt: skip
MOST_SPIKES = 0.02  # share of samples that may be spikes: more is vibration
LARGEST_MOTOR = 1.5  # of a command from 0 to 1
WEIGHT = (0.6 * GRAVITY, 1.5 * GRAVITY)  # usual specific force upwards in flight [m/s^2]
NO_SAMPLES, ZERO = "has no samples", 1e-9
WITNESSES = {
    names.RATES: 0.02,
    names.ATTITUDE: 0.01,
    names.MOTORS: 0.02,
}  # deviation of what moves
MOTOR_UNITS = {"percent": 110.0, "PWM us": 2300.0, "rpm": np.inf}


def checked_log(log: FlightLog) -> FlightLog:
    """The log without spikes, cut where a signal is lost, and with notes.

    Raises:
        BadInput: a signal is dead, in another unit or sense, or its clock is apart from that of the others.
    """
    flight = longest_flight(log)
    if flight is None:
        return log
    _check_motors(log, log.signals.get(names.MOTORS), flight)
    log = _without_still_inputs(log, flight)
    for name in (*MEASURED, names.MOTORS):
        if name in log.signals:
            inside = log.signals[name].between(*flight)
            if len(inside.t):
                _check_alive(log, name, inside)
            log = _without_spikes(log, name)
    _check_weight(log, flight)
    part = _longest_sound(log, flight)
    for each in same_motions(part):
        part = compared(part, each)
    return part


def _check_motors(log: FlightLog, motors: Signal | None, flight: tuple[float, float]) -> None:
    """Refuse motors that are in another unit."""
    if motors is None:
        return
    size = float(np.percentile(motors.between(*flight).values, 99.0))
    if size > LARGEST_MOTOR:
        unit = next(name for name, most in MOTOR_UNITS.items() if size < most)
        raise BadInput(
            f"{log.path}: motors ({motors.source}) come to {size:.4g}, from 0 to 1 is expected: are they in {unit}?"
        )


def _without_still_inputs(log: FlightLog, flight: tuple[float, float]) -> FlightLog:
    """The log without commands none of whose numbers changes in flight: they did not fly the vehicle."""
    for name in INPUTS:
        inside = (
            log.signals[name].between(*flight).values if name in log.signals else np.zeros((0, 1))
        )
        if len(inside) and not np.ptp(inside, axis=0).any():
            size = ", ".join(dict.fromkeys(f"{x:.4g}" for x in inside[0]))
            log = log.without(f"{size} all the time in the air: was it not recorded?", name)
    return log


def _check_alive(log: FlightLog, name: str, signal: Signal) -> None:
    """Refuse a signal of which a number other than zero never changes in flight."""
    still = np.ptp(signal.values, axis=0) == 0.0
    dead = still & (np.abs(signal.values[0]) > ZERO)  # what is zero may rest
    if dead.any():
        which = int(np.argmax(dead))
        others = "" if still.all() else ", while others change"
        raise BadInput(
            f"{log.path}: {name} ({signal.source}), number {which + 1} of {len(still)}, is"
            f" {signal.values[0, which]:.4g} all the time in the air{others}: was it not recorded?"
        )


def _without_spikes(log: FlightLog, name: str) -> FlightLog:
    """The log with samples that leave a signal and come back replaced by the median of those around."""
    signal, values = log.signals[name], log.signals[name].values.copy()
    count, size, first = 0, 0.0, np.inf
    for column in values.T:
        if len(column) < LOST_PERIODS:
            continue
        usual = running_median(column)
        away = spikes(column) & (np.abs(column - usual) > LEAST_SPIKE[name])
        if away.any() and away.mean() < MOST_SPIKES:
            count += int(away.sum())
            size = max(size, float(np.abs(column - usual)[away].max()))
            first = min(first, float(signal.t[away][0]))
            column[away] = usual[away]
    if not count:
        return log
    text = f"{name}: {counted(count, 'sample')} off the others by up to {size:.3g} {signal.unit}"
    log = log.with_signal(name, replace(signal, values=values))
    return log.noted(f"{text} (spikes, the first at {first:.1f} s), left out")


def _check_weight(log: FlightLog, flight: tuple[float, float]) -> None:
    """Refuse a specific force that does not carry the vehicle."""
    force = log.signals.get(names.SPECIFIC_FORCE)
    inside = None if force is None else force.between(*flight)
    if force is None or inside is None or len(inside.t) < 2:
        return
    up = float(np.median(inside.values[:, 2]))
    if WEIGHT[0] < up < WEIGHT[1]:
        return
    reasons = {
        "is its z axis turned round?": -WEIGHT[1] < up < -WEIGHT[0],
        "is gravity taken out of it? The accelerometer's own reading is expected": abs(up) < 0.3,
        "is it in g?": 0.3 <= abs(up) < 2.0,
        "is it in mg?": abs(up) > 500.0,
    }
    why = next((text for text, fits in reasons.items() if fits), "in which unit is it?")
    raise BadInput(
        f"{log.path}: {names.SPECIFIC_FORCE} ({force.source}) is {up:.3g} upwards in the air,"
        f" {GRAVITY:.3g} m/s^2 is expected: {why}"
    )


def _longest_sound(log: FlightLog, flight: tuple[float, float]) -> FlightLog:
    """The longest part of a flight in which no signal is lost; the log itself where that is too short, or all."""
    begin, end = flight
    used = (*MEASURED, *INPUTS, names.ATTITUDE)
    lost = sorted(
        (a, b, name, how)
        for name in used
        if name in log.signals
        for a, b, how in _lost(name, log.signals[name].between(begin, end))
        if how == NO_SAMPLES or _is_moving(log, name, a, b)
    )
    if not lost:
        return log
    a, b, name, how = max(lost, key=lambda each: each[1] - each[0])
    text = f"{name} {how} from {a:.1f} to {b:.1f} s"
    edges, start = [], begin
    for first, last, _, _ in lost:
        edges.append((start, first))
        start = max(start, last)
    start, stop = max([*edges, (start, end)], key=lambda each: each[1] - each[0])
    if stop - start < SHORTEST + 2.0 * MARGIN:
        return log.noted(
            f"{text}: kept, no part of the flight without is long enough; fits suffer"
        )
    cut = {name: each.between(start, stop) for name, each in log.signals.items()}
    kept = {name: each for name, each in cut.items() if len(each.t) > 1}
    return replace(log, signals=kept).noted(
        f"{text}: the part from {start:.1f} to {stop:.1f} s is taken"
    )


def _lost(name: str, signal: Signal) -> Iterator[tuple[float, float, str]]:
    """Stretches without news of a signal [s]: no samples, or one number again and again."""
    if len(signal.t) < LOST_PERIODS:
        return
    t, least = signal.t, max(LOST, LOST_PERIODS / signal.rate)
    for k in np.flatnonzero(np.diff(t) > least):
        yield float(t[k]), float(t[k + 1]), NO_SAMPLES
    columns = signal.values.T
    if name == names.ATTITUDE:  # whose numbers stand still one by one when it turns about an axis
        columns = np.abs(signal.values).sum(axis=1)[None]
    for column in columns:
        edges, usual = repetitions(column)
        for start, stop in zip(edges[:-1], edges[1:], strict=True):
            is_end = name in INPUTS and not 0.0 < column[start] < FULL
            is_long = t[stop - 1] - t[start] > least and stop - start > REPEATS * usual
            if is_long and not is_end and abs(column[start]) > ZERO:
                yield float(t[start]), float(t[stop - 1]), "stands still"


def _is_moving(log: FlightLog, name: str, begin: float, end: float) -> bool:
    """True if another signal says that the vehicle moves meanwhile."""
    kin = {names.GYROSCOPE: names.RATES}.get(name, name)
    for other, least in WITNESSES.items():
        if other != kin and other in log.signals:
            cut = log.signals[other].between(begin, end).values
            return len(cut) > 1 and float(cut.std(axis=0).max()) > least
    return False
