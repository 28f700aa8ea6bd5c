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
from iap_physics.batch import layout
from iap_physics.batch.layout import VEHICLE, body_row
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
from iap_physics.propulsion.autopilot import of_rotors, rotor_commands
from iap_physics.propulsion.rotors import Lag, rotor_wrench, spin_four

ZERO_VECTOR = (0.0, 0.0, 0.0)  # which sums begin with, so that they hold no negative zero
ATTITUDE_MODE, RPM_MODE = float(Mode.ATTITUDE_THRUST), float(Mode.RPM)


@formula
def alike3(alike: Array, i: int, k: int) -> Vec:
    """Three numbers of a body from column k on."""
    return (alike[i, k], alike[i, k + 1], alike[i, k + 2])


@formula
def alike4(alike: Array, i: int, k: int) -> Quat:
    """Four numbers of a body from column k on."""
    return (alike[i, k], alike[i, k + 1], alike[i, k + 2], alike[i, k + 3])


@formula
def alike9(alike: Array, i: int, k: int) -> Mat:
    """Nine numbers of a body from column k on."""
    a, b, c = alike3(alike, i, k)
    d, e, f = alike3(alike, i, k + 3)
    g, h, j = alike3(alike, i, k + 6)
    return (a, b, c, d, e, f, g, h, j)


@formula
def check(block: Array, body: Index, step: int, lanes: Lanes) -> None:
    """Let worlds fly no more in which a body's motion is none."""
    for lane in range(lanes[0], lanes[1]):
        q, v = get4(block, body, layout.Q, lane), get3(block, body, layout.V, lane)
        sound = is_sound(
            get3(block, body, layout.P, lane), q, v, get3(block, body, layout.W, lane)
        )
        flies = get(block, VEHICLE, layout.FLIES, lane) > 0.0
        failed = get(block, VEHICLE, layout.FAILED, lane)
        set1(block, VEHICLE, layout.FAILED, lane, choose(flies & (not sound), float(step), failed))
        set1(block, VEHICLE, layout.FLIES, lane, choose(flies & sound, 1.0, 0.0))


@formula
def clear(block: Array, body: Index, lanes: Lanes) -> None:
    """No wrench yet, on a body without rotors."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            set1(block, body, layout.WRENCH + k, lane, 0.0)


@formula
def tick(block: Array, b: Index, every: int, lanes: Lanes) -> None:
    """Count steps from one of the autopilot's instants to the next."""
    for lane in range(lanes[0], lanes[1]):
        tick = get(block, b, layout.TICK, lane) + 1.0
        set1(block, b, layout.TICK, lane, choose(tick >= every, 0.0, tick))


@formula
def command(block: Array, i: int, alike: Array, lanes: Lanes) -> None:
    """The autopilot of the aircraft that is body i."""
    b = body_row(i)
    gains = (alike3(alike, i, layout.ATTITUDE_GAIN), alike3(alike, i, layout.RATE_GAIN))
    J = alike9(alike, i, layout.AUTOPILOT_J)
    mix = (
        alike3(alike, i, layout.MIX),
        alike3(alike, i, layout.MIX + 3),
        alike3(alike, i, layout.MIX + 6),
        alike3(alike, i, layout.MIX + 9),
    )
    c_f, rpm_min, rpm_max, lead = alike4(alike, i, layout.C_F)
    lift = alike4(alike, i, layout.LIFT)
    for lane in range(lanes[0], lanes[1]):
        is_estimated = get(block, b, layout.ESTIMATED, lane) > 0.0
        q = chosen4(
            is_estimated,
            get4(block, b, layout.KNOWN_Q, lane),
            get4(block, b, layout.Q, lane),
        )
        w = chosen3(
            is_estimated,
            get3(block, b, layout.KNOWN_W, lane),
            get3(block, b, layout.W, lane),
        )
        mode = get(block, b, layout.MODE, lane)
        torque = attitude_torque(
            mode == ATTITUDE_MODE,
            q,
            unrotate(q, w),
            get4(block, b, layout.COMMAND_Q, lane),
            get3(block, b, layout.COMMAND_W, lane),
            gains[0],
            gains[1],
            J,
        )
        set3(block, b, layout.MOMENTUM, lane, torque)
    for lane in range(lanes[0], lanes[1]):
        mode, torque = (
            get(block, b, layout.MODE, lane),
            get3(block, b, layout.MOMENTUM, lane),
        )
        rpm, thrust = get4(block, b, layout.RPM, lane), get(block, b, layout.THRUST, lane)
        wanted = rotor_commands(thrust, torque, mix, lift, c_f, rpm_min, rpm_max, lead, rpm)
        given = of_rotors(get4(block, b, layout.COMMAND_RPM, lane), lift)
        last = get4(block, b, layout.TARGET, lane)
        is_due = get(block, b, layout.TICK, lane) == 0.0
        for_rotors = chosen4(is_due, chosen4(mode == RPM_MODE, given, wanted), last)
        set4(block, b, layout.TARGET, lane, for_rotors)


