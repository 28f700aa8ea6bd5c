# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of many pairs of aircraft that dock, compiled.

Autopilots, rotors, air and motion are computed in blocks of worlds, by the loops of `iap_physics.batch`: there, both
aircraft are bodies of one vehicle that fly on their own. Where they are near each other, contact and latch are
computed for one pair after the other (`iap_physics.docking.pairs`).
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.math.kernels import add, dot, formula, least, scale, sub
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
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_physics.batch.layout import (
    BODY,
    BODY_COMMAND,
    SHARED,
    SHARED_SIZE,
    VEHICLE,
    VEHICLE_ROW,
    body_row,
    rows_of,
)
from iap_physics.batch.motion_steps import check, turn
from iap_physics.batch.rotor_steps import command, spin, tick
from iap_physics.batch.wrench_steps import add_drag, clear
from iap_physics.docking.mechanism import Mechanism
from iap_physics.docking.pairs import (
    CHASER,
    TARGET,
    PairBodies,
    PairCommand,
    Pairs,
    Room,
    meet,
)
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.latching.kernel import LOCKED, OPEN, LatchParameters
from iap_physics.propulsion.autopilot import Autopilot

SIZE = rows_of(2) * LANES
MASS = BODY.arm  # row of an aircraft's mass: two that fly on their own have no arms


class Actuators(NamedTuple):
    """Target's and chaser's autopilots and rotors, the same in all worlds.

    Attributes:
        shared: (2, ALIKE) see `iap_physics.batch.layout`.
        mode: of the commands, an `iap_description.states.Mode`.
        every: physics steps of an autopilot's period.
        has_drag: whether they feel the air.
    """

    shared: Array
    mode: int
    every: int
    has_drag: bool

    @classmethod
    def of(
        cls,
        aircraft: Sequence[Aircraft],
        gains: Sequence[AutopilotGains],
        mode: int,
        every: int,
        *,
        has_drag: bool,
    ) -> Self:
        """Of target and chaser with the gains of their autopilots."""
        shared = np.zeros((2, SHARED_SIZE))
        for row, each, own in zip(shared, aircraft, gains, strict=True):
            pilot = Autopilot.of(each, own)
            numbers: dict[int, ArrayLike] = {
                SHARED.attitude_gain: pilot.attitude,
                SHARED.rate_gain: pilot.rate,
                SHARED.autopilot_J: pilot.J,
                SHARED.mix: pilot.mix[:, 1:],
                SHARED.lift: pilot.lift,
                SHARED.c_f: (
                    pilot.thrust_coefficient,
                    pilot.rpm_min,
                    pilot.rpm_max,
                    pilot.lead,
                ),
                SHARED.torques: each.wrench_of_rotor_thrusts[3:],
                SHARED.thrust_share: each.presence,
                SHARED.speed_share: 1.0,
            }
            for column, values in numbers.items():
                flat = np.ravel(values)
                row[column : column + len(flat)] = flat
        return cls(shared, mode, every, has_drag)


@njit(cache=True, nogil=True, error_model="numpy")
def advance_pairs(
    first: int,
    last: int,
    pairs: Pairs,
    held: PairCommand,
    body: PairBodies,
    actuators: Actuators,
    mechanism: Mechanism,
    latch: LatchParameters,
    room: Room,
    gravity: float,
    substeps: int,
    dt: float,
) -> None:
    """Advance worlds first to last - 1 by a control period.

    Args:
        first: of the worlds.
        last: the one behind them.
        pairs: moved on in place.
        held: over the period.
        body: of the aircraft.
        actuators: of the aircraft.
        mechanism: of their ports.
        latch: between these.
        room: of this loop alone.
        gravity: [m/s^2], along -z.
        substeps: physics steps.
        dt: length of one [s].
    """
    block = np.zeros(SIZE)
    for start in range(first, last, LANES):
        count = min(LANES, last - start)
        lanes = lanes_from(0, count)
        _begin(block, start, last, pairs, actuators, lanes)
        _load(block, start, last, pairs, held, body, actuators.mode, lanes)
        for step in range(substeps):
            _push(block, actuators, lanes)
            for lane in range(count):
                _meet(block, start + lane, lane, pairs, body, mechanism, latch, room, gravity, dt)
            _keep(block, lanes)
            for i in range(2):
                _move(block, body_row(i), gravity, dt, lanes)
                turn(block, body_row(i), dt, lanes)
                check(block, body_row(i), step, lanes)
            if not _all_fly(block, lanes):
                _end_diverged(block, start, count, step, pairs)
            _count(block, start, count, pairs)
        _end(block, start, count, substeps, pairs)


