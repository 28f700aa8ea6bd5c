# SPDX-License-Identifier: BSD-3-Clause
"""The loops over a block's worlds, one for each part of the bodies' motion: numbers in, formula, numbers out.

The formulas are those of `engines.rigid_motion`. A loop reads all it needs before it writes. Loops are short: each
number of a stage of Runge and Kutta's waits for the one before, and a processor computes several lanes at the same time
only as far as it looks ahead, which is some 250 instructions. What a loop leaves to the next one stands in rows of its
own body, at distances that the compiler knows.
"""

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    choose,
    formula,
    qmul,
    scale,
)
from iap_description.math.lanes import Index, Lanes, get, get3, get4, get9, set1, set3, set4
from iap_physics.batch.layout import BODY, VEHICLE, VEHICLE_ROW, body_row
from iap_physics.engines.rigid_motion import (
    Base,
    ForceMoments,
    begin_turn,
    end_turn,
    go_on_turning,
    is_sound,
    momentum_after,
    move_centre,
    on_arm,
    torque_at,
)
from iap_physics.engines.rigid_motion import spin as spin_of


@formula
def check(block: Array, body: Index, step: int, lanes: Lanes) -> None:
    """Stop worlds in which a body's motion is not finite."""
    for lane in range(lanes[0], lanes[1]):
        q, v = get4(block, body, BODY.q, lane), get3(block, body, BODY.v, lane)
        sound = is_sound(get3(block, body, BODY.p, lane), q, v, get3(block, body, BODY.w, lane))
        flies = get(block, VEHICLE_ROW, VEHICLE.flies, lane) > 0.0
        failed = get(block, VEHICLE_ROW, VEHICLE.failed, lane)
        set1(
            block,
            VEHICLE_ROW,
            VEHICLE.failed,
            lane,
            choose(flies & (not sound), float(step), failed),
        )
        set1(block, VEHICLE_ROW, VEHICLE.flies, lane, choose(flies & sound, 1.0, 0.0))


@formula
def move(block: Array, b: Index, gravity: float, dt: float, lanes: Lanes) -> None:
    """The rigid part, whose central body is b: `step_rigid`, a loop for each stage."""
    _begin_move(block, b, gravity, dt, lanes)
    _turn_half_way(block, b, dt, lanes)
    _end_move(block, b, dt, lanes)


@formula
def _begin_move(block: Array, b: Index, gravity: float, dt: float, lanes: Lanes) -> None:
    """The common CoM, and the first stage of the rigid part's turning."""
    for lane in range(lanes[0], lanes[1]):
        q, w = get4(block, b, BODY.q, lane), get3(block, b, BODY.w, lane)
        base = Base(get3(block, b, BODY.p, lane), q, get3(block, b, BODY.v, lane), w)
        arm, force = get3(block, b, BODY.arm, lane), get3(block, VEHICLE_ROW, VEHICLE.force, lane)
        mass = get(block, VEHICLE_ROW, VEHICLE.mass, lane)
        p_C, v_C = move_centre(base, arm, force, mass, gravity, dt)
        set3(block, VEHICLE_ROW, VEHICLE.com_p, lane, p_C)
        set3(block, VEHICLE_ROW, VEHICLE.com_v, lane, v_C)
        set3(block, b, BODY.momentum, lane, spin_of(q, w, get9(block, b, BODY.J, lane)))
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, BODY.q, lane), get3(block, b, BODY.momentum, lane)
        t1 = _torque_at(block, q, lane)
        at, so_far = begin_turn(q, L, get9(block, b, BODY.J_inv, lane), dt)
        set3(block, VEHICLE_ROW, VEHICLE.torque_1, lane, t1)
        set4(block, b, BODY.stage_q, lane, at)
        set4(block, b, BODY.sum_q, lane, so_far)


@formula
def _turn_half_way(block: Array, b: Index, dt: float, lanes: Lanes) -> None:
    """Second and third stage of the rigid part's turning."""
    for lane in range(lanes[0], lanes[1]):
        at, t1 = (
            get4(block, b, BODY.stage_q, lane),
            get3(block, VEHICLE_ROW, VEHICLE.torque_1, lane),
        )
        t2 = _torque_at(block, at, lane)
        L = add(get3(block, b, BODY.momentum, lane), scale(0.5 * dt, t1))
        _go_on_turning(block, b, L, 0.5 * dt, dt, lane)
        set3(block, VEHICLE_ROW, VEHICLE.torque_2, lane, t2)
    for lane in range(lanes[0], lanes[1]):
        at, t2 = (
            get4(block, b, BODY.stage_q, lane),
            get3(block, VEHICLE_ROW, VEHICLE.torque_2, lane),
        )
        t3 = _torque_at(block, at, lane)
        L = add(get3(block, b, BODY.momentum, lane), scale(0.5 * dt, t2))
        _go_on_turning(block, b, L, dt, dt, lane)
        set3(block, VEHICLE_ROW, VEHICLE.torque_2, lane, add(t2, t3))
        set3(block, VEHICLE_ROW, VEHICLE.torque_3, lane, t3)


