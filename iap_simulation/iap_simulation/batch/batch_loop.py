# SPDX-License-Identifier: BSD-3-Clause
"""Some control periods of many worlds in one compiled call: references, controllers, checks and plant in turn.

The loops and formulas are those that `Worlds.advance` calls one after another from Python, in the same order: no bit
differs. One world alone is four times as fast.
"""

import math
from typing import NamedTuple

from numba import njit

from iap_control.batch import layout as control
from iap_control.batch.batch_loop import (
    RIGID,
    VECTORED,
    ControlSettings,
    Setpoints,
    control_block,
    take_references,
    take_state,
)
from iap_control.batch.layout import PLATFORM, aircraft_row
from iap_description.arrays import Array, Integers
from iap_description.math.kernels import choose, chosen3, chosen4, formula, yaw_of
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get3,
    get4,
    get6,
    lanes_from,
    next_block,
    row_at,
    set1,
    set3,
    set4,
    world_at,
    world_in,
)
from iap_description.states import Level, Mode
from iap_physics.batch.batch_loop import advance_period
from iap_physics.batch.flight_state import FreeFlightState
from iap_physics.batch.layout import BODY, BODY_COMMAND, body_row
from iap_physics.batch.load_store import (
    SINGLE_BYTES,
    begin_period,
    end_period,
    load,
    load_air,
    store,
    unit,
)
from iap_physics.engines.engine import FAR, INVALID_COMMAND, RUNNING, UPSIDE_DOWN
from iap_physics.propulsion.last_command import LastCommand

# What references are made of.
TRACK, POSE, VELOCITY, ACCELERATION, WRENCH, GIVEN = range(6)

HELD = -1  # in place of a law: commands that aircraft hold

_AT_POSE, _AT_VELOCITY, _AT_WRENCH = int(Level.POSE), int(Level.VELOCITY), int(Level.WRENCH)
_ATTITUDE, _RPM = int(Mode.ATTITUDE_THRUST), int(Mode.RPM)


class Goal(NamedTuple):
    """What B worlds are to do.

    Attributes:
        what: `TRACK` the scenario's references, `GIVEN` those in `Setpoints`, or what the values are.
        values: (B, columns) of an action, see `iap_simulation.batch.actions`.
        rows: (T, 19 + N) the scenario's references at all control instants.
        levels: (T,) what is tracked of them.
        air_W: (T, B, 3) velocity of the air in each control period, where there are gusts [m/s].
        is_gusty: whether there are.
        far: from its reference a world has failed, along any axis [m].
        substeps: physics steps of a control period.
    """

    what: int
    values: Array
    rows: Array
    levels: Integers
    air_W: Array
    is_gusty: bool
    far: float
    substeps: int


class BatchState(NamedTuple):
    """All that flies, in B worlds.

    Attributes:
        goal: what they are to do.
        setpoints: states, and references that count where they are `GIVEN`.
        settings: of the controllers.
        controllers: (blocks, rows * LANES) see `iap_control.batch.layout`.
        flight: what moves on.
        law: of the controllers, or `HELD`.
    """

    goal: Goal
    setpoints: Setpoints
    settings: ControlSettings
    controllers: Array
    flight: FreeFlightState
    law: int


@njit(cache=True, nogil=True)
def fly_worlds(begin: int, end: int, periods: int, state: BatchState) -> None:
    """Fly worlds `begin` to `end` - 1 for some control periods, block by block.

    Args:
        begin: the first of them, that of a vector.
        end: the one behind the last of them.
        periods: how many.
        state: all that flies.
    """
    first = begin
    while first < end:
        fly_lanes(first, lanes_from(first, end), periods, state.law, state)
        first = next_block(first)


