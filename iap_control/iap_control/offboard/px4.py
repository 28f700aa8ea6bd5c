# SPDX-License-Identifier: BSD-3-Clause
"""Set-points in px4_msgs, as PX4's uXRCE-DDS client takes them: NED, FRD, quaternions w x y z, thrust down negative."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from iap_control.offboard.aircraft_setpoint import (
    NOT_CONTROLLED,
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
from iap_control.offboard.setpoint_input import Inlet, Reading, Setpoint
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import from_ned, swap_world, to_ned
from iap_description.math.kernels import rotate

INPUT, OUTPUT = "fmu/in", "fmu/out"
ODOMETRY, ODOMETRY_TOPIC = "VehicleOdometry", "vehicle_odometry"
MODE, MODE_TOPIC = "OffboardControlMode", "offboard_control_mode"
MICROSECOND = 1000  # [ns]
FLAGS = (
    "position",
    "velocity",
    "acceleration",
    "attitude",
    "body_rate",
)  # of its loops, outer ones first
SETPOINTS = {  # messages of its loops, with their topics
    "VehicleAttitudeSetpoint": "vehicle_attitude_setpoint",
    "VehicleRatesSetpoint": "vehicle_rates_setpoint",
    "TrajectorySetpoint": "trajectory_setpoint",
}
NOT_FLOWN = (
    "thrust_and_torque",
    "direct_actuator",
    "actuator",
)  # loops further in, also by their old name
MOTION = "TrajectorySetpoint"
OF_LOOP = dict.fromkeys(FLAGS[:3], MOTION) | {
    "attitude": "VehicleAttitudeSetpoint",
    "body_rate": "VehicleRatesSetpoint",
}


class Px4Setpoints:
    """OffboardControlMode beside VehicleAttitudeSetpoint, VehicleRatesSetpoint or TrajectorySetpoint.

    PX4 leaves its offboard mode when OffboardControlMode falls silent, so each set-point comes with one.

    Args:
        classes: of px4_msgs. A class with a MESSAGE_VERSION other than 0 has a topic that ends with it.
    """

    def __init__(self, classes: Classes) -> None:
        self._mode = _outlet(classes, MODE, MODE_TOPIC)
        self._attitude, self._rates, self._motion = [
            _outlet(classes, *each) for each in SETPOINTS.items()
        ]
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
        message.position, message.velocity = _swapped(motion.p_W), _swapped(motion.v_W)
        message.acceleration, message.jerk = _swapped(motion.a_W), list(NOT_CONTROLLED)
        message.yaw, message.yawspeed = _swapped_heading(motion.yaw), -motion.yaw_rate
        tracked = zip(FLAGS, motion[:3], strict=False)
        highest = next(name for name, value in tracked if any(map(math.isfinite, value)))
        return self._with_mode(highest, self._motion, stamp)

    def _with_mode(self, highest: str, outlet: Outlet, stamp: int) -> Sequence[Outlet]:
        """A set-point's message behind the one that says which loop of PX4 it is for."""
        mode = self._mode.message
        for flag in FLAGS:
            setattr(mode, flag, flag == highest)
        mode.timestamp = outlet.message.timestamp = stamp // MICROSECOND
        return self._mode, outlet


class Px4Reader:
    """Reads OffboardControlMode and the set-points beside it, as PX4 does: the outermost loop that it names counts.

    OffboardControlMode alone keeps the mode alive. A set-point that falls silent while it comes is held.

    Args:
        classes: of px4_msgs.
    """

    def __init__(self, classes: Classes) -> None:
        names = {MODE: MODE_TOPIC, **SETPOINTS}
        self._names = {
            Inlet(_topic(classes(_msgtype(name)), topic), _msgtype(name)): name
            for name, topic in names.items()
        }
        self.inlets: Sequence[Inlet] = tuple(self._names)
        kind = classes(_msgtype(ODOMETRY))
        odometry = Outlet(_topic(kind, ODOMETRY_TOPIC, OUTPUT), _filled_odometry(kind))
        self.outlets: Sequence[Outlet] = (odometry,)
        self._kind = ""  # of the set-points that count
        self._newest: dict[str, Setpoint] = {}

    def read(self, inlet: Inlet, message: Any) -> Reading:  # noqa: ANN401 - of px4_msgs
        """The meaning of a message. See `SetpointReader`."""
        name = self._names[inlet]
        if name != MODE:
            self._newest[name] = READ[name](message)
            return Reading(self._newest.get(self._kind), keeps_alive=False)
        kind = OF_LOOP[_loop(message)]
        if kind != self._kind:
            self._newest.pop(self._kind, None)  # or it would come back when the loop does
            self._kind = kind
        return Reading(self._newest.get(kind), keeps_alive=True)

    def motion(self, x: Array, stamp: int) -> Sequence[Outlet]:
        """Odometry in NED and FRD. See `SetpointReader`."""
        message = self.outlets[0].message
        message.timestamp = message.timestamp_sample = stamp // MICROSECOND
        px, py, pz, a, b, c, d, vx, vy, vz, wx, wy, wz = x.tolist()
        message.position, message.velocity = _swapped((px, py, pz)), _swapped((vx, vy, vz))
        message.q = list(to_ned((a, b, c, d)))
        p, q, r = rotate((-a, -b, -c, d), (wx, wy, wz))
        message.angular_velocity = [p, -q, -r]
        return self.outlets