@formula
def _end_move(block: Array, b: Index, dt: float, lanes: Lanes) -> None:
    """The last stage, and the central body's motion on its arm."""
    for lane in range(lanes[0], lanes[1]):
        at, L = get4(block, b, BODY.stage_q, lane), get3(block, b, BODY.momentum, lane)
        t1, t3 = (
            get3(block, VEHICLE_ROW, VEHICLE.torque_1, lane),
            get3(block, VEHICLE_ROW, VEHICLE.torque_3, lane),
        )
        t4, t2_t3 = _torque_at(block, at, lane), get3(block, VEHICLE_ROW, VEHICLE.torque_2, lane)
        so_far, J_inv = get4(block, b, BODY.sum_q, lane), get9(block, b, BODY.J_inv, lane)
        q = end_turn(at, so_far, add(L, scale(dt, t3)), J_inv, dt)
        set4(block, b, BODY.q, lane, q)
        set3(block, b, BODY.momentum, lane, momentum_after(L, t1, t2_t3, t4, dt))
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, BODY.q, lane), get3(block, b, BODY.momentum, lane)
        w = spin_of(q, L, get9(block, b, BODY.J_inv, lane))
        p_C, v_C = (
            get3(block, VEHICLE_ROW, VEHICLE.com_p, lane),
            get3(block, VEHICLE_ROW, VEHICLE.com_v, lane),
        )
        p, v = on_arm(p_C, v_C, q, w, get3(block, b, BODY.arm, lane))
        set3(block, b, BODY.p, lane, p)
        set3(block, b, BODY.v, lane, v)
        set3(block, b, BODY.w, lane, w)


@formula
def _torque_at(block: Array, q: Quat, lane: Index) -> Vec:
    """The rigid part's torque at an attitude."""
    moments = ForceMoments(
        get3(block, VEHICLE_ROW, VEHICLE.moments, lane),
        get3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane),
        get3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane),
    )
    return torque_at(q, get3(block, VEHICLE_ROW, VEHICLE.torque, lane), moments)


@formula
def _go_on_turning(block: Array, b: Index, L: Vec, ahead: float, dt: float, lane: Index) -> None:
    """Second or third stage of a body's turning."""
    at, so_far = go_on_turning(
        get4(block, b, BODY.q, lane),
        get4(block, b, BODY.stage_q, lane),
        get4(block, b, BODY.sum_q, lane),
        L,
        get9(block, b, BODY.J_inv, lane),
        ahead,
        dt,
    )
    set4(block, b, BODY.stage_q, lane, at)
    set4(block, b, BODY.sum_q, lane, so_far)


@formula
def turn(block: Array, b: Index, dt: float, lanes: Lanes) -> None:
    """A body on a spherical joint: `step_body`, a loop for each stage."""
    for lane in range(lanes[0], lanes[1]):
        q, w = get4(block, b, BODY.q, lane), get3(block, b, BODY.w, lane)
        set3(block, b, BODY.momentum, lane, spin_of(q, w, get9(block, b, BODY.J, lane)))
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, BODY.q, lane), get3(block, b, BODY.momentum, lane)
        at, so_far = begin_turn(q, L, get9(block, b, BODY.J_inv, lane), dt)
        set4(block, b, BODY.stage_q, lane, at)
        set4(block, b, BODY.sum_q, lane, so_far)
    for lane in range(lanes[0], lanes[1]):
        _go_on_turning(block, b, _momentum_in(block, b, 0.5 * dt, lane), 0.5 * dt, dt, lane)
    for lane in range(lanes[0], lanes[1]):
        _go_on_turning(block, b, _momentum_in(block, b, 0.5 * dt, lane), dt, dt, lane)
    for lane in range(lanes[0], lanes[1]):
        at, so_far = get4(block, b, BODY.stage_q, lane), get4(block, b, BODY.sum_q, lane)
        L = _momentum_in(block, b, dt, lane)
        q = end_turn(at, so_far, L, get9(block, b, BODY.J_inv, lane), dt)
        set4(block, b, BODY.q, lane, q)
        set3(block, b, BODY.momentum, lane, L)
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, BODY.q, lane), get3(block, b, BODY.momentum, lane)
        set3(block, b, BODY.w, lane, spin_of(q, L, get9(block, b, BODY.J_inv, lane)))


@formula
def _momentum_in(block: Array, b: Index, t: float, lane: Index) -> Vec:
    """Angular momentum of a body after a time under its torque."""
    torque = get3(block, b, BODY.wrench + 3, lane)
    return add(get3(block, b, BODY.momentum, lane), scale(t, torque))


@formula
def follow(block: Array, b: Index, q_PB: Quat, lanes: Lanes) -> None:
    """The attitude of a body on a fixed joint."""
    for lane in range(lanes[0], lanes[1]):
        base = body_row(0)
        q, w = get4(block, base, BODY.q, lane), get3(block, base, BODY.w, lane)
        set4(block, b, BODY.q, lane, qmul(q, q_PB))
        set3(block, b, BODY.w, lane, w)


@formula
def place(block: Array, b: Index, lanes: Lanes) -> None:
    """Place and velocity of a body, which follow from the rigid part's."""
    for lane in range(lanes[0], lanes[1]):
        base = body_row(0)
        p, v = on_arm(
            get3(block, VEHICLE_ROW, VEHICLE.com_p, lane),
            get3(block, VEHICLE_ROW, VEHICLE.com_v, lane),
            get4(block, base, BODY.q, lane),
            get3(block, base, BODY.w, lane),
            get3(block, b, BODY.arm, lane),
        )
        set3(block, b, BODY.p, lane, p)
        set3(block, b, BODY.v, lane, v)
