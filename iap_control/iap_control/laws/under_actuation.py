# SPDX-License-Identifier: BSD-3-Clause
r"""Motion control of a platform with collinear joints on R^3 x S^2, iap_simulator eqs. (12)-(16).

No thrust at the joints can turn the platform about their line. The passive decomposition splits
velocities into an actuated part (5) and the turn about the line (1) that do not couple through the
inertia M, and controls the first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation.model import Inertia
from iap_control.laws.decomposition import (
    Decomposition,
    DecompositionNumbers,
    decomposition_numbers,
)
from iap_control.laws.five import (
    Five,
    add5,
    first_five,
    mv5,
    select5,
    sub5,
    times5,
    transposed_mv6,
)
from iap_control.laws.tracked_axes import (
    TrackedAxes,
    TrackedAxesNumbers,
    tracked_axes_numbers,
    tracked_part,
    turn_about,
)
from iap_control.laws.tracking import (
    ACCELERATION,
    VELOCITY,
    Errors,
    InertiaNumbers,
    Law,
    TrackingTask,
    advanced,
    coriolis,
    errors,
    gravity_on,
    inertia_numbers,
    shortened,
    tracking_of,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Six,
    Vec,
    add,
    angular,
    cross,
    dot,
    formula,
    linear,
    most,
    mv6,
    norm,
    put_six,
    qconj,
    qmul,
    rotate,
    scale,
    select3,
    select6,
    six,
    six_at,
    sub,
    sub6,
    unrotate,
)

UPRIGHT = 1e-6  # sine of a line's angle to the vertical, below which nothing hangs on it


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
    gains = (first_five(law.kP), first_five(law.kI), first_five(law.kD), first_five(law.limit))
    reach = (law.reach[0], law.reach[1])
    return Pid5(gains[0], gains[1], gains[2], gains[3], law.per_inertia, reach)


@formula
def under_actuation(
    now: TrackingTask,
    integral: Five,
    body: InertiaNumbers,
    law: Pid5,
    split: DecompositionNumbers,
    dt: float,
    short: Six,
    tracked: TrackedAxesNumbers,
) -> tuple[Six, Five]:
    r"""Active wrench U in P with no torque about the joints' line, after iap_simulator eq. (16), and the new integral.

    u_a = M_a dv_a + C_a v_a + C_au v_u - k_P e - k_I \int e - k_D e_v - g_a - f_a, u_u = 0, U = Omega^T
    [u_a; u_u]. Gains of the line's direction come from pitch and yaw. Arguments as in
    `iap_control.laws.motion_law.full_actuation`.
    """
    x, target, level = now.x, now.target, now.level
    errors_P = _without_turn(errors(x, target, level), x.q, target.q, split.line, level)
    at_line = law.per_inertia & (level < VELOCITY)
    e_p = _at_line(linear(errors_P.e_T), x.q, target.q, split)
    e_T = select6(at_line, six(e_p, angular(errors_P.e_T)), errors_P.e_T)
    errors_P = tracked_part(
        Errors(e_T, errors_P.e_xi, errors_P.xi_r, errors_P.dxi_r), tracked.axes
    )
    e_T, far = shortened(errors_P.e_T, law.reach)
    e = _error(e_T, law.per_inertia, body.d_0, split)
    integral = _advanced5(integral, e, law, dt, _across(short, split.basis), far)
    nu, e_nu = mv6(split.Delta_inverse, errors_P.xi_r), mv6(split.Delta_inverse, errors_P.e_xi)
    dnu = first_five(mv6(split.Delta_inverse, errors_P.dxi_r))
    feedback = add5(times5(law.kP, e), times5(law.kI, integral))
    feedback = add5(feedback, times5(law.kD, first_five(e_nu)))
    dv = sub5(dnu, feedback)
    linear_P = add((dv[0], dv[1], dv[2]), turn_about(tracked, _turn_across(dv, split.basis)))
    dv = select5(law.per_inertia, (linear_P[0], linear_P[1], linear_P[2], dv[3], dv[4]), dnu)
    u = mv5(split.M_a, dv)
    u = select5(law.per_inertia, u, sub5(u, feedback))
    # the nominal actuated velocity with the actual turn, for C_a v_a + C_au v_u
    turning = (nu[0], nu[1], nu[2], nu[3], nu[4], nu[5] + e_nu[5])
    xi, w_P = mv6(split.Delta, turning), unrotate(x.q, x.w)
    load = coriolis(body.d_0, body.J, body.mass, body.coupling, w_P, xi)
    load = sub6(load, gravity_on(body.mass, body.d_0, body.gravity, x.q))
    u = add5(u, first_five(transposed_mv6(split.Delta, sub6(load, now.wrench_e_P))))
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
    tracked: TrackedAxes,
) -> Array:
    """`under_actuation` of a state row (13,) and a reference row (19+): (6,); the integral (5,) is advanced.

    A kernel: it takes its arrays one by one.
    """
    now = tracking_of(x, row, level, wrench_e_P)
    settings = (
        inertia_numbers(inertia),
        pid5_of(law),
        decomposition_numbers(split),
        dt,
        six_at(short, 0),
    )
    wrench, after = under_actuation(
        now, first_five(integral), *settings, tracked_axes_numbers(tracked)
    )
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
def _without_turn(errors_P: Errors, q: Quat, q_r: Quat, line: Vec, level: float) -> Errors:
    """Leave the turn about the line out of what is commanded: only the line's direction counts.

    The attitude error becomes r_r x r (iap_simulator below eq. (16)) with both directions in P, and the
    nominal rate about the line is zero. The actual one stays in e_xi: the velocity of P's origin must
    not be taken for that of the line.
    """
    lean = select3(
        level < VELOCITY, cross(rotate(qmul(qconj(q), q_r), line), line), angular(errors_P.e_T)
    )
    w_r, alpha_r, e_w = angular(errors_P.xi_r), angular(errors_P.dxi_r), angular(errors_P.e_xi)
    turn = scale(dot(w_r, line), line)
    return Errors(
        six(linear(errors_P.e_T), lean),
        six(linear(errors_P.e_xi), select3(level < ACCELERATION, add(e_w, turn), e_w)),
        six(linear(errors_P.xi_r), sub(w_r, turn)),
        six(linear(errors_P.dxi_r), sub(alpha_r, scale(dot(alpha_r, line), line))),
    )


@formula
def _at_line(e_p: Vec, q: Quat, q_r: Quat, split: DecompositionNumbers) -> Vec:
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
    return select3(hangs, add(e_p, sub(c, unrotate(q, c_r))), e_p)


@formula
def _turn_across(five: Five, basis: tuple[Vec, Vec]) -> Vec:
    """The two turns of five numbers as a vector in P."""
    return add(scale(five[3], basis[0]), scale(five[4], basis[1]))


@formula
def _error(e_T: Six, per_inertia: bool, d_0: Vec, split: DecompositionNumbers) -> Five:
    """The five pose errors: Delta_a^T [e_p; d_0 x e_p + e_r] as printed, or [e_p; e_r across the line] per inertia."""
    force = six(linear(e_T), add(angular(e_T), cross(d_0, linear(e_T))))
    printed = first_five(transposed_mv6(split.Delta, force))
    return select5(per_inertia, _across(e_T, split.basis), printed)


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
