# SPDX-License-Identifier: BSD-3-Clause
"""Numbers between a block of vehicles, the block of their controllers, and the arrays of all worlds."""

import math

from numba import njit

from iap_control.batch.layout import (
    AIRCRAFT,
    COMMAND_SIZE,
    PLATFORM,
    PLATFORM_ROW,
    aircraft_row,
    store_command,
)
from iap_control.batch.load_store import load_state
from iap_control.batch.records import RIGID, VECTORED, ControlSettings
from iap_description.arrays import Array, Integers
from iap_description.math.kernels import Six, choose, formula, yaw_of
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get4,
    get6,
    row_at,
    set1,
    set4,
    world_at,
    world_in,
)
from iap_description.states import REF_FIXED, STATE_SIZE, Level, Mode
from iap_physics.batch.layout import BODY, body_row
from iap_physics.batch.load_store import SINGLE_BYTES, unit
from iap_physics.batch.records import FreeFlightState
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING
from iap_physics.propulsion.last_command import LastCommand
from iap_simulation.batch.records import (
    ACCELERATION,
    POSE,
    TRACK,
    VELOCITY,
    WRENCH,
    BatchState,
    Goal,
)

POSE_LEVEL = int(Level.POSE)
VELOCITY_LEVEL = int(Level.VELOCITY)
WRENCH_LEVEL = int(Level.WRENCH)
ATTITUDE_MODE = int(Mode.ATTITUDE_THRUST)
RPM_MODE = int(Mode.RPM)


@formula
def sense(
    block: Array, controls: Array, first: int, period: int, state: BatchState, lanes: Lanes
) -> None:
    """Hand controllers the central bodies' states at the beginning of a period, counted from the load."""
    if period == 0:
        load_state(controls, first, state.setpoints.x, lanes)
    else:
        _sense_block(block, controls, len(state.flight.vehicle.turns), lanes)


@formula
def _sense_block(block: Array, controls: Array, bodies: int, lanes: Lanes) -> None:
    """Hand controllers the central bodies' states as arrays in doubles would have them."""
    base = body_row(0)
    for k in range(STATE_SIZE):
        for lane in range(lanes[0], lanes[1]):
            value = get(block, base, BODY.p + k, lane)
            set1(controls, PLATFORM_ROW, PLATFORM.p + k, lane, value)
    if block.itemsize == SINGLE_BYTES:
        for i in range(bodies):
            for lane in range(lanes[0], lanes[1]):
                q = unit(get4(block, body_row(i), BODY.q, lane))
                set4(block, body_row(i), BODY.q, lane, q)
                if i == 0:
                    set4(controls, PLATFORM_ROW, PLATFORM.q, lane, q)


@formula
def load_goal(
    controls: Array,
    first: int,
    goal: Goal,
    settings: ControlSettings,
    ticks: Integers,
    lanes: Lanes,
) -> None:
    """Write the references of worlds at their present instants."""
    what, values, substeps = goal.what, goal.values, goal.substeps
    table, levels, count = goal.rows, goal.levels, len(ticks)
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        k = min(ticks[world] // substeps, len(table) - 1)
        level = levels[k] if what == TRACK else level_of(what, settings.law == RIGID)
        set1(controls, PLATFORM_ROW, PLATFORM.level, lane, float(level))
        for i in range(REF_FIXED):
            set1(controls, PLATFORM_ROW, PLATFORM.reference + i, lane, table[k, i])
        for n in range(len(settings.mount_yaw)):
            a = aircraft_row(settings.first, n)
            set1(controls, a, AIRCRAFT.reference_heading, lane, table[k, REF_FIXED + n])
        for i in range(6):
            set1(controls, PLATFORM_ROW, PLATFORM.reference_wrench + i, lane, 0.0)
            if what == WRENCH:
                set1(controls, PLATFORM_ROW, PLATFORM.reference_wrench + i, lane, values[world, i])
        if what != TRACK and what != WRENCH:
            state = controls[row_at(PLATFORM.p, lane) : row_at(PLATFORM.reference, lane) : LANES]
            row = controls[row_at(PLATFORM.reference, lane) : row_at(PLATFORM.level, lane) : LANES]
            make_level(values[world], state, what, row)


@formula
def level_of(what: int, is_rigid: bool) -> int:  # noqa: FBT001 - compiled calls take no keywords
    """Level of a reference that is made of values: where rotors are fixed to one body, yaw is set by its rate."""
    if what == WRENCH:
        return WRENCH_LEVEL
    return VELOCITY_LEVEL if is_rigid and what != POSE else POSE_LEVEL


@njit(cache=True)
def make_level(target: Array, state: Array, what: int, row: Array) -> None:
    """Write a level pose, velocity or acceleration (4,) into a reference row; the rest is the state's own."""
    yaw = target[3] if what == POSE else yaw_of(state[3:7])
    for k in range(3):
        row[k] = target[k] if what == POSE else state[k]
    row[3], row[4], row[5], row[6] = 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)
    for k in range(7, 19):
        row[k] = 0.0
    if what != POSE:
        row[12] = target[3]
    for k in range(3):
        if what == VELOCITY:
            row[7 + k] = target[k]
        elif what == ACCELERATION:
            row[7 + k], row[13 + k] = state[7 + k], target[k]


