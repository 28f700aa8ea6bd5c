# SPDX-License-Identifier: BSD-3-Clause
"""The loops over a block's worlds, one for each part of a physics step: numbers in, formula, numbers out.

The formulas are those of `propulsion.autopilot`, `propulsion.rotors`, `air.drag` and `engines.rigid_motion`. A loop
reads all it needs before it writes. Loops are short: each number of a stage of Runge and Kutta's waits for the one
before, and a processor computes several lanes at the same time only as far as it looks ahead, which is some 250
instructions. What a loop leaves to the next one stands in rows of its own body, at distances that the compiler knows.
"""

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat,
    Quat,
    Vec,
    add,
    choose,
    chosen3,
    chosen4,
    formula,
    qmul,
    scale,
    sub,
    unrotate,
)
from iap_description.math.lanes import Index, Lanes, get, get3, get4, get9, set1, set3, set4
from iap_description.states import Mode
from iap_description.vehicles.autopilot_gains import attitude_torque
from iap_physics.air.drag import drag_force
from iap_physics.batch.layout import BODY, BODY_COMMAND, SHARED, VEHICLE, VEHICLE_ROW, body_row
from iap_physics.engines.rigid_motion import (
    Base,
    Moments,
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
from iap_physics.propulsion.autopilot import SpeedLimits, of_rotors, rotor_commands
from iap_physics.propulsion.rotors import Lag, rotor_wrench, spin_four

ZERO_VECTOR = (0.0, 0.0, 0.0)  # which sums begin with, so that they hold no negative zero
ATTITUDE_MODE, RPM_MODE = float(Mode.ATTITUDE_THRUST), float(Mode.RPM)


@formula
def shared3(shared: Array, i: int, k: int) -> Vec:
    """Three numbers of a body from column k on."""
    return (shared[i, k], shared[i, k + 1], shared[i, k + 2])


@formula
def shared4(shared: Array, i: int, k: int) -> Quat:
    """Four numbers of a body from column k on."""
    return (shared[i, k], shared[i, k + 1], shared[i, k + 2], shared[i, k + 3])


@formula
def shared9(shared: Array, i: int, k: int) -> Mat:
    """Nine numbers of a body from column k on."""
    a, b, c = shared3(shared, i, k)
    d, e, f = shared3(shared, i, k + 3)
    g, h, j = shared3(shared, i, k + 6)
    return (a, b, c, d, e, f, g, h, j)


@formula
def check(block: Array, body: Index, step: int, lanes: Lanes) -> None:
    """Let worlds fly no more in which a body's motion is none."""
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
def clear(block: Array, body: Index, lanes: Lanes) -> None:
    """No wrench yet, on a body without rotors."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            set1(block, body, BODY.wrench + k, lane, 0.0)


@formula
def tick(block: Array, b: Index, every: int, lanes: Lanes) -> None:
    """Count steps from one of the autopilot's instants to the next."""
    for lane in range(lanes[0], lanes[1]):
        tick = get(block, b, BODY.tick, lane) + 1.0
        set1(block, b, BODY.tick, lane, choose(tick >= every, 0.0, tick))


@formula
def command(block: Array, i: int, shared: Array, lanes: Lanes) -> None:
    """The autopilot of the aircraft that is body i."""
    b = body_row(i)
    gains = (shared3(shared, i, SHARED.attitude_gain), shared3(shared, i, SHARED.rate_gain))
    J = shared9(shared, i, SHARED.autopilot_J)
    mix = (
        shared3(shared, i, SHARED.mix),
        shared3(shared, i, SHARED.mix + 3),
        shared3(shared, i, SHARED.mix + 6),
        shared3(shared, i, SHARED.mix + 9),
    )
    c_f, rpm_min, rpm_max, lead = shared4(shared, i, SHARED.c_f)
    limits = SpeedLimits(c_f, rpm_min, rpm_max, lead)
    lift = shared4(shared, i, SHARED.lift)
    for lane in range(lanes[0], lanes[1]):
        is_estimated = get(block, b, BODY.is_estimated, lane) > 0.0
        q = chosen4(
            is_estimated,
            get4(block, b, BODY.estimated_q, lane),
            get4(block, b, BODY.q, lane),
        )
        w = chosen3(
            is_estimated,
            get3(block, b, BODY.estimated_w, lane),
            get3(block, b, BODY.w, lane),
        )
        mode = get(block, b, BODY.mode, lane)
        torque = attitude_torque(
            mode == ATTITUDE_MODE,
            q,
            unrotate(q, w),
            get4(block, b, BODY_COMMAND.q_WB, lane),
            get3(block, b, BODY_COMMAND.w_WB_B, lane),
            gains[0],
            gains[1],
            J,
        )
        set3(block, b, BODY.momentum, lane, torque)
    for lane in range(lanes[0], lanes[1]):
        mode, torque = (
            get(block, b, BODY.mode, lane),
            get3(block, b, BODY.momentum, lane),
        )
        rpm, thrust = get4(block, b, BODY.rpm, lane), get(block, b, BODY_COMMAND.thrust, lane)
        wanted = rotor_commands(thrust, torque, mix, lift, limits, rpm)
        given = of_rotors(get4(block, b, BODY_COMMAND.rpm, lane), lift)
        last = get4(block, b, BODY.target, lane)
        is_due = get(block, b, BODY.tick, lane) == 0.0
        for_rotors = chosen4(is_due, chosen4(mode == RPM_MODE, given, wanted), last)
        set4(block, b, BODY.target, lane, for_rotors)


@formula
def spin(block: Array, i: int, shared: Array, lanes: Lanes) -> None:
    """The rotors of the aircraft that is body i, and their wrench on it."""
    b = body_row(i)
    rpm_min, rpm_max = shared[i, SHARED.rpm_min], shared[i, SHARED.rpm_max]
    fastest, share = (
        shared[i, SHARED.speed_share] * rpm_max,
        shared4(shared, i, SHARED.thrust_share),
    )
    torques = (
        shared4(shared, i, SHARED.torques),
        shared4(shared, i, SHARED.torques + 4),
        shared4(shared, i, SHARED.torques + 8),
    )
    for lane in range(lanes[0], lanes[1]):
        up, down = get3(block, b, BODY.up, lane), get3(block, b, BODY.down, lane)
        rpm, thrusts = spin_four(
            get4(block, b, BODY.rpm, lane),
            get4(block, b, BODY.target, lane),
            get(block, b, BODY.thrust_coefficient, lane),
            rpm_min,
            fastest,
            Lag(up[0], up[1], up[2]),
            Lag(down[0], down[1], down[2]),
            share,
        )
        force, torque = rotor_wrench(thrusts, get4(block, b, BODY.q, lane), torques)
        set4(block, b, BODY.rpm, lane, rpm)
        set3(block, b, BODY.wrench, lane, add(ZERO_VECTOR, force))
        set3(block, b, BODY.wrench + 3, lane, add(ZERO_VECTOR, torque))


@formula
def add_external(block: Array, b: Index, lanes: Lanes) -> None:
    """The disturbance of the central body."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            wrench = get(block, b, BODY.wrench + k, lane) + get(
                block, VEHICLE_ROW, VEHICLE.external + k, lane
            )
            set1(block, b, BODY.wrench + k, lane, wrench)


@formula
def add_drag(block: Array, b: Index, lanes: Lanes) -> None:
    """A body's drag."""
    for lane in range(lanes[0], lanes[1]):
        v_W = sub(get3(block, b, BODY.v, lane), get3(block, b, BODY.air, lane))
        linear, quadratic = (
            get3(block, b, BODY.linear, lane),
            get3(block, b, BODY.quadratic, lane),
        )
        force = drag_force(get4(block, b, BODY.q, lane), v_W, linear, quadratic)
        set3(block, b, BODY.wrench, lane, add(get3(block, b, BODY.wrench, lane), force))


@formula
def begin_sums(block: Array, lanes: Lanes) -> None:
    """Force, torque and moments of the central body alone."""
    b = body_row(0)
    for lane in range(lanes[0], lanes[1]):
        f, arm = get3(block, b, BODY.wrench, lane), get3(block, b, BODY.arm, lane)
        torque = add(ZERO_VECTOR, get3(block, b, BODY.wrench + 3, lane))
        set3(block, VEHICLE_ROW, VEHICLE.force, lane, add(ZERO_VECTOR, f))
        set3(block, VEHICLE_ROW, VEHICLE.moments, lane, add(ZERO_VECTOR, scale(f[0], arm)))
        set3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane, add(ZERO_VECTOR, scale(f[1], arm)))
        set3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane, add(ZERO_VECTOR, scale(f[2], arm)))
        set3(block, VEHICLE_ROW, VEHICLE.torque, lane, torque)


