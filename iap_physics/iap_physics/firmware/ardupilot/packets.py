# SPDX-License-Identifier: BSD-3-Clause
"""ArduPilot's packets to and from a simulator of kind JSON, and the sticks that it reads.

World axes are north, east, down, and body axes forward, right, down. Its parser looks for bare keys and takes numbers
by a fixed pattern, so that a state is written as plainly as possible, with a line's end before and after it.
"""

import math
import struct
from typing import NamedTuple

from iap_description.arrays import Quat
from iap_description.frames import to_ned
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder
from iap_physics.firmware.stick_angles import stick_angles

FEW, MANY = struct.Struct("<HHI16H"), struct.Struct("<HHI32H")
MAGICS = {18_458: FEW, 29_569: MANY}
STICKS = struct.Struct("<16H")
LOW, MIDDLE, HIGH = 1000, 1500, 2000  # [us]
ANGLE_LIMIT, YAW_LIMIT = (
    math.radians(60.0),
    math.radians(200.0),
)  # of full sticks, as its parameters have them
ARM = 6  # channel, from 0 on, whose switch arms
STATE = (
    '\n{"timestamp":%.9f,"imu":{"gyro":[%.9f, %.9f, %.9f],"accel_body":[%.9f, %.9f, %.9f]},'
    '"position":[%.9f, %.9f, %.9f],"quaternion":[%.9f, %.9f, %.9f, %.9f],"velocity":[%.9f, %.9f, %.9f],'
    '"no_time_sync":1}\n'
)


class Pulses(NamedTuple):
    """A packet of pulses: the number of its frame, and the pulse of each channel [us]."""

    frame: int
    widths: tuple[int, ...]


def read_pulses(packet: bytes) -> Pulses | None:
    """The pulses of a packet; None of other bytes."""
    form = MAGICS.get(int.from_bytes(packet[:2], "little"))
    if form is None or len(packet) != form.size:
        return None
    _, _, frame, *widths = form.unpack(packet)
    return Pulses(frame, tuple(widths))


def state_line(t: float, motion: AircraftMotion) -> bytes:
    """The state at its time [s]."""
    (p, q, r), (a, b, c) = motion.w_WB_B, motion.f_B
    (east, north, up), (v_east, v_north, v_up) = motion.p_WB_W, motion.v_WB_W
    inertial = (p, -q, -r, a, -b, -c)
    place = (north, east, -up, *to_ned(motion.q_WB), v_north, v_east, -v_up)
    return (STATE % (t, *inertial, *place)).encode()


def stick_packet(order: AttitudeOrder, q_WB: Quat, yaw_gain: float) -> bytes:
    """The sticks of mode STABILIZE for an order to an aircraft of an attitude.

    A pitch stick above the middle lifts the nose.
    """
    roll, pitch, yaw_rate = stick_angles(order, q_WB, yaw_gain)
    channels = [LOW] * 16
    channels[0] = _pulse(roll / ANGLE_LIMIT)
    channels[1] = _pulse(-pitch / ANGLE_LIMIT)
    channels[2] = round(LOW + (HIGH - LOW) * order.share)
    channels[3] = _pulse(-yaw_rate / YAW_LIMIT)
    channels[ARM] = HIGH if order.is_armed else LOW
    return STICKS.pack(*channels)


def _pulse(deflection: float) -> int:
    return round(min(max(MIDDLE + 500.0 * deflection, LOW), HIGH))
