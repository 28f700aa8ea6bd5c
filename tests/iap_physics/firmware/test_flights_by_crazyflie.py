# SPDX-License-Identifier: BSD-3-Clause
"""Flights by bindings like the Crazyflie's hold and repeat; faults end them by name; messages are in its axes."""

import math
import shutil
import sys

import numpy as np
import pytest
from firmwares import FAKES, deadline, flight

from iap_description.errors import BadInput, FlightFailed
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform
from iap_physics.firmware.crazyflie.controllers import ORDER, STATE
from iap_physics.firmware.crazyflie.crazyflie import (
    angles_deg,
    order_bytes,
    state_bytes,
    torque_scales,
)
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder

LEVEL = (0.0, 0.0, 0.0, 1.0)
IN_FLIGHT = 1500  # steps


@pytest.fixture
def crazyflie(tmp_path):
    """Makes the firmware as a scenario has it, with a fault at a step of its own."""

    def make(fault="none", step=0, **keys):
        shutil.copy(FAKES / "fake_bindings" / "cffirmware.py", tmp_path)
        (tmp_path / "fault").write_text(f"{fault} {step}")
        own = {"bindings": str(tmp_path), "torque_scales": [1.0, 1.0, 1.0]}
        return {"name": "crazyflie", **own, "deadline": deadline(fault), **keys}

    return make


def test_a_quadrotor_hovers_and_flies_twice_alike(crazyflie):
    first, second = (flight(crazyflie(), 0.5) for _ in range(2))
    assert first[0] < 0.01
    assert first == second


@pytest.mark.slow
def test_three_of_them_hold_a_platform_on_joints(crazyflie):
    assert flight(crazyflie(), 0.5, "three_star")[0] < 0.01


@pytest.mark.parametrize(
    ("fault", "outcome", "words"),
    [
        ("exit", "firmware_ended", "exit code 3; it said: .*I can no more"),
        ("mute", "firmware_late", "no answer within 0.5 s"),
    ],
)
def test_every_fault_ends_the_flight_by_its_name(crazyflie, fault, outcome, words):
    with pytest.raises(FlightFailed, match=words) as caught:
        flight(crazyflie(fault, IN_FLIGHT), 3.0)
    assert caught.value.outcome == outcome


@pytest.mark.parametrize(
    ("code", "outcome", "words"),
    [
        ("raise SystemExit('no')", "firmware_not_started", "exit code 1; it said: no"),
        ("import time; time.sleep(9)", "firmware_not_started", "does not listen within 0.5 s"),
        (
            "link.send(b'ready'); link.recv(512); link.send(b'x')",
            "firmware_out_of_step",
            "1 bytes",
        ),
        (
            "link.send(b'ready'); link.recv(512); link.send(b'\\7' + bytes(11)); link.recv(9)",
            "firmware_out_of_step",
            "an answer to step 7 came, one to step 1",
        ),
    ],
)
def test_a_program_that_does_not_answer_as_it_should_is_named(crazyflie, code, outcome, words):
    """A command gets the number of its socket behind the program."""
    begin = "import socket, sys; link = socket.socket(fileno=int(sys.argv[2])); "
    command = [sys.executable, "-c", begin + code]
    with pytest.raises(FlightFailed, match=words) as caught:
        flight(crazyflie(command=command, start_within=0.5 if "sleep" in code else 30.0), 0.5)
    assert caught.value.outcome == outcome


def test_bindings_that_are_not_there_are_refused_with_the_way_to_them(tmp_path):
    for keys, key in (({}, "firmware.name"), ({"bindings": str(tmp_path)}, "firmware.bindings")):
        with pytest.raises(BadInput, match=rf"key '{key}'.*make bindings_python"):
            flight({"name": "crazyflie", **keys}, 0.5)


def test_its_loops_count_milliseconds(crazyflie):
    with pytest.raises(BadInput, match=r"firmware\.rate_hz.*1000"):
        flight(crazyflie(rate_hz=500.0), 0.5)


def test_angles_are_degrees_and_the_pitch_is_positive_with_the_nose_up():
    roll, pitch, yaw = 0.3, -0.2, 2.5  # turned to the right, nose up in forward, left, up
    R = so3.matrix_from_euler(np.array((roll, pitch, yaw)))
    expected = (math.degrees(roll), math.degrees(-pitch), math.degrees(yaw))
    assert angles_deg(tuple(so3.quaternion_from_matrix(R))) == pytest.approx(expected)


def test_a_state_is_in_degrees_and_units_of_gravity_with_a_gyroscope_in_forward_left_up():
    motion = AircraftMotion(
        (1.0, 2.0, 3.0), (0.0, 0.0, 9.80665), (1.0, 2.0, 3.0), LEVEL, (4, 5, 6)
    )
    step, *numbers = STATE.unpack(state_bytes(9, motion))
    assert step == 9
    expected = [0, 0, 0, *np.rad2deg([1, 2, 3]), 0, 0, 1, *LEVEL, 1, 2, 3, 4, 5, 6]
    assert numbers == pytest.approx(expected)


def test_an_order_is_an_attitude_or_rates_with_the_thrust_of_a_motor():
    nose_down = (0.0, math.sin(0.1), 0.0, math.cos(0.1))
    order = AttitudeOrder(True, nose_down, (0.1, 0.2, 0.3), 0.4, True)
    has_attitude, *numbers = ORDER.unpack(order_bytes(order))
    rates = np.rad2deg([0.1, -0.2, 0.3])
    assert has_attitude
    assert numbers == pytest.approx([0.0, -math.degrees(0.2), 0.0, *rates, 0.4 * 65535])
    has_attitude, *numbers = ORDER.unpack(order_bytes(order._replace(has_attitude=False)))
    assert not has_attitude
    assert numbers[:3] == [0.0, 0.0, 0.0]
    assert numbers[3:6] == pytest.approx(rates)


def test_scales_give_an_aircraft_the_angular_accelerations_of_a_crazyflie():
    """Of f450: 9 N a rotor at 0.159 m, 0.02 kg m^2; torque 0.016 m a newton, 0.039 kg m^2."""
    (aircraft,) = load_platform("f450").fleet
    arm = 0.046 / math.sqrt(2.0)
    roll, pitch = (4 * 0.12 * arm / inertia for inertia in (16.57171e-6, 16.655602e-6))
    yaw = 4 * 0.12 * 0.0069929 / 29.261652e-6
    own = np.array((4 * 9 * 0.159 / 0.02, 4 * 9 * 0.159 / 0.02, 4 * 9 * 0.016 / 0.039))
    np.testing.assert_allclose(torque_scales(aircraft), (roll, pitch, yaw) / own, rtol=1e-6)
