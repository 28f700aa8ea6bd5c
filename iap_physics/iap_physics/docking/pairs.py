# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of many pairs of aircraft that dock: autopilots, rotors, air, contact, latch and motion, compiled.

The formulas of autopilot, rotors, drag and motion are those of `iap_physics.plant.Plant` in the closed form.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.kernels import (
    add,
    cross,
    dot,
    mat,
    norm,
    put4,
    put_at,
    qconj,
    qmul,
    quat_at,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.autopilot_gains import AutopilotGains, attitude_torque
from iap_description.vehicles.latch import approach, is_caught, place_of
from iap_physics.autopilot import Autopilot, rotor_commands
from iap_physics.docking.lock import lock_wrench
from iap_physics.docking.mechanism import Mechanism, contact
from iap_physics.drag import drag_force
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.rigid_motion import is_sound, step_body
from iap_physics.latches import SLIP, SLOW, SLOW_TURN, Masses, damp
from iap_physics.rotors import Lag, rotor_wrench, spin_four

TARGET, CHASER = 0, 1  # the socket's aircraft and the probe's
OPEN, CAUGHT, LOCKED, SPENT = range(4)  # see `iap_physics.latches.Phase`
_ATTITUDE = int(Mode.ATTITUDE_THRUST)


class Latching(NamedTuple):
    """A latch as the kernel takes it; fields as those of `iap_description.vehicles.latch.Latch`, angles in radians."""

    depth: float
    radius: float
    angle: float
    speed: float
    damping: float
    turn_damping: float
    max_force: float


class Body(NamedTuple):
    """Numbers of both aircraft in B worlds.

    Attributes:
        mass: (B, 2) [kg].
        J: (B, 2, 3, 3) inertia [kg m^2].
        J_inv: (B, 2, 3, 3) inverses.
        linear: (B, 2, 3) drag [N/(m/s)].
        quadratic: (B, 2, 3) drag [N/(m/s)^2].
        thrust_coefficient: (B, 2) [N/rpm^2].
        lags: (B, 2, 6) `iap_physics.rotors.Lag` of rising and falling speeds.
    """

    mass: Array
    J: Array
    J_inv: Array
    linear: Array
    quadratic: Array
    thrust_coefficient: Array
    lags: Array


class Actuators(NamedTuple):
    """Numbers of target's and chaser's autopilots and rotors, the same in all worlds.

    Plain arrays: reading fields of records takes as long as what is computed with them.

    Attributes:
        attitude: (2, 3) gain [1/s^2].
        rate: (2, 3) gain [1/s].
        J: (2, 3, 3) inertia as the autopilot believes it [kg m^2].
        mix: (2, 12) `iap_physics.autopilot.Mix`.
        limits: (2, 4) thrust coefficient as it believes it, slowest and fastest speed [rpm], and lead.
        torques: (2, 12) rotor thrusts to torques in the aircraft's frame.
        mode: of the commands, an `iap_description.states.Mode`.
        every: physics steps of an autopilot's period.
        has_drag: whether they feel the air.
    """

    attitude: Array
    rate: Array
    J: Array
    mix: Array
    limits: Array
    torques: Array
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
        pilots = [Autopilot.of(each, own) for each, own in zip(aircraft, gains, strict=True)]
        return cls(
            np.array([each.attitude for each in pilots]),
            np.array([each.rate for each in pilots]),
            np.array([each.J for each in pilots]),
            np.array([each.mix[:, 1:].ravel() for each in pilots]),
            np.array([(p.thrust_coefficient, p.rpm_min, p.rpm_max, p.lead) for p in pilots]),
            np.array([each.wrench_of_rotor_thrusts[3:].ravel() for each in aircraft]),
            mode,
            every,
            has_drag,
        )


class Pairs(NamedTuple):
    """What moves on in B worlds.

    Attributes:
        x: (B, 2, 13) state rows.
        rpm: (B, 2, 4) rotor speeds [rpm].
        target: (B, 2, 4) that autopilots command [rpm].
        status: (B,) of the worlds.
        ticks: (B,) physics steps since the reset.
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
    rpm: Array
    target: Array
    status: Integers
    ticks: Integers
    phase: Integers
    p_BJ_B: Array
    q_AB: Array
    wrench: Array
    contact: Array
    touches: Booleans
    caught: Array


class Held(NamedTuple):
    """Commands and air in B worlds that hold over a period.

    Attributes:
        thrust: (B, 2) [N].
        q_WB: (B, 2, 4) attitude.
        w_WB_B: (B, 2, 3) body rates [rad/s].
        air_W: (B, 3) velocity of the air [m/s].
    """

    thrust: Array
    q_WB: Array
    w_WB_B: Array
    air_W: Array


class Room(NamedTuple):
    """Room of a loop: wrenches of rotors and air (2, 6), of contact (2, 6), and of `lock_wrench`."""

    wrenches: Array
    contact: Array
    lock: Array


@njit(cache=True, nogil=True, error_model="numpy")
def advance_pairs(
    first: int,
    last: int,
    pairs: Pairs,
    held: Held,
    body: Body,
    actuators: Actuators,
    mechanism: Mechanism,
    latch: Latching,
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
    for b in range(first, last):
        if pairs.status[b] != RUNNING:
            continue
        for k in range(6):
            pairs.contact[b, k] = 0.0
        pairs.touches[b] = False
        for _ in range(substeps):
            _actuate(b, pairs, held, body, actuators, room.wrenches)
            touched = _meet(b, pairs, body, mechanism, latch, room, gravity, dt)
            pairs.touches[b] = pairs.touches[b] or touched
            for i in range(2):
                _move(b, i, pairs, body, room.wrenches, gravity, dt)
            pairs.ticks[b] += 1
            if not (_is_row_sound(pairs.x[b, 0]) and _is_row_sound(pairs.x[b, 1])):
                pairs.status[b] = DIVERGED
                break
        for k in range(6):
            pairs.contact[b, k] /= substeps


@njit(cache=True, error_model="numpy")
def _is_row_sound(x: Array) -> bool:
    return is_sound(vec_at(x, 0), quat_at(x, 3), vec_at(x, 7), vec_at(x, 10))


@njit(cache=True, error_model="numpy")
def _actuate(
    b: int, pairs: Pairs, held: Held, body: Body, actuators: Actuators, wrenches: Array
) -> None:
    """Write the wrenches of rotors and air on both aircraft."""
    is_due = pairs.ticks[b] % actuators.every == 0
    for i in range(2):
        x, limits = pairs.x[b, i], actuators.limits[i]
        q = quat_at(x, 3)
        if is_due:
            gains = (
                vec_at(actuators.attitude[i], 0),
                vec_at(actuators.rate[i], 0),
                mat(actuators.J[i]),
            )
            wanted = (quat_at(held.q_WB[b, i], 0), vec_at(held.w_WB_B[b, i], 0))
            w_B = unrotate(q, vec_at(x, 10))
            has_attitude = actuators.mode == _ATTITUDE
            torque = attitude_torque(has_attitude, q, w_B, wanted[0], wanted[1], *gains)
            mix = actuators.mix[i]
            rows = (vec_at(mix, 0), vec_at(mix, 3), vec_at(mix, 6), vec_at(mix, 9))
            order = (held.thrust[b, i], torque, rows, limits[0], limits[1], limits[2], limits[3])
            put4(pairs.target[b, i], rotor_commands(*order, quat_at(pairs.rpm[b, i], 0)))
        lags, M = body.lags[b, i], actuators.torques[i]
        speeds, thrusts = spin_four(
            quat_at(pairs.rpm[b, i], 0),
            quat_at(pairs.target[b, i], 0),
            body.thrust_coefficient[b, i],
            limits[1],
            limits[2],
            Lag(lags[0], lags[1], lags[2]),
            Lag(lags[3], lags[4], lags[5]),
            (1.0, 1.0, 1.0, 1.0),
        )
        put4(pairs.rpm[b, i], speeds)
        rows_of_torque = (quat_at(M, 0), quat_at(M, 4), quat_at(M, 8))
        force, torque_W = rotor_wrench(thrusts, q, rows_of_torque)
        if actuators.has_drag:
            v_W = sub(vec_at(x, 7), vec_at(held.air_W[b], 0))
            air = (vec_at(body.linear[b, i], 0), vec_at(body.quadratic[b, i], 0))
            force = add(force, drag_force(q, v_W, *air))
        put_at(wrenches[i], 0, force)
        put_at(wrenches[i], 3, torque_W)


@njit(cache=True, error_model="numpy")
def _meet(
    b: int,
    pairs: Pairs,
    body: Body,
    mechanism: Mechanism,
    latch: Latching,
    room: Room,
    gravity: float,
    dt: float,
) -> bool:
    """Add the wrenches of contact and latch; returns whether the two touch."""
    x_t, x_c = pairs.x[b, TARGET], pairs.x[b, CHASER]
    gap = sub(vec_at(x_t, 0), vec_at(x_c, 0))
    if dot(gap, gap) > mechanism.reach**2 and pairs.phase[b] != LOCKED:
        pairs.phase[b] = OPEN  # what has been held has left
        return False
    m_c = Masses(1.0 / body.mass[b, CHASER], body.J_inv[b, CHASER])
    m_t = Masses(1.0 / body.mass[b, TARGET], body.J_inv[b, TARGET])
    # what ports press within a lock, the lock takes up: nothing moves by it, and the sum of both is the same
    is_free = pairs.phase[b] != LOCKED
    touched = is_free and contact(x_c, x_t, m_c, m_t, mechanism, dt, room.contact)
    if touched:
        for k in range(6):
            room.wrenches[CHASER, k] += room.contact[0, k]
            room.wrenches[TARGET, k] += room.contact[1, k]
            pairs.contact[b, k] += room.contact[0, k]
    _latch(b, pairs, mechanism, latch, m_c, m_t, dt)
    if pairs.phase[b] == LOCKED:
        _lock(b, pairs, body, mechanism, latch, m_c, m_t, room, gravity, dt)
    if pairs.phase[b] in (CAUGHT, LOCKED):
        _hold(b, pairs, mechanism, room.wrenches)
        return True
    return touched


@njit(cache=True, error_model="numpy")
def _latch(
    b: int,
    pairs: Pairs,
    mechanism: Mechanism,
    latch: Latching,
    m_c: Masses,
    m_t: Masses,
    dt: float,
) -> None:
    """Catch, damp and lock, as `iap_physics.latches.Latches.act` does."""
    phase = pairs.phase[b]
    if phase == LOCKED:
        return
    x_t, x_c = pairs.x[b, TARGET], pairs.x[b, CHASER]
    found = approach(x_c, x_t, mechanism.probe, mechanism.socket)
    has_left = found.depth < latch.depth - SLIP
    limits = (latch.depth, latch.radius, latch.angle, latch.speed)
    if phase == OPEN and is_caught(found, *limits):
        phase = CAUGHT
        caught = pairs.caught[b]
        caught[0], caught[1], caught[2] = dt * pairs.ticks[b], found.depth, found.radius
        caught[3], caught[4] = found.angle, found.closing
    elif phase in (CAUGHT, SPENT) and has_left:
        phase = OPEN
    if phase == CAUGHT:
        gains = (latch.damping, latch.turn_damping, dt)
        speed, turn = damp(x_c, x_t, mechanism.probe, m_c, m_t, *gains, pairs.wrench[b])
        if speed < SLOW and turn < SLOW_TURN:
            phase = LOCKED
            E = place_of(x_c, mechanism.probe.position)
            put_at(pairs.p_BJ_B[b], 0, unrotate(quat_at(x_t, 3), sub(E, vec_at(x_t, 0))))
            put4(pairs.q_AB[b], qmul(qconj(quat_at(x_c, 3)), quat_at(x_t, 3)))
    pairs.phase[b] = phase


@njit(cache=True, error_model="numpy")
def _lock(
    b: int,
    pairs: Pairs,
    body: Body,
    mechanism: Mechanism,
    latch: Latching,
    m_c: Masses,
    m_t: Masses,
    room: Room,
    gravity: float,
    dt: float,
) -> None:
    """The wrench of the lock in this step, which opens it where it is too large."""
    # the joint's first body is the chaser
    for k in range(6):
        room.contact[0, k], room.contact[1, k] = (
            room.wrenches[CHASER, k],
            room.wrenches[TARGET, k],
        )
    lock_wrench(
        pairs.x[b, CHASER],
        pairs.x[b, TARGET],
        mechanism.probe.position,
        pairs.p_BJ_B[b],
        quat_at(pairs.q_AB[b], 0),
        m_c,
        m_t,
        body.J[b, CHASER],
        body.J[b, TARGET],
        room.contact,
        gravity,
        dt,
        room.lock,
        pairs.wrench[b],
    )
    if norm(vec_at(pairs.wrench[b], 0)) > latch.max_force:
        pairs.phase[b] = SPENT


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def _move(
    b: int, i: int, pairs: Pairs, body: Body, wrenches: Array, gravity: float, dt: float
) -> None:
    """One aircraft's motion under its wrench."""
    x, wrench = pairs.x[b, i], wrenches[i]
    inertia = (mat(body.J[b, i]), mat(body.J_inv[b, i]))
    q, w = step_body(quat_at(x, 3), vec_at(x, 10), vec_at(wrench, 3), *inertia, dt)
    a = add(scale(1.0 / body.mass[b, i], vec_at(wrench, 0)), (0.0, 0.0, -gravity))
    v = vec_at(x, 7)
    put_at(x, 0, add(vec_at(x, 0), add(scale(dt, v), scale(0.5 * dt * dt, a))))
    x[3], x[4], x[5], x[6] = q
    put_at(x, 7, add(v, scale(dt, a)))
    put_at(x, 10, w)
