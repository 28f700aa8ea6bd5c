# SPDX-License-Identifier: BSD-3-Clause
"""Motion control of jointed platforms: PID on SE(3) with feed-forward where all is actuated, and the choice of law."""

from dataclasses import dataclass
from typing import Self

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
from iap_control.laws.under_actuation import Decomposition, law_across_line, under_actuation_wrench
from iap_control.model import Inertia, PlatformModel
from iap_description.arrays import Array
from iap_description.kernels import matvec, quat_at, unrotate, vec_at


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
        work: working memory, overwritten.
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
    U, wanted, feedback, term = np.empty(6), work.dxi_r, work.e_T, work.e_xi
    for i in range(6):
        feedback[i] = law.kP[i] * work.e_T[i] + law.kI[i] * integral[i] + law.kD[i] * work.e_xi[i]
    if law.per_inertia:
        for i in range(6):
            wanted[i] -= feedback[i]
        turn_about_pivot(held, vec_at(wanted, 3), wanted)
        matvec(inertia.M, wanted, U)
    else:
        matvec(inertia.M, wanted, U)
        for i in range(6):
            U[i] -= feedback[i]
    w_P = unrotate(quat_at(x, 3), vec_at(x, 10))
    coriolis(inertia.d_0, inertia.J, inertia.mass, inertia.coupling, w_P, work.xi_r, term)
    for i in range(6):
        U[i] += term[i]
    gravity_wrench(inertia.mass, inertia.d_0, inertia.gravity, x[3:7], term)
    for i in range(6):
        U[i] = U[i] - term[i] - wrench_e_P[i]
    return U


ALL_AXES = Held.all()


@dataclass(frozen=True)
class MotionLaw:
    """The law that a platform's joints allow.

    Attributes:
        law: gains, six of a fully actuated platform, five across the line of collinear joints.
        inertia: the platform's lumped dynamics.
        split: the decomposition of collinear joints, else None.
    """

    law: Law
    inertia: Inertia
    split: Decomposition | None

    @classmethod
    def of(cls, model: PlatformModel, law: Law) -> Self:
        """The law of a platform on spherical joints under six gains."""
        if model.actuation == "full":
            return cls(law, model.inertia, None)
        split = Decomposition.of(model)
        return cls(law_across_line(law, split), model.inertia, split)

    @property
    def size(self) -> int:
        """Number of pose errors."""
        return len(self.law.kP)

    def wrench(
        self,
        x: Array,
        row: Array,
        wrench_e_P: Array,
        integral: Array,
        work: Tracking,
        level: int,
        dt: float,
        short: Array,
        held: Held = ALL_AXES,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P; arguments as in `full_actuation_wrench`."""
        memory = (x, row, wrench_e_P, integral, work, level, self.inertia, self.law)
        if self.split is None:
            return full_actuation_wrench(*memory, dt, short, held)
        return under_actuation_wrench(*memory, self.split, dt, short, held)

    def share_of(self, integral: Array) -> Array:
        """The share of an integral of the pose errors in the active wrench (6,) [N, N m]."""
        share = -self.law.kI * integral
        if self.split is None:
            return self.inertia.M @ share if self.law.per_inertia else share
        if self.law.per_inertia:
            share = self.split.M_a @ share
        return self.split.Omega_T[:, :5] @ share

    def integral_of(self, U: Array) -> Array:
        """The integral that adds an active wrench (6,), within its limits; zero where nothing is integrated."""
        share = U if self.split is None else (self.split.Delta_T @ U)[:5]
        if self.law.per_inertia:
            M = self.inertia.M if self.split is None else self.split.M_a
            share = np.linalg.inv(M) @ share
        share = np.clip(share, -self.law.limit, self.law.limit)
        kI = self.law.kI
        return np.where(kI > 0.0, -share / np.where(kI > 0.0, kI, 1.0), 0.0)
