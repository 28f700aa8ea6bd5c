# SPDX-License-Identifier: BSD-3-Clause
"""Set-points in mavros_msgs: mavros itself turns ENU and FLU into the autopilot's axes."""

from collections.abc import Sequence
from typing import Any

from iap_control.offboard.aircraft_setpoint import AircraftSetpoint, Classes, Outlet
from iap_description.frames import MAP
from iap_io.wire.stamps import SECOND


class MavrosSetpoints:
    """AttitudeTarget, whose mask says that the rates or the attitude are to be ignored.

    Args:
        classes: of mavros_msgs.
    """

    def __init__(self, classes: Classes) -> None:
        kind: Any = classes("mavros_msgs/msg/AttitudeTarget")
        self._target = kind()
        rates = kind.IGNORE_ROLL_RATE | kind.IGNORE_PITCH_RATE | kind.IGNORE_YAW_RATE
        self._masks = (kind.IGNORE_ATTITUDE, rates)
        self._target.header.frame_id = MAP
        self.outlets: Sequence[Outlet] = (Outlet("mavros/setpoint_raw/attitude", self._target),)

    def fill(self, setpoint: AircraftSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill the target. See `SetpointMessages`."""
        target, q, w = self._target, self._target.orientation, self._target.body_rate
        target.header.stamp.sec, target.header.stamp.nanosec = divmod(stamp, SECOND)
        target.type_mask = self._masks[setpoint.has_attitude]
        q.x, q.y, q.z, q.w = setpoint.q_WB
        w.x, w.y, w.z = setpoint.w_WB_B
        target.thrust = setpoint.share
        return self.outlets
