# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of many pairs of aircraft that dock: the general loop over a batch, with contact.

Both aircraft are bodies of one vehicle that fly on their own. Where they are near each other, contact and latch are
computed for one pair after the other (`iap_physics.docking.pairs`).
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from iap_description.arrays import Array
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
    zero_blocks,
)
from iap_description.math.rows import fill
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.autopilot_gains import AutopilotGains
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
    BODY_SIZE,
    SHARED,
    SHARED_SIZE,
    VEHICLE,
    VEHICLE_ROW,
    VEHICLE_SIZE,
    body_row,
    rows_of,
)
from iap_physics.batch.load_store import begin_period, end_period, load, store
from iap_physics.batch.motion_steps import check, turn
from iap_physics.batch.records import BatchVehicle, FreeFlightState, PeriodInputs
from iap_physics.batch.wrench_steps import add_drag
from iap_physics.docking.pairs import CHASER, TARGET, PairContact, Pairs, Room, meet
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.kernel import LOCKED, OPEN
from iap_physics.propulsion.autopilot import Autopilot
from iap_physics.propulsion.last_command import LastCommand
from iap_physics.propulsion.propulsion import AutopilotEstimates
from iap_physics.propulsion.rotors import RotorStates

MASS = BODY.arm  # row of an aircraft's mass: two that fly on their own have no arms


def shared_numbers(aircraft: Sequence[Aircraft], gains: Sequence[AutopilotGains]) -> Array:
    """Numbers (2, SHARED_SIZE) of target's and chaser's autopilots and rotors, the same in all worlds."""
    shared = np.zeros((2, SHARED_SIZE))
    for i, (each, of_autopilot) in enumerate(zip(aircraft, gains, strict=True)):
        autopilot = Autopilot.of(each, of_autopilot)
        fill(
            shared[i : i + 1],
            SHARED,
            attitude_gain=[autopilot.attitude],
            rate_gain=[autopilot.rate],
            autopilot_J=[autopilot.J],
            mix=[autopilot.mix[:, 1:]],
            lift=[autopilot.lift],
            c_f=autopilot.thrust_coefficient,
            rpm_min=autopilot.rpm_min,
            rpm_max=autopilot.rpm_max,
            lead=autopilot.lead,
            torques=[each.wrench_of_rotor_thrusts[3:]],
            thrust_share=[np.broadcast_to(each.presence, 4)],
            speed_share=1.0,
        )
    return shared


def flight_of(pairs: Pairs, shared: Array, vehicle: BatchVehicle, dt: float) -> FreeFlightState:
    """The free flight of pairs under commands of thrusts and body rates, as the general loop takes it."""
    batch = len(pairs.status)
    q_WB = np.zeros((batch, 2, 4))
    q_WB[..., 3] = 1.0
    modes = np.full((batch, 2), int(Mode.RATE_THRUST))
    rotors = np.zeros((5, batch, 2, 4))
    parameters = np.zeros(0, [("none", float)])  # nothing of which is read here
    return FreeFlightState(
        blocks=zero_blocks(batch, rows_of(2)),
        shared=shared,
        x=pairs.x,
        status=pairs.status,
        failed=np.full(batch, -1),
        step_counts=np.zeros(batch, dtype=np.int64),
        command=LastCommand(
            modes, np.zeros((batch, 2)), q_WB, np.zeros((batch, 2, 3)), rotors[0], rotors[1]
        ),
        rotors=RotorStates(rotors[2], rotors[3], rotors[4], parameters, parameters),
        known=AutopilotEstimates(np.zeros(batch, bool), np.zeros((batch, 2, 13))),
        inputs=PeriodInputs(np.zeros((batch, 3)), np.zeros((batch, 6)), pairs.ticks),
        vehicle=vehicle,
        dt=dt,
    )


def set_aircraft(
    flight: FreeFlightState, world: int, i: int, mass: float, **numbers: Array
) -> None:
    """Write the numbers of an aircraft, by the names of their rows, into the lane of a world.

    Lanes behind the last world's are given its numbers.
    """
    block, lane = divmod(world, LANES)
    end = LANES if world == len(flight.status) - 1 else lane + 1
    blocks = flight.blocks.reshape(len(flight.blocks), -1, LANES)
    bodies = blocks[block, VEHICLE_SIZE:, lane:end].reshape(2, BODY_SIZE, -1)
    values = {name: np.reshape(value, (1, -1)) for name, value in numbers.items()}
    fill(bodies[i : i + 1], BODY, slice(None), **values)
    bodies[i, MASS] = mass


@njit(cache=True, nogil=True, error_model="numpy")
def advance_pairs(
    first: int,
    last: int,
    flight: FreeFlightState,
    pairs: Pairs,
    between: PairContact,
    room: Room,
    steps: int,
) -> None:
    """Advance worlds first to last - 1 by a control period.

    Args:
        first: of the worlds, that of a block.
        last: the one behind them.
        flight: of the pairs.
        pairs: moved on in place.
        between: contact and latch.
        room: of this loop alone.
        steps: physics steps of the period.
    """
    vehicle, dt = flight.vehicle, flight.dt
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
                _meet(block, start + lane, lane, step, pairs, between, room, dt)
            for i in range(2):
                _move(block, body_row(i), between.gravity, dt, lanes)
                turn(block, body_row(i), dt, lanes)
                check(block, body_row(i), step, lanes)
            if not all_fly(block, lanes):
                undo_states(block, 2, lanes)
        if not all_fly(block, lanes):
            hold_rotors(block, vehicle.bodies, lanes)
        _end_contacts(block, start, last, steps, pairs, lanes)
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
    block: Array, start: int, last: int, steps: int, pairs: Pairs, lanes: Lanes
) -> None:
    """Take means of contacts; the clock of a world that has diverged stands at the step that it did not survive."""
    for lane in range(lanes[0], lanes[1]):
        b = start + np.int64(lane)
        if b >= last or pairs.status[b] != RUNNING:
            continue
        failed = int(get(block, VEHICLE_ROW, VEHICLE.failed, lane))
        count = steps if failed < 0 else failed + 1
        pairs.ticks[b] += count - steps  # what the end of the period adds
        for k in range(6):
            pairs.contact[b, k] /= count


@njit(cache=True, error_model="numpy")
def _meet(
    block: Array,
    b: int,
    place: int,
    step: int,
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
    touches = meet(b, step, pairs, between, room, dt)
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