@njit(cache=True, error_model="numpy", nogil=True)
def fly_lanes(first: int, lanes: Lanes, periods: int, law: int, state: BatchState) -> None:
    """Fly some worlds of a block for some control periods.

    Args:
        first: world of the first lane.
        lanes: of the worlds that fly, from it on.
        periods: how many.
        law: that flies them, or `HELD`: aircraft go by the commands that they hold, and controllers do nothing.
        state: all that flies.
    """
    goal, setpoints, settings, flight = state.goal, state.setpoints, state.settings, state.flight
    block = flight.blocks[first // LANES, first % LANES :]
    own = state.controllers[first // LANES, first % LANES :]
    load(block, first, flight, lanes)
    for period in range(periods):
        know(block, own, first, period, state, lanes)
        if goal.what == GIVEN:
            take_references(own, first, setpoints, settings, lanes)
        else:
            refer(own, first, goal, settings, flight.inputs.ticks, lanes)
        fly_period(block, own, first, period, law, state, lanes)
    store(block, first, flight, lanes)
    if law != HELD:
        hold(own, first, law, settings, flight.command, lanes)


@formula
def know(
    block: Array, own: Array, first: int, period: int, state: BatchState, lanes: Lanes
) -> None:
    """Let controllers know the central bodies' states at the beginning of a period, counted from the load."""
    if period == 0:
        take_state(own, first, state.setpoints.x, lanes)
    else:
        sense(block, own, len(state.flight.vehicle.turns), lanes)


@formula
def fly_period(
    block: Array, own: Array, first: int, period: int, law: int, state: BatchState, lanes: Lanes
) -> None:
    """Fly one control period of a block whose states are known and whose references are taken."""
    goal, settings, flight = state.goal, state.settings, state.flight
    if law != HELD:
        control_block(own, law, settings, lanes)
        take(block, own, first, law, settings, flight, lanes)
    watch(own, first, goal.far, flight.status, lanes)
    if goal.is_gusty:
        load_air(block, first, flight, goal.air_W[period], lanes)
    begin_period(block, first, flight, lanes)
    advance_period(block, flight.shared, flight.vehicle, lanes, goal.substeps, flight.dt)
    end_period(block, first, flight, goal.substeps, lanes)


@formula
def sense(block: Array, own: Array, bodies: int, lanes: Lanes) -> None:
    """Let controllers know the central bodies' states, as arrays in doubles would have them."""
    base = body_row(0)
    for k in range(13):
        for lane in range(lanes[0], lanes[1]):
            value = get(block, base, BODY.p + k, lane)
            set1(own, PLATFORM, control.STATE + k, lane, value)
    if block.itemsize == SINGLE_BYTES:
        for i in range(bodies):
            for lane in range(lanes[0], lanes[1]):
                q = unit(get4(block, body_row(i), BODY.q, lane))
                set4(block, body_row(i), BODY.q, lane, q)
                if i == 0:
                    set4(own, PLATFORM, control.Q, lane, q)


@formula
def refer(
    own: Array, first: int, goal: Goal, settings: ControlSettings, ticks: Integers, lanes: Lanes
) -> None:
    """Write the references of worlds at their present instants."""
    what, values, substeps = goal.what, goal.values, goal.substeps
    table, levels, count = goal.rows, goal.levels, len(ticks)
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        k = min(ticks[world] // substeps, len(table) - 1)
        level = levels[k] if what == TRACK else level_of(what, settings.law == RIGID)
        set1(own, PLATFORM, control.LEVEL, lane, float(level))
        for i in range(19):
            set1(own, PLATFORM, control.REFERENCE + i, lane, table[k, i])
        for n in range(len(settings.mount_yaw)):
            a = aircraft_row(settings.first, n)
            set1(own, a, control.GIVEN_HEADING, lane, table[k, 19 + n])
        for i in range(6):
            set1(own, PLATFORM, control.GIVEN_WRENCH + i, lane, 0.0)
            if what == WRENCH:
                set1(own, PLATFORM, control.GIVEN_WRENCH + i, lane, values[world, i])
        if what != TRACK and what != WRENCH:
            state = own[row_at(control.STATE, lane) : row_at(control.STATE_END, lane) : LANES]
            row = own[
                row_at(control.REFERENCE, lane) : row_at(control.REFERENCE_END, lane) : LANES
            ]
            make_level(values[world], state, what, row)


@formula
def level_of(what: int, is_rigid: bool) -> int:  # noqa: FBT001 - compiled calls take no keywords
    """What is tracked of a reference that is made: where rotors are fixed to one body, yaw is set by its rate."""
    if what == WRENCH:
        return _AT_WRENCH
    return _AT_VELOCITY if is_rigid and what != POSE else _AT_POSE


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
def take(
    block: Array,
    own: Array,
    first: int,
    law: int,
    settings: ControlSettings,
    flight: FreeFlightState,
    lanes: Lanes,
) -> None:
    """Let aircraft hold the controllers' commands; one that is no number ends its world."""
    mode, bodies = float(mode_of(law)), flight.vehicle.bodies
    for lane in range(lanes[0], lanes[1]):
        U = get6(own, PLATFORM, control.WRENCH, lane)
        set1(own, PLATFORM, control.NOT_FINITE, lane, nothing6(U))
    for n in range(len(bodies)):
        _look_at(own, aircraft_row(settings.first, n), lanes)
    for n in range(len(bodies)):
        _hand_over(block, body_row(bodies[n]), own, aircraft_row(settings.first, n), mode, lanes)
    status = flight.status
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        is_finite = get(own, PLATFORM, control.NOT_FINITE, lane) == 0.0
        if world < len(status) and status[world] == RUNNING and not is_finite:
            status[world] = INVALID_COMMAND


@formula
def mode_of(law: int) -> int:
    """The mode of a law's commands."""
    return _RPM if law in (RIGID, VECTORED) else _ATTITUDE


@formula
def nothing6(a: tuple[float, ...]) -> float:
    """Zero of six numbers, which is no number where one of them is none."""
    first = (a[0] - a[0]) + (a[1] - a[1]) + (a[2] - a[2])
    return first + (a[3] - a[3]) + (a[4] - a[4]) + (a[5] - a[5])


@formula
def _look_at(own: Array, a: Index, lanes: Lanes) -> None:
    """Whether one aircraft's command is a number."""
    for lane in range(lanes[0], lanes[1]):
        q, w = get4(own, a, control.COMMAND_Q, lane), get3(own, a, control.COMMAND_W, lane)
        rpm, thrust = get4(own, a, control.RPM, lane), get(own, a, control.THRUST, lane)
        found = nothing6((q[0], q[1], q[2], q[3], w[0], w[1]))
        found += nothing6((w[2], thrust, rpm[0], rpm[1], rpm[2], rpm[3]))
        tilt = get4(own, a, control.TILT, lane)
        found += nothing6((tilt[0], tilt[1], tilt[2], tilt[3], 0.0, 0.0))
        found += get(own, PLATFORM, control.NOT_FINITE, lane)
        set1(own, PLATFORM, control.NOT_FINITE, lane, found)


@formula
def _hand_over(block: Array, body: Index, own: Array, a: Index, mode: float, lanes: Lanes) -> None:
    """One aircraft's command, if it is a number."""
    for lane in range(lanes[0], lanes[1]):
        is_finite = get(own, PLATFORM, control.NOT_FINITE, lane) == 0.0
        last_mode = get(block, body, BODY.mode, lane)
        thrust, last = (
            get(own, a, control.THRUST, lane),
            get(block, body, BODY_COMMAND.thrust, lane),
        )
        q, last_q = (
            get4(own, a, control.COMMAND_Q, lane),
            get4(block, body, BODY_COMMAND.q_WB, lane),
        )
        w, last_w = (
            get3(own, a, control.COMMAND_W, lane),
            get3(block, body, BODY_COMMAND.w_WB_B, lane),
        )
        rpm, last_rpm = (
            get4(own, a, control.RPM, lane),
            get4(block, body, BODY_COMMAND.rpm, lane),
        )
        tilt, last_tilt = (
            get4(own, a, control.TILT, lane),
            get4(block, body, BODY_COMMAND.tilt, lane),
        )
        set1(block, body, BODY.mode, lane, choose(is_finite, mode, last_mode))
        set1(block, body, BODY_COMMAND.thrust, lane, choose(is_finite, thrust, last))
        set4(block, body, BODY_COMMAND.q_WB, lane, chosen4(is_finite, q, last_q))
        set3(block, body, BODY_COMMAND.w_WB_B, lane, chosen3(is_finite, w, last_w))
        set4(block, body, BODY_COMMAND.rpm, lane, chosen4(is_finite, rpm, last_rpm))
        set4(block, body, BODY_COMMAND.tilt, lane, chosen4(is_finite, tilt, last_tilt))


@formula
def hold(
    own: Array, first: int, law: int, settings: ControlSettings, command: LastCommand, lanes: Lanes
) -> None:
    """Write the commands that aircraft hold, where they are numbers."""
    modes, thrust, q_WB, w_WB_B, rpm, tilt = command
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(modes) or get(own, PLATFORM, control.NOT_FINITE, lane) != 0.0:
            continue
        modes[world] = mode_of(law)
        for n in range(thrust.shape[1]):
            a = aircraft_row(settings.first, n)
            thrust[world, n] = get(own, a, control.THRUST, lane)
            for k in range(3):
                w_WB_B[world, n, k] = get(own, a, control.COMMAND_W + k, lane)
            for k in range(4):
                q_WB[world, n, k] = get(own, a, control.COMMAND_Q + k, lane)
                rpm[world, n, k] = get(own, a, control.RPM + k, lane)
                tilt[world, n, k] = get(own, a, control.TILT + k, lane)


@formula
def watch(own: Array, first: int, far: float, status: Integers, lanes: Lanes) -> None:
    """End flights that have overturned or lost their references."""
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(status) or status[world] != RUNNING:
            continue
        q = get4(own, PLATFORM, control.Q, lane)
        if q[0] * q[0] + q[1] * q[1] > 0.5:
            status[world] = UPSIDE_DOWN
        for k in range(3):
            p = get(own, PLATFORM, control.P + k, lane)
            if abs(p - get(own, PLATFORM, control.REFERENCE + k, lane)) > far:
                status[world] = FAR
