# SPDX-License-Identifier: BSD-3-Clause
"""The loops over a block's worlds, one for each part of a physics step: numbers in, formula, numbers out.

The formulas are those of `iap_physics.autopilot`, `rotors`, `drag` and `engines.rigid_motion`. A loop reads all that it
needs before it writes.
"""

from iap_description.arrays import Array
from iap_description.kernels import add, choose, formula, qmul, scale, sub, unrotate
from iap_description.states import Mode
from iap_description.vehicles.autopilot_gains import attitude_torque
from iap_physics.autopilot import rotor_commands
from iap_physics.blocks import layout
from iap_physics.blocks.layout import (
    VEHICLE,
    Index,
    body_row,
    get,
    get3,
    get4,
    get9,
    set1,
    set3,
    set4,
)
from iap_physics.drag import drag_force
from iap_physics.engines.rigid_motion import (
    Base,
    Moments,
    is_sound,
    on_arm,
    step_body,
    step_rigid,
)
from iap_physics.rotors import Lag, rotor_wrench, spin_four

ATTITUDE_MODE, RPM_MODE = float(Mode.ATTITUDE_THRUST), float(Mode.RPM)


@formula
def check(block: Array, body: Index, step: int, lanes: int) -> None:
    """Let worlds fly no more in which a body's motion is none."""
    for lane in range(lanes):
        q, v = get4(block, body, layout.Q, lane), get3(block, body, layout.V, lane)
        sound = is_sound(
            get3(block, body, layout.P, lane), q, v, get3(block, body, layout.W, lane)
        )
        flies = get(block, VEHICLE, layout.FLIES, lane) > 0.0
        failed = get(block, VEHICLE, layout.FAILED, lane)
        set1(block, VEHICLE, layout.FAILED, lane, choose(flies & (not sound), float(step), failed))
        set1(block, VEHICLE, layout.FLIES, lane, choose(flies & sound, 1.0, 0.0))


@formula
def clear(block: Array, body: Index, lanes: int) -> None:
    """No wrench yet."""
    for k in range(6):
        for lane in range(lanes):
            set1(block, body, layout.WRENCH + k, lane, 0.0)


@formula
def clear_sums(block: Array, lanes: int) -> None:
    """No force, torque and moments yet."""
    for k in range(15):
        for lane in range(lanes):
            set1(block, VEHICLE, layout.FORCE + k, lane, 0.0)


@formula
def tick(block: Array, b: Index, every: int, lanes: int) -> None:
    """Count steps from one of the autopilot's instants to the next."""
    for lane in range(lanes):
        tick = get(block, b, layout.TICK, lane) + 1.0
        set1(block, b, layout.TICK, lane, choose(tick >= every, 0.0, tick))


@formula
def command(block: Array, b: Index, lanes: int) -> None:
    """One aircraft's autopilot."""
    for lane in range(lanes):
        q, w = get4(block, b, layout.Q, lane), get3(block, b, layout.W, lane)
        known_q, known_w = (
            get4(block, b, layout.KNOWN_Q, lane),
            get3(block, b, layout.KNOWN_W, lane),
        )
        is_estimated = get(block, b, layout.ESTIMATED, lane) > 0.0
        q = (
            choose(is_estimated, known_q[0], q[0]),
            choose(is_estimated, known_q[1], q[1]),
            choose(is_estimated, known_q[2], q[2]),
            choose(is_estimated, known_q[3], q[3]),
        )
        w = (
            choose(is_estimated, known_w[0], w[0]),
            choose(is_estimated, known_w[1], w[1]),
            choose(is_estimated, known_w[2], w[2]),
        )
        mode = get(block, b, layout.MODE, lane)
        torque = attitude_torque(
            mode == ATTITUDE_MODE,
            q,
            unrotate(q, w),
            get4(block, b, layout.COMMAND_Q, lane),
            get3(block, b, layout.COMMAND_W, lane),
            get3(block, b, layout.ATTITUDE_GAIN, lane),
            get3(block, b, layout.RATE_GAIN, lane),
            get9(block, b, layout.AUTOPILOT_J, lane),
        )
        mix = (
            get3(block, b, layout.MIX, lane),
            get3(block, b, layout.MIX + 3, lane),
            get3(block, b, layout.MIX + 6, lane),
            get3(block, b, layout.MIX + 9, lane),
        )
        wanted = rotor_commands(
            get(block, b, layout.THRUST, lane),
            torque,
            mix,
            get(block, b, layout.C_F, lane),
            get(block, b, layout.RPM_MIN, lane),
            get(block, b, layout.RPM_MAX, lane),
            get(block, b, layout.LEAD, lane),
            get4(block, b, layout.RPM, lane),
        )
        given, last = get4(block, b, layout.COMMAND_RPM, lane), get4(block, b, layout.TARGET, lane)
        is_due, is_given = get(block, b, layout.TICK, lane) == 0.0, mode == RPM_MODE
        for_rotors = (
            chosen(is_due, is_given, wanted[0], given[0], last[0]),
            chosen(is_due, is_given, wanted[1], given[1], last[1]),
            chosen(is_due, is_given, wanted[2], given[2], last[2]),
            chosen(is_due, is_given, wanted[3], given[3], last[3]),
        )
        set4(block, b, layout.TARGET, lane, for_rotors)


@formula
def chosen(is_due: bool, is_given: bool, wanted: float, given: float, last: float) -> float:
    """The autopilot's speed command, or the one given in its place, or its last."""
    return choose(is_due, choose(is_given, given, wanted), last)