@formula
def add_to_sums(block: Array, b: Index, is_rigid: bool, lanes: Lanes) -> None:
    """Add a body's force and moments, and its torque where it belongs to the rigid part."""
    for lane in range(lanes[0], lanes[1]):
        f, arm = get3(block, b, BODY.wrench, lane), get3(block, b, BODY.arm, lane)
        force = add(get3(block, VEHICLE_ROW, VEHICLE.force, lane), f)
        for_x = add(get3(block, VEHICLE_ROW, VEHICLE.moments, lane), scale(f[0], arm))
        for_y = add(get3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane), scale(f[1], arm))
        for_z = add(get3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane), scale(f[2], arm))
        set3(block, VEHICLE_ROW, VEHICLE.force, lane, force)
        set3(block, VEHICLE_ROW, VEHICLE.moments, lane, for_x)
        set3(block, VEHICLE_ROW, VEHICLE.moments + 3, lane, for_y)
        set3(block, VEHICLE_ROW, VEHICLE.moments + 6, lane, for_z)
    if is_rigid:
        for lane in range(lanes[0], lanes[1]):
            torque = add(
                get3(block, VEHICLE_ROW, VEHICLE.torque, lane),
                get3(block, b, BODY.wrench + 3, lane),
            )
            set3(block, VEHICLE_ROW, VEHICLE.torque, lane, torque)


@formula
def move(block: Array, b: Index, gravity: float, dt: float, lanes: Lanes) -> None:
    """The rigid part, whose central body is b: `step_rigid`, a loop for each stage."""
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
    moments = Moments(
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