def _filled_odometry(kind: Any) -> Any:  # noqa: ANN401 - of px4_msgs
    """A VehicleOdometry of the truth: its frames are set, and its variances are zero."""
    message = kind()
    message.pose_frame, message.velocity_frame = kind.POSE_FRAME_NED, kind.VELOCITY_FRAME_NED
    for name in ("position_variance", "orientation_variance", "velocity_variance"):
        setattr(message, name, [0.0] * 3)
    return message


def _loop(offboard: Any) -> str:  # noqa: ANN401 - of px4_msgs
    """The outermost loop that an OffboardControlMode names.

    Raises:
        BadInput: it names none, or one that is not flown here.
    """
    for flag in (*FLAGS, *NOT_FLOWN):
        if getattr(offboard, flag, False):
            if flag in NOT_FLOWN:
                raise BadInput(
                    f"{flag}: rotors and torques of an outside controller are not flown"
                )
            return flag
    raise BadInput(f"none of {', '.join(FLAGS)} is true")


def _msgtype(name: str) -> str:
    return f"px4_msgs/msg/{name}"


def _topic(kind: type, topic: str, space: str = INPUT) -> str:
    version = getattr(kind, "MESSAGE_VERSION", 0)
    return f"{space}/{topic}" + (f"_v{version}" if version else "")


def _outlet(classes: Classes, name: str, topic: str) -> Outlet:
    kind = classes(_msgtype(name))
    return Outlet(_topic(kind, topic), kind())


def _fill_attitude(message: Any, setpoint: AircraftSetpoint) -> None:  # noqa: ANN401 - of px4_msgs
    """Fill the attitude, and the yaw rate about the world's axis down, which PX4 feeds forward."""
    message.q_d = list(to_ned(setpoint.q_WB))
    message.yaw_sp_move_rate = -rotate(setpoint.q_WB, setpoint.w_WB_B)[2]


def _fill_rates(message: Any, setpoint: AircraftSetpoint) -> None:  # noqa: ANN401 - of px4_msgs
    p, q, r = setpoint.w_WB_B
    message.roll, message.pitch, message.yaw = p, -q, -r


def _read_attitude(message: Any) -> AircraftSetpoint:  # noqa: ANN401 - of px4_msgs
    """Attitude, thrust, and the yaw rate about the world's axis down; one that is NaN is none."""
    w, x, y, z = unit_quaternion("q_d", message.q_d)
    q_WB, rate = from_ned((w, x, y, z)), float(message.yaw_sp_move_rate)
    (up,) = finite("yaw_sp_move_rate", [0.0 if math.isnan(rate) else -rate])
    return AircraftSetpoint(
        has_attitude=True, q_WB=q_WB, w_WB_B=about_up(q_WB, up), share=_share(message)
    )


def _read_rates(message: Any) -> AircraftSetpoint:  # noqa: ANN401 - of px4_msgs
    p, q, r = finite("roll, pitch, yaw", [message.roll, message.pitch, message.yaw])
    return AircraftSetpoint(
        has_attitude=False, q_WB=UPRIGHT, w_WB_B=(p, -q, -r), share=_share(message)
    )


def _read_motion(message: Any) -> MotionSetpoint:  # noqa: ANN401 - of px4_msgs
    p_W, v_W, a_W = (
        _swapped(getattr(message, name)) for name in ("position", "velocity", "acceleration")
    )
    yaw, yaw_rate = _swapped_heading(float(message.yaw)), -float(message.yawspeed)
    return motion_from(p_W, v_W, a_W, yaw, yaw_rate)


READ: Mapping[str, Callable[[Any], Setpoint]] = {
    "VehicleAttitudeSetpoint": _read_attitude,
    "VehicleRatesSetpoint": _read_rates,
    MOTION: _read_motion,
}


def _share(message: Any) -> float:  # noqa: ANN401 - of px4_msgs
    """The thrust's share of the largest.

    Raises:
        BadInput: it is not along the axis down, or no number.
    """
    x, y, z = finite("thrust_body", [float(each) for each in message.thrust_body])
    if x or y:
        raise BadInput(f"thrust_body: ({x:g}, {y:g}) sideways, a multirotor thrusts along z alone")
    return share_of(-z)


def _swapped(v_W: Sequence[float]) -> list[float]:
    """A vector from ENU to NED, or back."""
    return [float(each) for each in swap_world(np.array(v_W))]


def _swapped_heading(yaw: float) -> float:
    """A heading [rad] from that of PX4, from north to east, to that of `map`, from east to north, or back."""
    return math.remainder(0.5 * math.pi - yaw, math.tau)
