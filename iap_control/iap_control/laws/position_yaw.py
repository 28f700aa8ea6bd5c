# SPDX-License-Identifier: BSD-3-Clause
"""Motion control of a rigid multirotor (rank 4): position and yaw are commanded, tilt follows.

The geometric controller on SE(3) of Lee, Leok and McClamroch (2010): the wanted acceleration sets the
thrust vector, which with the yaw sets the attitude; body rates come from the attitude command's
derivative.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation.allocation import attitude_of_thrust, limited_thrust
from iap_control.allocation.model import Inertia
from iap_control.laws.rigid_law import RigidLaw, RigidLawNumbers, RigidMemory, rigid_law_numbers
from iap_control.laws.tracking import (
    ACCELERATION,
    VELOCITY,
    Errors,
    InertiaNumbers,
    Law,
    Pid,
    TrackingTask,
    advanced6,
    errors,
    inertia_numbers,
    pid_of,
    tracking_of,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Six,
    Vec,
    add,
    angular,
    choose,
    cross,
    dot,
    formula,
    least,
    linear,
    most,
    mv,
    norm,
    put,
    put4,
    put_six,
    qconj,
    qlog,
    qmul,
    quat,
    rotate,
    scale,
    select3,
    six,
    six_at,
    sub,
    times,
    unrotate,
    vec,
)

RATE_MAX, ALPHA_MAX = 4.0, 20.0  # fed forward of the attitude command [rad/s], [rad/s^2]
MIN_PULL = 1e-9  # horizontal, that is divided by [m/s^2]


class Attitude(NamedTuple):
    """`RigidMemory` in numbers."""

    q_WB: Quat
    w_B: Vec
    alpha_B: Vec
    started: bool


class PositionYawGains(NamedTuple):
    """Gains of position, and gains and limits of attitude."""

    position: Pid
    attitude: RigidLawNumbers


@formula
def position_yaw(
    now: TrackingTask,
    yaw: float,
    integral: Six,
    body: InertiaNumbers,
    gains: PositionYawGains,
    memory: Attitude,
    dt: float,
    saturated: bool,
) -> tuple[Six, Six, Attitude]:
    """Active wrench U in P, thrust along z and three torques; the new integral, and the attitude command.

    Arguments as in `iap_control.laws.motion_law.full_actuation`; `memory` is of the last attitude command, `yaw` is
    the heading command [rad], and `saturated` says whether a rotor was at a limit in the last step (anti-windup).
    """
    x, target, level, rigid = now.x, now.target, now.level, gains.attitude
    q, w_P = x.q, unrotate(x.q, x.w)
    errors_P = _at_com(errors(x, target, level), q, w_P, target.a, yaw, body, level)
    a_W, integral = _acceleration(q, target.a, integral, errors_P, body, gains, dt, saturated)
    f_e_W = rotate(q, linear(now.wrench_e_P))
    force_W = sub(scale(body.mass, (a_W[0], a_W[1], a_W[2] + body.gravity)), f_e_W)
    f_W = limited_thrust(force_W, rigid.thrust_min, rigid.thrust_max, rigid.tan_tilt_max)
    memory = _after(attitude_of_thrust(f_W, yaw), memory, rigid.rate_filter, dt)
    alpha = _attitude_feedback(q, w_P, memory, rigid)
    torque_c = add(mv(rigid.J_c, alpha), cross(w_P, mv(rigid.J_c, w_P)))
    lift = most(dot(f_W, rotate(q, (0.0, 0.0, 1.0))), rigid.thrust_min)
    thrust = (0.0, 0.0, lift)
    lever = cross(body.d_0, add(thrust, linear(now.wrench_e_P)))  # both forces act at P's origin
    U = six(thrust, sub(add(torque_c, lever), angular(now.wrench_e_P)))
    return U, integral, memory


@njit(cache=True)
def position_yaw_wrench(
    x: Array,
    row: Array,
    wrench_e_P: Array,
    integral: Array,
    level: int,
    inertia: Inertia,
    law: Law,
    rigid: RigidLaw,
    memory: RigidMemory,
    yaw: float,
    dt: float,
    saturated: bool,
) -> Array:
    """`position_yaw` of a state row (13,) and a reference row (19+): (6,); integral and memory are advanced.

    A kernel: it takes its arrays one by one.
    """
    now = tracking_of(x, row, level, wrench_e_P)
    last = Attitude(
        quat(memory.q_WB), vec(memory.w_B), vec(memory.alpha_B), memory.started[0] > 0.0
    )
    gains = PositionYawGains(pid_of(law), rigid_law_numbers(rigid))
    settings = (inertia_numbers(inertia), gains, last, dt, saturated)
    wrench, after, command = position_yaw(now, yaw, six_at(integral, 0), *settings)
    put_six(integral, 0, after)
    put4(memory.q_WB, command.q_WB)
    put(memory.w_B, command.w_B)
    put(memory.alpha_B, command.alpha_B)
    memory.started[0] = 1.0
    U = np.empty(6)
    put_six(U, 0, wrench)
    return U


@formula
def _at_com(
    errors_P: Errors, q: Quat, w_P: Vec, a_r_W: Vec, yaw: float, body: InertiaNumbers, level: float
) -> Errors:
    """The errors of P's origin turned into those of the CoM.

    The origin swings about the CoM as the platform tilts, which position feedback would amplify. The
    CoM's own reference lies where the tilt that the nominal acceleration needs puts it.
    """
    d_0 = body.d_0
    q_nominal = attitude_of_thrust((a_r_W[0], a_r_W[1], a_r_W[2] + body.gravity), yaw)
    e_p, e_v = linear(errors_P.e_T), linear(errors_P.e_xi)
    at_com = add(e_p, sub(d_0, unrotate(q, rotate(q_nominal, d_0))))
    e_p = select3(level < VELOCITY, at_com, e_p)
    e_v = select3(level < ACCELERATION, add(e_v, cross(w_P, d_0)), e_v)
    e_T, e_xi = six(e_p, angular(errors_P.e_T)), six(e_v, angular(errors_P.e_xi))
    return Errors(e_T, e_xi, errors_P.xi_r, errors_P.dxi_r)


@formula
def _acceleration(
    q: Quat,
    a_r_W: Vec,
    integral: Six,
    errors_P: Errors,
    body: InertiaNumbers,
    gains: PositionYawGains,
    dt: float,
    saturated: bool,
) -> tuple[Vec, Six]:
    """Wanted acceleration of the CoM, world axes: the reference's and PID, its position part limited; new integral."""
    law = gains.position
    per_mass = choose(law.per_inertia, 1.0, 1.0 / body.mass)
    pull_W = rotate(q, scale(-per_mass, times(linear(law.kP), linear(errors_P.e_T))))
    share = least(1.0, gains.attitude.pull_max / most(math.hypot(pull_W[0], pull_W[1]), MIN_PULL))
    nothing = six((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    far = saturated | (share < 1.0)
    integral = advanced6(integral, errors_P.e_T, law.kI, law.limit, dt, nothing, far)
    learned = times(linear(law.kI), linear(integral))
    others = add(learned, times(linear(law.kD), linear(errors_P.e_xi)))
    a_W = add(a_r_W, (share * pull_W[0], share * pull_W[1], pull_W[2]))
    return sub(a_W, rotate(q, scale(per_mass, others))), integral


@formula
def _at_most(v: Vec, limit: float) -> Vec:
    length = norm(v)
    return select3(length <= limit, v, scale(limit / most(length, limit), v))


@formula
def _after(q_r: Quat, memory: Attitude, time_constant: float, dt: float) -> Attitude:
    """The attitude command's filtered body rate and angular acceleration, by differences; a jump counts little."""
    w = _at_most(scale(1.0 / dt, qlog(qmul(qconj(memory.q_WB), q_r))), RATE_MAX)
    a = dt / (time_constant + dt)
    w_new = add(memory.w_B, scale(a, sub(w, memory.w_B)))
    change = _at_most(scale(1.0 / dt, sub(w_new, memory.w_B)), ALPHA_MAX)
    alpha_new = add(memory.alpha_B, scale(a, sub(change, memory.alpha_B)))
    w_B = select3(memory.started, w_new, memory.w_B)
    return Attitude(q_r, w_B, select3(memory.started, alpha_new, memory.alpha_B), True)


@formula
def _attitude_feedback(q: Quat, w_B: Vec, memory: Attitude, rigid: RigidLawNumbers) -> Vec:
    """Angular acceleration in the body frame that turns q towards the attitude command."""
    q_e = qmul(qconj(memory.q_WB), q)
    e_R = scale(choose(q_e[3] >= 0.0, 2.0, -2.0), (q_e[0], q_e[1], q_e[2]))
    e_w = sub(w_B, unrotate(q_e, memory.w_B))
    feedback = add(times(rigid.kP, e_R), times(rigid.kD, e_w))
    return sub(unrotate(q_e, memory.alpha_B), feedback)
