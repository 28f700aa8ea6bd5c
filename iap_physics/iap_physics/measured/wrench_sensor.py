# SPDX-License-Identifier: BSD-3-Clause
"""A wrench sensor at the platform's centre: the contact wrench as it is, and low-passed, in the world and in P."""

import numpy as np
from numpy.typing import NDArray

from iap_description.kernels import put, quat, rotate, unrotate, vec
from iap_physics.measured.wrench_filter import SecondOrderLowPass

Array = NDArray[np.float64]


class WrenchSensor:
    """Measures the wrench of the environment on the platform, about P's origin.

    The low-pass works in world axes, as iap_simulator VI-E has it.

    Args:
        cutoff: omega_c [rad/s].
        damping: xi.
        dt: sampling period [s].

    Attributes:
        raw_W: (6,) in world axes [N, N m].
        raw_P: (6,) in P.
        filtered_W: (6,) low-passed, world axes.
        filtered_P: (6,) the same in P.
    """

    def __init__(self, *, cutoff: float, damping: float, dt: float) -> None:
        self._low_pass = SecondOrderLowPass(cutoff, damping, dt)
        self.reset()

    def reset(self) -> None:
        """Nothing was measured yet."""
        self.raw_W, self.raw_P, self.filtered_W, self.filtered_P = np.zeros((4, 6))
        self._low_pass.reset()

    def __call__(self, wrench_W: Array, q_WP: Array) -> None:
        """Measure the mean wrench (6,) of the last period at the platform's present attitude (4,)."""
        self.raw_W[:] = wrench_W
        self.filtered_W[:] = self._low_pass(wrench_W)
        to_platform(self.raw_W, q_WP, self.raw_P)
        to_platform(self.filtered_W, q_WP, self.filtered_P)


def to_platform(wrench_W: Array, q_WP: Array, out: Array) -> None:
    """Write a wrench (6,) given in world axes in P; the point stays."""
    q = quat(q_WP)
    put(out, unrotate(q, vec(wrench_W)))
    put(out[3:], unrotate(q, vec(wrench_W[3:])))


def to_world(wrench_P: Array, q_WP: Array, out: Array) -> None:
    """Write a wrench (6,) given in P in world axes; the point stays."""
    q = quat(q_WP)
    put(out, rotate(q, vec(wrench_P)))
    put(out[3:], rotate(q, vec(wrench_P[3:])))
