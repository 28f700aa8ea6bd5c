# SPDX-License-Identifier: BSD-3-Clause
"""Inertial samples, odometry, health, wrenches and force tasks as arrays, like the messages of `message_views`."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.signals import EstimateHealth, ForceMode
from iap_io.wire.cdr import MessageLayout, decoded, message
from iap_io.wire.message import Message
from iap_io.wire.stamps import SECOND


class InertialMessage(Message):
    """InertialSamples of M units at S instants.

    Attributes:
        frames: (M) the units' frames.
        q_WB: (M, 4) attitudes of their bodies at the header's stamp, xyzw; overwritten by the next message.
        w_S: (S, M, 3) angular velocities [rad/s].
        f_S: (S, M, 3) specific forces [m/s^2].
    """

    TYPE = "iap_msgs/msg/InertialSamples"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        content = decoded(layout.template.tobytes(), self.TYPE)
        self.frames: list[str] = list(content.frames)
        self._stamps: NDArray[Any] = self.view("stamps")
        sizes = [
            self.view(name).size
            for name in ("orientations", "angular_velocities", "specific_forces")
        ]
        units, values = len(self.frames), 3 * len(self.frames) * len(self._stamps)
        if sizes != [4 * units, values, values]:
            raise BadInput(f"{sizes} numbers for {units} units at {len(self._stamps)} instants")
        self.q_WB: Array = self.view("orientations").reshape(-1, 4)
        shape = (len(self._stamps), len(self.frames), 3)
        self.w_S: Array = self.view("angular_velocities").reshape(shape)
        self.f_S: Array = self.view("specific_forces").reshape(shape)

    @classmethod
    def of(cls, frame_id: str, frames: Sequence[str], instants: int) -> Self:
        """The message of these units at so many instants; `frame_id` is the platform's."""
        samples = range(instants * len(frames))
        return cls._of(
            frame_id,
            orientations=[message("geometry_msgs/msg/Quaternion") for _ in frames],
            frames=list(frames),
            stamps=[message("builtin_interfaces/msg/Time") for _ in range(instants)],
            angular_velocities=[message("geometry_msgs/msg/Vector3") for _ in samples],
            specific_forces=[message("geometry_msgs/msg/Vector3") for _ in samples],
        )

    @property
    def stamps(self) -> Integers:
        """(S,) of the samples [ns]."""
        if not len(self._stamps):
            return np.zeros(0, np.int64)
        return self._stamps["sec"].astype(np.int64) * SECOND + self._stamps["nanosec"]

    def put_samples(self, q_WB: Array, stamps: Integers, w_S: Array, f_S: Array) -> None:
        """Set attitudes (M, 4), stamps (S,) [ns], angular velocities and specific forces (S, M, 3)."""
        self.q_WB[:] = q_WB
        if len(self._stamps):
            self._stamps["sec"], self._stamps["nanosec"] = np.divmod(stamps, SECOND)
        self.w_S[:], self.f_S[:] = w_S, f_S


class OdometryMessage(Message):
    """Odometry of a body B in `map`; it carries no number, its stamp says when.

    Attributes:
        pose: (7,) place [m] and attitude xyzw; overwritten by the next message.
        pose_covariance: (6, 6) of [place, turn], both in `map`; zeros where it is not known.
        twist_B: (6,) velocity [m/s] and angular velocity [rad/s], in B.
        twist_covariance: (6, 6) of it.
    """

    TYPE = "nav_msgs/msg/Odometry"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        pose, twist = self.view("pose"), self.view("twist")
        self.pose: Array = pose[:7]
        self.pose_covariance: Array = pose[7:].reshape(6, 6)
        self.twist_B: Array = twist[:6]
        self.twist_covariance: Array = twist[6:].reshape(6, 6)

    @classmethod
    def of(cls, child: str) -> Self:
        """The message of a body with this TF frame."""
        return cls._of(child_frame_id=child)