@formula
def spin(block: Array, i: int, alike: Array, lanes: Lanes) -> None:
    """The rotors of the aircraft that is body i, and their wrench on it."""
    b = body_row(i)
    rpm_min, rpm_max = alike[i, layout.RPM_MIN], alike[i, layout.RPM_MAX]
    fastest, share = alike[i, layout.SPEED_SHARE] * rpm_max, alike4(alike, i, layout.THRUST_SHARE)
    torques = (
        alike4(alike, i, layout.TORQUES),
        alike4(alike, i, layout.TORQUES + 4),
        alike4(alike, i, layout.TORQUES + 8),
    )
    for lane in range(lanes[0], lanes[1]):
        up, down = get3(block, b, layout.UP, lane), get3(block, b, layout.DOWN, lane)
        rpm, thrusts = spin_four(
            get4(block, b, layout.RPM, lane),
            get4(block, b, layout.TARGET, lane),
            get(block, b, layout.THRUST_COEFFICIENT, lane),
            rpm_min,
            fastest,
            Lag(up[0], up[1], up[2]),
            Lag(down[0], down[1], down[2]),
            share,
        )
        force, torque = rotor_wrench(thrusts, get4(block, b, layout.Q, lane), torques)
        set4(block, b, layout.RPM, lane, rpm)
        set3(block, b, layout.WRENCH, lane, add(ZERO_VECTOR, force))
        set3(block, b, layout.WRENCH + 3, lane, add(ZERO_VECTOR, torque))


@formula
def add_external(block: Array, b: Index, lanes: Lanes) -> None:
    """The disturbance of the central body."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            wrench = get(block, b, layout.WRENCH + k, lane) + get(
                block, VEHICLE, layout.EXTERNAL + k, lane
            )
            set1(block, b, layout.WRENCH + k, lane, wrench)


@formula
def add_drag(block: Array, b: Index, lanes: Lanes) -> None:
    """A body's drag."""
    for lane in range(lanes[0], lanes[1]):
        v_W = sub(get3(block, b, layout.V, lane), get3(block, b, layout.AIR, lane))
        linear, quadratic = (
            get3(block, b, layout.LINEAR, lane),
            get3(block, b, layout.QUADRATIC, lane),
        )
        force = drag_force(get4(block, b, layout.Q, lane), v_W, linear, quadratic)
        set3(block, b, layout.WRENCH, lane, add(get3(block, b, layout.WRENCH, lane), force))


@formula
def begin_sums(block: Array, lanes: Lanes) -> None:
    """Force, torque and moments of the central body alone."""
    b = body_row(0)
    for lane in range(lanes[0], lanes[1]):
        f, arm = get3(block, b, layout.WRENCH, lane), get3(block, b, layout.ARM, lane)
        torque = add(ZERO_VECTOR, get3(block, b, layout.WRENCH + 3, lane))
        set3(block, VEHICLE, layout.FORCE, lane, add(ZERO_VECTOR, f))
        set3(block, VEHICLE, layout.MOMENTS, lane, add(ZERO_VECTOR, scale(f[0], arm)))
        set3(block, VEHICLE, layout.MOMENTS + 3, lane, add(ZERO_VECTOR, scale(f[1], arm)))
        set3(block, VEHICLE, layout.MOMENTS + 6, lane, add(ZERO_VECTOR, scale(f[2], arm)))
        set3(block, VEHICLE, layout.TORQUE, lane, torque)


