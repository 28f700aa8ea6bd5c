# SPDX-License-Identifier: BSD-3-Clause
r"""Resets of PX4's estimator, which counts them and logs by how much each has changed its numbers.

The vehicle did not jump. What follows a reset of the position is moved back, together with its set-points. What is
before a reset of the heading is turned by it, for the estimator has found its error then: with the reset
:math:`\delta` in the world, :math:`q' = \delta \otimes q`. A velocity is right before or behind a reset, not both:
it stays as it is, and no prediction goes across.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from iap_description.arrays import Array
from iap_description.frames import R_ENU_NED, swap_world
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.log_tables import LogTable, Tables, usable_times
from iap_io.flight_logs.px4_names import ATTITUDE, LOCAL

BELIEVED = 0.5  # share of a logged turn that the attitude's own step may be off
LEAST_TURN = np.radians(0.1)  # of the heading that is worth a word [rad]
LEAST_STEP = 0.05  # of a velocity that is worth a word [m/s]


def without_resets(log: FlightLog, tables: Tables) -> FlightLog:
    """The log without the steps of its attitude and its position, and with the times at which its velocity has some."""
    for each in tables.get(LOCAL, [])[:1]:
        table = _in_time(each)
        if names.POSITION in log.signals:
            log = without_position_resets(log, table)
        if names.VELOCITY in log.signals:
            log = _with_velocity_resets(log, table)
    attitude = log.signals.get(names.ATTITUDE)
    if attitude is not None and attitude.source.startswith(ATTITUDE):
        for each in tables.get(ATTITUDE, [])[:1]:
            log = without_attitude_resets(log, _in_time(each))
    return log


def _in_time(table: LogTable) -> LogTable:
    """The rows whose times can be used."""
    keep, _ = usable_times(table.t, table.name)
    return LogTable(table.name, table.t[keep], {n: x[keep] for n, x in table.columns.items()})


def without_position_resets(log: FlightLog, table: LogTable) -> FlightLog:
    """The log whose positions and their set-points are moved back behind each reset."""
    shift, sizes = np.zeros((len(table.t), 3)), []
    for axes, columns in (("xy", [0, 1]), ("z", [2])):
        for row, size in _resets(table, f"{axes}_reset_counter", f"delta_{axes}", len(columns)):
            shift[row:, columns] += size
            sizes.append(float(np.linalg.norm(size)))
    if not any(sizes):
        return log
    for name in (names.POSITION, names.POSITION_SETPOINT):
        if name in log.signals:
            signal = log.signals[name]
            rows = np.clip(np.searchsorted(table.t, signal.t), 0, len(table.t) - 1)
            values = signal.values - swap_world(shift[rows])
            log = log.with_signal(name, replace(signal, values=values))
    return log.noted(
        f"position: {len(sizes)} resets, the largest of {max(sizes):.2f} m, taken out"
    )


def _with_velocity_resets(log: FlightLog, table: LogTable) -> FlightLog:
    """The log with the times of its velocity's resets."""
    steps = [
        (float(table.t[row]), float(np.linalg.norm(size)))
        for axes, width in (("vxy", 2), ("vz", 1))
        for row, size in _resets(table, f"{axes}_reset_counter", f"delta_{axes}", width)
    ]
    steps = [(t, size) for t, size in steps if size > LEAST_STEP]
    if not steps:
        return log
    largest = max(size for _, size in steps)
    when = ", ".join(f"{t:.1f} s" for t in dict.fromkeys(t for t, _ in steps))
    note = f"velocity: {len(steps)} resets, the largest of {largest:.2f} m/s, at {when}: no prediction goes across"
    return replace(log, resets=(*log.resets, *(t for t, _ in steps))).noted(note)


def without_attitude_resets(log: FlightLog, table: LogTable) -> FlightLog:
    """The log whose attitudes and their set-points are turned to the heading that the last reset has found."""
    angles, odd = [], []
    for row, wxyz in _resets(table, "quat_reset_counter", "delta_q_reset", 4):
        delta = so3.normalized(wxyz[[1, 2, 3, 0]])
        angle = float(np.linalg.norm(so3.quaternion_log(delta[None])[0]))
        if angle < LEAST_TURN:
            continue
        q = np.stack([table.columns[f"q[{i}]"][row - 1 : row + 1] for i in (1, 2, 3, 0)], axis=1)
        step = so3.multiply(q[1], so3.conjugate(q[0]))
        rest = so3.quaternion_log(so3.multiply(so3.conjugate(delta), step)[None])[0]
        if np.linalg.norm(rest) > BELIEVED * angle:
            odd.append(float(table.t[row]))
            continue
        angles.append(angle)
        log = _turned_before(log, table.t[row - 1], table.t[row], delta)
    if odd:
        log = replace(log, resets=(*log.resets, *odd)).noted(
            f"attitude: {len(odd)} resets that it does not show: no prediction goes across"
        )
    if not angles:
        return log
    return log.noted(
        f"attitude: {len(angles)} resets, the largest of {np.degrees(max(angles)):.1f} deg, taken out:"
        " what is before them is turned"
    )


def _turned_before(log: FlightLog, last: float, first: float, delta: Array) -> FlightLog:
    """The log with attitudes before a reset, between two times [s], turned by it (xyzw, in NED)."""
    R = R_ENU_NED @ so3.matrix_from_quaternion(delta) @ R_ENU_NED.T
    turn = so3.quaternion_from_matrix(R)
    for name in (names.ATTITUDE, names.ATTITUDE_SETPOINT):
        if name in log.signals:
            is_asked = name == names.ATTITUDE_SETPOINT
            turned = _turned(log.signals[name], last, first, turn, is_asked=is_asked)
            log = log.with_signal(name, turned)
    return log


def _turned(signal: Signal, last: float, first: float, turn: Array, *, is_asked: bool) -> Signal:
    before, values = signal.t < first, signal.values.copy()
    values[before] = so3.multiply(np.tile(turn, (int(before.sum()), 1)), values[before])
    if is_asked:  # the controller hears of a reset between two rows of the attitude
        values[(signal.t > last) & before] = np.nan
    return replace(signal, values=values)


def _resets(table: LogTable, counter: str, delta: str, width: int) -> Iterator[tuple[int, Array]]:
    """Rows at which a counter steps, and how far the values do."""
    columns = [delta] if width == 1 else [f"{delta}[{i}]" for i in range(width)]
    if counter not in table.columns or any(each not in table.columns for each in columns):
        return
    for row in np.flatnonzero(np.diff(table.columns[counter].astype(int))) + 1:
        yield int(row), np.array([float(table.columns[each][row]) for each in columns])
