# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of worlds into a block and out of it."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import Quat, formula, quat_at, vec_at
from iap_description.math.lanes import Lanes, get, get4, set1, set3, set4, world_at, world_in
from iap_description.states import STATE_SIZE
from iap_physics.batch.layout import (
    BODY,
    VEHICLE,
    VEHICLE_ROW,
    body_row,
    load_command,
    load_rotors,
    store_rotors,
)
from iap_physics.batch.records import FreeFlightState
from iap_physics.engines.engine import DIVERGED, RUNNING

SINGLE_BYTES = 4  # of a number in single precision


@formula
def load(block: Array, first: int, flight: FreeFlightState, lanes: Lanes) -> None:
    """Read all that changes; the last world fills lanes that are left."""
    x, bodies, count = flight.x, len(flight.vehicle.turns), len(flight.x)
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        for i in range(bodies):
            for k in range(STATE_SIZE):
                set1(block, body_row(i), BODY.p + k, lane, x[world, i, k])
    load_inputs(block, first, flight, lanes)
    load_aircraft(block, first, flight, lanes)


@formula
def load_inputs(block: Array, first: int, flight: FreeFlightState, lanes: Lanes) -> None:
    """Read what acts from outside."""
    external_W, count = flight.inputs.external_W, len(flight.x)
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        for k in range(6):
            set1(block, VEHICLE_ROW, VEHICLE.external + k, lane, external_W[world, k])
    load_air(block, first, flight, flight.inputs.air_W, lanes)


@formula
def load_air(
    block: Array, first: int, flight: FreeFlightState, air_W: Array, lanes: Lanes
) -> None:
    """Read velocities of the air (B, 3), where bodies feel it."""
    count = len(flight.x)
    if flight.vehicle.has_drag:
        for i in range(len(flight.vehicle.turns)):
            for k in range(3):
                for lane in range(lanes[0], lanes[1]):
                    world = world_at(first, lane, count)
                    set1(block, body_row(i), BODY.air + k, lane, air_W[world, k])


@formula
def load_aircraft(block: Array, first: int, flight: FreeFlightState, lanes: Lanes) -> None:
    """Read the commands that aircraft hold, their rotors, and the estimates that autopilots go by."""
    bodies, modes, estimates = flight.vehicle.bodies, flight.command.modes, flight.known
    count = len(modes)
    for n in range(len(bodies)):
        row, i = body_row(bodies[n]), bodies[n]
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, row, BODY.mode, lane, float(modes[world, n]))
            load_command(block, row, BODY.command, lane, flight.command, world, n)
            load_rotors(block, row, 0, lane, flight.rotors, world, n)
            set1(block, row, BODY.is_estimated, lane, 1.0 if estimates.is_used[world] else 0.0)
            if estimates.is_used[world]:
                set4(block, row, BODY.estimated_q, lane, quat_at(estimates.x[world, i], 3))
                set3(block, row, BODY.estimated_w, lane, vec_at(estimates.x[world, i], 10))


@formula
def begin_period(block: Array, first: int, flight: FreeFlightState, lanes: Lanes) -> None:
    """Take over which worlds fly, and how far their autopilots are."""
    status, ticks, count = flight.status, flight.inputs.ticks, len(flight.x)
    bodies, every = flight.vehicle.bodies, flight.vehicle.every
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        set1(block, VEHICLE_ROW, VEHICLE.flies, lane, 1.0 if status[world] == RUNNING else 0.0)
        set1(block, VEHICLE_ROW, VEHICLE.failed, lane, -1.0)
        tick = float(ticks[world] % every)
        for n in range(len(bodies)):
            set1(block, body_row(bodies[n]), BODY.tick, lane, tick)


@formula
def end_period(
    block: Array, first: int, flight: FreeFlightState, steps: int, lanes: Lanes
) -> None:
    """Count the steps of worlds that flew, and let those stand still that have diverged."""
    status, failed, ticks = flight.status, flight.failed, flight.inputs.ticks
    step_counts = flight.step_counts
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(status):
            continue
        failed[world] = int(get(block, VEHICLE_ROW, VEHICLE.failed, lane))
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
def store(block: Array, first: int, flight: FreeFlightState, lanes: Lanes) -> None:
    """Write states and rotors."""
    x, bodies = flight.x, flight.vehicle.bodies
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(x):
            continue
        for i in range(x.shape[1]):
            row = body_row(i)
            for k in range(STATE_SIZE):
                x[world, i, k] = get(block, row, BODY.p + k, lane)
            if block.itemsize == SINGLE_BYTES:
                q = unit(get4(block, row, BODY.q, lane))
                for k in range(4):
                    x[world, i, 3 + k] = q[k]
        for n in range(len(bodies)):
            store_rotors(block, body_row(bodies[n]), 0, lane, flight.rotors, world, n)
