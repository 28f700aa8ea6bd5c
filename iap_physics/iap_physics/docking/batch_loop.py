# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of many pairs of aircraft that dock: the general loop over a batch, with contact.

Both aircraft are bodies of one vehicle that fly on their own. Where they are near each other, contact and latch are
computed for one pair after the other (`iap_physics.docking.pairs`).
"""

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import add, dot, formula, scale, sub
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get3,
    lanes_from,
    set1,
    set3,
    world_at,
)
from iap_description.math.pointers import borrowed
from iap_physics.batch.batch_loop import (
    all_fly,
    hold_rotors,
    keep_states,
    push_aircraft,
    remember,
    undo_states,
)
from iap_physics.batch.layout import (
    BODY,
    VEHICLE,
    VEHICLE_ROW,
    body_row,
)
from iap_physics.batch.load_store import begin_period, end_period, load, store
from iap_physics.batch.motion_steps import check, turn
from iap_physics.batch.records import FreeFlightState
from iap_physics.batch.wrench_steps import add_drag
from iap_physics.docking.pairs import CHASER, TARGET, PairContact, Pairs, Room, meet
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.kernel import LOCKED, OPEN
from iap_physics.latching.lock import LockRoom

MASS = BODY.arm  # row of an aircraft's mass: two that fly on their own have no arms


@njit(cache=True, nogil=True, error_model="numpy")
def advance_pairs(
    first: int,
    last: int,
    flight: FreeFlightState,
    pairs: Pairs,
    between: PairContact,
    steps: int,
) -> None:
    """Advance worlds first to last - 1 by a control period.

    Args:
        first: of the worlds, that of a block.
        last: the one behind them.
        flight: of the pairs.
        pairs: moved on in place.
        between: contact and latch.
        steps: physics steps of the period.
    """
    flight, pairs, between = borrowed(flight), borrowed(pairs), borrowed(between)
    vehicle, dt, ticks = flight.vehicle, flight.dt, flight.inputs.ticks
    room = Room(np.zeros((2, 6)), np.zeros((2, 6)), LockRoom(np.zeros((2, 6)), np.zeros((6, 7))))
    for start in range(first, last, LANES):
        block, lanes = flight.blocks[start // LANES], lanes_from(start, last)
        load(block, start, flight, lanes)
        begin_period(block, start, flight, lanes)
        remember(block, 2, vehicle.bodies, lanes)
        _begin_contacts(pairs, start, last, lanes)
        for step in range(steps):
            keep_states(block, 2, lanes)
            for i in range(2):
                push_aircraft(block, i, flight.shared, vehicle, lanes, dt)
                if vehicle.has_drag:
                    add_drag(block, body_row(i), lanes)
            for lane in range(min(LANES, last - start)):
                world = start + lane
                _meet(block, world, lane, dt * (ticks[world] + step), pairs, between, room, dt)
            for i in range(2):
                _move(block, body_row(i), between.gravity, dt, lanes)
                turn(block, body_row(i), dt, lanes)
                check(block, body_row(i), step, lanes)
            if not all_fly(block, lanes):
                undo_states(block, 2, lanes)
        if not all_fly(block, lanes):
            hold_rotors(block, vehicle.bodies, lanes)
        _end_contacts(block, start, last, steps, pairs, ticks, lanes)
        end_period(block, start, flight, steps, lanes)
        store(block, start, flight, lanes)


@formula
def _begin_contacts(pairs: Pairs, start: int, last: int, lanes: Lanes) -> None:
    """Forget the contacts of the last period in worlds that fly."""
    for lane in range(lanes[0], lanes[1]):
        b = world_at(start, lane, last)
        if pairs.status[b] == RUNNING:
            pairs.contact[b, :] = 0.0
            pairs.touches[b] = False


@formula
def _end_contacts(
    block: Array,
    start: int,
    last: int,
    steps: int,
    pairs: Pairs,
    ticks: Integers,
    lanes: Lanes,
) -> None:
    """Take means of contacts; the clock of a world that has diverged stands at the step that it did not survive."""
    for lane in range(lanes[0], lanes[1]):
        b = start + np.int64(lane)
        if b >= last or pairs.status[b] != RUNNING:
            continue
        failed = int(get(block, VEHICLE_ROW, VEHICLE.failed, lane))
        count = steps if failed < 0 else failed + 1
        ticks[b] += count - steps  # what the end of the period adds
        for k in range(6):
            pairs.contact[b, k] /= count


@njit(cache=True, error_model="numpy")
def _meet(
    block: Array,
    b: int,
    place: int,
    time: float,
    pairs: Pairs,
    between: PairContact,
    room: Room,
    dt: float,
) -> None:
    """Add the wrenches of contact and latch to one pair that flies, if it is near enough."""
    lane = np.uint64(place)
    if get(block, VEHICLE_ROW, VEHICLE.flies, lane) == 0.0:
        return
    rows = body_row(TARGET), body_row(CHASER)
    gap = sub(get3(block, rows[0], BODY.p, lane), get3(block, rows[1], BODY.p, lane))
    if dot(gap, gap) > between.mechanism.reach**2 and pairs.phase[b] != LOCKED:
        pairs.phase[b] = OPEN  # the probe has left
        return
    for i in range(2):
        _get_rows(block, rows[i], BODY.p, lane, pairs.x[b, i], 13)
        _get_rows(block, rows[i], BODY.wrench, lane, room.wrenches[i], 6)
    touches = meet(b, time, pairs, between, room, dt)
    pairs.touches[b] = pairs.touches[b] or touches
    for i in range(2):
        _set_rows(block, rows[i], BODY.wrench, lane, room.wrenches[i], 6)


@formula
def _set_rows(block: Array, row: Index, k: int, lane: Index, values: Array, count: int) -> None:
    """Write some numbers of one world from row + k on."""
    for m in range(count):
        set1(block, row, k + m, lane, values[m])


@formula
def _get_rows(block: Array, row: Index, k: int, lane: Index, out: Array, count: int) -> None:
    """Read some numbers of one world from row + k on."""
    for m in range(count):
        out[m] = get(block, row, k + m, lane)


@formula
def _move(block: Array, row: Index, gravity: float, dt: float, lanes: Lanes) -> None:
    """Place and velocity of an aircraft under its force."""
    for lane in range(lanes[0], lanes[1]):
        p, v = get3(block, row, BODY.p, lane), get3(block, row, BODY.v, lane)
        f, mass = get3(block, row, BODY.wrench, lane), get(block, row, MASS, lane)
        a = add(scale(1.0 / mass, f), (0.0, 0.0, -gravity))
        p = add(p, add(scale(dt, v), scale(0.5 * dt * dt, a)))
        set3(block, row, BODY.p, lane, p)
        set3(block, row, BODY.v, lane, add(v, scale(dt, a)))
