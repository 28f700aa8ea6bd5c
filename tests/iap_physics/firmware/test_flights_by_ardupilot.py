# SPDX-License-Identifier: BSD-3-Clause
"""Flights by a program that speaks ArduPilot's JSON interface: they hold, they repeat, and faults end them by name."""

import json

import pytest
from firmwares import ARDUPILOT_PORT as PORT
from firmwares import fake_ardupilot, flight

from iap_description.errors import FlightFailed
from iap_physics.firmware.ardupilot.ardupilot import (
    FEW,
    MANY,
    read_pulses,
    state_line,
    stick_packet,
)
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder

FAULTY = 2.5  # of the firmware's clock, in flight [s]
LEVEL = (0.0, 0.0, 0.0, 1.0)


def test_a_quadrotor_hovers_and_flies_twice_alike():
    first, second = (flight(fake_ardupilot(port=PORT), 0.5) for _ in range(2))
    assert first[0] < 0.01
    assert first == second


@pytest.mark.slow
def test_three_of_them_hold_a_platform_on_joints():
    assert flight(fake_ardupilot(port=PORT), 0.5, "three_star")[0] < 0.01


@pytest.mark.slow
def test_a_frame_that_is_sent_again_is_no_new_step():
    """As ArduPilot does after a second without a state."""
    twice = flight(fake_ardupilot("twice", 0.0, PORT), 0.3)
    assert twice == flight(fake_ardupilot(port=PORT), 0.3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "seconds", "outcome", "words"),
    [
        ("late", FAULTY, "firmware_late", "no new frame within 0.5 s"),
        ("mute", FAULTY, "firmware_late", "no new frame within 0.5 s"),
        ("exit", FAULTY, "firmware_ended", "exit code 3; it said: .*I can no more"),
        ("disarm", FAULTY, "firmware_disarmed", "stand still in flight"),
        ("never_arms", 0.0, "firmware_not_armed", "does not arm"),
        ("frame", FAULTY, "firmware_out_of_step", "came behind frame"),
        ("magic", FAULTY, "firmware_out_of_step", "40 bytes came that are no frame"),
        ("wrong_yaw", 0.0, "firmware_wrong_signs", "do not resist a turn in yaw"),
    ],
)
def test_every_fault_ends_the_flight_by_its_name(fault, seconds, outcome, words):
    with pytest.raises(FlightFailed, match=words) as caught:
        flight(fake_ardupilot(fault, seconds, PORT), 3.0)
    assert caught.value.outcome == outcome


def test_one_that_never_sends_has_not_started():
    firmware = {**fake_ardupilot(port=PORT), "command": ["sleep", "9"], "start_within": 0.2}
    with pytest.raises(FlightFailed, match=f"nobody sends to port {PORT}") as caught:
        flight(firmware, 0.5)
    assert caught.value.outcome == "firmware_not_started"


def test_a_state_is_a_line_in_north_east_down():
    motion = AircraftMotion(
        (1.0, 2.0, 3.0), (0.0, 0.0, 9.81), (1.0, 2.0, 3.0), LEVEL, (4.0, 5.0, 6.0)
    )
    line = state_line(0.25, motion)
    assert line[:1] == line[-1:] == b"\n"
    state = json.loads(line)
    assert state["timestamp"] == 0.25
    assert state["imu"] == {"gyro": [1.0, -2.0, -3.0], "accel_body": [0.0, 0.0, -9.81]}
    assert state["position"] == [2.0, 1.0, -3.0]
    assert state["velocity"] == [5.0, 4.0, -6.0]
    half = 0.5**0.5
    assert state["quaternion"] == pytest.approx([half, 0.0, 0.0, half])  # the nose looks east


def test_sticks_lift_the_nose_above_the_middle_and_turn_right():
    order = AttitudeOrder(True, (0.0, 0.1, 0.0, 0.995), (0.0, 0.0, -0.5), 0.4, True)
    packet = stick_packet(order, LEVEL, 2.0)
    roll, pitch, throttle, yaw = (
        int.from_bytes(packet[2 * k : 2 * k + 2], "little") for k in range(4)
    )
    assert roll == 1500
    assert pitch < 1450  # the nose goes down
    assert throttle == 1400
    assert yaw > 1550


def test_frames_of_16_and_32_channels_are_read_and_no_other_bytes():
    assert read_pulses(FEW.pack(18458, 1000, 5, *range(16))).frame == 5
    assert len(read_pulses(MANY.pack(29569, 1000, 5, *range(32))).widths) == 32
    assert read_pulses(b"rubbish") is None
