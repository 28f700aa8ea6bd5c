# SPDX-License-Identifier: BSD-3-Clause
"""The central body's attitude between two estimates of it."""

from collections import deque

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.messages import Estimate, Tilt

SMOOTHING = 0.016  # time constant with which the angular velocity is low-passed: 10 Hz [s]
SAMPLE_MEMORY = 2.0  # length of the samples that are kept for an estimate that comes late [s]


class AttitudePredictor:
    """Propagates estimates of the central body's attitude to the newest sample of its gyroscope.

    Controllers amplify the white noise of a gyroscope into their thrusts, so the angular velocity is low-passed;
    the attitude is not.

    Attributes:
        t: of the newest sample [s]; minus infinity before the first.
        t_estimate: of the newest estimate [s]; minus infinity before the first.
        q_WB: (4,) attitude at `t`.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float, Array]] = deque()  # begin, end, mean
        self._bias = np.zeros(3)
        self.t = self.t_estimate = -np.inf
        self.q_WB = so3.IDENTITY.copy()
        self._smooth = np.zeros(3)  # with bias

    @property
    def w_B(self) -> Array:
        """(3,) angular velocity at `t`, its bias removed, low-passed [rad/s]."""
        return self._smooth - self._bias

    @property
    def is_known(self) -> bool:
        """True if there was an estimate."""
        return bool(np.isfinite(self.t_estimate))

    def turn(self, tilt: Tilt) -> None:
        """Take a sample, the mean since the one before it."""
        if not tilt.t > self.t:
            return
        sample = (max(self.t, tilt.t - SAMPLE_MEMORY), tilt.t, tilt.w_B0)
        if np.isfinite(self.t):
            self._samples.append(sample)
            self._go_on(*sample)
            self._smooth += (1.0 - np.exp((self.t - tilt.t) / SMOOTHING)) * (
                tilt.w_B0 - self._smooth
            )
        else:
            self._smooth = tilt.w_B0.copy()
        while self._samples and self._samples[0][1] < tilt.t - SAMPLE_MEMORY:
            self._samples.popleft()
        self.t = tilt.t

    def correct(self, estimate: Estimate) -> None:
        """Begin at a newer estimate, and take the samples since then again."""
        if not estimate.t > self.t_estimate:
            return
        if np.isfinite(estimate.gyro_bias).all():
            self._bias = estimate.gyro_bias.copy()
        self.q_WB, self.t_estimate = estimate.q_WB.copy(), estimate.t
        while self._samples and self._samples[0][1] <= estimate.t:
            self._samples.popleft()
        for begin, end, w in self._samples:
            self._go_on(max(begin, estimate.t), end, w)

    def _go_on(self, begin: float, end: float, w: Array) -> None:
        turn = so3.quaternion_exp((w - self._bias) * (end - begin))
        self.q_WB = so3.normalized(so3.multiply(self.q_WB, turn))
