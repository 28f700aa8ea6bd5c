# SPDX-License-Identifier: BSD-3-Clause
"""Frames of MAVLink 2, beside bytes that pymavlink 2.4.50 has written, and PX4's axes."""

import numpy as np
import pytest

from iap_description.frames import to_ned
from iap_description.math import so3
from iap_physics.firmware.firmware import AircraftMotion
from iap_physics.firmware.px4 import mavlink
from iap_physics.firmware.px4.hil_sensors import HilSensors
from iap_physics.firmware.px4.mavlink import MavlinkParser, Sender
from iap_physics.firmware.settings import Px4Settings

FRAMES = [
    ("HEARTBEAT", (0, 6, 8, 0, 4, 3), ("fd09000001ffbe0000000000000006080004032dc6")),
    (
        "HIL_SENSOR",
        (1234567, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 7167, 0),
        (
            "fd3e000001ffbe6b000087d6120000000000000000000000803e0000003f0000403f0000803f0000"
            "a03f0000c03f0000e03f0000004000001040000020400000304000004040ff1b53bc"
        ),
    ),
    (
        "HIL_GPS",
        (5, 473977420, 85455940, 488000, 30, 30, 70, -50, 49, -3, 13500, 3, 12, 0, 0),
        (
            "fd24000001ffbe71000005000000000000004c52401c44f41705407207001e001e004600ceff3100"
            "fdffbc34030c73c6"
        ),
    ),
    (
        "SET_ATTITUDE_TARGET",
        (5, 1.0, 0.0, 0.25, 0.0, 0.125, 0.25, 0.5, 0.75, 1, 1, 7),
        (
            "fd27000001ffbe520000050000000000803f000000000000803e000000000000003e0000803e0000"
            "003f0000403f0101070c1a"
        ),
    ),
    (
        "COMMAND_LONG",
        (1.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 176, 1, 1, 0),
        (
            "fd20000001ffbe4c00000000803f0000c0400000000000000000000000000000000000000000b000"
            "0101b4ea"
        ),
    ),
    (
        "HIL_ACTUATOR_CONTROLS",
        (
            99,
            1,
            0.5,
            0.25,
            0.5,
            0.75,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            129,
        ),
        (
            "fd51000001ffbe5d0000630000000000000001000000000000000000003f0000803e0000003f0000"
            "403f0000000000000000000000000000000000000000000000000000000000000000000000000000"
            "0000000000000000000081891f"
        ),
    ),
]
NOISELESS = Px4Settings(
    gyro_noise=0.0, accelerometer_noise=0.0, magnetometer_noise=0.0, barometer_noise=0.0
)


@pytest.mark.parametrize(("kind", "values", "written"), FRAMES)
def test_frames_are_those_of_pymavlink(kind, values, written):
    assert Sender().frame(getattr(mavlink, kind), *values).hex() == written


def test_messages_are_found_among_damaged_bytes_and_in_pieces():
    frame = Sender().frame(mavlink.HEARTBEAT, 1, 2, 3, 4, 5, 3)
    damaged = frame[:-1] + bytes((frame[-1] ^ 1,))
    receiver, found = MavlinkParser(), []
    for byte in b"noise" + damaged + frame:
        found.extend(receiver.add(bytes((byte,))))
    assert [each.values(mavlink.HEARTBEAT) for each in found] == [(1, 2, 3, 4, 5, 3)]


def test_attitudes_are_turned_to_north_east_down():
    q_WB = so3.normalized(np.random.default_rng(1).normal(size=4))
    w, x, y, z = to_ned(tuple(q_WB.tolist()))
    swap, flip = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1.0]]), np.diag([1.0, -1.0, -1.0])
    expected = swap @ so3.matrix_from_quaternion(q_WB) @ flip
    assert so3.matrix_from_quaternion(np.array([x, y, z, w])) == pytest.approx(expected)


def test_sensors_at_rest_say_gravity_down_the_field_and_the_height():
    motion = AircraftMotion(
        (0.1, 0.2, 0.3), (0.0, 0.0, 9.81), (0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0)
    )
    sensors = HilSensors(NOISELESS, np.random.default_rng(0))
    fix, sensor = MavlinkParser().add(sensors.frames(Sender(), 4000, motion))
    values = sensor.values(mavlink.HIL_SENSOR)
    assert values[0] == 4000
    assert values[1:7] == pytest.approx([0.0, 0.0, -9.81, 0.1, -0.2, -0.3])
    # The nose looks east: forward is east, right is south, down is down.
    assert values[7:10] == pytest.approx([0.0113, -0.2154, 0.4288])
    assert values[12] == pytest.approx(490.0)
    assert values[14] == 0x1FFF ^ 0x400
    place = fix.values(mavlink.HIL_GPS)
    assert place[1:3] == pytest.approx([473_977_420, 85_455_940], abs=100)
    assert place[7:10] == pytest.approx([200, 100, -300], abs=30)
