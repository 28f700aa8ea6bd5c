# SPDX-License-Identifier: BSD-3-Clause
"""Some physics steps of a block of worlds in free flight: autopilots, rotors, air, and the platform's motion.

Sums are taken in the order in which `iap_physics.plant.plant.Plant` takes them, so that every world has the bits of one
that is stepped alone.
"""

from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import choose, formula, least
from iap_description.math.lanes import Index, Lanes, get, get3, get4, set1
from iap_physics.batch.layout import BODY, ROTOR_SIZE, SHARED, VEHICLE, VEHICLE_ROW, body_row
from iap_physics.batch.motion_steps import check, follow, move, place, turn
from iap_physics.batch.records import BatchVehicle
from iap_physics.batch.rotor_steps import command, shared4, spin, spin_tilted, tick
from iap_physics.batch.wrench_steps import add_drag, add_external, add_to_sums, begin_sums, clear
from iap_physics.engines.rigid_motion import is_sound


@njit(cache=True, error_model="numpy", nogil=True)
def advance_period(
    block: Array, shared: Array, vehicle: BatchVehicle, lanes: Lanes, steps: int, dt: float
) -> None:
    """Advance a block by some physics steps; each world that diverges stands still from there on.

    Arguments are those of `advance_block`.
    """
    turns = vehicle.turns
    flies = all_fly(block, lanes)
    remember(block, len(turns), vehicle.bodies, lanes)
    advance_block(block, shared, vehicle, not flies, lanes, steps, dt)
    if not flies:
        hold_rotors(block, vehicle.bodies, lanes)
    elif not _are_sound(block, turns, lanes):
        # from the start again, looking at every step
        _remind(block, len(turns), vehicle.bodies, lanes)
        advance_block(block, shared, vehicle, True, lanes, steps, dt)


@formula
def all_fly(block: Array, lanes: Lanes) -> bool:
    """Tell if all worlds of a block run."""
    least_flying = 1.0
    for lane in range(lanes[0], lanes[1]):
        least_flying = least(least_flying, get(block, VEHICLE_ROW, VEHICLE.flies, lane))
    return least_flying > 0.0


@formula
def _are_sound(block: Array, turns: Booleans, lanes: Lanes) -> bool:
    """Tell if the motion of every world is finite."""
    are_sound = True
    for i in range(len(turns)):
        row = body_row(i)
        for lane in range(lanes[0], lanes[1]):
            q, v = get4(block, row, BODY.q, lane), get3(block, row, BODY.v, lane)
            w = get3(block, row, BODY.w, lane)
            are_sound &= is_sound(get3(block, row, BODY.p, lane), q, v, w)
    return are_sound


@formula
def remember(block: Array, count: int, bodies: Integers, lanes: Lanes) -> None:
    """Keep what moves on in a period, for worlds that will have diverged."""
    keep_states(block, count, lanes)
    for n in range(len(bodies)):
        _copy(block, body_row(bodies[n]), BODY.rpm, BODY.rotors_before, ROTOR_SIZE, lanes)
        _copy(block, body_row(bodies[n]), BODY.tick, BODY.tick_before, 1, lanes)


@formula
def _remind(block: Array, count: int, bodies: Integers, lanes: Lanes) -> None:
    """Put back what `remember` has kept."""
    for i in range(count):
        _copy(block, body_row(i), BODY.before, BODY.p, 13, lanes)
    for n in range(len(bodies)):
        _copy(block, body_row(bodies[n]), BODY.rotors_before, BODY.rpm, ROTOR_SIZE, lanes)
        _copy(block, body_row(bodies[n]), BODY.tick_before, BODY.tick, 1, lanes)


@formula
def hold_rotors(block: Array, bodies: Integers, lanes: Lanes) -> None:
    """Hold the rotors of worlds that stood still from the beginning of the period on."""
    for n in range(len(bodies)):
        _hold(block, body_row(bodies[n]), BODY.rotors_before, BODY.rpm, ROTOR_SIZE, lanes)


@formula
def _hold(block: Array, row: Index, source: int, to: int, count: int, lanes: Lanes) -> None:
    """Copy some rows of a body in worlds that stood still from the beginning of the period on."""
    for k in range(count):
        for lane in range(lanes[0], lanes[1]):
            flies = get(block, VEHICLE_ROW, VEHICLE.flies, lane) > 0.0
            flew = flies | (get(block, VEHICLE_ROW, VEHICLE.failed, lane) >= 0.0)
            now, before = get(block, row, to + k, lane), get(block, row, source + k, lane)
            set1(block, row, to + k, lane, choose(flew, now, before))


