# SPDX-License-Identifier: BSD-3-Clause
"""Set-points in mavros_msgs: mavros itself turns ENU and FLU into the autopilot's axes."""

import math
from collections.abc import Sequence
from typing import Any

from iap_control.offboard.aircraft_setpoint import (
    UPRIGHT,
    AircraftSetpoint,
    Classes,
    MotionSetpoint,
    Outlet,
)
from iap_control.offboard.setpoint_checks import (
    about_up,
    finite,
    motion_from,
    share_of,
    unit_quaternion,
)
from iap_control.offboard.setpoint_input import Inlet, Reading
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_io.wire.stamps import SECOND

ATTITUDE = Inlet("mavros/setpoint_raw/attitude", "mavros_msgs/msg/AttitudeTarget")
LOCAL = Inlet("mavros/setpoint_raw/local", "mavros_msgs/msg/PositionTarget")


class MavrosSetpoints:
    """AttitudeTarget or PositionTarget, whose masks say what is to be ignored.

    Args:
        classes: of mavros_msgs.
    """

    def __init__(self, classes: Classes) -> None:
        kind: Any = classes(ATTITUDE.msgtype)
        self._target = kind()
        rates = kind.IGNORE_ROLL_RATE | kind.IGNORE_PITCH_RATE | kind.IGNORE_YAW_RATE
        self._masks = (kind.IGNORE_ATTITUDE, rates)
        point: Any = classes(LOCAL.msgtype)
        self._point = point()
        self._point.coordinate_frame = (
            point.FRAME_LOCAL_NED
        )  # the world's axes, ENU whatever the name says
        self._point_masks = _point_masks(point)
        self._target.header.frame_id = self._point.header.frame_id = MAP
        self.outlets: Sequence[Outlet] = (
            Outlet(ATTITUDE.topic, self._target),
            Outlet(LOCAL.topic, self._point),
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
        values = (*motion.p_W, *motion.v_W, *motion.a_W, motion.yaw, motion.yaw_rate)
        masks = zip(self._point_masks, values, strict=True)
        point.type_mask = sum(mask for mask, value in masks if math.isnan(value))
        sent = iter([0.0 if math.isnan(value) else value for value in values])
        for part in (point.position, point.velocity, point.acceleration_or_force):
            part.x, part.y, part.z = next(sent), next(sent), next(sent)
        point.yaw, point.yaw_rate = sent
        return self.outlets[1:]


class MavrosReader:
    """Reads AttitudeTarget and PositionTarget as mavros and PX4 do: the newest counts, and each keeps the mode alive.

    Args:
        classes: of mavros_msgs.
    """

    inlets: Sequence[Inlet] = (ATTITUDE, LOCAL)
    outlets: Sequence[Outlet] = ()  # mavros has odometry in nav_msgs, as the suite does

    def __init__(self, classes: Classes) -> None:
        self._target: Any = classes(ATTITUDE.msgtype)
        self._point: Any = classes(LOCAL.msgtype)

    def read(self, inlet: Inlet, message: Any) -> Reading:  # noqa: ANN401 - of mavros_msgs
        """The meaning of a message. See `SetpointReader`."""
        read = self._read_target if inlet == ATTITUDE else self._read_point
        return Reading(read(message), keeps_alive=True)

    def motion(self, x: Array, stamp: int) -> Sequence[Outlet]:  # noqa: ARG002 - none of its own
        """No message. See `SetpointReader`."""
        return ()

    def _read_target(self, message: Any) -> AircraftSetpoint:  # noqa: ANN401 - of mavros_msgs
        """Attitude with the yaw rate about the world's axis up, or body rates, and the thrust."""
        kind, mask = self._target, int(message.type_mask)
        if mask & kind.IGNORE_THRUST:
            raise BadInput("type_mask: ignores the thrust, which attitudes and rates come with")
        share = share_of(*finite("thrust", [message.thrust]))
        q, w = message.orientation, message.body_rate
        rates = kind.IGNORE_ROLL_RATE | kind.IGNORE_PITCH_RATE | kind.IGNORE_YAW_RATE
        if mask & kind.IGNORE_ATTITUDE:
            if mask & rates:
                raise BadInput(
                    "type_mask: ignores the attitude and a rate, one of both must count"
                )
            a, b, c = finite("body_rate", [w.x, w.y, w.z])
            return AircraftSetpoint(
                has_attitude=False, q_WB=UPRIGHT, w_WB_B=(a, b, c), share=share
            )
        q_WB = unit_quaternion("orientation", [q.x, q.y, q.z, q.w])
        (up,) = (0.0,) if mask & kind.IGNORE_YAW_RATE else finite("body_rate.z", [w.z])
        return AircraftSetpoint(
            has_attitude=True, q_WB=q_WB, w_WB_B=about_up(q_WB, up), share=share
        )

    def _read_point(self, message: Any) -> MotionSetpoint:  # noqa: ANN401 - of mavros_msgs
        kind, mask = self._point, int(message.type_mask)
        if message.coordinate_frame != kind.FRAME_LOCAL_NED:
            raise BadInput(
                f"coordinate_frame {message.coordinate_frame}: FRAME_LOCAL_NED ({kind.FRAME_LOCAL_NED}) alone is flown"
            )
        if mask & kind.FORCE:
            raise BadInput("type_mask: a force is not flown, an acceleration is")
        parts = (message.position, message.velocity, message.acceleration_or_force)
        sent = [each for part in parts for each in (part.x, part.y, part.z)]
        masks = zip(_point_masks(kind), [*sent, message.yaw, message.yaw_rate], strict=True)
        values = [math.nan if mask & bit else float(value) for bit, value in masks]
        return motion_from(values[:3], values[3:6], values[6:9], values[9], values[10])


def _point_masks(point: Any) -> list[int]:  # noqa: ANN401 - a class of mavros_msgs
    """Masks of a point's numbers: position, velocity and acceleration along three axes each, heading and its rate."""
    axes = [getattr(point, f"IGNORE_{what}{axis}") for what in ("P", "V", "AF") for axis in "XYZ"]
    return [*axes, point.IGNORE_YAW, point.IGNORE_YAW_RATE]
