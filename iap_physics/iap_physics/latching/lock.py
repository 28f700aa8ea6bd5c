# SPDX-License-Identifier: BSD-3-Clause
r"""A rigid joint between two free bodies, solved exactly in every step.

With the velocities that the other wrenches would leave after a step of length h, the joint's wrench W = [F; tau] on the
first body solves

.. math::
    h K W = -[v'; w'] - \frac{\beta}{h} [e; \theta], \qquad
    K = \sum_{bodies} \begin{bmatrix} \frac1m - [r] J^{-1} [r] & -[r] J^{-1} \\ J^{-1} [r] & J^{-1} \end{bmatrix},

with v', w' the relative velocities at the joint, e and theta its gap and turn, and beta the share of these that a step
takes away.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    cross,
    formula,
    mat,
    mv,
    qconj,
    qlog,
    qmul,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.vehicles.latch import place_of
from iap_physics.latching.kernel import BodyInertia, spin_up

RETURN = 0.2  # beta


class Lock(NamedTuple):
    """A rigid joint between bodies a and b.

    Attributes:
        p_AJ_A: (3,) the joint in a [m].
        p_BJ_B: (3,) in b [m].
        q_AB: attitude of b in a that it keeps.
    """

    p_AJ_A: Array
    p_BJ_B: Array
    q_AB: Quat


class LockRoom(NamedTuple):
    """Room of `lock_wrench`: all other wrenches (2, 6) on a and b about their CoMs, and equations (6, 7)."""

    wrenches: Array
    equations: Array

    @classmethod
    def empty(cls) -> "LockRoom":
        """Without any wrench."""
        return cls(np.zeros((2, 6)), np.zeros((6, 7)))


@njit(cache=True, error_model="numpy")
def lock_wrench(
    x_a: Array,
    x_b: Array,
    lock: Lock,
    bodies: tuple[BodyInertia, BodyInertia],
    room: LockRoom,
    gravity: float,
    dt: float,
    out: Array,
) -> None:
    """Write force and torque about the joint (6,) on body a, world axes.

    Args:
        x_a: (13,) state row of body a.
        x_b: (13,) of body b.
        lock: the joint.
        bodies: inertia of a and b.
        room: with the other wrenches, world axes, gravity excluded.
        gravity: [m/s^2], along -z.
        dt: step [s].
        out: written.
    """
    work = room.equations
    at_a, at_b = place_of(x_a, lock.p_AJ_A), place_of(x_b, lock.p_BJ_B)
    for i in range(6):
        for k in range(7):
            work[i, k] = 0.0
    _add_body(work, x_a, bodies[0], at_a, room.wrenches[0], 1.0, gravity, dt)
    _add_body(work, x_b, bodies[1], at_b, room.wrenches[1], -1.0, gravity, dt)
    gap = sub(at_a, at_b)
    q_off = qmul(quat_at(x_a, 3), qmul(lock.q_AB, qconj(quat_at(x_b, 3))))
    turn = qlog(q_off)
    for k in range(3):
        work[k, 6] -= RETURN / (dt * dt) * gap[k]
        work[3 + k, 6] -= RETURN / (dt * dt) * turn[k]
    _solve(work, out)


@formula
def _add_body(
    work: Array,
    x: Array,
    body: BodyInertia,
    at: Vec,
    wrench: Array,
    sign: float,
    gravity: float,
    dt: float,
) -> None:
    """Add what a body moves and weighs at the joint's place to the equations (6, 7), with its sign."""
    r = sub(at, vec_at(x, 0))
    q, w = quat_at(x, 3), vec_at(x, 10)
    spin = rotate(q, mv(mat(body.J), unrotate(q, w)))
    torque = sub(vec_at(wrench, 3), cross(w, spin))
    a, b = spin_up(x, (1.0, 0.0, 0.0), body.J_inv), spin_up(x, (0.0, 1.0, 0.0), body.J_inv)
    c = spin_up(x, (0.0, 0.0, 1.0), body.J_inv)
    yielding = (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])  # symmetric
    w_after = add(w, scale(dt, mv(yielding, torque)))
    v_after = add(vec_at(x, 7), scale(dt * body.inverse_mass, vec_at(wrench, 0)))
    v_after = add(v_after, (0.0, 0.0, -dt * gravity))
    v_after = add(v_after, cross(w_after, r))
    for k in range(3):
        work[k, 6] -= sign * v_after[k] / dt
        work[3 + k, 6] -= sign * w_after[k] / dt
    x_r, y_r, z_r = (0.0, r[2], -r[1]), (-r[2], 0.0, r[0]), (r[1], -r[0], 0.0)  # r x axes
    _add_column(work, 0, mv(yielding, x_r), r)
    _add_column(work, 1, mv(yielding, y_r), r)
    _add_column(work, 2, mv(yielding, z_r), r)
    _add_column(work, 3, a, r)
    _add_column(work, 4, b, r)
    _add_column(work, 5, c, r)
    for k in range(3):
        work[k, k] += body.inverse_mass


@formula
def _add_column(work: Array, k: int, alpha: Vec, r: Vec) -> None:
    """Add what a body's angular acceleration does to the joint's motion, in column k."""
    slip = cross(alpha, r)
    work[0, k] += slip[0]
    work[1, k] += slip[1]
    work[2, k] += slip[2]
    work[3, k] += alpha[0]
    work[4, k] += alpha[1]
    work[5, k] += alpha[2]


@njit(cache=True, error_model="numpy")
def _solve(work: Array, out: Array) -> None:
    """Solve a symmetric positive definite system (6, 6 | 1) in place, without pivots."""
    for i in range(6):
        inverse = 1.0 / work[i, i]
        for j in range(i + 1, 6):
            factor = work[j, i] * inverse
            for k in range(i + 1, 7):
                work[j, k] -= factor * work[i, k]
    for i in range(5, -1, -1):
        value = work[i, 6]
        for k in range(i + 1, 6):
            value -= work[i, k] * out[k]
        out[i] = value / work[i, i]
