# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from flying import plant_of

from iap_description.math import so3
from iap_description.math.kernels import stacked
from iap_description.states import Command, Mode, Q
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.rotors import RotorParameters, RotorStates, step_rotors
from iap_physics.propulsion.tilting_rotors import (
    Servo,
    TiltParameters,
    step_tilting_rotors,
    tilt_after,
)

BEETLE, F450 = load_platform("beetle").aircraft, load_platform("f450").aircraft
SERVO = Servo(BEETLE.tilt.limit, BEETLE.tilt.rate, BEETLE.tilt.time_constant)
HOVER = math.sqrt(BEETLE.mass * 9.81 / (4.0 * BEETLE.rotor.c_f))


def spun(aircraft, rpm, tilt, q_WB=(0.0, 0.0, 0.0, 1.0)):
    """Wrench (6,), world axes, of rotors that have long followed their commands."""
    x, wrench = np.zeros((1, 1, 13)), np.zeros((1, 1, 6))
    x[..., Q] = q_WB
    speeds = np.broadcast_to(np.asarray(rpm, float), (1, 1, 4)).copy()
    tilts = np.broadcast_to(np.asarray(tilt, float), (1, 1, 4)).copy()
    records = (
        stacked([RotorParameters.of(aircraft, 0)]),
        stacked([TiltParameters.of(aircraft)]),
    )
    rotors = RotorStates(speeds, tilts, speeds.copy(), *records)
    step_tilting_rotors(rotors, tilts.copy(), x, wrench, 1e-3)
    return wrench[0, 0]


def turned(tilt, command, dt, steps):
    for _ in range(steps):
        tilt = tilt_after(tilt, command, SERVO, dt)
    return tilt


def test_a_servo_turns_at_its_largest_rate_then_lags():
    """1 rad: 0.85 rad at 3 rad/s until the lag of 0.05 s is slower, then its exponential."""
    slow = SERVO.rate * SERVO.time_constant
    rushing = (1.0 - slow) / SERVO.rate
    assert turned(0.0, 1.0, 0.5 * rushing, 1) == pytest.approx(0.5 * rushing * SERVO.rate)
    later = turned(0.0, 1.0, rushing + SERVO.time_constant, 1)
    assert later == pytest.approx(1.0 - slow * math.exp(-1.0), rel=1e-12)


@pytest.mark.parametrize("command", [0.05, 0.7, -1.4])
def test_the_angle_does_not_depend_on_the_step_size(command):
    assert turned(0.2, command, 0.4, 1) == pytest.approx(
        turned(0.2, command, 1e-4, 4000), rel=1e-9
    )


def test_the_angle_is_the_integral_of_its_law():
    tilt, dt = -0.3, 1e-6
    for _ in range(100_000):
        rate = (1.1 - tilt) / SERVO.time_constant
        tilt += dt * min(max(rate, -SERVO.rate), SERVO.rate)
    assert turned(-0.3, 1.1, 0.1, 1) == pytest.approx(tilt, abs=1e-5)


def test_a_servo_stops_at_its_limit():
    assert turned(0.0, 5.0, 0.01, 1000) == pytest.approx(math.pi / 2)
    assert turned(0.0, -5.0, 0.01, 1000) == pytest.approx(-math.pi / 2)


def test_hovering_upright_takes_the_weight_and_nothing_else():
    np.testing.assert_allclose(spun(BEETLE, HOVER, 0.0), [0, 0, 4.6 * 9.81, 0, 0, 0], atol=1e-11)


def test_thrust_is_across_the_arm_and_turns_about_it():
    """A positive angle is a right-handed turn about the arm, from the CoM outwards; eq. (1) of beatle."""
    for k, rotor in enumerate(BEETLE.rotors):
        speeds, tilt = np.zeros(4), 0.6
        speeds[k] = 9000.0
        wrench = spun(BEETLE, speeds, tilt)
        arm = np.array([*rotor.position[:2], 0.0])
        R = so3.matrix_from_quaternion(so3.quaternion_exp(tilt * arm / np.linalg.norm(arm)))
        thrust = BEETLE.rotor.c_f * 9000.0**2
        force = thrust * R[:, 2]
        sign = 1.0 if rotor.spin == "ccw" else -1.0
        torque = np.cross(rotor.position, force) - sign * BEETLE.rotor.torque_ratio * force
        np.testing.assert_allclose(wrench, [*force, *torque], atol=1e-12)
        assert force @ arm == pytest.approx(0.0, abs=1e-12)


def test_wrench_turns_with_the_aircraft():
    q_WB = so3.normalized(np.array([0.2, -0.4, 0.1, 0.8]))
    rpm, tilt = [7000.0, 8000.0, 9000.0, 10000.0], [0.3, -0.5, 0.9, 0.1]
    level, aslant = spun(BEETLE, rpm, tilt), spun(BEETLE, rpm, tilt, q_WB)
    R = so3.matrix_from_quaternion(q_WB)
    np.testing.assert_allclose(aslant.reshape(2, 3), level.reshape(2, 3) @ R.T, atol=1e-12)


def test_fixed_rotors_are_rotors_that_do_not_tilt():
    x, wrench = np.zeros((1, 1, 13)), np.zeros((1, 1, 6))
    x[..., 6] = 1.0
    rpm = np.array([[[4000.0, 5000.0, 6000.0, 7000.0]]])
    records = stacked([RotorParameters.of(F450, 0)])
    step_rotors(rpm.copy(), rpm, x, wrench, records, 1e-3)
    np.testing.assert_allclose(spun(F450, rpm, 0.0), wrench[0, 0], atol=1e-12)


def test_a_faster_plant_flies_the_same():
    """Halving the step changes where half a second of flight ends by less than 0.1 mm."""
    ends = [_flown(physics_hz) for physics_hz in (1000.0, 2000.0)]
    np.testing.assert_allclose(*ends, atol=1e-4)


def _flown(physics_hz):
    plant = plant_of("beetle", physics_hz=physics_hz)
    x = np.zeros((1, 1, 13))
    x[..., 6] = 1.0
    plant.reset(x, [np.full((1, 4), HOVER)], None)
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:], command.tilt[:] = HOVER, [[0.2, 0.2, -0.2, -0.2]]
    plant.command(0, command)
    for _ in range(100):
        plant.advance()
    return plant.state()[0, 0, :3].copy()
