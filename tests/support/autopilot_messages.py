# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for messages of px4_msgs and mavros_msgs: their fields, and no others."""

from types import SimpleNamespace


class OffboardControlMode:
    __slots__ = (
        "acceleration",
        "attitude",
        "body_rate",
        "direct_actuator",
        "position",
        "thrust_and_torque",
        "timestamp",
        "velocity",
    )


class VehicleAttitudeSetpoint:
    MESSAGE_VERSION = 1
    __slots__ = ("q_d", "thrust_body", "timestamp", "yaw_sp_move_rate")


class VehicleRatesSetpoint:
    MESSAGE_VERSION = 0
    __slots__ = ("pitch", "roll", "thrust_body", "timestamp", "yaw")


class TrajectorySetpoint:
    __slots__ = ("acceleration", "jerk", "position", "timestamp", "velocity", "yaw", "yawspeed")


class VehicleOdometry:
    POSE_FRAME_NED, VELOCITY_FRAME_NED = 1, 1
    __slots__ = (
        "angular_velocity",
        "orientation_variance",
        "pose_frame",
        "position",
        "position_variance",
        "q",
        "quality",
        "reset_counter",
        "timestamp",
        "timestamp_sample",
        "velocity",
        "velocity_frame",
        "velocity_variance",
    )


class AttitudeTarget:
    IGNORE_ROLL_RATE, IGNORE_PITCH_RATE, IGNORE_YAW_RATE, IGNORE_ATTITUDE = 1, 2, 4, 128
    IGNORE_THRUST = 64
    __slots__ = ("body_rate", "header", "orientation", "thrust", "type_mask")

    def __init__(self):
        stamp = SimpleNamespace(sec=0, nanosec=0)
        self.header = SimpleNamespace(stamp=stamp, frame_id="")
        self.orientation, self.body_rate = SimpleNamespace(), SimpleNamespace()


class PositionTarget:
    FRAME_LOCAL_NED = 1
    IGNORE_PX, IGNORE_PY, IGNORE_PZ, IGNORE_VX, IGNORE_VY, IGNORE_VZ = 1, 2, 4, 8, 16, 32
    FORCE = 512
    IGNORE_AFX, IGNORE_AFY, IGNORE_AFZ, IGNORE_YAW, IGNORE_YAW_RATE = 64, 128, 256, 1024, 2048
    __slots__ = (
        "acceleration_or_force",
        "coordinate_frame",
        "header",
        "position",
        "type_mask",
        "velocity",
        "yaw",
        "yaw_rate",
    )

    def __init__(self):
        stamp = SimpleNamespace(sec=0, nanosec=0)
        self.header = SimpleNamespace(stamp=stamp, frame_id="")
        self.position, self.velocity = SimpleNamespace(), SimpleNamespace()
        self.acceleration_or_force = SimpleNamespace()


KINDS = (
    OffboardControlMode,
    VehicleAttitudeSetpoint,
    VehicleRatesSetpoint,
    TrajectorySetpoint,
    VehicleOdometry,
    AttitudeTarget,
    PositionTarget,
)


def stand_in(msgtype):
    """The stand-in for a message type."""
    return {kind.__name__: kind for kind in KINDS}[msgtype.split("/")[-1]]
