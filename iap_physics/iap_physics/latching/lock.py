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
from iap_physics.latching.latches import Masses, turned

RETURN = 0.2  # beta


@njit(cache=True, error_model="numpy")
def lock_wrench(
    x_a: Array,
    x_b: Array,
    p_AJ_A: Array,
    p_BJ_B: Array,
    q_AB: Quat,
    m_a: Masses,
    m_b: Masses,
    J_a: Array,
    J_b: Array,
    wrenches: Array,
    gravity: float,
    dt: float,
    work: Array,
    out: Array,
) -> None:
    """Write force and torque about the joint (6,) on body a, world axes.

    Args:
        x_a: (13,) state row of body a.
        x_b: (13,) of body b.
        p_AJ_A: (3,) the joint in a [m].
        p_BJ_B: (3,) the joint in b [m].
        q_AB: attitude of b in a that it keeps.
        m_a: inverse masses of a.
        m_b: of b.
        J_a: (3, 3) inertia of a [kg m^2].
        J_b: (3, 3) of b.
        wrenches: (2, 6) all others on a and b about their CoMs, world axes, gravity excluded.
        gravity: [m/s^2], along -z.
        dt: step [s].
        work: (6, 7) room.
        out: written.
    """
    at_a, at_b = place_of(x_a, p_AJ_A), place_of(x_b, p_BJ_B)
    for i in range(6):
        for k in range(7):
            work[i, k] = 0.0
    for n in range(2):
        x, m, J, at, sign = (x_a, m_a, J_a, at_a, 1.0) if n == 0 else (x_b, m_b, J_b, at_b, -1.0)
        r = sub(at, vec_at(x, 0))
        q, w = quat_at(x, 3), vec_at(x, 10)
        spin = rotate(q, mv(mat(J), unrotate(q, w)))
        torque = sub(vec_at(wrenches[n], 3), cross(w, spin))
        a, b = turned(x, (1.0, 0.0, 0.0), m.J), turned(x, (0.0, 1.0, 0.0), m.J)
        c = turned(x, (0.0, 0.0, 1.0), m.J)
        yielding = (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])  # symmetric
        w_after = add(w, scale(dt, mv(yielding, torque)))
        v_after = add(vec_at(x, 7), scale(dt * m.mass, vec_at(wrenches[n], 0)))
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
            work[k, k] += m.mass
    gap = sub(at_a, at_b)
    q_off = qmul(quat_at(x_a, 3), qmul(q_AB, qconj(quat_at(x_b, 3))))
    turn = qlog(q_off)
    for k in range(3):
        work[k, 6] -= RETURN / (dt * dt) * gap[k]
        work[3 + k, 6] -= RETURN / (dt * dt) * turn[k]
    _solve(work, out)


@formula
def _add_column(work: Array, k: int, alpha: Vec, r: Vec) -> None:
    """Add what a body's angular acceleration does to the joint's motion, in column k."""
    moved = cross(alpha, r)
    work[0, k] += moved[0]
    work[1, k] += moved[1]
    work[2, k] += moved[2]
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


def work_room() -> Array:
    """Room for `lock_wrench`."""
    return np.zeros((6, 7))
