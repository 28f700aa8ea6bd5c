# SPDX-License-Identifier: BSD-3-Clause
"""The motion law of a jointed platform with everything it needs but the state: gains, inertia, decomposition."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_control.laws.full_actuation import full_actuation_wrench
from iap_control.laws.tracking import Held, Law, Tracking
from iap_control.laws.under_actuation import Decomposition, law_across_line, under_actuation_wrench
from iap_control.model import Inertia, PlatformModel
from iap_description.arrays import Array

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
        """What an integral of the pose errors adds to the active wrench (6,) [N, N m]."""
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
