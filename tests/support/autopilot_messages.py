# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for messages of px4_msgs and mavros_msgs: their fields, and no others."""

from types import SimpleNamespace


class OffboardControlMode:
    __slots__ = ("attitude", "body_rate", "timestamp")


class VehicleAttitudeSetpoint:
    MESSAGE_VERSION = 1
    __slots__ = ("q_d", "thrust_body", "timestamp", "yaw_sp_move_rate")


class VehicleRatesSetpoint:
    MESSAGE_VERSION = 0
    __slots__ = ("pitch", "roll", "thrust_body", "timestamp", "yaw")


class AttitudeTarget:
    IGNORE_ROLL_RATE, IGNORE_PITCH_RATE, IGNORE_YAW_RATE, IGNORE_ATTITUDE = 1, 2, 4, 128
    __slots__ = ("body_rate", "header", "orientation", "thrust", "type_mask")

    def __init__(self):
        stamp = SimpleNamespace(sec=0, nanosec=0)
        self.header = SimpleNamespace(stamp=stamp, frame_id="")
        self.orientation, self.body_rate = SimpleNamespace(), SimpleNamespace()


KINDS = (OffboardControlMode, VehicleAttitudeSetpoint, VehicleRatesSetpoint, AttitudeTarget)


def stand_in(msgtype):
    """The stand-in for a message type."""
    return {kind.__name__: kind for kind in KINDS}[msgtype.split("/")[-1]]
