# SPDX-License-Identifier: BSD-3-Clause
"""Motion control of a fully actuated platform: PID on SE(3) with feed-forward, iap_simulator eq. (10)."""

import numpy as np
from numba import njit

from iap_control.laws.tracking import (
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
from iap_control.model import Inertia
from iap_description.arrays import Array
from iap_description.kernels import matvec, quat, unrotate, vec


@njit(cache=True)
def full_actuation_wrench(
    x: Array,
    row: Array,
    wrench_e_P: Array,
    integral: Array,
    work: Tracking,
    level: int,
    inertia: Inertia,
    law: Law,
    dt: float,
    short: Array,
    held: Held,
) -> Array:
    r"""Active wrench U (6,) on the platform about P's origin, in P, after iap_simulator eq. (10).

    U = M dxi_r + C xi_r - k_P e_T - k_I \int e_T - k_D e_xi - G - F_e. With gains per inertia the three error terms are
    multiplied by M, so that with the coupling kept in M an error along one axis pushes along that axis alone.

    Args:
        x: (13,) state row of the central body.
        row: (19+) reference row.
        wrench_e_P: (6,) external wrench F_e in P to compensate [N, N m].
        integral: (6,) integral of e_T, advanced in place.
        work: working memory.
        level: what of the reference is tracked.
        inertia: the platform's lumped dynamics.
        law: gains.
        dt: control period [s].
        short: (6,) what the last step was to make less what it made (anti-windup) [N, N m].
        held: what of the pose is tracked.
    """
    track(x, row, level, work)
    hold(held, work)
    far = limit_error(work.e_T, law.reach)
    integrate(integral, work.e_T, law, dt, short, far)
    feedback = law.kP * work.e_T + law.kI * integral + law.kD * work.e_xi
    U = np.empty(6)
    if law.per_inertia:
        wanted = work.dxi_r - feedback
        turn_about_pivot(held, vec(wanted[3:]), wanted)
        matvec(inertia.M, wanted, U)
    else:
        matvec(inertia.M, work.dxi_r, U)
        U -= feedback
    term = np.empty(6)
    w_P = unrotate(quat(x[3:]), vec(x[10:]))
    coriolis(inertia.d_0, inertia.J, inertia.mass, inertia.coupling, w_P, work.xi_r, term)
    U += term
    gravity_wrench(inertia.mass, inertia.d_0, inertia.gravity, x[3:7], term)
    return U - term - wrench_e_P
