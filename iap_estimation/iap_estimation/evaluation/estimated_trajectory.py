# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of one body over a recording."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.messages import Estimate


@dataclass(frozen=True, eq=False)
class EstimatedTrajectory:
    """Estimates of one body, one row each.

    Attributes:
        t: (K,) [s].
        poses: (K, 7) place [m] and attitude.
        v_W: (K, 3) [m/s].
        biases: (K, 6) of gyroscope and accelerometer; NaN for the central body.
        covariance: (K, 15, 15); see `Estimate`.
    """

    t: Array
    poses: Array
    v_W: Array
    biases: Array
    covariance: Array

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> Self:
        """Of estimates in order of time."""
        return cls(
            np.array([one.t for one in estimates]),
            np.array([[*one.p_WB_W, *one.q_WB] for one in estimates]).reshape(-1, 7),
            np.array([one.v_WB_W for one in estimates]).reshape(-1, 3),
            np.array([[*one.gyro_bias, *one.accel_bias] for one in estimates]).reshape(-1, 6),
            np.array([one.covariance for one in estimates]).reshape(-1, 15, 15),
        )
