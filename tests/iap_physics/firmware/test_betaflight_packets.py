# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's packets: axes forward, right, down; sticks that mean angles, rates and thrust."""

import math

import numpy as np
import pytest

from iap_description.math import so3
from iap_physics.firmware.betaflight.link import (
    STATE,
    STICKS,
    arming_flags,
    is_whole,
    state_packet,
    status_request,
    stick_packet,
)
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder

LEVEL = (0.0, 0.0, 0.0, 1.0)
STILL = (0.0, 0.0, 0.0)


def sticks(order, q_WB=LEVEL):
    return STICKS.unpack(stick_packet(1.0, order, q_WB, 2.0))[1:7]


def attitude(roll, pitch, yaw):
    R = so3.matrix_from_euler(np.array([roll, pitch, yaw]))
    return tuple(so3.quaternion_from_matrix(R).tolist())


def test_a_state_is_in_axes_forward_right_down():
    motion = AircraftMotion((1.0, 2.0, 3.0), (0.1, 0.2, 9.81), STILL, (0.1, 0.2, 0.3, 0.9), STILL)
    values = STATE.unpack(state_packet(0.5, motion, yaw_sign=-1.0))
    assert values[:11] == (0.5, 1.0, -2.0, -3.0, 0.1, -0.2, -9.81, 0.9, 0.1, -0.2, -0.3)
    assert STATE.unpack(state_packet(0.5, motion, yaw_sign=1.0))[3] == 3.0


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_sticks_are_roll_and_pitch_of_the_ordered_thrust_at_the_present_heading(yaw):
    order = AttitudeOrder(True, attitude(0.1, 0.2, yaw), STILL, 0.5, True)
    roll, pitch, throttle, turn, arm, angle = sticks(order, attitude(0.0, 0.0, yaw))
    per_us = math.radians(60.0) / 500
    assert (roll - 1500) * per_us == pytest.approx(0.1, abs=per_us)
    assert (pitch - 1500) * per_us == pytest.approx(0.2, abs=per_us)
    assert (throttle, turn, arm, angle) == (round(1010 + 990 * 0.49 / 0.99), 1500, 2000, 2000)


def test_a_yaw_error_to_the_left_is_a_stick_to_the_left():
    order = AttitudeOrder(True, attitude(0.0, 0.0, 0.1), STILL, 0.5, True)
    yaw_rate = -math.radians(200.0) * (sticks(order)[3] - 1500) / 500
    assert yaw_rate == pytest.approx(2.0 * 0.1, abs=0.01)


def test_rates_without_an_attitude_are_sticks_in_rate_mode():
    order = AttitudeOrder(False, LEVEL, (1.0, -0.5, 0.2), 0.5, True)
    roll, pitch, _, yaw, _, angle = sticks(order)
    per_us = math.radians(500.0) / 500
    assert [(roll - 1500) * per_us, (pitch - 1500) * per_us] == pytest.approx(
        [1.0, -0.5], abs=0.01
    )
    assert math.radians(200.0) * (1500 - yaw) / 500 == pytest.approx(0.2, abs=0.01)
    assert angle == 1000


def test_no_thrust_is_a_throttle_at_which_it_arms():
    assert sticks(AttitudeOrder(True, LEVEL, STILL, 0.0, True))[2] == 1000


def test_flags_that_keep_it_from_arming_are_named():
    body = bytearray(22)
    body[17:21] = ((1 << 2) | (1 << 7)).to_bytes(4, "little")
    answer = b"$M>" + bytes((len(body), 150)) + bytes(body) + b"\0"
    assert arming_flags(answer) == ["RXLOSS", "THROTTLE"]
    assert is_whole(answer)
    assert not is_whole(answer[:10])


def test_an_answer_is_whole_with_its_head_its_body_and_a_checksum():
    assert status_request() == b"$M<\x00\x96\x96"
    answer = b"$M>\x03\x96abc\x00"
    assert is_whole(answer) and is_whole(answer + b"more")
    assert not any(is_whole(answer[:n]) for n in range(len(answer)))


def test_flags_stand_behind_the_boxes_whose_number_is_told():
    body = bytearray(24)
    body[15], body[19:23] = 0xF2, (1 << 0 | 1 << 28).to_bytes(4, "little")
    answer = b"$M>" + bytes((len(body), 150)) + bytes(body) + b"\0"
    assert arming_flags(answer) == ["NOGYRO", "ARMSWITCH"]
