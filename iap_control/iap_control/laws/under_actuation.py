# SPDX-License-Identifier: BSD-3-Clause
r"""Motion control of a platform with collinear joints on R^3 x S^2, iap_simulator eqs. (12)-(16).

No thrust at the joints can turn the platform about their line. The passive decomposition splits
velocities into an actuated part (5) and the turn about the line (1) that do not couple through the
inertia M, and controls the first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation.model import Inertia, PlatformModel
from iap_control.laws.tracking import (
    ACCELERATION,
    VELOCITY,
    Errors,
    Held,
    Law,
    Lumped,
    Motion,
    Target,
    advanced,
    coriolis,
    errors,
    gravity_on,
    held_part,
    lumped,
    motion_at,
    shortened,
    target_at,
    turn_about,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat6,
    Quat,
    Six,
    Vec,
    add,
    angular,
    choose,
    chosen3,
    chosen6,
    cross,
    dot,
    dot6,
    formula,
    linear,
    mat6,
    most,
    mv6,
    norm,
    put_six,
    qconj,
    qmul,
    rotate,
    scale,
    six,
    six_at,
    sub,
    sub6,
    unrotate,
    vec,
)

MIN_LEVER = 1e-6  # of the CoM about the line, below which the platform does not hang [m]
UPRIGHT = 1e-6  # sine of a line's angle to the vertical, below which nothing hangs on it

Five = tuple[float, float, float, float, float]
Mat5 = tuple[Five, Five, Five, Five, Five]  # row by row


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
        assert model.line is not None  # noqa: S101 - the law of collinear joints
        (r, p_line), M = model.line, model.inertia.M
        Delta_u = np.concatenate([-np.cross(r, p_line), r])
        across = np.linalg.svd(r[None])[2][1:].T
        across = across * np.sign(across[np.argmax(np.abs(across), axis=0), [0, 1]])
        natural = np.zeros((6, 5))
        natural[:3, :3], natural[3:, 3:] = np.eye(3), across
        Delta_a = natural - np.outer(Delta_u, Delta_u @ M @ natural) / (Delta_u @ M @ Delta_u)
        Delta = np.column_stack([Delta_a, Delta_u])
        Delta_T = np.ascontiguousarray(Delta.T)
        lever = p_line - model.inertia.d_0
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
            p_line,
            lever / length if length > MIN_LEVER else np.zeros(3),
        )

    def drop_turn_about_line(self, wrench_P: Array) -> None:
        """Change a wrench's torque about the line so that it does not turn the platform, in place.

        No thrusts can make that torque; left in, it would count as a force through the inertia's coupling.
        """
        wrench_P[3:] -= self.line * (self.Delta[:, 5] @ wrench_P)


class Split(NamedTuple):
    """`Decomposition` in numbers."""

    Delta: Mat6
    Delta_inverse: Mat6
    Omega_T: Mat6
    M_a: Mat5
    line: Vec
    basis: tuple[Vec, Vec]
    p_line: Vec
    up: Vec


@formula
def split_of(split: Decomposition) -> Split:
    """The numbers of a decomposition."""
    B = split.basis
    return Split(
        mat6(split.Delta),
        mat6(split.Delta_inverse),
        mat6(split.Omega_T),
        _mat5(split.M_a),
        vec(split.line),
        ((B[0, 0], B[1, 0], B[2, 0]), (B[0, 1], B[1, 1], B[2, 1])),
        vec(split.p_line),
        vec(split.up),
    )


class Pid5(NamedTuple):
    """Five gains, x, y, z and two across the line, as `Pid` has six."""

    kP: Five
    kI: Five
    kD: Five
    limit: Five
    per_inertia: bool
    reach: tuple[float, float]


@formula
def pid5_of(law: Law) -> Pid5:
    """The numbers of five gains."""
    gains = (_five_at(law.kP), _five_at(law.kI), _five_at(law.kD), _five_at(law.limit))
    reach = (law.reach[0], law.reach[1])
    return Pid5(gains[0], gains[1], gains[2], gains[3], law.per_inertia, reach)


@formula
def under_actuation(
    x: Motion,
    target: Target,
    level: float,
    wrench_e_P: Six,
    integral: Five,
    body: Lumped,
    law: Pid5,
    split: Split,
    dt: float,
    short: Six,
    axes: Six,
    pivot_P: Vec,
) -> tuple[Six, Five]:
    r"""Active wrench U in P with no torque about the joints' line, after iap_simulator eq. (16), and the new integral.

    u_a = M_a dv_a + C_a v_a + C_au v_u - k_P e - k_I \int e - k_D e_v - g_a - f_a, u_u = 0, U = Omega^T
    [u_a; u_u]. Gains of the line's direction come from pitch and yaw. Arguments as in
    `iap_control.laws.motion_law.full_actuation`.
    """
    found = _without_turn(errors(x, target, level), x.q, target.q, split.line, level)
    at_line = law.per_inertia & (level < VELOCITY)
    e_p = _at_line(linear(found.e_T), x.q, target.q, split)
    e_T = chosen6(at_line, six(e_p, angular(found.e_T)), found.e_T)
    found = held_part(Errors(e_T, found.e_xi, found.xi_r, found.dxi_r), axes)
    e_T, far = shortened(found.e_T, law.reach)
    e = _error(e_T, law.per_inertia, body.d_0, split)
    integral = _advanced5(integral, e, law, dt, _across(short, split.basis), far)
    nu, e_nu = mv6(split.Delta_inverse, found.xi_r), mv6(split.Delta_inverse, found.e_xi)
    dnu = _first_five(mv6(split.Delta_inverse, found.dxi_r))
    feedback = _add5(_times5(law.kP, e), _times5(law.kI, integral))
    feedback = _add5(feedback, _times5(law.kD, _first_five(e_nu)))
    wanted = _sub5(dnu, feedback)
    moved = add(
        (wanted[0], wanted[1], wanted[2]),
        turn_about(pivot_P, axes, _turn_across(wanted, split.basis)),
    )
    wanted = _chosen5(law.per_inertia, (moved[0], moved[1], moved[2], wanted[3], wanted[4]), dnu)
    u = _mv5(split.M_a, wanted)
    u = _chosen5(law.per_inertia, u, _sub5(u, feedback))
    # the nominal actuated velocity with the actual turn, for C_a v_a + C_au v_u
    turning = (nu[0], nu[1], nu[2], nu[3], nu[4], nu[5] + e_nu[5])
    xi, w_P = mv6(split.Delta, turning), unrotate(x.q, x.w)
    load = coriolis(body.d_0, body.J, body.mass, body.coupling, w_P, xi)
    load = sub6(load, gravity_on(body.mass, body.d_0, body.gravity, x.q))
    u = _add5(u, _first_five(_transposed_mv6(split.Delta, sub6(load, wrench_e_P))))
    return mv6(split.Omega_T, (u[0], u[1], u[2], u[3], u[4], 0.0)), integral


@njit(cache=True)
def under_actuation_wrench(
    x: Array,
    row: Array,
    wrench_e_P: Array,
    integral: Array,
    level: int,
    inertia: Inertia,
    law: Law,
    split: Decomposition,
    dt: float,
    short: Array,
    held: Held,
) -> Array:
    """`under_actuation` of a state row (13,) and a reference row (19+): (6,); the integral (5,) is advanced."""
    where = (motion_at(x), target_at(row), level, six_at(wrench_e_P, 0), _five_at(integral))
    settings = (lumped(inertia), pid5_of(law), split_of(split), dt, six_at(short, 0))
    wrench, after = under_actuation(*where, *settings, six_at(held.axes, 0), vec(held.pivot_P))
    for i in range(5):
        integral[i] = after[i]
    U = np.empty(6)
    put_six(U, 0, wrench)
    return U


@formula
def _across(wrench: Six, basis: tuple[Vec, Vec]) -> Five:
    """Linear part and angular parts across the line of a wrench or an error in P."""
    turn = angular(wrench)
    return (wrench[0], wrench[1], wrench[2], dot(basis[0], turn), dot(basis[1], turn))


@formula
def _without_turn(found: Errors, q: Quat, q_r: Quat, line: Vec, level: float) -> Errors:
    """Leave the turn about the line out of what is commanded: only the line's direction counts.

    The attitude error becomes r_r x r (iap_simulator below eq. (16)) with both directions in P, and the
    nominal rate about the line is zero. The actual one stays in e_xi: the velocity of P's origin must
    not be taken for that of the line.
    """
    lean = chosen3(
        level < VELOCITY, cross(rotate(qmul(qconj(q), q_r), line), line), angular(found.e_T)
    )
    w_r, alpha_r, e_w = angular(found.xi_r), angular(found.dxi_r), angular(found.e_xi)
    turn = scale(dot(w_r, line), line)
    return Errors(
        six(linear(found.e_T), lean),
        six(linear(found.e_xi), chosen3(level < ACCELERATION, add(e_w, turn), e_w)),
        six(linear(found.xi_r), sub(w_r, turn)),
        six(linear(found.dxi_r), sub(alpha_r, scale(dot(alpha_r, line), line))),
    )


@formula
def _at_line(e_p: Vec, q: Quat, q_r: Quat, split: Split) -> Vec:
    """The position error of P's origin turned into that of the line's point above it.

    The origin swings about the line, where no thrust can hold it, and feeding its swing back makes it
    grow. The line's own reference lies where the platform hangs at rest below it.
    """
    up, c = split.up, split.p_line
    r_r = rotate(q_r, split.line)
    vertical = sub((0.0, 0.0, 1.0), scale(r_r[2], r_r))
    length = norm(vertical)
    up_r = scale(1.0 / most(length, UPRIGHT), vertical)
    side, side_r = cross(split.line, up), cross(r_r, up_r)
    c_r = add(scale(dot(c, up), up_r), scale(dot(c, side), side_r))
    hangs = (dot(up, up) != 0.0) & (length >= UPRIGHT)
    return chosen3(hangs, add(e_p, sub(c, unrotate(q, c_r))), e_p)


@formula
def _turn_across(five: Five, basis: tuple[Vec, Vec]) -> Vec:
    """The two turns of five numbers as a vector in P."""
    return add(scale(five[3], basis[0]), scale(five[4], basis[1]))


@formula
def _error(e_T: Six, per_inertia: bool, d_0: Vec, split: Split) -> Five:
    """The five pose errors: Delta_a^T [e_p; d_0 x e_p + e_r] as printed, or [e_p; e_r across the line] per inertia."""
    force = six(linear(e_T), add(angular(e_T), cross(d_0, linear(e_T))))
    printed = _first_five(_transposed_mv6(split.Delta, force))
    return _chosen5(per_inertia, _across(e_T, split.basis), printed)


@formula
def _transposed_mv6(A: Mat6, a: Six) -> Six:
    """Product A^T a."""
    return (
        dot6((A[0][0], A[1][0], A[2][0], A[3][0], A[4][0], A[5][0]), a),
        dot6((A[0][1], A[1][1], A[2][1], A[3][1], A[4][1], A[5][1]), a),
        dot6((A[0][2], A[1][2], A[2][2], A[3][2], A[4][2], A[5][2]), a),
        dot6((A[0][3], A[1][3], A[2][3], A[3][3], A[4][3], A[5][3]), a),
        dot6((A[0][4], A[1][4], A[2][4], A[3][4], A[4][4], A[5][4]), a),
        dot6((A[0][5], A[1][5], A[2][5], A[3][5], A[4][5], A[5][5]), a),
    )


@formula
def _first_five(a: Six) -> Five:
    return (a[0], a[1], a[2], a[3], a[4])


@formula
def _five_at(a: Array) -> Five:
    return (a[0], a[1], a[2], a[3], a[4])


@formula
def _mat5(M: Array) -> Mat5:
    return (
        (M[0, 0], M[0, 1], M[0, 2], M[0, 3], M[0, 4]),
        (M[1, 0], M[1, 1], M[1, 2], M[1, 3], M[1, 4]),
        (M[2, 0], M[2, 1], M[2, 2], M[2, 3], M[2, 4]),
        (M[3, 0], M[3, 1], M[3, 2], M[3, 3], M[3, 4]),
        (M[4, 0], M[4, 1], M[4, 2], M[4, 3], M[4, 4]),
    )


@formula
def _dot5(a: Five, b: Five) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]


@formula
def _mv5(M: Mat5, a: Five) -> Five:
    return (_dot5(M[0], a), _dot5(M[1], a), _dot5(M[2], a), _dot5(M[3], a), _dot5(M[4], a))


@formula
def _add5(a: Five, b: Five) -> Five:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])


@formula
def _sub5(a: Five, b: Five) -> Five:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4])


@formula
def _times5(a: Five, b: Five) -> Five:
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3], a[4] * b[4])


@formula
def _chosen5(condition: bool, a: Five, b: Five) -> Five:
    return (
        choose(condition, a[0], b[0]),
        choose(condition, a[1], b[1]),
        choose(condition, a[2], b[2]),
        choose(condition, a[3], b[3]),
        choose(condition, a[4], b[4]),
    )


@formula
def _advanced5(integral: Five, e: Five, law: Pid5, dt: float, short: Five, far: bool) -> Five:
    """`advanced` of five errors."""
    kI, limit = law.kI, law.limit
    return (
        advanced(integral[0], e[0], kI[0], limit[0], dt, short[0], far),
        advanced(integral[1], e[1], kI[1], limit[1], dt, short[1], far),
        advanced(integral[2], e[2], kI[2], limit[2], dt, short[2], far),
        advanced(integral[3], e[3], kI[3], limit[3], dt, short[3], far),
        advanced(integral[4], e[4], kI[4], limit[4], dt, short[4], far),
    )


def law_across_line(law: Law, split: Decomposition) -> Law:
    """Five gains x, y, z and two across the line, from six: each turn takes the gain of the axis it is closest to."""
    axes = np.argmax(np.abs(split.basis), axis=0)
    pick = np.array([0, 1, 2, *(3 + axes)])
    return Law(
        law.kP[pick], law.kI[pick], law.kD[pick], law.limit[pick], law.per_inertia, law.reach
    )
