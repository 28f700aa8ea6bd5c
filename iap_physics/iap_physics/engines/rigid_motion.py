# SPDX-License-Identifier: BSD-3-Clause
r"""Formulas of a platform's free flight in closed form.

With every aircraft's CoM on its spherical joint, the joints transmit forces only. The platform then
is one rigid body, the central body with a point mass at each joint, and each aircraft turns on its
own:

.. math::
    m \dot v_C = \sum_b f_b - m g e_3, \qquad
    \dot L = \tau_0 + \sum_b (R_{WP} r_b) \times f_b, \qquad
    \dot L_i = \tau_i, \qquad
    \dot q = \tfrac12 q \otimes (J^{-1} R^T L)

with C the common CoM, r_b the arm from C to body b in P, and L, L_i angular momenta in world axes.
Bodies on fixed joints belong to the rigid body with their inertia and torque. Integrating L rather
than the angular velocity keeps the momenta to rounding; the CoM moves exactly under the constant
force of a step, and q, L by the classical Runge-Kutta method.
"""

from typing import NamedTuple

from iap_description.math.kernels import (
    Mat,
    Quat,
    Vec,
    add,
    cross,
    formula,
    mv,
    qnormalize,
    qrate,
    rotate,
    scale,
    sub,
    unrotate,
)


class ForceMoments(NamedTuple):
    """The columns sum_b r_b f_b[k], in P; with them sum_b (R r_b) x f_b takes three rotations."""

    x: Vec
    y: Vec
    z: Vec


@formula
def _moment(q: Quat, m: ForceMoments) -> Vec:
    """sum_b (R(q) r_b) x f_b [N m], world axes."""
    x, y, z = rotate(q, m.x), rotate(q, m.y), rotate(q, m.z)
    return (z[1] - y[2], x[2] - z[0], y[0] - x[1])


@formula
def along(q: Quat, s: float, rate: Quat) -> Quat:
    """The quaternion q + s rate."""
    return (q[0] + s * rate[0], q[1] + s * rate[1], q[2] + s * rate[2], q[3] + s * rate[3])


@formula
def _rate(q: Quat, L: Vec, J_inv: Mat) -> Quat:
    return qrate(q, mv(J_inv, unrotate(q, L)))


@formula
def begin_turn(q: Quat, L: Vec, J_inv: Mat, dt: float) -> tuple[Quat, Quat]:
    """First stage of Runge and Kutta: the attitude at which the second looks, and the sum of the result so far."""
    k = _rate(q, L, J_inv)
    return along(q, 0.5 * dt, k), along(q, dt / 6.0, k)


@formula
def go_on_turning(
    q: Quat, at: Quat, so_far: Quat, L: Vec, J_inv: Mat, ahead: float, dt: float
) -> tuple[Quat, Quat]:
    """Second or third stage, at an attitude and a momentum; the next one looks `ahead` [s] of q. As `begin_turn`."""
    k = _rate(at, L, J_inv)
    return along(q, ahead, k), along(so_far, dt / 3.0, k)


@formula
def end_turn(at: Quat, so_far: Quat, L: Vec, J_inv: Mat, dt: float) -> Quat:
    """Last stage: the attitude after `dt`."""
    return qnormalize(along(so_far, dt / 6.0, _rate(at, L, J_inv)))


@formula
def turn_free(q: Quat, L: Vec, torque: Vec, J_inv: Mat, dt: float) -> Quat:
    """Attitude after `dt` under a constant torque; the angular momentum becomes L + torque dt."""
    half = add(L, scale(0.5 * dt, torque))
    at, so_far = begin_turn(q, L, J_inv, dt)
    at, so_far = go_on_turning(q, at, so_far, half, J_inv, 0.5 * dt, dt)
    at, so_far = go_on_turning(q, at, so_far, half, J_inv, dt, dt)
    return end_turn(at, so_far, add(L, scale(dt, torque)), J_inv, dt)


@formula
def torque_at(q: Quat, torque: Vec, m: ForceMoments) -> Vec:
    """A constant torque and that of forces on arms which have turned to an attitude [N m]."""
    return add(torque, _moment(q, m))


@formula
def momentum_after(L: Vec, t1: Vec, t2_t3: Vec, t4: Vec, dt: float) -> Vec:
    """Angular momentum after `dt` under the torques of the four stages, of which the two in the middle are added up."""
    return add(L, scale(dt / 6.0, add(add(t1, t4), scale(2.0, t2_t3))))