@formula
def hand_over_commands(
    block: Array,
    controls: Array,
    first: int,
    law: int,
    settings: ControlSettings,
    flight: FreeFlightState,
    lanes: Lanes,
) -> None:
    """Make aircraft hold the controllers' commands; one that is no number ends its world."""
    mode, bodies = float(mode_of(law)), flight.vehicle.bodies
    for lane in range(lanes[0], lanes[1]):
        U = get6(controls, PLATFORM_ROW, PLATFORM.wrench, lane)
        set1(controls, PLATFORM_ROW, PLATFORM.not_finite, lane, nan_sum(U))
    for n in range(len(bodies)):
        _check_command(controls, aircraft_row(settings.first, n), lanes)
    for n in range(len(bodies)):
        _hand_over(
            block, body_row(bodies[n]), controls, aircraft_row(settings.first, n), mode, lanes
        )
    status = flight.status
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        is_finite = get(controls, PLATFORM_ROW, PLATFORM.not_finite, lane) == 0.0
        if world < len(status) and status[world] == RUNNING and not is_finite:
            status[world] = INVALID_COMMAND


@formula
def mode_of(law: int) -> int:
    """The mode of a law's commands."""
    return RPM_MODE if law in (RIGID, VECTORED) else ATTITUDE_MODE


@formula
def nan_sum(a: Six) -> float:
    """Zero of six numbers, which is no number where one of them is none."""
    first = (a[0] - a[0]) + (a[1] - a[1]) + (a[2] - a[2])
    return first + (a[3] - a[3]) + (a[4] - a[4]) + (a[5] - a[5])


@formula
def _check_command(controls: Array, a: Index, lanes: Lanes) -> None:
    """Note whether one aircraft's command is a number."""
    for k in range(COMMAND_SIZE):
        for lane in range(lanes[0], lanes[1]):
            value = get(controls, a, AIRCRAFT.command + k, lane)
            not_finite = get(controls, PLATFORM_ROW, PLATFORM.not_finite, lane)
            set1(controls, PLATFORM_ROW, PLATFORM.not_finite, lane, not_finite + (value - value))


@formula
def _hand_over(
    block: Array, body: Index, controls: Array, a: Index, mode: float, lanes: Lanes
) -> None:
    """Make one aircraft hold its command, if it is a number."""
    for k in range(COMMAND_SIZE):
        for lane in range(lanes[0], lanes[1]):
            is_finite = get(controls, PLATFORM_ROW, PLATFORM.not_finite, lane) == 0.0
            last = get(block, body, BODY.command + k, lane)
            value = get(controls, a, AIRCRAFT.command + k, lane)
            set1(block, body, BODY.command + k, lane, choose(is_finite, value, last))
    for lane in range(lanes[0], lanes[1]):
        is_finite = get(controls, PLATFORM_ROW, PLATFORM.not_finite, lane) == 0.0
        last = get(block, body, BODY.mode, lane)
        set1(block, body, BODY.mode, lane, choose(is_finite, mode, last))


@formula
def hold_commands(
    controls: Array,
    first: int,
    law: int,
    settings: ControlSettings,
    command: LastCommand,
    lanes: Lanes,
) -> None:
    """Write the commands that aircraft hold, where they are numbers."""
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        not_finite = get(controls, PLATFORM_ROW, PLATFORM.not_finite, lane)
        if world >= len(command.modes) or not_finite != 0.0:
            continue
        for n in range(command.thrust.shape[1]):
            command.modes[world, n] = mode_of(law)
            a = aircraft_row(settings.first, n)
            store_command(controls, a, AIRCRAFT.command, lane, command, world, n)
