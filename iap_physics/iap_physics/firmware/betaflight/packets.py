# SPDX-License-Identifier: BSD-3-Clause
r"""Betaflight SITL's packets: states and sticks to it, motors from it, little endian.

Its body axes are forward, right, down. Sticks are pulses of 1000 to 2000 us in the order roll, pitch, throttle, yaw,
switches. In angle mode a stick is an angle; its loop turns there by a rate of 5 1/s per error, which is all that rotors
with a lag of 40 ms allow. The rate of an ordered attitude about roll and pitch is not fed forward, or it would swing.
"""

import math
import struct

from iap_description.arrays import Quat
from iap_description.math.atmosphere import SEA_LEVEL
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder
from iap_physics.firmware.stick_angles import stick_angles

STATE, STICKS, MOTORS = struct.Struct("<18d"), struct.Struct("<d16H"), struct.Struct("<4f")
ANGLE_LIMIT = math.radians(60.0)  # of a full stick, as the settings have it
RATE_LIMITS = (math.radians(500.0), math.radians(200.0))  # of roll and pitch, of yaw [rad/s]
MIN_CHECK, IDLE = 1010, 0.01  # throttle that counts as none [us], share of an idling motor
LOW, HIGH, MIDDLE = 1000, 2000, 1500  # [us]
UNUSED = (LOW,) * 10


def state_packet(t: float, motion: AircraftMotion, *, yaw_sign: float) -> bytes:
    """The state at its time [s]; `yaw_sign` is -1 where it takes the yaw rate about the axis down."""
    p, q, r = motion.w_WB_B
    a, b, c = motion.f_B
    x, y, z, w = motion.q_WB
    nothing = (0.0,) * 6  # position and velocity, which its GPS would have
    return STATE.pack(
        t, p, -q, yaw_sign * r, a, -b, -c, w, x, -y, -z, *nothing, SEA_LEVEL
    )  # nothing flies by the pressure


def stick_packet(t: float, order: AttitudeOrder, q_WB: Quat, yaw_gain: float) -> bytes:
    """The sticks for an order to an aircraft of an attitude.

    Args:
        t: time [s].
        order: what it shall do.
        q_WB: its present attitude.
        yaw_gain: yaw rate per yaw error [1/s].
    """
    if order.has_attitude:
        angle_x, angle_y, yaw_rate = stick_angles(order, q_WB, yaw_gain)
        roll, pitch = angle_x / ANGLE_LIMIT, angle_y / ANGLE_LIMIT
    else:
        w = order.w_WB_B
        roll, pitch, yaw_rate = w[0] / RATE_LIMITS[0], w[1] / RATE_LIMITS[0], w[2]
    motors = max(order.share - IDLE, 0.0) / (1.0 - IDLE)
    throttle = MIN_CHECK + (HIGH - MIN_CHECK) * motors if order.share > 0.0 else LOW
    sticks = (_pulse(roll), _pulse(pitch), _within(throttle), _pulse(-yaw_rate / RATE_LIMITS[1]))
    switches = (HIGH if order.is_armed else LOW, HIGH if order.has_attitude else LOW)
    return STICKS.pack(t, *sticks, *switches, *UNUSED)


def _pulse(deflection: float) -> int:
    return _within(MIDDLE + 500.0 * deflection)


def _within(pulse: float) -> int:
    return round(min(max(pulse, LOW), HIGH))
