# SPDX-License-Identifier: BSD-3-Clause
"""Orders as a pilot's sticks say them to autopilots without a heading of their own: roll, pitch and yaw rate."""

import math

import numpy as np

from iap_description.arrays import Quat, Vec
from iap_description.math import so3
from iap_physics.firmware.firmware import AttitudeOrder

UP = np.array((0.0, 0.0, 1.0))


def stick_angles(order: AttitudeOrder, q_WB: Quat, yaw_gain: float) -> Vec:
    """Roll and pitch [rad] that tilt the thrust as ordered, seen from the present heading, and yaw rate [rad/s].

    Args:
        order: with an attitude.
        q_WB: present attitude.
        yaw_gain: yaw rate per yaw error [1/s].
    """
    x, y, z = so3.rotate(np.array(order.q_WB), UP).tolist()
    yaw = _yaw(q_WB)
    c, s = math.cos(yaw), math.sin(yaw)
    roll, pitch = math.asin(min(max(s * x - c * y, -1.0), 1.0)), math.atan2(c * x + s * y, z)
    error = math.remainder(_yaw(order.q_WB) - yaw, 2.0 * math.pi)
    return roll, pitch, order.w_WB_B[2] + yaw_gain * error


def _yaw(q: Quat) -> float:
    x, y, z, w = q
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
