# SPDX-License-Identifier: BSD-3-Clause
r"""Motion control of a platform with collinear joints on R^3 x S^2, iap_simulator eqs. (12)-(16).

No thrust at the joints can turn the platform about their line. The passive decomposition splits
velocities into an actuated part (5) and the turn about the line (1) that do not couple through the
inertia M, and controls the first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.laws.tracking import (
    ACCELERATION,
    VELOCITY,
    Held,
    Law,
    Tracking,
    coriolis,
    gravity_wrench,
    hold,
    integrate,
    limit_error,
    track,
    turn_about_pivot,
)
from iap_control.model import Inertia, PlatformModel
from iap_description.arrays import Array
from iap_description.kernels import (
    Quat,
    Vec,
    add,
    cross,
    dot,
    matvec,
    norm,
    put,
    put_at,
    qconj,
    qmul,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec,
    vec_at,
)

MIN_LEVER = 1e-6  # of the CoM about the line, below which the platform does not hang [m]


class Decomposition(NamedTuple):
    """The split of velocities, iap_simulator eqs. (12), (13).

    Attributes:
        Delta: (6, 6) columns [Delta_a | Delta_u]: xi = Delta [v_a; v_u].
        Delta_inverse: its inverse.
        Delta_T: its transpose: u = Delta^T U.
        Omega_T: inverse of Delta_T: U = Omega^T u.
        M_a: (5, 5) inertia of the actuated part, eq. (14).
        line: (3,) direction of the joints' line in P.
        basis: (3, 2) two directions across the line.
        d_0: (3,) CoM in P [m].
        p_line: (3,) the line's point nearest to P's origin, in P [m].
        up: (3,) direction in P from the CoM to the line, which is upwards at rest; zero if the CoM is on the line.
    """

    Delta: Array
    Delta_inverse: Array
    Delta_T: Array
    Omega_T: Array
    M_a: Array
    line: Array
    basis: Array
    d_0: Array
    p_line: Array
    up: Array

    @classmethod
    def of(cls, model: PlatformModel) -> "Decomposition":
        """Decompose a platform with collinear joints.

        Delta_u is the twist that leaves every joint in place: a turn about their line. Delta_a is what the three
        translations and the two turns across the line become once their M-component along Delta_u is taken out.
        """
        r, M = model.line_P, model.inertia.M
        Delta_u = np.concatenate([-np.cross(r, model.p_line_P), r])
        across = np.linalg.svd(r[None])[2][1:].T
        across = across * np.sign(across[np.argmax(np.abs(across), axis=0), [0, 1]])
        natural = np.zeros((6, 5))
        natural[:3, :3], natural[3:, 3:] = np.eye(3), across
        Delta_a = natural - np.outer(Delta_u, Delta_u @ M @ natural) / (Delta_u @ M @ Delta_u)
        Delta = np.column_stack([Delta_a, Delta_u])
        Delta_T = np.ascontiguousarray(Delta.T)
        lever = model.p_line_P - model.inertia.d_0
        lever = lever - r * (r @ lever)
        length = float(np.linalg.norm(lever))
        return cls(
            Delta,
            np.linalg.inv(Delta),
            Delta_T,
            np.linalg.inv(Delta_T),
            Delta_a.T @ M @ Delta_a,
            np.ascontiguousarray(r),
            np.ascontiguousarray(across),
            model.inertia.d_0,
            model.p_line_P,
            lever / length if length > MIN_LEVER else np.zeros(3),
        )

    def drop_turn_about_line(self, wrench_P: Array) -> None:
        """Change a wrench's torque about the line so that it does not turn the platform, in place.

        No thrusts can make that torque; left in, it would count as a force through the inertia's coupling.
        """
        wrench_P[3:] -= self.line * (self.Delta[:, 5] @ wrench_P)


@njit(cache=True)
def under_actuation_wrench(
    x: Array,
    row: Array,
    wrench_e_P: Array,
    integral: Array,
    work: Tracking,
    level: int,
    inertia: Inertia,
    law: Law,
    split: Decomposition,
    dt: float,
    short: Array,
    held: Held,
) -> Array:
    r"""Active wrench U (6,) in P with no torque about the joints' line, after iap_simulator eq. (16).

    u_a = M_a dv_a + C_a v_a + C_au v_u - k_P e - k_I \int e - k_D e_v - g_a - f_a, u_u = 0, U = Omega^T
    [u_a; u_u]. Gains of the line's direction come from pitch and yaw. Arguments as in
    `full_actuation_wrench`; `law` holds five gains.
    """
    track(x, row, level, work)
    w_P = unrotate(quat_at(x, 3), vec_at(x, 10))
    _drop_turn_about_line(quat_at(x, 3), quat_at(row, 3), split.line, work, level)
    if law.per_inertia and level < VELOCITY:
        _at_line(quat_at(x, 3), quat_at(row, 3), split, work)
    hold(held, work)
    far = limit_error(work.e_T, law.reach)
    e = _error(work.e_T, law, split)
    integrate(integral, e, law, dt, _across(short, split.basis), far)
    nu, e_nu, dnu = np.empty(6), np.empty(6), np.empty(6)
    matvec(split.Delta_inverse, work.xi_r, nu)
    matvec(split.Delta_inverse, work.e_xi, e_nu)
    matvec(split.Delta_inverse, work.dxi_r, dnu)
    feedback = law.kP * e + law.kI * integral + law.kD * e_nu[:5]
    u = np.zeros(6)
    if law.per_inertia:
        wanted = dnu[:5] - feedback
        turn_about_pivot(held, _turn_across(wanted, split), wanted)
        matvec(split.M_a, wanted, u[:5])
    else:
        matvec(split.M_a, dnu[:5], u[:5])
        u[:5] -= feedback
    load, term, projected = np.empty(6), np.empty(6), np.empty(6)
    nu[5] += e_nu[5]  # the nominal actuated velocity with the actual turn, for C_a v_a + C_au v_u
    matvec(split.Delta, nu, term)
    coriolis(inertia.d_0, inertia.J, inertia.mass, inertia.coupling, w_P, term, load)
    gravity_wrench(inertia.mass, inertia.d_0, inertia.gravity, x[3:7], term)
    load -= term
    load -= wrench_e_P
    matvec(split.Delta_T, load, projected)
    u[:5] += projected[:5]
    U = np.empty(6)
    matvec(split.Omega_T, u, U)
    return U


@njit(cache=True)
def _across(wrench: Array, basis: Array) -> Array:
    """Linear part and angular parts across the line (5,) of a wrench or an error (6,) in P."""
    out = np.empty(5)
    out[:3] = wrench[:3]
    for k in range(2):
        out[3 + k] = 0.0
        for i in range(3):
            out[3 + k] += basis[i, k] * wrench[3 + i]
    return out


@njit(cache=True)
def _drop_turn_about_line(q: Quat, q_r: Quat, line: Array, work: Tracking, level: int) -> None:
    """Leave the turn about the line out of what is commanded: only the line's direction counts.

    The attitude error becomes r_r x r (iap_simulator below eq. (16)) with both directions in P, and the
    nominal rate about the line is zero. The actual one stays in e_xi: the velocity of P's origin must
    not be taken for that of the line.
    """
    r = vec(line)
    if level < VELOCITY:
        r_r = rotate(qmul(qconj(q), q_r), r)
        put_at(work.e_T, 3, cross(r_r, r))
    turn = dot(vec_at(work.xi_r, 3), r)
    put_at(work.xi_r, 3, sub(vec_at(work.xi_r, 3), scale(turn, r)))
    put_at(work.dxi_r, 3, sub(vec_at(work.dxi_r, 3), scale(dot(vec_at(work.dxi_r, 3), r), r)))
    if level < ACCELERATION:
        put_at(work.e_xi, 3, add(vec_at(work.e_xi, 3), scale(turn, r)))


@njit(cache=True)
def _at_line(q: Quat, q_r: Quat, split: Decomposition, work: Tracking) -> None:
    """Turn the position error of P's origin into that of the line's point above it.

    The origin swings about the line, where no thrust can hold it, and feeding its swing back makes it
    grow. The line's own reference lies where the platform hangs at rest below it.
    """
    up, c = vec(split.up), vec(split.p_line)
    if dot(up, up) == 0.0:
        return
    r_r = rotate(q_r, vec(split.line))
    vertical = sub((0.0, 0.0, 1.0), scale(r_r[2], r_r))
    if norm(vertical) < 1e-6:  # a line that stands upright hangs nowhere
        return
    up_r = scale(1.0 / norm(vertical), vertical)
    side, side_r = cross(vec(split.line), up), cross(r_r, up_r)
    c_r = add(scale(dot(c, up), up_r), scale(dot(c, side), side_r))
    put(work.e_T, add(vec(work.e_T), sub(c, unrotate(q, c_r))))


@njit(cache=True)
def _turn_across(five: Array, split: Decomposition) -> Vec:
    """The two turns of (5,) as a vector in P."""
    one, two = five[3], five[4]
    across = split.basis
    return (
        one * across[0, 0] + two * across[0, 1],
        one * across[1, 0] + two * across[1, 1],
        one * across[2, 0] + two * across[2, 1],
    )


@njit(cache=True)
def _error(e_T: Array, law: Law, split: Decomposition) -> Array:
    """The five pose errors: Delta_a^T [e_p; d_0 x e_p + e_r] as printed, or [e_p; e_r across the line] per inertia."""
    if law.per_inertia:
        return _across(e_T, split.basis)
    force = e_T.copy()
    lever = cross(vec(split.d_0), vec(e_T))
    force[3] += lever[0]
    force[4] += lever[1]
    force[5] += lever[2]
    e = np.empty(5)
    matvec(split.Delta_T[:5], force, e)
    return e


def law_across_line(law: Law, split: Decomposition) -> Law:
    """Five gains x, y, z and two across the line, from six: each turn takes the gain of the axis it is closest to."""
    axes = np.argmax(np.abs(split.basis), axis=0)
    pick = np.array([0, 1, 2, *(3 + axes)])
    return Law(
        law.kP[pick], law.kI[pick], law.kD[pick], law.limit[pick], law.per_inertia, law.reach
    )
