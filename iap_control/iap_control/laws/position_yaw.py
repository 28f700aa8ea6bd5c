# SPDX-License-Identifier: BSD-3-Clause
"""Motion control of a rigid multirotor (rank 4): position and yaw are commanded, tilt follows.

The geometric controller on SE(3) of Lee, Leok and McClamroch (2010): the wanted acceleration sets the
thrust vector, which with the yaw sets the attitude; body rates come from the attitude command's
derivative.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation import attitude_of_thrust, limited_thrust
from iap_control.allocator import Allocator
from iap_control.gains import Gains
from iap_control.laws.tracking import ACCELERATION, POSE, VELOCITY, Law, Tracking, integrate, track
from iap_control.model import Inertia, PlatformModel, check_axes
from iap_description.arrays import Array
from iap_description.kernels import (
    Quat,
    Vec,
    add,
    cross,
    dot,
    mul,
    norm,
    put,
    put4,
    put_at,
    qconj,
    qlog,
    qmul,
    quat,
    quat_at,
    rotate,
    scale,
    sub,
    times,
    unrotate,
    vec,
    vec_at,
)
from iap_description.momentum import inertia_about_com
from iap_description.signals import AXES, ForceMode, ForceTask, Reference

RATE_MAX, ALPHA_MAX = 4.0, 20.0  # fed forward of the attitude command [rad/s], [rad/s^2]


class RigidLaw(NamedTuple):
    """Attitude gains (3,) per inertia, the inertia about the CoM, and limits.

    Attributes:
        kP: (3,) [1/s^2].
        kD: (3,) [1/s].
        J_c: (3, 3) inertia about the CoM [kg m^2].
        thrust_min: smallest collective thrust [N].
        thrust_max: largest [N].
        tan_tilt_max: of the thrust vector.
        rate_filter: time constant of the attitude command's derivatives [s].
        pull_max: largest horizontal acceleration that a position error asks for [m/s^2].
    """

    kP: Array
    kD: Array
    J_c: Array
    thrust_min: float
    thrust_max: float
    tan_tilt_max: float
    rate_filter: float
    pull_max: float

    @classmethod
    def of(cls, gains: Gains, model: PlatformModel) -> "RigidLaw":
        """The arrays of a gain preset for a rigid platform."""
        J_c = inertia_about_com(model.inertia.J, model.inertia.mass, model.inertia.d_0)
        low, high = map(math.fsum, zip(*(each.thrust_limits for each in model.fleet), strict=True))
        limits = (low, high, math.tan(min(each.tilt_max for each in model.fleet)))
        kP, kD = np.array(gains.rigid.kP), np.array(gains.rigid.kD)
        pull_max = _largest_pull(model, J_c, kP)
        return cls(kP, kD, J_c, *limits, gains.rigid.rate_filter, pull_max)


def _largest_pull(model: PlatformModel, J_c: Array, kP: Array) -> float:
    """Horizontal acceleration [m/s^2] at the tilt whose error the rotors can still answer while they hover.

    Beyond it a heavy platform turns too slowly for its position loop, and swings ever wider.
    """
    gravity = model.inertia.gravity
    low, high = model.rotor_limits
    weight = np.array([0.0, 0.0, model.inertia.mass * gravity])
    lift = model.B_inverse @ np.concatenate([weight, np.cross(model.inertia.d_0, weight)])
    room = np.minimum(high - lift, lift - low)
    per_torque = np.abs(model.B_inverse[:, 3:5]).max(axis=0)  # [N] per N m of roll and pitch
    tilt = (room.min() / per_torque / np.diag(J_c)[:2] / kP[:2]).min()
    tilt_max = min(each.tilt_max for each in model.fleet)
    return gravity * math.tan(min(tilt_max, max(float(tilt), 0.0)))


def rigid_law(gains: Gains) -> Law:
    """The motion gains of a rigid platform."""
    return Law.of(gains)._replace(kI=np.array([*gains.rigid.kI, 0.0, 0.0, 0.0]))


class RigidMemory(NamedTuple):
    """Memory of the attitude part: the last command and its filtered derivatives; nothing while `started` is 0."""

    q_WB: Array
    w_B: Array
    alpha_B: Array
    started: Array

    @classmethod
    def empty(cls) -> "RigidMemory":
        """Memory of a controller that has not run yet."""
        return cls(np.zeros(4), np.zeros(3), np.zeros(3), np.zeros(1))


class YawMemory(NamedTuple):
    """Memory of the yaw command.

    Attributes:
        yaw: (1,) the last one [rad].
        rate: (1,) its rate [rad/s].
        is_known: (1,) 1 where there is one, else 0.
    """

    yaw: Array
    rate: Array
    is_known: Array

    @classmethod
    def empty(cls) -> "YawMemory":
        """Memory of a controller that has not run yet."""
        return cls(np.zeros(1), np.zeros(1), np.zeros(1))


@njit(cache=True)
def yaw_command(
    row: Array,
    level: int,
    heading: float,
    mount_yaw: float,
    follows: bool,
    dt: float,
    memory: YawMemory,
) -> float:
    """Yaw [rad]: the heading's, or the sum of the turn rates where no pose is tracked.

    Args:
        row: (19+) reference row.
        level: what is tracked of it.
        heading: of the first aircraft [rad].
        mount_yaw: the same in P at rest [rad].
        follows: whether the headings follow the platform's yaw.
        dt: control period [s].
        memory: advanced in place.
    """
    q_WP = quat_at(row, 3)
    if level == ACCELERATION:
        memory.rate[0] += dt * rotate(q_WP, vec_at(row, 16))[2]
    else:
        memory.rate[0] = rotate(q_WP, vec_at(row, 10))[2]
    if memory.is_known[0] == 0.0 or level == POSE or not follows:
        memory.yaw[0] = heading - mount_yaw
    else:
        memory.yaw[0] += dt * memory.rate[0]
    memory.is_known[0] = 1.0
    return memory.yaw[0]


@njit(cache=True)
def position_yaw_wrench(
    x: Array,
    row: Array,
    wrench_e_P: Array,
    integral: Array,
    work: Tracking,
    level: int,
    inertia: Inertia,
    law: Law,
    rigid: RigidLaw,
    memory: RigidMemory,
    yaw: float,
    dt: float,
    saturated: bool,
) -> Array:
    """Active wrench U (6,) in P: thrust along z and three torques.

    Arguments as in `full_actuation_wrench`; `rigid` are attitude gains and limits, `memory` (of the attitude command)
    is advanced in place, `yaw` is the heading command [rad], and `saturated` says whether a rotor was at a limit in
    the last step (anti-windup).
    """
    q = quat_at(x, 3)
    track(x, row, level, work)
    _at_com(q, unrotate(q, vec_at(x, 10)), vec_at(row, 13), yaw, inertia, level, work)
    a_W = _acceleration(q, vec_at(row, 13), integral, work, inertia, law, rigid, dt, saturated)
    f_e_W = rotate(q, vec(wrench_e_P))
    wanted = sub(scale(inertia.mass, (a_W[0], a_W[1], a_W[2] + inertia.gravity)), f_e_W)
    f_W = limited_thrust(wanted, rigid.thrust_min, rigid.thrust_max, rigid.tan_tilt_max)
    q_r = attitude_of_thrust(f_W, yaw)
    _rate_of_command(q_r, memory, rigid.rate_filter, dt)
    alpha = _attitude_feedback(q, q_r, unrotate(q, vec_at(x, 10)), memory, rigid)
    w_P = unrotate(q, vec_at(x, 10))
    torque_c = add(mul(rigid.J_c, alpha), cross(w_P, mul(rigid.J_c, w_P)))
    thrust = (0.0, 0.0, max(dot(f_W, rotate(q, (0.0, 0.0, 1.0))), rigid.thrust_min))
    U = np.empty(6)
    put(U, thrust)
    lever = cross(vec(inertia.d_0), add(thrust, vec(wrench_e_P)))  # both forces act at P's origin
    put_at(U, 3, sub(add(torque_c, lever), vec_at(wrench_e_P, 3)))
    return U


@njit(cache=True)
def _at_com(
    q: Quat, w_P: Vec, a_r_W: Vec, yaw: float, inertia: Inertia, level: int, work: Tracking
) -> None:
    """Turn the errors of P's origin into those of the CoM.

    The origin swings about the CoM as the platform tilts, which position feedback would amplify. The
    CoM's own reference lies where the tilt that the nominal acceleration needs puts it.
    """
    d_0 = vec(inertia.d_0)
    q_nominal = attitude_of_thrust((a_r_W[0], a_r_W[1], a_r_W[2] + inertia.gravity), yaw)
    if level < VELOCITY:
        put(work.e_T, add(vec(work.e_T), sub(d_0, unrotate(q, rotate(q_nominal, d_0)))))
    if level < ACCELERATION:
        put(work.e_xi, add(vec(work.e_xi), cross(w_P, d_0)))


@njit(cache=True)
def _acceleration(
    q: Quat,
    a_r_W: Vec,
    integral: Array,
    work: Tracking,
    inertia: Inertia,
    law: Law,
    rigid: RigidLaw,
    dt: float,
    saturated: bool,
) -> Vec:
    """Wanted acceleration (3,) of the CoM, world axes: the reference's and PID, its position part limited."""
    per_mass = 1.0 if law.per_inertia else 1.0 / inertia.mass
    pull_W = rotate(q, scale(-per_mass, times(vec(law.kP), vec(work.e_T))))
    share = min(1.0, rigid.pull_max / max(math.hypot(pull_W[0], pull_W[1]), 1e-9))
    integrate(integral, work.e_T, law, dt, np.zeros(6), saturated or share < 1.0)
    others = add(times(vec(law.kI), vec(integral)), times(vec(law.kD), vec(work.e_xi)))
    a_W = add(a_r_W, (share * pull_W[0], share * pull_W[1], pull_W[2]))
    return sub(a_W, rotate(q, scale(per_mass, others)))


