# SPDX-License-Identifier: BSD-3-Clause
"""Commanded velocities of joints, cut to what an arm can do."""

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.vehicles.arm import Arm

BASE = 4  # velocities of a level platform: along its heading's axes, and its yaw rate
BEYOND = 1e-9  # of a limit, below which a command counts as kept


class JointLimits:
    """Cuts commands of joints to their speed, and to what keeps them within their travel.

    Args:
        arm: whose limits.
        period: for which a command is held [s].

    Attributes:
        clipped: (n,) commands that were cut.
        cut: whether those of the last call were, as `q` is shaped.
    """

    def __init__(self, arm: Arm, period: float) -> None:
        (self._low, self._high), self._speeds, self._period = arm.limits, arm.speeds, period
        self.clipped: Integers = np.zeros(len(arm.joints), np.int64)
        self.cut: Booleans = np.zeros(len(arm.joints), bool)

    def __call__(self, command: Array, q: Array) -> Array:
        """A command (..., 4 + n) within limits, of joints at q (..., n); counts what it had to cut."""
        slowest = np.maximum(-self._speeds, np.minimum(0.0, (self._low - q) / self._period))
        fastest = np.minimum(self._speeds, np.maximum(0.0, (self._high - q) / self._period))
        kept = command.copy()
        kept[..., BASE:] = np.clip(command[..., BASE:], slowest, fastest)
        self.cut = np.abs(kept - command)[..., BASE:] > BEYOND
        self.clipped += self.cut.reshape(-1, len(self.clipped)).sum(axis=0)
        return kept
