# SPDX-License-Identifier: BSD-3-Clause
"""Tracking errors and feed-forward shared by the motion controllers, and the integral with its anti-windup."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation.model import Inertia
from iap_control.gains import Gains, PaperWrenchGains
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat,
    Mat6,
    Quat,
    Six,
    Vec,
    add,
    angular,
    choose,
    cross,
    formula,
    least,
    linear,
    mat,
    mat6,
    most,
    mv,
    norm,
    put_six,
    qconj,
    qmul,
    quat,
    quat_at,
    scale,
    select6,
    six,
    six_at,
    sub,
    unrotate,
    vec,
    vec_at,
)

POSE, VELOCITY, ACCELERATION = 0, 1, 2  # tracked part, as iap_description.states.Level


class Law(NamedTuple):
    """Gains of a motion controller as the compiled laws take them, order x y z roll pitch yaw."""

    kP: Array
    kI: Array
    kD: Array
    limit: Array
    per_inertia: bool
    reach: Array

    @classmethod
    def of(cls, gains: Gains | PaperWrenchGains) -> "Law":
        """The arrays of a gain preset, or of the pose gains of direct wrench control, forces per error."""
        per_inertia = isinstance(gains, Gains) and gains.per_inertia
        pid = (np.array(gains.kP), np.array(gains.kI), np.array(gains.kD))
        return cls(*pid, np.array(gains.integral_limit), per_inertia, np.array(gains.error_limit))


class Pid(NamedTuple):
    """`Law` in numbers."""

    kP: Six
    kI: Six
    kD: Six
    limit: Six
    per_inertia: bool
    reach: tuple[float, float]


@formula
def pid_of(law: Law) -> Pid:
    """The numbers of six gains."""
    reach = (law.reach[0], law.reach[1])
    gains = (six_at(law.kP, 0), six_at(law.kI, 0), six_at(law.kD, 0), six_at(law.limit, 0))
    return Pid(gains[0], gains[1], gains[2], gains[3], law.per_inertia, reach)


class InertiaNumbers(NamedTuple):
    """`Inertia` in numbers."""

    mass: float
    d_0: Vec
    J: Mat
    M: Mat6
    coupling: float
    gravity: float


@formula
def inertia_numbers(inertia: Inertia) -> InertiaNumbers:
    """The numbers of a platform's lumped dynamics."""
    matrices = (vec(inertia.d_0), mat(inertia.J), mat6(inertia.M))
    return InertiaNumbers(inertia.mass, *matrices, inertia.coupling, inertia.gravity)


class Motion(NamedTuple):
    """A body's state row (13,), see `iap_description.states`."""

    p: Vec
    q: Quat
    v: Vec
    w: Vec


class ReferenceMotion(NamedTuple):
    """The first 19 numbers of a reference row, see `iap_description.states`."""

    p: Vec
    q: Quat
    v: Vec
    w: Vec
    a: Vec
    alpha: Vec


class TrackingTask(NamedTuple):
    """Inputs of a motion law at one instant.

    Attributes:
        x: motion of the central body.
        target: of the reference.
        level: what of it is tracked.
        wrench_e_P: external wrench F_e in P to compensate [N, N m].
    """

    x: Motion
    target: ReferenceMotion
    level: float
    wrench_e_P: Six


class Errors(NamedTuple):
    """Errors and nominal motion at one instant, all in P.

    Attributes:
        e_T: pose error of iap_simulator eq. (10): [R^T (p - p_r); vee(R_r^T R - R^T R_r) / 2].
        e_xi: velocity error xi - xi_r.
        xi_r: nominal velocity, expressed in P.
        dxi_r: its derivative as seen in P.
    """

    e_T: Six
    e_xi: Six
    xi_r: Six
    dxi_r: Six


@formula
def motion_at(x: Array) -> Motion:
    """The motion of a state row (13,)."""
    return Motion(vec_at(x, 0), quat_at(x, 3), vec_at(x, 7), vec_at(x, 10))


@formula
def reference_motion_at(row: Array) -> ReferenceMotion:
    """The target of a reference row (19+)."""
    twist, change = (vec_at(row, 7), vec_at(row, 10)), (vec_at(row, 13), vec_at(row, 16))
    return ReferenceMotion(
        vec_at(row, 0), quat_at(row, 3), twist[0], twist[1], change[0], change[1]
    )


@formula
def tracking_of(x: Array, row: Array, level: float, wrench_e_P: Array) -> TrackingTask:
    """The numbers of a state row (13,), a reference row (19+) and an external wrench (6,)."""
    return TrackingTask(motion_at(x), reference_motion_at(row), level, six_at(wrench_e_P, 0))


