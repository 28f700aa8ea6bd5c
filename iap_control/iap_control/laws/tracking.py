# SPDX-License-Identifier: BSD-3-Clause
"""Tracking errors and feed-forward shared by the motion controllers, and the integral with its anti-windup."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.gains import Gains, PaperWrenchGains
from iap_description.arrays import Array
from iap_description.kernels import (
    Vec,
    add,
    cross,
    mul,
    norm,
    put,
    put_at,
    qconj,
    qmul,
    quat,
    quat_at,
    scale,
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


class Tracking(NamedTuple):
    """Errors and nominal motion at one instant, all in P, each (6,) = [linear; angular].

    Attributes:
        e_T: pose error of iap_simulator eq. (10): [R^T (p - p_r); vee(R_r^T R - R^T R_r) / 2].
        e_xi: velocity error xi - xi_r.
        xi_r: nominal velocity, expressed in P.
        dxi_r: its derivative as seen in P.
    """

    e_T: Array
    e_xi: Array
    xi_r: Array
    dxi_r: Array

    @classmethod
    def empty(cls) -> "Tracking":
        """Working memory of a controller."""
        return cls(np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6))


@njit(cache=True)
def track(x: Array, row: Array, level: int, out: Tracking) -> None:
    r"""Fill `out` from a body's state row (13,) and a reference row (19+).

    The reference turns in its own frame; with q_e = q_r^{-1} q, its vectors come to P by R(q_e)^T. Differentiating
    R^T v_r in the turning frame P gives R^T a_r - w x (R^T v_r), and likewise for the angular part.
    """
    q, q_r = quat_at(x, 3), quat_at(row, 3)
    q_e = qmul(qconj(q_r), q)
    v_P, w_P = unrotate(q, vec_at(x, 7)), unrotate(q, vec_at(x, 10))
    v_r, w_r = unrotate(q, vec_at(row, 7)), unrotate(q_e, vec_at(row, 10))
    a_r, alpha_r = unrotate(q, vec_at(row, 13)), unrotate(q_e, vec_at(row, 16))
    put(out.xi_r, v_r)
    put_at(out.xi_r, 3, w_r)
    put(out.dxi_r, sub(a_r, cross(w_P, v_r)))
    put_at(out.dxi_r, 3, sub(alpha_r, cross(w_P, w_r)))
    put(out.e_T, unrotate(q, sub(vec(x), vec(row))))
    put_at(out.e_T, 3, scale(2.0 * q_e[3], (q_e[0], q_e[1], q_e[2])))
    put(out.e_xi, sub(v_P, v_r))
    put_at(out.e_xi, 3, sub(w_P, w_r))
    if level >= VELOCITY:
        out.e_T[:] = 0.0
    if level >= ACCELERATION:
        out.e_xi[:] = 0.0


class Held(NamedTuple):
    """The tracked part of the pose where the wrench is controlled besides.

    Attributes:
        axes: (6,) 1 where the pose is tracked, 0 on axes of P that are left to the wrench.
        pivot_P: (3,) the point that stays where it is along the latter while the platform turns, in P [m].
    """

    axes: Array
    pivot_P: Array

    @classmethod
    def all(cls) -> "Held":
        """Every axis is tracked."""
        return cls(np.ones(6), np.zeros(3))


@njit(cache=True)
def hold(held: Held, out: Tracking) -> None:
    """Leave the axes that are not held out of what is tracked: neither errors nor nominal motion."""
    for i in range(6):
        out.e_T[i] *= held.axes[i]
        out.e_xi[i] *= held.axes[i]
        out.xi_r[i] *= held.axes[i]
        out.dxi_r[i] *= held.axes[i]


@njit(cache=True)
def turn_about_pivot(held: Held, alpha: Vec, a: Array) -> None:
    """Let P's origin accelerate, `a` (3+), along axes that are not held as in a turn `alpha` about the pivot."""
    turning = cross(vec(held.pivot_P), alpha)
    for i in range(3):
        a[i] += (1.0 - held.axes[i]) * turning[i]


@njit(cache=True)
def limit_error(e_T: Array, reach: Array) -> bool:
    """Shorten the errors of position and attitude to the controller's reach, (2,); True if one was longer.

    A jump of the reference then asks for no more than the platform can do while it stays upright.
    """
    limited = False
    for i in range(2):
        length = norm(vec_at(e_T, 3 * i))
        if length > reach[i]:
            put_at(e_T, 3 * i, scale(reach[i] / length, vec_at(e_T, 3 * i)))
            limited = True
    return limited


@njit(cache=True)
def integrate(integral: Array, e: Array, law: Law, dt: float, short: Array, far: bool) -> None:
    """Advance the error's integral, within its limit.

    It does not grow where that would ask for more of what the last step was short of, nor while an error is beyond
    the controller's reach.

    Args:
        integral: advanced in place.
        e: the errors.
        law: gains.
        dt: control period [s].
        short: what was wanted of each error's wrench less what was made.
        far: whether an error was limited.
    """
    for i in range(e.shape[0]):
        if law.kI[i] == 0.0 or ((far or short[i] * e[i] < 0.0) and integral[i] * e[i] > 0.0):
            continue
        bound = law.limit[i] / law.kI[i]
        integral[i] = min(max(integral[i] + e[i] * dt, -bound), bound)


@njit(cache=True)
def coriolis(
    d_0: Array, J: Array, mass: float, coupling: float, w: Vec, xi: Array, out: Array
) -> None:
    r"""Write out = C(w) xi of iap_simulator eq. (4).

    With the CoM's offset kept: force m w x v + m w x (w x d_0), torque w x J w + m d_0 x (w x v), each bilinear in the
    platform's angular velocity `w` and the velocity `xi` = [v; w_r].
    """
    v, w_r = vec(xi), vec_at(xi, 3)
    d = scale(coupling, vec(d_0))
    wv = cross(w, v)
    put(out, scale(mass, add(wv, cross(w, cross(w_r, d)))))
    put_at(out, 3, add(scale(-1.0, cross(mul(J, w), w_r)), scale(mass, cross(d, wv))))


@njit(cache=True)
def gravity_wrench(mass: float, d_0: Array, gravity: float, q_WP: Array, out: Array) -> None:
    """Write G of iap_simulator eq. (4) in ENU/FLU: the weight -m g z_W in P, and its torque about P's origin."""
    weight_P = unrotate(quat(q_WP), (0.0, 0.0, -mass * gravity))
    put(out, weight_P)
    put_at(out, 3, cross(vec(d_0), weight_P))
