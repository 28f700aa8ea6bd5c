# SPDX-License-Identifier: BSD-3-Clause
"""Some control periods of many worlds in one compiled call: references, controllers, checks and plant in turn.

The loops and formulas are those that `Worlds.advance` calls one after another from Python, in the same order: no bit
differs. One world alone is four times as fast.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.batch.loops import (
    Given,
    Kept,
    Settings,
    control_collinear,
    control_full,
    control_rigid,
)
from iap_description.arrays import Array, Integers
from iap_description.kernels import all_finite, yaw_of
from iap_description.states import Level, Mode
from iap_physics.blocks.free_flight import Flown, advance_worlds
from iap_physics.engines.engine import FAR, INVALID_COMMAND, RUNNING, UPSIDE_DOWN
from iap_physics.held_commands import Held

# What references are made of.
TRACK, POSE, VELOCITY, ACCELERATION, WRENCH = range(5)

_AT_POSE, _AT_WRENCH = int(Level.POSE), int(Level.WRENCH)
_ATTITUDE, _RPM = int(Mode.ATTITUDE_THRUST), int(Mode.RPM)


class Wanted(NamedTuple):
    """What B worlds are to do.

    Attributes:
        what: `TRACK` the scenario's references, or what the values are.
        values: (B, columns) of an action, see `iap_simulation.parallel.actions`.
        rows: (T, 19 + N) the scenario's references at all control instants.
        levels: (T,) what is tracked of them.
        far: from its reference a world has failed, along any axis [m].
        substeps: physics steps of a control period.
    """

    what: int
    values: Array
    rows: Array
    levels: Integers
    far: float
    substeps: int


@njit(cache=True, nogil=True)
def fly_full(
    first: int,
    last: int,
    periods: int,
    wanted: Wanted,
    given: Given,
    settings: Settings,
    kept: Kept,
    flown: Flown,
) -> None:
    """Fly worlds first to last - 1 whose platforms are fully actuated."""
    for _ in range(periods):
        refer(first, last, wanted, given, flown.inputs.ticks)
        control_full(first, last, given, settings, kept)
        _take(first, last, _ATTITUDE, kept, flown.command, flown.status)
        _advance(first, last, wanted, given.rows, flown)


@njit(cache=True, nogil=True)
def fly_collinear(
    first: int,
    last: int,
    periods: int,
    wanted: Wanted,
    given: Given,
    settings: Settings,
    kept: Kept,
    flown: Flown,
) -> None:
    """Fly worlds first to last - 1 whose platforms have their joints on a line."""
    for _ in range(periods):
        refer(first, last, wanted, given, flown.inputs.ticks)
        control_collinear(first, last, given, settings, kept)
        _take(first, last, _ATTITUDE, kept, flown.command, flown.status)
        _advance(first, last, wanted, given.rows, flown)


@njit(cache=True, nogil=True)
def fly_rigid(
    first: int,
    last: int,
    periods: int,
    wanted: Wanted,
    given: Given,
    settings: Settings,
    kept: Kept,
    flown: Flown,
) -> None:
    """Fly worlds first to last - 1 whose rotors are all fixed to one body."""
    for _ in range(periods):
        refer(first, last, wanted, given, flown.inputs.ticks)
        control_rigid(first, last, given, settings, kept)
        _take(first, last, _RPM, kept, flown.command, flown.status)
        _advance(first, last, wanted, given.rows, flown)


@njit(cache=True, nogil=True)
def fly_commanded(
    first: int, last: int, periods: int, wanted: Wanted, given: Given, flown: Flown
) -> None:
    """Fly worlds first to last - 1 under commands that they hold already."""
    for _ in range(periods):
        refer(first, last, wanted, given, flown.inputs.ticks)
        _advance(first, last, wanted, given.rows, flown)


@njit(cache=True)
def refer(first: int, last: int, wanted: Wanted, given: Given, ticks: Integers) -> None:
    """Write the references of worlds first to last - 1 at their present instants into `given`."""
    what, values, substeps = wanted.what, wanted.values, wanted.substeps
    table, table_levels = wanted.rows, wanted.levels
    states, rows, levels, wrenches_P = given.x, given.rows, given.levels, given.wrenches_P
    for b in range(first, last):
        k = min(ticks[b] // substeps, len(table) - 1)
        rows[b], levels[b], wrenches_P[b] = table[k], table_levels[k], 0.0
        if what == WRENCH:
            levels[b], wrenches_P[b] = _AT_WRENCH, values[b]
        elif what != TRACK:
            levels[b] = _AT_POSE
            make_level(values[b], states[b, 0], what, rows[b])


@njit(cache=True)
def make_level(given: Array, own: Array, what: int, row: Array) -> None:
    """Write a level pose, velocity or acceleration (4,) into a reference row; what is not given is the state's own."""
    yaw = given[3] if what == POSE else yaw_of(own[3:7])
    row[:3] = given[:3] if what == POSE else own[:3]
    row[3], row[4], row[5], row[6] = 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)
    row[7:19] = 0.0
    if what != POSE:
        row[12] = given[3]
    if what == VELOCITY:
        row[7:10] = given[:3]
    elif what == ACCELERATION:
        row[7:10], row[13:16] = own[7:10], given[:3]


@njit(cache=True)
def _take(first: int, last: int, mode: int, kept: Kept, held: Held, status: Integers) -> None:
    """Let worlds hold the controllers' commands; one that is no number ends its world."""
    wrench_P, thrust, q_WB, w_WB_B, rpm = (
        kept.wrench_P,
        kept.thrust,
        kept.q_WB,
        kept.w_WB_B,
        kept.rpm,
    )
    modes, held_thrust, held_q, held_w, held_rpm = held
    for b in range(first, last):
        is_finite = all_finite(wrench_P[b]) and all_finite(thrust[b]) and all_finite(q_WB[b])
        if is_finite and all_finite(w_WB_B[b]) and all_finite(rpm[b]):
            modes[b], held_thrust[b], held_q[b] = mode, thrust[b], q_WB[b]
            held_w[b], held_rpm[b] = w_WB_B[b], rpm[b]
        elif status[b] == RUNNING:
            status[b] = INVALID_COMMAND


@njit(cache=True)
def _advance(first: int, last: int, wanted: Wanted, rows: Array, flown: Flown) -> None:
    """End flights that have failed, and move the others on by a control period."""
    substeps, far = wanted.substeps, wanted.far
    x, status, failed = flown.x, flown.status, flown.failed
    ticks, step_counts = flown.inputs.ticks, flown.step_counts
    flew = np.empty(last - first, np.bool_)
    for b in range(first, last):
        if status[b] == RUNNING:
            status[b] = _watched(x[b, 0], rows[b], far)
        flew[b - first] = status[b] == RUNNING
    state = (flown.command, flown.rotors, flown.known, flown.inputs, flown.vehicle, flown.lanes)
    advance_worlds(first, last, flown.blocks, x, status, failed, *state, substeps, flown.dt)
    for b in range(first, last):
        if flew[b - first]:
            ticks[b] += substeps
            step_counts[b] += substeps if failed[b] < 0 else failed[b]


@njit(cache=True)
def _watched(x: Array, row: Array, far: float) -> int:
    """Status of a running world by its central body and its reference row."""
    for k in range(3):
        if abs(x[k] - row[k]) > far:
            return FAR
    return UPSIDE_DOWN if x[3] * x[3] + x[4] * x[4] > 0.5 else RUNNING