@formula
def turn_under_forces(
    q: Quat, L: Vec, torque: Vec, m: ForceMoments, J_inv: Mat, dt: float
) -> tuple[Quat, Vec]:
    """Attitude and angular momentum after `dt` under constant torque and forces on turning arms."""
    t1 = torque_at(q, torque, m)
    at, so_far = begin_turn(q, L, J_inv, dt)
    t2, L2 = torque_at(at, torque, m), add(L, scale(0.5 * dt, t1))
    at, so_far = go_on_turning(q, at, so_far, L2, J_inv, 0.5 * dt, dt)
    t3, L3 = torque_at(at, torque, m), add(L, scale(0.5 * dt, t2))
    at, so_far = go_on_turning(q, at, so_far, L3, J_inv, dt, dt)
    t4, L4 = torque_at(at, torque, m), add(L, scale(dt, t3))
    return end_turn(at, so_far, L4, J_inv, dt), momentum_after(L, t1, add(t2, t3), t4, dt)


@formula
def spin(q: Quat, w: Vec, J: Mat) -> Vec:
    """Angular momentum R J R^T w, world axes."""
    return rotate(q, mv(J, unrotate(q, w)))


@formula
def step_body(q: Quat, w: Vec, torque: Vec, J: Mat, J_inv: Mat, dt: float) -> tuple[Quat, Vec]:
    """Attitude and angular velocity of one body on a spherical joint after a step under a constant torque."""
    L = spin(q, w, J)
    q = turn_free(q, L, torque, J_inv, dt)
    return q, spin(q, add(L, scale(dt, torque)), J_inv)


class Base(NamedTuple):
    """The central body's motion."""

    p: Vec
    q: Quat
    v: Vec
    w: Vec


@formula
def move_centre(
    base: Base, arm_P: Vec, force: Vec, mass: float, gravity: float, dt: float
) -> tuple[Vec, Vec]:
    """Place and velocity of the common CoM after a step; arguments as of `step_rigid`."""
    arm = rotate(base.q, arm_P)
    p_C, v_C = sub(base.p, arm), sub(base.v, cross(base.w, arm))
    a_C = add(scale(1.0 / mass, force), (0.0, 0.0, -gravity))
    p_C = add(p_C, add(scale(dt, v_C), scale(0.5 * dt * dt, a_C)))
    return p_C, add(v_C, scale(dt, a_C))


class RigidInertia(NamedTuple):
    """Mass [kg], inertia about the CoM [kg m^2] and its inverse."""

    mass: float
    J: Mat
    J_inv: Mat


@formula
def step_rigid(
    base: Base,
    arm_P: Vec,
    force: Vec,
    torque: Vec,
    m: ForceMoments,
    body: RigidInertia,
    gravity: float,
    dt: float,
) -> tuple[Base, Vec, Vec]:
    """The rigid part over one step: its central body, and place and velocity of the common CoM.

    Args:
        base: the central body before it.
        arm_P: from the common CoM to the central body's [m].
        force: on all bodies [N].
        torque: on those of the rigid part [N m].
        m: moments of all forces.
        body: mass of all bodies, and inertia of the rigid part.
        gravity: [m/s^2], along -z.
        dt: [s].
    """
    p_C, v_C = move_centre(base, arm_P, force, body.mass, gravity, dt)
    L_0 = spin(base.q, base.w, body.J)
    q, L = turn_under_forces(base.q, L_0, torque, m, body.J_inv, dt)
    w = spin(q, L, body.J_inv)
    p, v = on_arm(p_C, v_C, q, w, arm_P)
    return Base(p, q, v, w), p_C, v_C


@formula
def on_arm(p_C: Vec, v_C: Vec, q: Quat, w: Vec, arm_P: Vec) -> tuple[Vec, Vec]:
    """Place and velocity of a body's CoM on an arm of the rigid part."""
    arm = rotate(q, arm_P)
    return add(p_C, arm), add(v_C, cross(w, arm))


@formula
def is_sound(p: Vec, q: Quat, v: Vec, w: Vec) -> bool:
    """True if a motion is finite and its attitude of unit length, which an overflow makes zero."""
    total = (
        p[0] + p[1] + p[2] + q[0] + q[1] + q[2] + q[3] + v[0] + v[1] + v[2] + w[0] + w[1] + w[2]
    )
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    return (total - total == 0.0) & (square > 0.5)