@formula
def _begin(
    block: Array, start: int, last: int, pairs: Pairs, actuators: Actuators, lanes: Lanes
) -> None:
    """Take over which worlds fly and how far their autopilots are; no contact yet."""
    for lane in range(lanes[0], lanes[1]):
        b = world_at(start, lane, last)
        flies = pairs.status[b] == RUNNING
        set1(block, VEHICLE_ROW, VEHICLE.flies, lane, 1.0 if flies else 0.0)
        set1(block, VEHICLE_ROW, VEHICLE.failed, lane, -1.0)
        for i in range(2):
            phase = float(pairs.ticks[b] % actuators.every)
            set1(block, body_row(i), BODY.tick, lane, phase)
        if flies:
            pairs.contact[b, :] = 0.0
            pairs.touches[b] = False


@formula
def _load(
    block: Array,
    start: int,
    last: int,
    pairs: Pairs,
    held: PairCommand,
    body: PairBodies,
    mode: int,
    lanes: Lanes,
) -> None:
    """Read states, commands and the aircraft's numbers."""
    for i in range(2):
        row = body_row(i)
        for lane in range(lanes[0], lanes[1]):
            b = world_at(start, lane, last)
            _put(block, row, BODY.p, lane, pairs.x[b, i], 13)
            _put(block, row, BODY.rpm, lane, pairs.rpm[b, i], 4)
            _put(block, row, BODY.target, lane, pairs.target[b, i], 4)
            _put(block, row, BODY_COMMAND.q_WB, lane, held.q_WB[b, i], 4)
            _put(block, row, BODY_COMMAND.w_WB_B, lane, held.w_WB_B[b, i], 3)
            _put(block, row, BODY.air, lane, held.air_W[b], 3)
            _put(block, row, BODY.linear, lane, body.linear[b, i], 3)
            _put(block, row, BODY.quadratic, lane, body.quadratic[b, i], 3)
            _put(block, row, BODY.up, lane, body.lags[b, i], 6)  # and those down behind them
            for k in range(9):
                set1(block, row, BODY.J + k, lane, body.J[b, i, k // 3, k % 3])
                set1(block, row, BODY.J_inv + k, lane, body.J_inv[b, i, k // 3, k % 3])
            set1(block, row, BODY.mode, lane, float(mode))
            set1(block, row, BODY_COMMAND.thrust, lane, held.thrust[b, i])
            set1(block, row, BODY.thrust_coefficient, lane, body.thrust_coefficient[b, i])
            set1(block, row, MASS, lane, body.mass[b, i])


@formula
def _put(block: Array, row: Index, k: int, lane: Index, values: Array, count: int) -> None:
    """Write some numbers of one world from row + k on."""
    for m in range(count):
        set1(block, row, k + m, lane, values[m])


@formula
def _take(block: Array, row: Index, k: int, lane: Index, out: Array, count: int) -> None:
    """Read some numbers of one world from row + k on."""
    for m in range(count):
        out[m] = get(block, row, k + m, lane)


@formula
def _push(block: Array, actuators: Actuators, lanes: Lanes) -> None:
    """The wrenches of rotors and air."""
    for i in range(2):
        clear(block, body_row(i), lanes)
        command(block, i, actuators.shared, lanes)
        tick(block, body_row(i), actuators.every, lanes)
        spin(block, i, actuators.shared, lanes)
        if actuators.has_drag:
            add_drag(block, body_row(i), lanes)


@njit(cache=True, error_model="numpy")
def _meet(
    block: Array,
    b: int,
    place: int,
    pairs: Pairs,
    body: PairBodies,
    mechanism: Mechanism,
    latch: LatchParameters,
    room: Room,
    gravity: float,
    dt: float,
) -> None:
    """Add the wrenches of contact and latch to one pair that flies, if it is near enough."""
    lane = np.uint64(place)
    if get(block, VEHICLE_ROW, VEHICLE.flies, lane) == 0.0:
        return
    rows = body_row(TARGET), body_row(CHASER)
    gap = sub(get3(block, rows[0], BODY.p, lane), get3(block, rows[1], BODY.p, lane))
    if dot(gap, gap) > mechanism.reach**2 and pairs.phase[b] != LOCKED:
        pairs.phase[b] = OPEN  # what has been held has left
        return
    for i in range(2):
        _take(block, rows[i], BODY.p, lane, pairs.x[b, i], 13)
        _take(block, rows[i], BODY.wrench, lane, room.wrenches[i], 6)
    touched = meet(b, pairs, body, mechanism, latch, room, gravity, dt)
    pairs.touches[b] = pairs.touches[b] or touched
    for i in range(2):
        _put(block, rows[i], BODY.wrench, lane, room.wrenches[i], 6)


@formula
def _keep(block: Array, lanes: Lanes) -> None:
    """Keep the states for worlds that will have diverged."""
    for i in range(2):
        for k in range(13):
            for lane in range(lanes[0], lanes[1]):
                now = get(block, body_row(i), BODY.p + k, lane)
                set1(block, body_row(i), BODY.before + k, lane, now)


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


@formula
def _all_fly(block: Array, lanes: Lanes) -> bool:
    """Whether all worlds of a block run."""
    flying = 1.0
    for lane in range(lanes[0], lanes[1]):
        flying = least(flying, get(block, VEHICLE_ROW, VEHICLE.flies, lane))
    return flying > 0.0


@formula
def _count(block: Array, start: int, count: int, pairs: Pairs) -> None:
    """Count a step of worlds that fly."""
    for place in range(count):
        if get(block, VEHICLE_ROW, VEHICLE.flies, np.uint64(place)) > 0.0:
            pairs.ticks[start + place] += 1


@njit(cache=True, error_model="numpy")
def _end_diverged(block: Array, start: int, count: int, step: int, pairs: Pairs) -> None:
    """Let worlds that have diverged in this step stand where they were before it."""
    for place in range(count):
        b, lane = start + place, np.uint64(place)
        if pairs.status[b] == RUNNING and get(block, VEHICLE_ROW, VEHICLE.flies, lane) == 0.0:
            pairs.status[b] = DIVERGED
            pairs.ticks[b] += 1
            pairs.contact[b, :] /= step + 1
            for i in range(2):
                _take(block, body_row(i), BODY.before, lane, pairs.x[b, i], 13)


@njit(cache=True, error_model="numpy")
def _end(block: Array, start: int, count: int, substeps: int, pairs: Pairs) -> None:
    """Write states and rotors of the worlds that fly."""
    for place in range(count):
        b, lane = start + place, np.uint64(place)
        if pairs.status[b] != RUNNING:
            continue
        for k in range(6):
            pairs.contact[b, k] /= substeps
        for i in range(2):
            row = body_row(i)
            _take(block, row, BODY.p, lane, pairs.x[b, i], 13)
            _take(block, row, BODY.rpm, lane, pairs.rpm[b, i], 4)
            _take(block, row, BODY.target, lane, pairs.target[b, i], 4)
