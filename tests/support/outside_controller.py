# SPDX-License-Identifier: BSD-3-Clause
"""A controller that knows PX4's topics alone: by attitude and thrust, or by points, it flies to a place.

Called with ``attitude`` or ``trajectory``, and the place in PX4's axes north, east, down. It has no code of the suite.
"""

import math
import sys

import numpy as np
import rclpy
from px4_msgs.msg import (
    OffboardControlMode,
    TrajectorySetpoint,
    VehicleAttitudeSetpoint,
    VehicleOdometry,
)
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

GRAVITY, HOVER = 9.81, 0.5  # of the thrust
POSITION_GAIN, VELOCITY_GAIN, TILT = 1.0, 1.8, 0.35  # [1/s^2], [1/s], [rad]


class OutsideController(Node):
    """Answers odometry."""

    def __init__(self, way, place):
        super().__init__("outside_controller")
        self._way, self._place = way, np.array(place)
        create = self.create_publisher
        self._mode = create(OffboardControlMode, "/fmu/in/offboard_control_mode", 10)
        kind, topic = {
            "attitude": (VehicleAttitudeSetpoint, "vehicle_attitude_setpoint_v1"),
            "trajectory": (TrajectorySetpoint, "trajectory_setpoint"),
        }[way]
        self._setpoint, self._kind = (
            create(kind, f"/fmu/in/{topic}", qos_profile_sensor_data),
            kind,
        )
        topic = "/fmu/out/vehicle_odometry"
        self.create_subscription(
            VehicleOdometry, topic, self._on_odometry, qos_profile_sensor_data
        )

    def _on_odometry(self, odometry):
        now = self.get_clock().now().nanoseconds // 1000
        attitude = self._way == "attitude"
        self._mode.publish(
            OffboardControlMode(timestamp=now, position=not attitude, attitude=attitude)
        )
        fill = self._attitude if attitude else self._point
        self._setpoint.publish(fill(now, odometry))

    def _point(self, now, _):
        nothing = [math.nan] * 3
        place = [float(each) for each in self._place]
        return TrajectorySetpoint(
            timestamp=now,
            position=place,
            velocity=nothing,
            acceleration=nothing,
            yaw=0.5 * math.pi,
        )

    def _attitude(self, now, odometry):
        """Level to the east, nose first, tilted towards the place."""
        have, speed = np.array(odometry.position), np.array(odometry.velocity)
        pull = POSITION_GAIN * (self._place - have) - VELOCITY_GAIN * speed
        pull[:2] = np.clip(pull[:2], -GRAVITY * TILT, GRAVITY * TILT)
        force = pull - (0.0, 0.0, GRAVITY)
        down = -force / np.linalg.norm(force)
        right = np.cross(down, (0.0, 1.0, 0.0))
        right /= np.linalg.norm(right)
        matrix = np.column_stack([np.cross(right, down), right, down])
        share = min(HOVER * np.linalg.norm(force) / GRAVITY, 1.0)
        return VehicleAttitudeSetpoint(
            timestamp=now, q_d=quaternion(matrix), thrust_body=[0.0, 0.0, -float(share)]
        )


def quaternion(m):
    """w x y z of a rotation by less than half a turn, in float32."""
    w = 0.5 * math.sqrt(1.0 + np.trace(m))
    parts = (m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])
    return np.array([w, *(part / (4.0 * w) for part in parts)], np.float32)


def main():
    way, *place = sys.argv[1:5]
    rclpy.init(args=sys.argv[5:])
    try:
        rclpy.spin(OutsideController(way, [float(each) for each in place]))
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


main()
