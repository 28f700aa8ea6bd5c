# SPDX-License-Identifier: BSD-3-Clause
"""Messages of contact (wrenches, wrench control) as arrays, like those of `iap_io.wire.message_views`."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_io.wire.cdr import Layout
from iap_io.wire.message_views import Message

Array = NDArray[np.float64]


class WrenchMessage(Message):
    """WrenchStamped: a wrench of the environment on a platform; it carries no number, its stamp says whose it is.

    Attributes:
        wrench_P: (6,) about P's origin in P [N, N m]; overwritten by the next message.
    """

    TYPE = "geometry_msgs/msg/WrenchStamped"

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.wrench_P: Array = self._view("wrench")

    @classmethod
    def of(cls, frame_id: str) -> Self:
        """The message of wrenches in a frame."""
        return cls._of(frame_id)

    def put_wrench(self, stamp: int, wrench_P: Array) -> None:
        """Set the stamp [ns] and the wrench (6,)."""
        self.put_head(stamp, 0)
        self.wrench_P[:] = wrench_P


class ForceTaskMessage(Message):
    """ForceTask: what wrench control does.

    Attributes:
        axes: (6,) 1 where the wrench is controlled.
        measured_P: (6,) wrench that is acted upon, about P's origin in P [N, N m].
        desired_P: (6,) what it shall be.
        pose_integral_P: (6,) share of the pose errors' integral in the active wrench.
        wrench_integral_P: (6,) share of the wrench errors' integral.
    """

    TYPE = "iap_msgs/msg/ForceTask"

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._mode = self._view("mode")
        self.axes: NDArray[np.uint8] = self._view("axes")
        self.measured_P: Array = self._view("measured")
        self.desired_P: Array = self._view("desired")
        self.pose_integral_P: Array = self._view("pose_integral")
        self.wrench_integral_P: Array = self._view("wrench_integral")

    @classmethod
    def of(cls, frame_id: str) -> Self:
        """The message of tasks in a frame."""
        return cls._of(frame_id, axes=np.zeros(6, np.uint8))

    @property
    def mode(self) -> int:
        """How the wrench is controlled."""
        return int(self._mode)

    @mode.setter
    def mode(self, mode: int) -> None:
        self._mode[()] = mode
