# SPDX-License-Identifier: BSD-3-Clause
"""Poses of the longest flight in a flight log: where the vehicle was, or its set-points of position or velocity."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import swap_attitude, swap_world
from iap_description.math import so3
from iap_io.flight_logs.crashes import before_crash
from iap_io.flight_logs.flight_log import (
    ATTITUDE,
    ATTITUDE_SETPOINT,
    POSITION,
    POSITION_SETPOINT,
    VELOCITY,
    VELOCITY_SETPOINT,
    FlightLog,
    Signal,
)
from iap_io.flight_logs.flight_times import InTheAir, flights_in, why_never
from iap_io.flight_logs.frame_checks import check_frames
from iap_io.flight_logs.readers import open_log
from iap_io.flight_logs.signal_doubts import signal_doubts
from iap_io.trajectories.points import slerp
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary, counted
from iap_io.trajectories.samples import Samples, checked

ATTITUDES = {  # by the topic that is flown
    POSITION: ATTITUDE, POSITION_SETPOINT: ATTITUDE_SETPOINT, VELOCITY_SETPOINT: ATTITUDE_SETPOINT,
}  # fmt: skip


def read_log(path: Path, reading: PoseReading) -> Samples:
    """Samples of the longest flight in the file of a log, see `flight_samples`."""
    return flight_samples(open_log(path), reading)


def flight_samples(log: FlightLog, reading: PoseReading) -> Samples:
    """Samples of one flight in a log, the longest by default, in the log's own axes.

    Args:
        log: of an autopilot.
        reading: its topic is one of `ATTITUDES` (``position`` by default), with ``:2`` of the second flight.
            Set-points of velocity are integrated from where the vehicle was.

    Raises:
        BadInput: the log has no such positions, or no flight; naming the reason.
    """
    path = log.path
    topic, _, number = (reading.topic or POSITION).partition(":")
    if topic not in ATTITUDES:
        raise BadInput(
            f"{path}: --topic {topic}: of a flight log {' or '.join(ATTITUDES)} is flown"
        )
    position = log.signals.get(topic)
    if position is None:
        reason = log.missing.get(topic, "the log has none")
        raise BadInput(
            f"{path}: no {topic} to fly ({reason}): log one, by GPS or motion capture; 'iap inspect {path}' says what"
            " there is"
        )
    flight, notes = _flight(log, number)
    check = check_frames(log, flight)
    if reading.convention is None and check.is_contradicted:
        raise BadInput(f"{path}: {check.verdict}; --convention says what they are")
    doubts = signal_doubts(log, flight, is_confirmed=check.is_confirmed)
    notes = [*notes, *(each for each in doubts if ATTITUDE in each)]
    position = position.between(*flight)
    if topic == VELOCITY_SETPOINT:
        position, of_integral = _integral(log, position)
        notes = [*notes, of_integral]
    samples = _samples(log.noted(*notes), topic, position, reading)
    about = replace(
        samples.about,
        topic=reading.topic or POSITION,  # by which it is read again
        axes_evidence="accelerometer" if check.is_confirmed else "none",
    )
    return replace(samples, about=about)


def _flight(log: FlightLog, number: str) -> tuple[InTheAir, list[str]]:
    """The flight of a number, or else the longest, and a note on it and the others.

    Raises:
        BadInput: there is none.
    """
    flights = flights_in(log)
    if not flights:
        before = f" (noted before: {'; '.join(log.notes)})" if log.notes else ""
        raise BadInput(
            f"{log.path}: the vehicle is never in the air: {why_never(log)}; 'iap inspect {log.path}' says what there"
            f" is{before}"
        )
    numbers = {str(k): each for k, each in enumerate(flights, 1)}
    if number and number not in numbers:
        raise BadInput(
            f"{log.path}: --topic ...:{number}: the log has {counted(len(flights), 'flight')}, from 1 on"
        )
    one = numbers[number] if number else max(flights, key=lambda each: each.duration)
    note = f"in the air from {one.begin:.1f} to {one.end:.1f} s after boot"
    others = [
        f"{each.begin:.1f} to {each.end:.1f} s (:{k})"
        for k, each in numbers.items()
        if each is not one
    ]
    notes = [note + (f"; not read: {', '.join(others)}" if others else "")]
    end = before_crash(log, one)
    if end < one.end:
        one = one._replace(end=end)
        notes.append(f"cut at {end:.1f} s: a blow across the rotors' axes, with which it crashes")
    return one, notes


def _integral(log: FlightLog, velocity: Signal) -> tuple[Signal, str]:
    """Positions by velocities, from the recorded position at the first of them, and a note on it."""
    whole = np.isfinite(velocity.values).all(axis=1)
    t, v = velocity.t[whole], velocity.values[whole]
    if len(t) < 2:
        raise BadInput(f"{log.path}: no {VELOCITY_SETPOINT} in the air that is a number")
    place = log.signals.get(POSITION)
    begin = np.zeros((1, 3)) if place is None else place.at(t[:1])
    steps = 0.5 * (v[1:] + v[:-1]) * np.diff(t)[:, None]
    p = begin + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    note = f"{VELOCITY_SETPOINT}: integrated from where the vehicle was, so that positions drift"
    return Signal(t, p, velocity.source, "m"), note


def _samples(log: FlightLog, topic: str, position: Signal, reading: PoseReading) -> Samples:
    whole = np.isfinite(position.values).all(axis=1)
    notes = [*log.notes]
    if not whole.all():
        notes.append(f"{counted(int((~whole).sum()), 'set-point')} without a position left out")
    t, p = position.t[whole], position.values[whole]
    q, of_attitudes, inside = _attitudes(log, ATTITUDES[topic], t)
    velocity = log.signals.get(VELOCITY) if topic == POSITION else None
    v = None if velocity is None else velocity.at(t)[inside]
    t, p, q = t[inside], p[inside], q[inside]
    if log.axes == "ned":  # as the file has them: turned with all other recordings
        p, v = swap_world(p), None if v is None else swap_world(v)
        q = so3.quaternion_from_matrix(swap_attitude(so3.matrix_from_quaternion(q)))
    about = RecordingSummary(
        f"{log.kind} of {log.vehicle}", topic=topic, msgtype=f"{position.source} of a {log.kind}",
        body="the vehicle", frame="the log", convention="ned" if log.axes == "ned" else "enu",
        others=tuple(name for name in ATTITUDES if name in log.signals and name != topic),
        notes=(*notes, *of_attitudes),
    )  # fmt: skip
    stamps = np.round(t * 1e9).astype(np.int64)
    return checked(Samples(str(log.path), about, stamps, None, p=p, q=q, v=v))


def _attitudes(log: FlightLog, name: str, t: Array) -> tuple[Array, list[str], Array]:
    """Attitudes (K, 4) at times (K,), notes, and which of the times they cover."""
    attitude = log.signals.get(name)
    if attitude is None:
        level = np.tile(so3.IDENTITY, (len(t), 1))
        return level, [f"no {name}: level"], np.ones(len(t), np.bool_)
    rows = np.isfinite(attitude.values).all(axis=1)
    times, values = attitude.t[rows], attitude.values[rows]
    inside = (t >= times[0]) & (t <= times[-1])
    return slerp(t - times[0], times - times[0], values), [], inside