@formula
def errors(x: Motion, target: ReferenceMotion, level: float) -> Errors:
    r"""Errors of the tracked part of a reference.

    The reference turns in its own frame; with q_e = q_r^{-1} q, its vectors come to P by R(q_e)^T. Differentiating
    R^T v_r in the turning frame P gives R^T a_r - w x (R^T v_r), and likewise for the angular part.
    """
    q = x.q
    q_e = qmul(qconj(target.q), q)
    v_P, w_P = unrotate(q, x.v), unrotate(q, x.w)
    v_r, w_r = unrotate(q, target.v), unrotate(q_e, target.w)
    a_r, alpha_r = unrotate(q, target.a), unrotate(q_e, target.alpha)
    turned = scale(2.0 * q_e[3], (q_e[0], q_e[1], q_e[2]))
    none = six((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return Errors(
        select6(level < VELOCITY, six(unrotate(q, sub(x.p, target.p)), turned), none),
        select6(level < ACCELERATION, six(sub(v_P, v_r), sub(w_P, w_r)), none),
        six(v_r, w_r),
        six(sub(a_r, cross(w_P, v_r)), sub(alpha_r, cross(w_P, w_r))),
    )


@formula
def shortened(e_T: Six, reach: tuple[float, float]) -> tuple[Six, bool]:
    """Errors of position and attitude within the controller's reach; True if one was longer.

    A jump of the reference then asks for no more than the platform can do while it stays upright.
    """
    far, turn = norm(linear(e_T)), norm(angular(e_T))
    is_far, is_turned = far > reach[0], turn > reach[1]
    e_p = scale(choose(is_far, reach[0] / most(far, reach[0]), 1.0), linear(e_T))
    e_R = scale(choose(is_turned, reach[1] / most(turn, reach[1]), 1.0), angular(e_T))
    return six(e_p, e_R), is_far | is_turned


@formula
def advanced(
    integral: float, e: float, kI: float, limit: float, dt: float, short: float, far: bool
) -> float:
    """An error's integral after a control period, within its limit.

    It does not grow where that would ask for more of what the last step was short of, nor while an error is beyond
    the controller's reach.

    Args:
        integral: before it.
        e: the error.
        kI: gain.
        limit: of the integral's share.
        dt: control period [s].
        short: what was wanted of the error's wrench less what was made.
        far: whether an error was limited.
    """
    stays = (far | (short * e < 0.0)) & (integral * e > 0.0)
    bound = limit / choose(kI == 0.0, 1.0, kI)
    return choose((kI == 0.0) | stays, integral, least(most(integral + e * dt, -bound), bound))


@formula
def advanced6(integral: Six, e: Six, kI: Six, limit: Six, dt: float, short: Six, far: bool) -> Six:
    """`advanced` of six errors."""
    return (
        advanced(integral[0], e[0], kI[0], limit[0], dt, short[0], far),
        advanced(integral[1], e[1], kI[1], limit[1], dt, short[1], far),
        advanced(integral[2], e[2], kI[2], limit[2], dt, short[2], far),
        advanced(integral[3], e[3], kI[3], limit[3], dt, short[3], far),
        advanced(integral[4], e[4], kI[4], limit[4], dt, short[4], far),
        advanced(integral[5], e[5], kI[5], limit[5], dt, short[5], far),
    )


@formula
def coriolis(d_0: Vec, J: Mat, mass: float, coupling: float, w: Vec, xi: Six) -> Six:
    r"""C(w) xi of iap_simulator eq. (4).

    With the CoM's offset kept: force m w x v + m w x (w x d_0), torque w x J w + m d_0 x (w x v), each bilinear in the
    platform's angular velocity `w` and the velocity `xi` = [v; w_r].
    """
    v, w_r = linear(xi), angular(xi)
    d = scale(coupling, d_0)
    wv = cross(w, v)
    force = scale(mass, add(wv, cross(w, cross(w_r, d))))
    return six(force, add(scale(-1.0, cross(mv(J, w), w_r)), scale(mass, cross(d, wv))))


@formula
def gravity_on(mass: float, d_0: Vec, gravity: float, q_WP: Quat) -> Six:
    """G of iap_simulator eq. (4) in ENU/FLU: the weight -m g z_W in P, and its torque about P's origin."""
    weight_P = unrotate(q_WP, (0.0, 0.0, -mass * gravity))
    return six(weight_P, cross(d_0, weight_P))


@njit(cache=True)
def gravity_wrench(mass: float, d_0: Array, gravity: float, q_WP: Array, out: Array) -> None:
    """Write `gravity_on` (6,) of an attitude (4,)."""
    put_six(out, 0, gravity_on(mass, vec(d_0), gravity, quat(q_WP)))
