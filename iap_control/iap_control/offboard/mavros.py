# SPDX-License-Identifier: BSD-3-Clause
"""Set-points in mavros_msgs: mavros itself turns ENU and FLU into the autopilot's axes."""

from collections.abc import Sequence
from typing import Any

from iap_control.offboard.aircraft_setpoint import (
    AircraftSetpoint,
    Classes,
    MotionSetpoint,
    Outlet,
)
from iap_description.frames import MAP
from iap_io.wire.stamps import SECOND


class MavrosSetpoints:
    """AttitudeTarget or PositionTarget, whose masks say what is to be ignored.

    Args:
        classes: of mavros_msgs.
    """

    def __init__(self, classes: Classes) -> None:
        kind: Any = classes("mavros_msgs/msg/AttitudeTarget")
        self._target = kind()
        rates = kind.IGNORE_ROLL_RATE | kind.IGNORE_PITCH_RATE | kind.IGNORE_YAW_RATE
        self._masks = (kind.IGNORE_ATTITUDE, rates)
        point: Any = classes("mavros_msgs/msg/PositionTarget")
        self._point = point()
        self._point.coordinate_frame = (
            point.FRAME_LOCAL_NED
        )  # the world's axes, ENU whatever the name says
        axes = [
            [getattr(point, f"IGNORE_{what}{axis}") for axis in "XYZ"] for what in ("P", "V", "AF")
        ]
        self._point_masks = [*map(sum, axes), point.IGNORE_YAW, point.IGNORE_YAW_RATE]
        self._target.header.frame_id = self._point.header.frame_id = MAP
        self.outlets: Sequence[Outlet] = (
            Outlet("mavros/setpoint_raw/attitude", self._target),
            Outlet("mavros/setpoint_raw/local", self._point),
        )

    def fill(self, setpoint: AircraftSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill the target. See `SetpointMessages`."""
        target, q, w = self._target, self._target.orientation, self._target.body_rate
        target.header.stamp.sec, target.header.stamp.nanosec = divmod(stamp, SECOND)
        target.type_mask = self._masks[setpoint.has_attitude]
        q.x, q.y, q.z, q.w = setpoint.q_WB
        w.x, w.y, w.z = setpoint.w_WB_B
        target.thrust = setpoint.share
        return self.outlets[:1]

    def fill_motion(self, motion: MotionSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill the point of a trajectory. See `SetpointMessages`."""
        point = self._point
        point.header.stamp.sec, point.header.stamp.nanosec = divmod(stamp, SECOND)
        masks = zip(self._point_masks, motion, strict=True)
        point.type_mask = sum(mask for mask, value in masks if value is None)
        for part, value in zip(
            (point.position, point.velocity, point.acceleration_or_force), motion[:3], strict=True
        ):
            part.x, part.y, part.z = value or (0.0, 0.0, 0.0)
        point.yaw, point.yaw_rate = motion.yaw or 0.0, motion.yaw_rate or 0.0
        return self.outlets[1:]
