# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of worlds into a block and out of it."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import Quat, formula
from iap_description.math.lanes import Index, Lanes, get, get4, set1, world_at, world_in
from iap_physics.batch import layout
from iap_physics.batch.flight_state import FreeFlightState
from iap_physics.batch.layout import VEHICLE, body_row
from iap_physics.engines.engine import DIVERGED, RUNNING

SINGLE_BYTES = 4  # of a number in single precision


@formula
def load(block: Array, first: int, flown: FreeFlightState, lanes: Lanes) -> None:
    """Read all that changes; the last world fills lanes that are left."""
    x, bodies, count = flown.x, len(flown.vehicle.turns), len(flown.x)
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        for i in range(bodies):
            for k in range(13):
                set1(block, body_row(i), layout.STATE + k, lane, x[world, i, k])
    load_inputs(block, first, flown, lanes)
    load_commands(block, first, flown, lanes)
    load_rotors(block, first, flown, lanes)


@formula
def load_inputs(block: Array, first: int, flown: FreeFlightState, lanes: Lanes) -> None:
    """Read what acts from outside."""
    external_W, count = flown.inputs.external_W, len(flown.x)
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        for k in range(6):
            set1(block, VEHICLE, layout.EXTERNAL + k, lane, external_W[world, k])
    load_air(block, first, flown, flown.inputs.air_W, lanes)


@formula
def load_air(block: Array, first: int, flown: FreeFlightState, air_W: Array, lanes: Lanes) -> None:
    """Read velocities of the air (B, 3), where bodies feel it."""
    count = len(flown.x)
    if flown.vehicle.has_drag:
        for i in range(len(flown.vehicle.turns)):
            for k in range(3):
                for lane in range(lanes[0], lanes[1]):
                    world = world_at(first, lane, count)
                    set1(block, body_row(i), layout.AIR + k, lane, air_W[world, k])


@formula
def load_commands(block: Array, first: int, flown: FreeFlightState, lanes: Lanes) -> None:
    """Read the commands that aircraft hold; angles where rotors tilt."""
    modes, thrust, q, w, rpm, tilt = flown.command
    bodies, count = flown.vehicle.bodies, len(modes)
    for n in range(len(bodies)):
        row = body_row(bodies[n])
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, row, layout.MODE, lane, float(modes[world]))
            set1(block, row, layout.THRUST, lane, thrust[world, n])
            _put(block, row, layout.COMMAND_RPM, lane, rpm, world, n, 0, 4)
            _put(block, row, layout.COMMAND_Q, lane, q, world, n, 0, 4)
            _put(block, row, layout.COMMAND_W, lane, w, world, n, 0, 3)
        if flown.vehicle.is_tilting:
            for lane in range(lanes[0], lanes[1]):
                world = world_at(first, lane, count)
                _put(block, row, layout.COMMAND_TILT, lane, tilt, world, n, 0, 4)


@formula
def load_rotors(block: Array, first: int, flown: FreeFlightState, lanes: Lanes) -> None:
    """Read rotors, and the estimates that autopilots go by."""
    rpm, target, bodies = flown.rotors.rpm, flown.rotors.target, flown.vehicle.bodies
    tilt = flown.rotors.tilt
    is_used, known_x, count = flown.known.is_used, flown.known.x, len(flown.x)
    for n in range(len(bodies)):
        row = body_row(bodies[n])
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            _put(block, row, layout.RPM, lane, rpm, world, n, 0, 4)
            _put(block, row, layout.TARGET, lane, target, world, n, 0, 4)
            set1(block, row, layout.ESTIMATED, lane, 1.0 if is_used[world] else 0.0)
            if is_used[world]:
                _put(block, row, layout.KNOWN_Q, lane, known_x, world, bodies[n], 3, 4)
                _put(block, row, layout.KNOWN_W, lane, known_x, world, bodies[n], 10, 3)
        if flown.vehicle.is_tilting:
            for lane in range(lanes[0], lanes[1]):
                world = world_at(first, lane, count)
                _put(block, row, layout.TILT, lane, tilt, world, n, 0, 4)


@formula
def _put(
    block: Array,
    row: Index,
    k: int,
    lane: Index,
    values: Array,
    world: int,
    i: int,
    begin: int,
    count: int,
) -> None:
    """Write some numbers of values (B, ..., ...) of one world from row + k on."""
    for m in range(count):
        set1(block, row, k + m, lane, values[world, i, begin + m])


@formula
def begin_period(block: Array, first: int, flown: FreeFlightState, lanes: Lanes) -> None:
    """Take over which worlds fly, and how far their autopilots are."""
    status, ticks, count = flown.status, flown.inputs.ticks, len(flown.x)
    bodies, every = flown.vehicle.bodies, flown.vehicle.every
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        set1(block, VEHICLE, layout.FLIES, lane, 1.0 if status[world] == RUNNING else 0.0)
        set1(block, VEHICLE, layout.FAILED, lane, -1.0)
        tick = float(ticks[world] % every)
        for n in range(len(bodies)):
            set1(block, body_row(bodies[n]), layout.TICK, lane, tick)


@formula
def end_period(block: Array, first: int, flown: FreeFlightState, steps: int, lanes: Lanes) -> None:
    """Count the steps of worlds that flew, and let those stand still that have diverged."""
    status, failed, ticks = flown.status, flown.failed, flown.inputs.ticks
    step_counts = flown.step_counts
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(status):
            continue
        failed[world] = int(get(block, VEHICLE, layout.FAILED, lane))
        if status[world] == RUNNING:
            ticks[world] += steps
            step_counts[world] += steps if failed[world] < 0 else failed[world]
            if failed[world] >= 0:
                status[world] = DIVERGED


@formula
def unit(q: Quat) -> Quat:
    """A quaternion of single numbers in doubles, of unit length.

    It is so within 1e-6, and a step of Newton's doubles the digits.
    """
    a, b, c, d = np.float64(q[0]), np.float64(q[1]), np.float64(q[2]), np.float64(q[3])
    s = 1.5 - 0.5 * (a * a + b * b + c * c + d * d)
    return (s * a, s * b, s * c, s * d)


@formula
def _attitude(block: Array, row: Index, lane: Index) -> Quat:
    """A body's attitude in doubles; that of single numbers is made of unit length again."""
    q = get4(block, row, layout.Q, lane)
    if block.itemsize == SINGLE_BYTES:
        q = unit(q)
    return q


@formula
def store(block: Array, first: int, flown: FreeFlightState, lanes: Lanes) -> None:
    """Write states and rotors."""
    x, rpm, target, bodies = flown.x, flown.rotors.rpm, flown.rotors.target, flown.vehicle.bodies
    tilt = flown.rotors.tilt
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(x):
            continue
        for i in range(x.shape[1]):
            row = body_row(i)
            q = _attitude(block, row, lane)
            for k in range(3):
                x[world, i, k] = get(block, row, layout.P + k, lane)
            for k in range(4):
                x[world, i, 3 + k] = q[k]
            for k in range(7, 13):
                x[world, i, k] = get(block, row, layout.STATE + k, lane)
        for n in range(len(bodies)):
            row = body_row(bodies[n])
            for r in range(4):
                rpm[world, n, r] = get(block, row, layout.RPM + r, lane)
                target[world, n, r] = get(block, row, layout.TARGET + r, lane)
                if flown.vehicle.is_tilting:
                    tilt[world, n, r] = get(block, row, layout.TILT + r, lane)