@njit(cache=True)
def _at_most(v: Vec, limit: float) -> Vec:
    length = norm(v)
    return v if length <= limit else scale(limit / length, v)


@njit(cache=True)
def _rate_of_command(q_r: Quat, memory: RigidMemory, time_constant: float, dt: float) -> None:
    """Body rate and angular acceleration of the attitude command by filtered differences; a jump counts little."""
    if memory.started[0] > 0.0:
        w = _at_most(scale(1.0 / dt, qlog(qmul(qconj(quat(memory.q_WB)), q_r))), RATE_MAX)
        a = dt / (time_constant + dt)
        w_new = add(vec(memory.w_B), scale(a, sub(w, vec(memory.w_B))))
        change = _at_most(scale(1.0 / dt, sub(w_new, vec(memory.w_B))), ALPHA_MAX)
        put(memory.alpha_B, add(vec(memory.alpha_B), scale(a, sub(change, vec(memory.alpha_B)))))
        put(memory.w_B, w_new)
    put4(memory.q_WB, q_r)
    memory.started[0] = 1.0


@njit(cache=True)
def _attitude_feedback(q: Quat, q_r: Quat, w_B: Vec, memory: RigidMemory, rigid: RigidLaw) -> Vec:
    """Angular acceleration (3,) in the body frame that turns q towards q_r."""
    q_e = qmul(qconj(q_r), q)
    e_R = scale(2.0 if q_e[3] >= 0.0 else -2.0, (q_e[0], q_e[1], q_e[2]))
    e_w = sub(w_B, unrotate(q_e, vec(memory.w_B)))
    feedback = add(times(vec(rigid.kP), e_R), times(vec(rigid.kD), e_w))
    return sub(unrotate(q_e, vec(memory.alpha_B)), feedback)


