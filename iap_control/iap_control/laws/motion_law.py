# SPDX-License-Identifier: BSD-3-Clause
"""Motion control of jointed platforms: PID on SE(3) with feed-forward where all is actuated, and the choice of law."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numba import njit

from iap_control.allocation.model import Inertia, PlatformModel
from iap_control.laws.decomposition import Decomposition
from iap_control.laws.tracked_axes import (
    TrackedAxes,
    TrackedAxesNumbers,
    tracked_axes_numbers,
    tracked_part,
    turn_about,
)
from iap_control.laws.tracking import (
    InertiaNumbers,
    Law,
    Pid,
    TrackingTask,
    advanced6,
    coriolis,
    errors,
    gravity_on,
    inertia_numbers,
    pid_of,
    shortened,
    tracking_of,
)
from iap_control.laws.under_actuation import law_across_line, under_actuation_wrench
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Six,
    add,
    add6,
    angular,
    formula,
    linear,
    mv6,
    put_six,
    select6,
    six,
    six_at,
    sub6,
    times6,
    unrotate,
)


@formula
def full_actuation(
    now: TrackingTask,
    integral: Six,
    body: InertiaNumbers,
    law: Pid,
    dt: float,
    short: Six,
    tracked: TrackedAxesNumbers,
) -> tuple[Six, Six]:
    r"""Active wrench U on the platform about P's origin, in P, after iap_simulator eq. (10), and the new integral.

    U = M dxi_r + C xi_r - k_P e_T - k_I \int e_T - k_D e_xi - G - F_e. With gains per inertia the three error terms are
    multiplied by M, so that with the coupling kept in M an error along one axis pushes along that axis alone.

    Args:
        now: what is to be done.
        integral: of e_T.
        body: the platform's lumped dynamics.
        law: gains.
        dt: control period [s].
        short: what the last step was to make less what it made (anti-windup) [N, N m].
        tracked: see `TrackedAxes`.
    """
    x = now.x
    errors_P = tracked_part(errors(x, now.target, now.level), tracked.axes)
    e_T, far = shortened(errors_P.e_T, law.reach)
    integral = advanced6(integral, e_T, law.kI, law.limit, dt, short, far)
    terms = add6(times6(law.kP, e_T), times6(law.kI, integral))
    feedback = add6(terms, times6(law.kD, errors_P.e_xi))
    a_P = sub6(errors_P.dxi_r, feedback)
    linear_P = add(linear(a_P), turn_about(tracked, angular(a_P)))
    a_P = select6(law.per_inertia, six(linear_P, angular(a_P)), errors_P.dxi_r)
    U = mv6(body.M, a_P)
    U = select6(law.per_inertia, U, sub6(U, feedback))
    w_P = unrotate(x.q, x.w)
    U = add6(U, coriolis(body.d_0, body.J, body.mass, body.coupling, w_P, errors_P.xi_r))
    U = sub6(U, gravity_on(body.mass, body.d_0, body.gravity, x.q))
    return sub6(U, now.wrench_e_P), integral


@njit(cache=True)
def full_actuation_wrench(
    x: Array,
    row: Array,
    wrench_e_P: Array,
    integral: Array,
    level: int,
    inertia: Inertia,
    law: Law,
    dt: float,
    short: Array,
    tracked: TrackedAxes,
) -> Array:
    """`full_actuation` of a state row (13,) and a reference row (19+): (6,); the integral (6,) is advanced in place.

    A kernel: it takes its arrays one by one.
    """
    now = tracking_of(x, row, level, wrench_e_P)
    settings = (
        inertia_numbers(inertia),
        pid_of(law),
        dt,
        six_at(short, 0),
        tracked_axes_numbers(tracked),
    )
    wrench, after = full_actuation(now, six_at(integral, 0), *settings)
    put_six(integral, 0, after)
    U = np.empty(6)
    put_six(U, 0, wrench)
    return U


ALL_AXES = TrackedAxes.all()


@dataclass(frozen=True)
class MotionLaw:
    """The law that a platform's joints allow.

    Attributes:
        law: gains, six of a fully actuated platform, five across the line of collinear joints.
        inertia: the platform's lumped dynamics.
        split: the decomposition of collinear joints, else None.
        dt: control period [s].
    """

    law: Law
    inertia: Inertia
    split: Decomposition | None
    dt: float

    @classmethod
    def of(cls, model: PlatformModel, law: Law, dt: float) -> Self:
        """The law of a platform that pushes along six axes, or across a line, under six gains, at a control period."""
        if model.line is None:
            return cls(law, model.inertia, None, dt)
        split = Decomposition.of(model)
        return cls(law_across_line(law, split), model.inertia, split, dt)

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
        level: int,
        short: Array,
        tracked: TrackedAxes = ALL_AXES,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P; arguments as in `full_actuation_wrench`."""
        memory = (x, row, wrench_e_P, integral, level, self.inertia, self.law)
        if self.split is None:
            return full_actuation_wrench(*memory, self.dt, short, tracked)
        return under_actuation_wrench(*memory, self.split, self.dt, short, tracked)

    def share_of(self, integral: Array) -> Array:
        """The share of an integral of the pose errors in the active wrench (6,) [N, N m]."""
        share = -self.law.kI * integral
        if self.split is None:
            return self.inertia.M @ share if self.law.per_inertia else share
        if self.law.per_inertia:
            share = self.split.M_a @ share
        return self.split.Omega_T[:, :5] @ share

    def integral_of(self, U: Array) -> Array:
        """Integral of the errors that adds an active wrench: -k_I^-1 U, or -k_I^-1 M^-1 U with gains per inertia.

        U is clipped to the law's limit. Axes without an integral gain have zero.

        Args:
            U: (6,) in P [N, N m].
        """
        share = U if self.split is None else (self.split.Delta_T @ U)[:5]
        if self.law.per_inertia:
            M = self.inertia.M if self.split is None else self.split.M_a
            share = np.linalg.inv(M) @ share
        share = np.clip(share, -self.law.limit, self.law.limit)
        kI = self.law.kI
        return np.where(kI > 0.0, -share / np.where(kI > 0.0, kI, 1.0), 0.0)