@formula
def add_to_sums(block: Array, b: Index, is_rigid: bool, lanes: Lanes) -> None:
    """Add a body's force and moments, and its torque where it belongs to the rigid part."""
    for lane in range(lanes[0], lanes[1]):
        f, arm = get3(block, b, layout.WRENCH, lane), get3(block, b, layout.ARM, lane)
        force = add(get3(block, VEHICLE, layout.FORCE, lane), f)
        for_x = add(get3(block, VEHICLE, layout.MOMENTS, lane), scale(f[0], arm))
        for_y = add(get3(block, VEHICLE, layout.MOMENTS + 3, lane), scale(f[1], arm))
        for_z = add(get3(block, VEHICLE, layout.MOMENTS + 6, lane), scale(f[2], arm))
        set3(block, VEHICLE, layout.FORCE, lane, force)
        set3(block, VEHICLE, layout.MOMENTS, lane, for_x)
        set3(block, VEHICLE, layout.MOMENTS + 3, lane, for_y)
        set3(block, VEHICLE, layout.MOMENTS + 6, lane, for_z)
    if is_rigid:
        for lane in range(lanes[0], lanes[1]):
            torque = add(
                get3(block, VEHICLE, layout.TORQUE, lane), get3(block, b, layout.WRENCH + 3, lane)
            )
            set3(block, VEHICLE, layout.TORQUE, lane, torque)


@formula
def move(block: Array, b: Index, gravity: float, dt: float, lanes: Lanes) -> None:
    """The rigid part, whose central body is b: `step_rigid`, a loop for each stage."""
    for lane in range(lanes[0], lanes[1]):
        q, w = get4(block, b, layout.Q, lane), get3(block, b, layout.W, lane)
        base = Base(get3(block, b, layout.P, lane), q, get3(block, b, layout.V, lane), w)
        arm, force = get3(block, b, layout.ARM, lane), get3(block, VEHICLE, layout.FORCE, lane)
        mass = get(block, VEHICLE, layout.MASS, lane)
        p_C, v_C = move_centre(base, arm, force, mass, gravity, dt)
        set3(block, VEHICLE, layout.PLACE, lane, p_C)
        set3(block, VEHICLE, layout.VELOCITY, lane, v_C)
        set3(block, b, layout.MOMENTUM, lane, spin_of(q, w, get9(block, b, layout.J, lane)))
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, layout.Q, lane), get3(block, b, layout.MOMENTUM, lane)
        t1 = _torque_at(block, q, lane)
        at, so_far = begin_turn(q, L, get9(block, b, layout.J_INV, lane), dt)
        set3(block, VEHICLE, layout.TORQUE_1, lane, t1)
        set4(block, b, layout.AT, lane, at)
        set4(block, b, layout.SO_FAR, lane, so_far)
    for lane in range(lanes[0], lanes[1]):
        at, t1 = get4(block, b, layout.AT, lane), get3(block, VEHICLE, layout.TORQUE_1, lane)
        t2 = _torque_at(block, at, lane)
        L = add(get3(block, b, layout.MOMENTUM, lane), scale(0.5 * dt, t1))
        _go_on_turning(block, b, L, 0.5 * dt, dt, lane)
        set3(block, VEHICLE, layout.TORQUE_2, lane, t2)
    for lane in range(lanes[0], lanes[1]):
        at, t2 = get4(block, b, layout.AT, lane), get3(block, VEHICLE, layout.TORQUE_2, lane)
        t3 = _torque_at(block, at, lane)
        L = add(get3(block, b, layout.MOMENTUM, lane), scale(0.5 * dt, t2))
        _go_on_turning(block, b, L, dt, dt, lane)
        set3(block, VEHICLE, layout.TORQUE_2, lane, add(t2, t3))
        set3(block, VEHICLE, layout.TORQUE_3, lane, t3)
    for lane in range(lanes[0], lanes[1]):
        at, L = get4(block, b, layout.AT, lane), get3(block, b, layout.MOMENTUM, lane)
        t1, t3 = (
            get3(block, VEHICLE, layout.TORQUE_1, lane),
            get3(block, VEHICLE, layout.TORQUE_3, lane),
        )
        t4, t2_t3 = _torque_at(block, at, lane), get3(block, VEHICLE, layout.TORQUE_2, lane)
        so_far, J_inv = get4(block, b, layout.SO_FAR, lane), get9(block, b, layout.J_INV, lane)
        q = end_turn(at, so_far, add(L, scale(dt, t3)), J_inv, dt)
        set4(block, b, layout.Q, lane, q)
        set3(block, b, layout.MOMENTUM, lane, momentum_after(L, t1, t2_t3, t4, dt))
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, layout.Q, lane), get3(block, b, layout.MOMENTUM, lane)
        w = spin_of(q, L, get9(block, b, layout.J_INV, lane))
        p_C, v_C = (
            get3(block, VEHICLE, layout.PLACE, lane),
            get3(block, VEHICLE, layout.VELOCITY, lane),
        )
        p, v = on_arm(p_C, v_C, q, w, get3(block, b, layout.ARM, lane))
        set3(block, b, layout.P, lane, p)
        set3(block, b, layout.V, lane, v)
        set3(block, b, layout.W, lane, w)