class PositionYawControl:
    """Turns states and references into active wrenches of one platform.

    Args:
        model: of the platform.
        gains: of flight.
        dt: control period [s].
        headings: (N,) of the aircraft [rad] for a state row and a reference.
        follows: whether the headings follow the platform's yaw.
    """

    def __init__(
        self,
        model: PlatformModel,
        gains: Gains,
        dt: float,
        headings: Callable[[Array, Reference], Array],
        *,
        follows: bool,
    ) -> None:
        self._dt, self._headings, self._follows = dt, headings, follows
        self.set_gains(model, gains)
        self.reset()

    def set_gains(self, model: PlatformModel, gains: Gains) -> None:
        """Change the gains, also in flight; the integral stays."""
        self._model = model
        self._law = rigid_law(gains)
        self._rigid = RigidLaw.of(gains, model)

    def reset(self) -> None:
        """Forget integral and past commands."""
        self._integral = np.zeros(6)
        self._work = Tracking.empty()
        self._memory = RigidMemory.empty()
        self._yaw = YawMemory.empty()

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array,
        task: ForceTask | None,
        last: Array | None,  # noqa: ARG002 - of use to wrench control only
        allocator: Allocator,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P; arguments as in `WrenchControl.__call__`.

        Raises:
            BadInput: the task controls a wrench.
        """
        if task is not None and task.mode != ForceMode.NONE:
            check_axes(self._model, np.ones(len(AXES), dtype=bool), "platform")
        memory = (x, reference.row, wrench_e_P, self._integral, self._work)
        settings = (int(reference.level), self._model.inertia, self._law, self._rigid)
        heading, mount = self._headings(x, reference)[0], self._model.mount_yaw[0]
        turn = (int(reference.level), heading, mount, self._follows, self._dt)
        yaw = yaw_command(reference.row, *turn, self._yaw)
        end = (self._dt, allocator.saturated)
        return position_yaw_wrench(*memory, *settings, self._memory, yaw, *end)
