# SPDX-License-Identifier: BSD-3-Clause
"""Set-points in px4_msgs, as PX4's uXRCE-DDS client takes them: NED, FRD, quaternions w x y z, thrust down negative."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_control.offboard.aircraft_setpoint import (
    AircraftSetpoint,
    Classes,
    MotionSetpoint,
    Outlet,
)
from iap_description.arrays import Vec
from iap_description.frames import swap_world, to_ned
from iap_description.math.kernels import rotate

INPUT = "fmu/in"
MICROSECOND = 1000  # [ns]
FLAGS = (
    "position",
    "velocity",
    "acceleration",
    "attitude",
    "body_rate",
)  # of its loops, outer ones first


class Px4Setpoints:
    """OffboardControlMode beside VehicleAttitudeSetpoint, VehicleRatesSetpoint or TrajectorySetpoint.

    PX4 leaves its offboard mode when OffboardControlMode falls silent, so each set-point comes with one.

    Args:
        classes: of px4_msgs. A class with a MESSAGE_VERSION other than 0 has a topic that ends with it.
    """

    def __init__(self, classes: Classes) -> None:
        self._mode = _outlet(classes, "OffboardControlMode", "offboard_control_mode")
        self._attitude = _outlet(classes, "VehicleAttitudeSetpoint", "vehicle_attitude_setpoint")
        self._rates = _outlet(classes, "VehicleRatesSetpoint", "vehicle_rates_setpoint")
        self._motion = _outlet(classes, "TrajectorySetpoint", "trajectory_setpoint")
        self.outlets: Sequence[Outlet] = (self._mode, self._attitude, self._rates, self._motion)

    def fill(self, setpoint: AircraftSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill the mode and the set-point. See `SetpointMessages`."""
        outlet = self._attitude if setpoint.has_attitude else self._rates
        fill = _fill_attitude if setpoint.has_attitude else _fill_rates
        fill(outlet.message, setpoint)
        outlet.message.thrust_body = [0.0, 0.0, -setpoint.share]
        return self._with_mode("attitude" if setpoint.has_attitude else "body_rate", outlet, stamp)

    def fill_motion(self, motion: MotionSetpoint, stamp: int) -> Sequence[Outlet]:
        """Fill the mode and the point of a trajectory, where NaN is what is not controlled. See `SetpointMessages`."""
        message = self._motion.message
        message.position, message.velocity = _in_ned(motion.p_W), _in_ned(motion.v_W)
        message.acceleration, message.jerk = _in_ned(motion.a_W), _in_ned(None)
        east = math.nan if motion.yaw is None else motion.yaw  # in PX4 from north to east
        message.yaw = math.remainder(0.5 * math.pi - east, math.tau)
        message.yawspeed = math.nan if motion.yaw_rate is None else -motion.yaw_rate
        tracked = zip(FLAGS[:3], motion[:3], strict=True)
        highest = next(name for name, value in tracked if value is not None)
        return self._with_mode(highest, self._motion, stamp)

    def _with_mode(self, highest: str, outlet: Outlet, stamp: int) -> Sequence[Outlet]:
        """A set-point's message behind the one that says which loop of PX4 it is for."""
        mode = self._mode.message
        for flag in FLAGS:
            setattr(mode, flag, flag == highest)
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


def _in_ned(v_W: Vec | None) -> list[float]:
    return [math.nan] * 3 if v_W is None else [float(each) for each in swap_world(np.array(v_W))]
