# SPDX-License-Identifier: BSD-3-Clause
"""Ground truth of a body."""

from dataclasses import dataclass, field

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3


@dataclass(frozen=True, eq=False)
class Truth:
    """Ground truth of a body.

    Attributes:
        t: (K,) increasing [s].
        poses: (K, 7) place of its point M [m] and the body's attitude; NaN where that is not known.
        v_W: (K, 3) velocity of M [m/s]; None where it is not known.
        biases: (K, 6) of gyroscope [rad/s] and accelerometer [m/s^2]; None where they are not known.
        p_BM_B: (3,) M [m].
        is_turned: whether its world is turned against that of estimates, which need not share its vertical.
    """

    t: Array
    poses: Array
    v_W: Array | None = None
    biases: Array | None = None
    p_BM_B: Array = field(default_factory=lambda: np.zeros(3))
    is_turned: bool = False

    @property
    def has_attitude(self) -> bool:
        """True if attitudes are known."""
        return bool(np.isfinite(self.poses[0, 3:]).all())

    def point(self, poses: Array) -> Array:
        """Places (n, 3) of M for poses (n, 7) of the body [m]."""
        return poses[:, :3] + so3.rotate(
            poses[:, 3:], np.broadcast_to(self.p_BM_B, (len(poses), 3))
        )