@formula
def _torque_at(block: Array, q: Quat, lane: Index) -> Vec:
    """The rigid part's torque at an attitude."""
    moments = Moments(
        get3(block, VEHICLE, layout.MOMENTS, lane),
        get3(block, VEHICLE, layout.MOMENTS + 3, lane),
        get3(block, VEHICLE, layout.MOMENTS + 6, lane),
    )
    return torque_at(q, get3(block, VEHICLE, layout.TORQUE, lane), moments)


@formula
def _go_on_turning(block: Array, b: Index, L: Vec, ahead: float, dt: float, lane: Index) -> None:
    """Second or third stage of a body's turning."""
    at, so_far = go_on_turning(
        get4(block, b, layout.Q, lane),
        get4(block, b, layout.AT, lane),
        get4(block, b, layout.SO_FAR, lane),
        L,
        get9(block, b, layout.J_INV, lane),
        ahead,
        dt,
    )
    set4(block, b, layout.AT, lane, at)
    set4(block, b, layout.SO_FAR, lane, so_far)


@formula
def turn(block: Array, b: Index, dt: float, lanes: Lanes) -> None:
    """A body on a spherical joint: `step_body`, a loop for each stage."""
    for lane in range(lanes[0], lanes[1]):
        q, w = get4(block, b, layout.Q, lane), get3(block, b, layout.W, lane)
        set3(block, b, layout.MOMENTUM, lane, spin_of(q, w, get9(block, b, layout.J, lane)))
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, layout.Q, lane), get3(block, b, layout.MOMENTUM, lane)
        at, so_far = begin_turn(q, L, get9(block, b, layout.J_INV, lane), dt)
        set4(block, b, layout.AT, lane, at)
        set4(block, b, layout.SO_FAR, lane, so_far)
    for lane in range(lanes[0], lanes[1]):
        _go_on_turning(block, b, _momentum_in(block, b, 0.5 * dt, lane), 0.5 * dt, dt, lane)
    for lane in range(lanes[0], lanes[1]):
        _go_on_turning(block, b, _momentum_in(block, b, 0.5 * dt, lane), dt, dt, lane)
    for lane in range(lanes[0], lanes[1]):
        at, so_far = get4(block, b, layout.AT, lane), get4(block, b, layout.SO_FAR, lane)
        L = _momentum_in(block, b, dt, lane)
        q = end_turn(at, so_far, L, get9(block, b, layout.J_INV, lane), dt)
        set4(block, b, layout.Q, lane, q)
        set3(block, b, layout.MOMENTUM, lane, L)
    for lane in range(lanes[0], lanes[1]):
        q, L = get4(block, b, layout.Q, lane), get3(block, b, layout.MOMENTUM, lane)
        set3(block, b, layout.W, lane, spin_of(q, L, get9(block, b, layout.J_INV, lane)))


@formula
def _momentum_in(block: Array, b: Index, t: float, lane: Index) -> Vec:
    """Angular momentum of a body after a time under its torque."""
    torque = get3(block, b, layout.WRENCH + 3, lane)
    return add(get3(block, b, layout.MOMENTUM, lane), scale(t, torque))


@formula
def follow(block: Array, b: Index, q_PB: Quat, lanes: Lanes) -> None:
    """The attitude of a body on a fixed joint."""
    for lane in range(lanes[0], lanes[1]):
        base = body_row(0)
        q, w = get4(block, base, layout.Q, lane), get3(block, base, layout.W, lane)
        set4(block, b, layout.Q, lane, qmul(q, q_PB))
        set3(block, b, layout.W, lane, w)


@formula
def place(block: Array, b: Index, lanes: Lanes) -> None:
    """Place and velocity of a body, which follow from the rigid part's."""
    for lane in range(lanes[0], lanes[1]):
        base = body_row(0)
        p, v = on_arm(
            get3(block, VEHICLE, layout.PLACE, lane),
            get3(block, VEHICLE, layout.VELOCITY, lane),
            get4(block, base, layout.Q, lane),
            get3(block, base, layout.W, lane),
            get3(block, b, layout.ARM, lane),
        )
        set3(block, b, layout.P, lane, p)
        set3(block, b, layout.V, lane, v)
