# SPDX-License-Identifier: BSD-3-Clause
"""Flights by a program that speaks PX4's messages: they hold, they repeat, and each fault ends them by name."""

import pytest
from firmwares import PX4_PORT as PORT
from firmwares import fake_px4, flight

from iap_description.errors import FlightFailed

FAULTY = 2.5  # of the firmware's clock, in flight [s]


def test_a_quadrotor_hovers_and_flies_twice_alike():
    first, second = (flight(fake_px4(port=PORT), 0.5) for _ in range(2))
    assert first[0] < 0.01
    assert first == second


@pytest.mark.slow
def test_three_of_them_hold_a_platform_on_joints():
    assert flight(fake_px4(port=PORT), 0.5, "three_star")[0] < 0.01


@pytest.mark.slow
def test_the_exchange_may_be_as_fast_as_the_physics():
    firmware = {**fake_px4(port=PORT), "rate_hz": 1000.0}
    assert flight(firmware, 0.5)[0] < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "seconds", "outcome", "words"),
    [
        ("mute", FAULTY, "firmware_late", "no controls within 0.5 s"),
        ("late", FAULTY, "firmware_late", "no controls within 0.5 s"),
        ("exit", FAULTY, "firmware_ended", "exit code 3; it said: .*I can no more"),
        ("disarm", FAULTY, "firmware_disarmed", "stand still in flight"),
        ("never_arms", 0.0, "firmware_not_armed", "Preflight Fail: heading estimate invalid"),
        ("stamp", FAULTY, "firmware_out_of_step", "controls of .* in answer to"),
        ("nan", FAULTY, "firmware_out_of_step", "are no numbers"),
        ("twice", FAULTY, "firmware_out_of_step", "answers one HIL_SENSOR twice|controls of"),
        ("wrong_yaw", 0.0, "firmware_wrong_signs", "do not resist a turn in yaw"),
    ],
)
def test_every_fault_ends_the_flight_by_its_name(fault, seconds, outcome, words):
    with pytest.raises(FlightFailed, match=words) as caught:
        flight(fake_px4(fault, seconds, PORT), 3.0)
    assert caught.value.outcome == outcome


def test_one_that_never_connects_has_not_started():
    firmware = {**fake_px4(port=PORT), "command": ["sleep", "9"], "start_within": 0.2}
    with pytest.raises(FlightFailed, match=f"nobody connects to port {PORT}") as caught:
        flight(firmware, 0.5)
    assert caught.value.outcome == "firmware_not_started"