@formula
def spin(block: Array, b: Index, lanes: int) -> None:
    """One aircraft's rotors, and their wrench on its body."""
    for lane in range(lanes):
        up, down = get3(block, b, layout.UP, lane), get3(block, b, layout.DOWN, lane)
        rpm, thrusts = spin_four(
            get4(block, b, layout.RPM, lane),
            get4(block, b, layout.TARGET, lane),
            get(block, b, layout.THRUST_COEFFICIENT, lane),
            get(block, b, layout.RPM_MIN, lane),
            get(block, b, layout.SPEED_SHARE, lane) * get(block, b, layout.RPM_MAX, lane),
            Lag(up[0], up[1], up[2]),
            Lag(down[0], down[1], down[2]),
            get4(block, b, layout.THRUST_SHARE, lane),
        )
        torques = (
            get4(block, b, layout.TORQUES, lane),
            get4(block, b, layout.TORQUES + 4, lane),
            get4(block, b, layout.TORQUES + 8, lane),
        )
        force, torque = rotor_wrench(thrusts, get4(block, b, layout.Q, lane), torques)
        force = add(get3(block, b, layout.WRENCH, lane), force)
        torque = add(get3(block, b, layout.WRENCH + 3, lane), torque)
        set4(block, b, layout.RPM, lane, rpm)
        set3(block, b, layout.WRENCH, lane, force)
        set3(block, b, layout.WRENCH + 3, lane, torque)


@formula
def add_external(block: Array, b: Index, lanes: int) -> None:
    """The disturbance of the central body."""
    for k in range(6):
        for lane in range(lanes):
            wrench = get(block, b, layout.WRENCH + k, lane) + get(
                block, VEHICLE, layout.EXTERNAL + k, lane
            )
            set1(block, b, layout.WRENCH + k, lane, wrench)


@formula
def add_drag(block: Array, b: Index, lanes: int) -> None:
    """A body's drag."""
    for lane in range(lanes):
        v_W = sub(get3(block, b, layout.V, lane), get3(block, b, layout.AIR, lane))
        linear, quadratic = (
            get3(block, b, layout.LINEAR, lane),
            get3(block, b, layout.QUADRATIC, lane),
        )
        force = drag_force(get4(block, b, layout.Q, lane), v_W, linear, quadratic)
        set3(block, b, layout.WRENCH, lane, add(get3(block, b, layout.WRENCH, lane), force))


@formula
def add_to_sums(block: Array, b: Index, is_rigid: bool, lanes: int) -> None:
    """Add a body's force and moments, and its torque where it belongs to the rigid part."""
    for lane in range(lanes):
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
        for lane in range(lanes):
            torque = add(
                get3(block, VEHICLE, layout.TORQUE, lane), get3(block, b, layout.WRENCH + 3, lane)
            )
            set3(block, VEHICLE, layout.TORQUE, lane, torque)


@formula
def move(block: Array, b: Index, dt: float, lanes: int) -> None:
    """The rigid part, whose central body is b."""
    for lane in range(lanes):
        base, p_C, v_C = step_rigid(
            Base(
                get3(block, b, layout.P, lane),
                get4(block, b, layout.Q, lane),
                get3(block, b, layout.V, lane),
                get3(block, b, layout.W, lane),
            ),
            get3(block, b, layout.ARM, lane),
            get3(block, VEHICLE, layout.FORCE, lane),
            get3(block, VEHICLE, layout.TORQUE, lane),
            Moments(
                get3(block, VEHICLE, layout.MOMENTS, lane),
                get3(block, VEHICLE, layout.MOMENTS + 3, lane),
                get3(block, VEHICLE, layout.MOMENTS + 6, lane),
            ),
            get(block, VEHICLE, layout.MASS, lane),
            get(block, VEHICLE, layout.GRAVITY, lane),
            get9(block, b, layout.J, lane),
            get9(block, b, layout.J_INV, lane),
            dt,
        )
        set3(block, b, layout.P, lane, base.p)
        set4(block, b, layout.Q, lane, base.q)
        set3(block, b, layout.V, lane, base.v)
        set3(block, b, layout.W, lane, base.w)
        set3(block, VEHICLE, layout.PLACE, lane, p_C)
        set3(block, VEHICLE, layout.VELOCITY, lane, v_C)


@formula
def turn(block: Array, b: Index, dt: float, lanes: int) -> None:
    """A body on a spherical joint."""
    for lane in range(lanes):
        q, w = step_body(
            get4(block, b, layout.Q, lane),
            get3(block, b, layout.W, lane),
            get3(block, b, layout.WRENCH + 3, lane),
            get9(block, b, layout.J, lane),
            get9(block, b, layout.J_INV, lane),
            dt,
        )
        set4(block, b, layout.Q, lane, q)
        set3(block, b, layout.W, lane, w)


@formula
def follow(block: Array, b: Index, lanes: int) -> None:
    """The attitude of a body on a fixed joint."""
    for lane in range(lanes):
        base = body_row(0)
        q, w = get4(block, base, layout.Q, lane), get3(block, base, layout.W, lane)
        set4(block, b, layout.Q, lane, qmul(q, get4(block, b, layout.Q_PB, lane)))
        set3(block, b, layout.W, lane, w)


@formula
def place(block: Array, b: Index, lanes: int) -> None:
    """Place and velocity of a body, which follow from the rigid part's."""
    for lane in range(lanes):
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
