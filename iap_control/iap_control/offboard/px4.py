# SPDX-License-Identifier: BSD-3-Clause
"""Set-points in px4_msgs, as PX4's uXRCE-DDS client takes them: NED, FRD, quaternions w x y z, thrust down negative."""

from collections.abc import Sequence
from typing import Any

from iap_control.offboard.aircraft_setpoint import AircraftSetpoint, Classes, Outlet
from iap_description.frames import to_ned
from iap_description.math.kernels import rotate

INPUT = "fmu/in"
MICROSECOND = 1000  # [ns]


class Px4Setpoints:
    """OffboardControlMode beside VehicleAttitudeSetpoint or VehicleRatesSetpoint.

    PX4 leaves its offboard mode when OffboardControlMode falls silent, so each set-point comes with one.

    Args:
        classes: of px4_msgs. A class with a MESSAGE_VERSION other than 0 has a topic that ends with it.
    """

    def __init__(self, classes: Classes) -> None:
        self._mode = _outlet(classes, "OffboardControlMode", "offboard_control_mode")
        self._attitude = _outlet(classes, "VehicleAttitudeSetpoint", "vehicle_attitude_setpoint")
        self._rates = _outlet(classes, "VehicleRatesSetpoint", "vehicle_rates_setpoint")
        self.outlets: Sequence[Outlet] = (self._mode, self._attitude, self._rates)

    def fill(self, setpoint: AircraftSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill the mode and the set-point. See `SetpointMessages`."""
        mode = self._mode.message
        mode.attitude, mode.body_rate = setpoint.has_attitude, not setpoint.has_attitude
        outlet = self._attitude if setpoint.has_attitude else self._rates
        fill = _fill_attitude if setpoint.has_attitude else _fill_rates
        fill(outlet.message, setpoint)
        outlet.message.thrust_body = [0.0, 0.0, -setpoint.share]
        mode.timestamp = outlet.message.timestamp = stamp // MICROSECOND
        return self._mode, outlet


def _outlet(classes: Classes, name: str, topic: str) -> Outlet:
    kind = classes(f"px4_msgs/msg/{name}")
    version = getattr(kind, "MESSAGE_VERSION", 0)
    return Outlet(f"{INPUT}/{topic}" + (f"_v{version}" if version else ""), kind())


def _fill_attitude(message: Any, setpoint: AircraftSetpoint) -> None:  # noqa: ANN401 - of px4_msgs
    """Fill the attitude, and the yaw rate about the world's axis down, which PX4 feeds forward."""
    message.q_d = list(to_ned(setpoint.q_WB))
    message.yaw_sp_move_rate = -rotate(setpoint.q_WB, setpoint.w_WB_B)[2]


def _fill_rates(message: Any, setpoint: AircraftSetpoint) -> None:  # noqa: ANN401 - of px4_msgs
    p, q, r = setpoint.w_WB_B
    message.roll, message.pitch, message.yaw = p, -q, -r