class HealthMessage(Message):
    """EstimateHealth; it carries no number, its stamp says when."""

    TYPE = "iap_msgs/msg/EstimateHealth"
    OPEN = ("deviation",)  # is not a number before it is known

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self._fields = {name: self.view(name) for name in EstimateHealth._fields}

    @classmethod
    def empty(cls) -> Self:
        """The message of an estimator that says nothing yet."""
        return cls._of()

    @property
    def health(self) -> EstimateHealth:
        """The estimator's health as it reports it."""
        return EstimateHealth(**{name: each.item() for name, each in self._fields.items()})

    def put(self, health: EstimateHealth) -> None:
        """Set what the estimator says of itself."""
        for name, value in health._asdict().items():
            self._fields[name][()] = value


class PoseMessage(Message):
    """PoseStamped; it carries no number, and its stamp may be of any clock.

    Attributes:
        pose: (7,) place [m] and attitude xyzw; overwritten by the next message.
    """

    TYPE = "geometry_msgs/msg/PoseStamped"
    HAS_ATTITUDES = False  # printed ones are less exact than `NORM_TOLERANCE`

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.pose: Array = self.view("pose")


class UncertainPoseMessage(Message):
    """PoseWithCovarianceStamped: the estimated pose of a body.

    Attributes:
        pose: (7,) place [m] and attitude xyzw.
        covariance: (6, 6) of [place, turn], both in `map`; zeros where it is not known.
    """

    TYPE = "geometry_msgs/msg/PoseWithCovarianceStamped"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        pose = self.view("pose")
        self.pose: Array = pose[:7]
        self.covariance: Array = pose[7:].reshape(6, 6)

    @classmethod
    def empty(cls) -> Self:
        """A message without a pose yet."""
        return cls._of()


class TwistMessage(Message):
    """TwistStamped.

    Attributes:
        rates: (6,) velocity [m/s] and angular velocity [rad/s]; overwritten by the next message.
    """

    TYPE = "geometry_msgs/msg/TwistStamped"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.rates: Array = self.view("twist")


class AccelMessage(Message):
    """AccelStamped.

    Attributes:
        rates: (6,) acceleration [m/s^2] and angular acceleration [rad/s^2]; overwritten by the next message.
    """

    TYPE = "geometry_msgs/msg/AccelStamped"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.rates: Array = self.view("accel")


class WrenchMessage(Message):
    """WrenchStamped: a wrench of the environment on a platform; it carries no number, its stamp says whose it is.

    Attributes:
        wrench_P: (6,) about P's origin in P [N, N m]; overwritten by the next message.
    """

    TYPE = "geometry_msgs/msg/WrenchStamped"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.wrench_P: Array = self.view("wrench")

    @classmethod
    def of(cls, frame_id: str) -> Self:
        """The message of wrenches in a frame."""
        return cls._of(frame_id)

    def put_wrench(self, stamp: int, wrench_P: Array) -> None:
        """Set the stamp [ns] and the wrench (6,)."""
        self.put_head(stamp, 0)
        self.wrench_P[:] = wrench_P


class LatchStateMessage(Message):
    """LatchState: what the latches between vehicles are doing.

    Attributes:
        phases: of each, numbers in `iap_physics.latching.latches.Phase`.
    """

    TYPE = "iap_msgs/msg/LatchState"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.phases: NDArray[np.uint8] = self.view("phases")

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """The message of latches by their names."""
        return cls._of(names=list(names), phases=np.zeros(len(names), np.uint8))


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

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self._mode = self.view("mode")
        self.axes: NDArray[np.uint8] = self.view("axes")
        self.measured_P: Array = self.view("measured")
        self.desired_P: Array = self.view("desired")
        self.pose_integral_P: Array = self.view("pose_integral")
        self.wrench_integral_P: Array = self.view("wrench_integral")

    @classmethod
    def of(cls, frame_id: str) -> Self:
        """The message of tasks in a frame."""
        return cls._of(frame_id, axes=np.zeros(6, np.uint8))

    @property
    def mode(self) -> ForceMode:
        """Mode of the wrench's control.

        Raises:
            BadInput: there is none such.
        """
        if int(self._mode) not in tuple(ForceMode):
            raise BadInput(f"mode {self._mode} is none of 0 to 2")
        return ForceMode(int(self._mode))

    @mode.setter
    def mode(self, mode: int) -> None:
        self._mode[()] = mode
