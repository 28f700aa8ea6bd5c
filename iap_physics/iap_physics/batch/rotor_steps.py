# SPDX-License-Identifier: BSD-3-Clause
"""Loops over a block's worlds for autopilots and rotors; see `iap_physics.batch.motion_steps` for how loops are cut.

The formulas are those of `propulsion.autopilot`, `propulsion.rotors` and `propulsion.tilting_rotors`.
"""

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat,
    Quat,
    Vec,
    add,
    choose,
    formula,
    select3,
    select4,
    six,
    unrotate,
)
from iap_description.math.lanes import Index, Lanes, get, get3, get4, set1, set3, set4
from iap_description.states import Mode
from iap_description.vehicles.autopilot_gains import attitude_torque
from iap_physics.batch.layout import BODY, BODY_COMMAND, SHARED, body_row
from iap_physics.batch.wrench_steps import ZERO_VECTOR
from iap_physics.propulsion.autopilot import SpeedLimits, of_rotors, rotor_commands
from iap_physics.propulsion.rotors import Lag, rotor_wrench, spin_four
from iap_physics.propulsion.tilting_rotors import Columns, Servo, tilt_four, tilted_wrench

ATTITUDE_MODE = float(Mode.ATTITUDE_THRUST)
RPM_MODE = float(Mode.RPM)


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
def tick(block: Array, b: Index, every: int, lanes: Lanes) -> None:
    """Count steps from one of the autopilot's instants to the next."""
    for lane in range(lanes[0], lanes[1]):
        tick = get(block, b, BODY.tick, lane) + 1.0
        set1(block, b, BODY.tick, lane, choose(tick >= every, 0.0, tick))


@formula
def command(block: Array, i: int, shared: Array, lanes: Lanes) -> None:
    """The autopilot of the aircraft that is body i."""
    _ask_torque(block, i, shared, lanes)
    _command_rotors(block, i, shared, lanes)


@formula
def _ask_torque(block: Array, i: int, shared: Array, lanes: Lanes) -> None:
    """Torque that an autopilot asks for."""
    b = body_row(i)
    attitude_gain = shared3(shared, i, SHARED.attitude_gain)
    rate_gain = shared3(shared, i, SHARED.rate_gain)
    J = shared9(shared, i, SHARED.autopilot_J)
    for lane in range(lanes[0], lanes[1]):
        is_estimated = get(block, b, BODY.is_estimated, lane) > 0.0
        q = select4(
            is_estimated,
            get4(block, b, BODY.estimated_q, lane),
            get4(block, b, BODY.q, lane),
        )
        w = select3(
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
            attitude_gain,
            rate_gain,
            J,
        )
        set3(block, b, BODY.momentum, lane, torque)


@formula
def _command_rotors(block: Array, i: int, shared: Array, lanes: Lanes) -> None:
    """Rotor speeds that an autopilot commands where one of its instants has come."""
    b = body_row(i)
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
        mode, torque = (
            get(block, b, BODY.mode, lane),
            get3(block, b, BODY.momentum, lane),
        )
        rpm, thrust = get4(block, b, BODY.rpm, lane), get(block, b, BODY_COMMAND.thrust, lane)
        speeds = rotor_commands(thrust, torque, mix, lift, limits, rpm)
        direct = of_rotors(get4(block, b, BODY_COMMAND.rpm, lane), lift)
        last = get4(block, b, BODY.target, lane)
        is_due = get(block, b, BODY.tick, lane) == 0.0
        target = select4(is_due, select4(mode == RPM_MODE, direct, speeds), last)
        set4(block, b, BODY.target, lane, target)


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
def shared_columns(shared: Array, i: int, k: int) -> Columns:
    """Wrenches of a unit of thrust of four rotors, from column k on."""
    return (
        six(shared3(shared, i, k), shared3(shared, i, k + 3)),
        six(shared3(shared, i, k + 6), shared3(shared, i, k + 9)),
        six(shared3(shared, i, k + 12), shared3(shared, i, k + 15)),
        six(shared3(shared, i, k + 18), shared3(shared, i, k + 21)),
    )


@formula
def spin_tilted(block: Array, i: int, shared: Array, lanes: Lanes, dt: float) -> None:
    """The rotors of the aircraft that is body i and their tilts, and their wrench on it."""
    b = body_row(i)
    rpm_min, rpm_max = shared[i, SHARED.rpm_min], shared[i, SHARED.rpm_max]
    fastest, share = (
        shared[i, SHARED.speed_share] * rpm_max,
        shared4(shared, i, SHARED.thrust_share),
    )
    limit, rate, time_constant = shared3(shared, i, SHARED.servo)
    servo = Servo(limit, rate, time_constant)
    columns = (
        shared_columns(shared, i, SHARED.upward),
        shared_columns(shared, i, SHARED.sideways),
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
        before = get4(block, b, BODY.tilt, lane)
        after = tilt_four(before, get4(block, b, BODY_COMMAND.tilt, lane), servo, dt)
        q = get4(block, b, BODY.q, lane)
        force, torque = tilted_wrench(thrusts, before, after, q, columns[0], columns[1])
        set4(block, b, BODY.rpm, lane, rpm)
        set4(block, b, BODY.tilt, lane, after)
        set3(block, b, BODY.wrench, lane, add(ZERO_VECTOR, force))
        set3(block, b, BODY.wrench + 3, lane, add(ZERO_VECTOR, torque))