@formula
def _copy(block: Array, row: Index, source: int, to: int, count: int, lanes: Lanes) -> None:
    """Copy some rows of a body."""
    for k in range(count):
        for lane in range(lanes[0], lanes[1]):
            set1(block, row, to + k, lane, get(block, row, source + k, lane))


@njit(cache=True, error_model="numpy", nogil=True)
def advance_block(
    block: Array,
    shared: Array,
    vehicle: BatchVehicle,
    checks: bool,
    lanes: Lanes,
    steps: int,
    dt: float,
) -> None:
    """Advance a block by some physics steps.

    Args:
        block: its rows, see `iap_physics.batch.layout`; changed in place.
        shared: (bodies, ALIKE) what bodies have in all worlds shared.
        vehicle: that flies.
        checks: whether each world is looked at after each step, and stands still from where it diverged.
        lanes: that are advanced.
        steps: how many.
        dt: length of one [s].
    """
    turns, has_drag = vehicle.turns, vehicle.has_drag
    for step in range(steps):
        if checks:
            keep_states(block, len(turns), lanes)
        _push(block, shared, vehicle, lanes, dt)
        # without drag, nothing but the last step's result asks where the aircraft are
        _go_on(block, shared, turns, has_drag or checks or step == steps - 1, dt, lanes)
        if checks:
            _check_all(block, turns, step, lanes)
            undo_states(block, len(turns), lanes)


@formula
def push_aircraft(
    block: Array, body: int, shared: Array, vehicle: BatchVehicle, lanes: Lanes, dt: float
) -> None:
    """Autopilot and rotors of one aircraft, and their wrench on it."""
    command(block, body, shared, lanes)
    tick(block, body_row(body), vehicle.every, lanes)
    if vehicle.is_tilting:
        spin_tilted(block, body, shared, lanes, dt)
    else:
        spin(block, body, shared, lanes)


@formula
def _push(block: Array, shared: Array, vehicle: BatchVehicle, lanes: Lanes, dt: float) -> None:
    """Autopilots, rotors, disturbance and drag: the bodies' wrenches and their sums."""
    turns, bodies, has_drag = vehicle.turns, vehicle.bodies, vehicle.has_drag
    clear(block, body_row(0), lanes)  # which has rotors, if it has any, below
    for n in range(len(bodies)):
        push_aircraft(block, bodies[n], shared, vehicle, lanes, dt)
    add_external(block, body_row(0), lanes)
    if has_drag:
        for i in range(len(turns)):
            add_drag(block, body_row(i), lanes)
    begin_sums(block, lanes)
    for i in range(1, len(turns)):
        add_to_sums(block, body_row(i), not turns[i], lanes)


@formula
def _go_on(
    block: Array, shared: Array, turns: Booleans, has_positions: bool, dt: float, lanes: Lanes
) -> None:
    """The motion of all bodies, with or without the places of the outer ones."""
    move(block, body_row(0), shared[0, SHARED.gravity], dt, lanes)
    for i in range(1, len(turns)):
        if turns[i]:
            turn(block, body_row(i), dt, lanes)
        else:
            follow(block, body_row(i), shared4(shared, i, SHARED.q_PB), lanes)
        if has_positions:
            place(block, body_row(i), lanes)


@formula
def _check_all(block: Array, turns: Booleans, step: int, lanes: Lanes) -> None:
    """Stop worlds in which the motion of a body that turns on its own is not finite."""
    for i in range(len(turns)):
        if i == 0 or turns[i]:
            check(block, body_row(i), step, lanes)


@formula
def keep_states(block: Array, count: int, lanes: Lanes) -> None:
    """Keep the states for worlds that will have diverged."""
    for i in range(count):
        _copy(block, body_row(i), BODY.p, BODY.before, 13, lanes)


@formula
def undo_states(block: Array, count: int, lanes: Lanes) -> None:
    """Put worlds back that do not fly."""
    for i in range(count):
        for k in range(13):
            for lane in range(lanes[0], lanes[1]):
                now = get(block, body_row(i), BODY.p + k, lane)
                before = get(block, body_row(i), BODY.before + k, lane)
                flies = get(block, VEHICLE_ROW, VEHICLE.flies, lane) > 0.0
                set1(block, body_row(i), BODY.p + k, lane, choose(flies, now, before))
