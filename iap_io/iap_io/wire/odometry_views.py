# SPDX-License-Identifier: BSD-3-Clause
"""Odometry as arrays, like the messages of `iap_io.wire.message_views`."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_io.wire.cdr import Layout
from iap_io.wire.message_views import Message

Array = NDArray[np.float64]


class OdometryMessage(Message):
    """Odometry of a body B in `map`; it carries no number, its stamp says when.

    Attributes:
        pose: (7,) place [m] and attitude xyzw; overwritten by the next message.
        pose_covariance: (6, 6) of [place, turn], both in `map`; zeros where it is not known.
        twist_B: (6,) velocity [m/s] and angular velocity [rad/s], in B.
        twist_covariance: (6, 6) of it.
    """

    TYPE = "nav_msgs/msg/Odometry"

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        pose, twist = self._view("pose"), self._view("twist")
        self.pose: Array = pose[:7]
        self.pose_covariance: Array = pose[7:].reshape(6, 6)
        self.twist_B: Array = twist[:6]
        self.twist_covariance: Array = twist[6:].reshape(6, 6)

    @classmethod
    def of(cls, child: str) -> Self:
        """The message of a body with this TF frame."""
        return cls._of(child_frame_id=child)
