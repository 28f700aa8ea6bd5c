# SPDX-License-Identifier: BSD-3-Clause
"""The way of a platform from where it is onto a reference: the gap between the two fades out smoothly."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W, P, Q

MIN_DURATION = 3.0  # [s]
MEAN_SPEED = 0.5  # mean speed of a blend [m/s], [rad/s]


@dataclass(frozen=True)
class Blend:
    """A gap that fades out by the quintic 1 - 10 u^3 + 15 u^4 - 6 u^5, u = (t - start) / duration.

    Attributes:
        start: when it begins [s].
        duration: how long it takes [s].
        gap_W: (3,) from the reference to the platform at the start [m].
        turn_R: (3,) the same as a rotation vector, in the reference's frame [rad].
    """

    start: float
    duration: float
    gap_W: Array
    turn_R: Array

    @classmethod
    def between(cls, t: float, have: Array, want: Array) -> Self:
        """The blend that starts at time `t` from the pose of row `have` onto that of row `want`, (7+) each."""
        gap_W = have[P] - want[P]
        turn_R = so3.quaternion_log(so3.multiply(so3.conjugate(want[Q]), have[Q]))
        blend = cls(t, MIN_DURATION, gap_W, turn_R)
        return replace(blend, duration=max(MIN_DURATION, blend.way / MEAN_SPEED))

    @property
    def way(self) -> float:
        """The larger of the distance [m] and the angle [rad]."""
        return max(float(np.linalg.norm(self.gap_W)), float(np.linalg.norm(self.turn_R)))

    def is_over(self, t: float) -> bool:
        """True if the gap has gone."""
        return t >= self.start + self.duration

    def add_to(self, row: Array, t: float) -> None:
        r"""Add what is left of the gap at time `t` to a reference row (19+), with its derivatives.

        With :math:`R' = R \exp(s \phi)`: :math:`\omega' = R_s^T \omega + \dot s \phi` and
        :math:`\alpha' = R_s^T \alpha + \ddot s \phi - \dot s \phi \times R_s^T \omega`.
        """
        if self.is_over(t):
            return
        u, T = max(0.0, t - self.start) / self.duration, self.duration
        s = 1.0 - u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        ds = -30.0 * u * u * (1.0 - u) ** 2 / T
        dds = -60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / T**2
        row[REF_P] += s * self.gap_W
        row[REF_V] += ds * self.gap_W
        row[REF_A] += dds * self.gap_W
        q_s = so3.quaternion_exp(s * self.turn_R)
        w, alpha = (so3.rotate(so3.conjugate(q_s), row[part]) for part in (REF_W, REF_ALPHA))
        row[REF_Q] = so3.multiply(row[REF_Q], q_s)
        row[REF_W] = w + ds * self.turn_R
        row[REF_ALPHA] = alpha + dds * self.turn_R - so3.cross(ds * self.turn_R, w)
