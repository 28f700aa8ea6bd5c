# SPDX-License-Identifier: BSD-3-Clause
"""The lemniscate of beatle VII-B."""

from typing import Literal

import numpy as np

from iap_control.references.jet import Jet, constant
from iap_control.references.rows import rows_of
from iap_description.arrays import Array
from iap_description.config.record import Positive, Real, Record, Vec3


class Lemniscate(Record):
    r"""Bernoulli's lemniscate at a constant rate of its parameter and a constant attitude.

    .. math::
        x = A \frac{\cos s}{1 + \sin^2 s}, \qquad y = A \frac{\sin s \cos s}{1 + \sin^2 s}, \qquad s = 2 \pi t / T.

    Printed, beatle has r^2 = sqrt(cos 2 theta), which is not real on half of the way.
    """

    type: Literal["lemniscate"]
    duration: Positive  # [s]
    period: Positive  # T [s]
    amplitude: Positive  # A [m]
    center: Vec3  # [m]
    yaw_deg: Real

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        phase = Jet.time(t) * (2.0 * np.pi / self.period)
        s, c = phase.sin(), phase.cos()
        reach = self.amplitude * c * (s * s + 1.0).reciprocal()
        x, y, z = self.center
        level = constant(t, 0.0)
        yaw = constant(t, float(np.deg2rad(self.yaw_deg)))
        return rows_of((reach + x, reach * s + y, level + z), (level, level, yaw))
