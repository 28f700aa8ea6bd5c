# SPDX-License-Identifier: BSD-3-Clause
"""Some control periods of many worlds in one compiled call: references, controllers, checks and plant in turn.

The loops and formulas are those that `Worlds.advance` calls one after another from Python, in the same order: no bit
differs. One world alone is four times as fast.
"""

from numba import njit

from iap_control.batch.batch_loop import control_block
from iap_control.batch.layout import PLATFORM, PLATFORM_ROW
from iap_control.batch.load_store import load_references
from iap_description.arrays import Array, Integers
from iap_description.math.kernels import formula
from iap_description.math.lanes import LANES, Lanes, get, get4, lanes_from, next_block, world_in
from iap_description.math.pointers import borrowed
from iap_physics.batch.batch_loop import advance_period
from iap_physics.batch.load_store import begin_period, end_period, load, load_air, store
from iap_physics.engines.engine import RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_simulation.batch.load_store import hand_over_commands, hold_commands, load_goal, sense
from iap_simulation.batch.records import HOLD, SETPOINT, BatchState


@njit(cache=True, nogil=True)
def fly_worlds(begin: int, end: int, periods: int, state: BatchState) -> None:
    """Fly worlds `begin` to `end` - 1 for some control periods, block by block.

    Args:
        begin: the first of them, that of a vector.
        end: the one behind the last of them.
        periods: how many.
        state: all that flies.
    """
    first, state = begin, borrowed(state)
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
        law: that flies them, or `HOLD`: aircraft go by the commands that they hold, and controllers do nothing.
        state: all that flies.
    """
    goal, setpoints, settings, flight = state.goal, state.setpoints, state.settings, state.flight
    block = flight.blocks[first // LANES, first % LANES :]
    controls = state.controllers[first // LANES, first % LANES :]
    load(block, first, flight, lanes)
    for period in range(periods):
        sense(block, controls, first, period, state, lanes)
        if goal.what == SETPOINT:
            load_references(controls, first, setpoints, settings, lanes)
        else:
            load_goal(controls, first, goal, settings, flight.inputs.ticks, lanes)
        fly_period(block, controls, first, period, law, state, lanes)
    store(block, first, flight, lanes)
    if law != HOLD:
        hold_commands(controls, first, law, settings, flight.command, lanes)


@formula
def fly_period(
    block: Array,
    controls: Array,
    first: int,
    period: int,
    law: int,
    state: BatchState,
    lanes: Lanes,
) -> None:
    """Fly one control period of a block whose states are known and whose references are taken."""
    goal, settings, flight = state.goal, state.settings, state.flight
    if law != HOLD:
        control_block(controls, law, settings, lanes)
        hand_over_commands(block, controls, first, law, settings, flight, lanes)
    end_lost_flights(controls, first, goal.far, flight.status, lanes)
    if goal.is_gusty:
        load_air(block, first, flight, goal.air_W[period], lanes)
    begin_period(block, first, flight, lanes)
    advance_period(block, flight.shared, flight.vehicle, lanes, goal.substeps, flight.dt)
    end_period(block, first, flight, goal.substeps, lanes)


@formula
def end_lost_flights(
    controls: Array, first: int, far: float, status: Integers, lanes: Lanes
) -> None:
    """End flights that have overturned or lost their references."""
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(status) or status[world] != RUNNING:
            continue
        q = get4(controls, PLATFORM_ROW, PLATFORM.q, lane)
        if q[0] * q[0] + q[1] * q[1] > 0.5:
            status[world] = UPSIDE_DOWN
        for k in range(3):
            p = get(controls, PLATFORM_ROW, PLATFORM.p + k, lane)
            if abs(p - get(controls, PLATFORM_ROW, PLATFORM.reference + k, lane)) > far:
                status[world] = TOO_FAR
