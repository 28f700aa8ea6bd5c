# SPDX-License-Identifier: BSD-3-Clause
"""Many pairs of aircraft that dock: their numbers, and how contact, latch and lock act on one pair, compiled."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import (
    add,
    cross,
    dot,
    formula,
    norm,
    put4,
    put_at,
    qconj,
    qmul,
    quat_at,
    sub,
    unrotate,
    vec_at,
)
from iap_description.states import Mode
from iap_description.vehicles.latch import approach, place_of
from iap_physics.docking.contact import contact
from iap_physics.docking.mechanism import Mechanism
from iap_physics.latching.kernel import (
    CAUGHT,
    LOCKED,
    OPEN,
    SPENT,
    BodyInertia,
    LatchParameters,
    damp,
    is_slow,
    next_phase,
)
from iap_physics.latching.lock import Lock, LockRoom, lock_wrench

TARGET, CHASER = 0, 1  # the socket's aircraft and the probe's
_ATTITUDE = int(Mode.ATTITUDE_THRUST)


class PairBodies(NamedTuple):
    """Inertia of both aircraft in B worlds.

    Attributes:
        mass: (B, 2) [kg].
        J: (B, 2, 3, 3) inertia [kg m^2].
        J_inv: (B, 2, 3, 3) inverses.
    """

    mass: Array
    J: Array
    J_inv: Array

    @classmethod
    def empty(cls, batch: int) -> Self:
        """Bodies without mass yet."""
        shapes = ((), (3, 3), (3, 3))
        return cls(*(np.zeros((batch, 2, *shape)) for shape in shapes))


class Pairs(NamedTuple):
    """States of pairs and their latches in B worlds.

    Attributes:
        x: (B, 2, 13) state rows.
        status: (B,) of the worlds.
        phase: (B,) of the latch.
        p_BJ_B: (B, 3) where the probe's end is locked in the target [m].
        q_AB: (B, 4) attitude of the target in the chaser that is kept.
        wrench: (B, 6) of the latch on the chaser about the probe's end in the last step.
        contact: (B, 6) mean wrench of contact and latch on the chaser over the last period, force [N] and torque about
            its CoM [N m], world axes.
        touches: (B,) whether they touched in it.
        caught: (B, 5) time [s], depth, radius [m], angle [rad] and closing speed [m/s] when the latch caught last.
    """

    x: Array
    status: Integers
    phase: Integers
    p_BJ_B: Array
    q_AB: Array
    wrench: Array
    contact: Array
    touches: Booleans
    caught: Array

    @classmethod
    def of(cls, x: Array, status: Integers) -> Self:
        """Pairs of state rows (B, 2, 13) and status (B,) whose latches are open."""
        batch = len(status)
        return cls(
            x=x,
            status=status,
            phase=np.zeros(batch, dtype=np.int64),
            p_BJ_B=np.zeros((batch, 3)),
            q_AB=np.zeros((batch, 4)),
            wrench=np.zeros((batch, 6)),
            contact=np.zeros((batch, 6)),
            touches=np.zeros(batch, bool),
            caught=np.full((batch, 5), np.nan),
        )

    def reset(self, worlds: Integers) -> None:
        """Open the latches of some worlds, and forget their contacts."""
        self.phase[worlds], self.caught[worlds] = OPEN, np.nan
        for array in (self.wrench, self.contact, self.touches):
            array[worlds] = 0


class PairContact(NamedTuple):
    """Ports and latch between the aircraft of every pair.

    Attributes:
        bodies: of the aircraft.
        mechanism: of their ports.
        latch: between these.
        gravity: [m/s^2], along -z.
    """

    bodies: PairBodies
    mechanism: Mechanism
    latch: LatchParameters
    gravity: float


class Room(NamedTuple):
    """Room of a loop: wrenches of rotors and air (2, 6), of contact (2, 6), and of `lock_wrench`."""

    wrenches: Array
    contact: Array
    lock: LockRoom

    @classmethod
    def empty(cls) -> Self:
        """Without any wrench."""
        return cls(np.zeros((2, 6)), np.zeros((2, 6)), LockRoom.empty())


@njit(cache=True, error_model="numpy")
def meet(b: int, time: float, pairs: Pairs, between: PairContact, room: Room, dt: float) -> bool:
    """Add the wrenches of contact and latch to those in `room`; returns whether the two touch.

    Args:
        b: the world of the pair.
        time: since its reset [s].
        pairs: all of them; the pair's latch and mean contact are moved on.
        between: ports and latch.
        room: of this loop alone, with the wrenches of rotors and air.
        dt: physics step [s].
    """
    bodies, mechanism, latch = between.bodies, between.mechanism, between.latch
    x_t, x_c = pairs.x[b, TARGET], pairs.x[b, CHASER]
    gap = sub(vec_at(x_t, 0), vec_at(x_c, 0))
    if dot(gap, gap) > mechanism.reach**2 and pairs.phase[b] != LOCKED:
        pairs.phase[b] = OPEN  # the probe has left
        return False
    m_c = BodyInertia(1.0 / bodies.mass[b, CHASER], bodies.J[b, CHASER], bodies.J_inv[b, CHASER])
    m_t = BodyInertia(1.0 / bodies.mass[b, TARGET], bodies.J[b, TARGET], bodies.J_inv[b, TARGET])
    # what ports press within a lock, the lock takes up: nothing moves by it, and the sum of both is the same
    is_free = pairs.phase[b] != LOCKED
    touched = is_free and contact(x_c, x_t, m_c, m_t, mechanism, dt, room.contact)
    if touched:
        for k in range(6):
            room.wrenches[CHASER, k] += room.contact[0, k]
            room.wrenches[TARGET, k] += room.contact[1, k]
            pairs.contact[b, k] += room.contact[0, k]
    _latch(b, time, pairs, between, (m_c, m_t), dt)
    if pairs.phase[b] == LOCKED:
        _lock(b, pairs, mechanism, (m_c, m_t), room, between.gravity, dt)
        if norm(vec_at(pairs.wrench[b], 0)) > latch.max_force:
            pairs.phase[b] = SPENT
    if pairs.phase[b] in (CAUGHT, LOCKED):
        _hold(b, pairs, mechanism, room.wrenches)
        return True
    return touched


@formula
def _latch(
    b: int,
    time: float,
    pairs: Pairs,
    between: PairContact,
    bodies: tuple[BodyInertia, BodyInertia],
    dt: float,
) -> None:
    """Catch, damp and lock, between chaser and target, see `iap_physics.latching.kernel`."""
    mechanism, latch = between.mechanism, between.latch
    last = pairs.phase[b]
    if last == LOCKED:
        return
    x_t, x_c = pairs.x[b, TARGET], pairs.x[b, CHASER]
    probe = approach(x_c, x_t, mechanism.probe, mechanism.socket)
    phase = next_phase(last, probe, latch, True)
    if last == OPEN and phase == CAUGHT:
        caught = pairs.caught[b]
        caught[0], caught[1], caught[2] = time, probe.depth, probe.radius
        caught[3], caught[4] = probe.angle, probe.closing
    if phase == CAUGHT:
        speed, turn = damp(
            x_c, x_t, mechanism.probe, bodies[0], bodies[1], latch, dt, pairs.wrench[b]
        )
        if is_slow(speed, turn):
            phase = LOCKED
            E = place_of(x_c, mechanism.probe.position)
            put_at(pairs.p_BJ_B[b], 0, unrotate(quat_at(x_t, 3), sub(E, vec_at(x_t, 0))))
            put4(pairs.q_AB[b], qmul(qconj(quat_at(x_c, 3)), quat_at(x_t, 3)))
    pairs.phase[b] = phase


@formula
def _lock(
    b: int,
    pairs: Pairs,
    mechanism: Mechanism,
    bodies: tuple[BodyInertia, BodyInertia],
    room: Room,
    gravity: float,
    dt: float,
) -> None:
    """The wrench of the lock, between chaser and target, in this step."""
    for k in range(6):
        room.lock.wrenches[0, k] = room.wrenches[CHASER, k]
        room.lock.wrenches[1, k] = room.wrenches[TARGET, k]
    x_c, x_t = pairs.x[b, CHASER], pairs.x[b, TARGET]
    lock = Lock(mechanism.probe.position, pairs.p_BJ_B[b], quat_at(pairs.q_AB[b], 0))
    lock_wrench(x_c, x_t, lock, bodies, room.lock, gravity, dt, pairs.wrench[b])


@formula
def _hold(b: int, pairs: Pairs, mechanism: Mechanism, wrenches: Array) -> None:
    """Add the latch's wrench to those on both."""
    force, torque = vec_at(pairs.wrench[b], 0), vec_at(pairs.wrench[b], 3)
    E = place_of(pairs.x[b, CHASER], mechanism.probe.position)
    for row, sign in ((CHASER, 1.0), (TARGET, -1.0)):
        arm = sub(E, vec_at(pairs.x[b, row], 0))
        moment = add(torque, cross(arm, force))
        for k in range(3):
            wrenches[row, k] += sign * force[k]
            wrenches[row, 3 + k] += sign * moment[k]
            if row == CHASER:
                pairs.contact[b, k] += force[k]
                pairs.contact[b, 3 + k] += moment[k]
