# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.math.kernels import stacked
from iap_description.states import Q
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.rotors import RotorParameters, step_rotors

F450 = load_platform("f450").aircraft
CCW = np.array([rotor.spin == "ccw" for rotor in F450.rotors])
LEFT = np.array([rotor.position[1] > 0.0 for rotor in F450.rotors])
REAR = np.array([rotor.position[0] < 0.0 for rotor in F450.rotors])
HOVER = math.sqrt(F450.mass * 9.81 / (4.0 * F450.rotor.thrust_coefficient))


def spin(rpm, command, dt=1e-3, steps=1, q_WB=(0.0, 0.0, 0.0, 1.0)):
    """One aircraft's rotors over some steps: speeds (4,), mean wrench (6,)."""
    x = np.zeros((1, 1, 13))
    x[..., Q] = q_WB
    speeds = np.full((1, 1, 4), rpm, dtype=float)
    commands = np.full((1, 1, 4), command, dtype=float)
    wrenches = np.zeros((1, 1, 6))
    parameters = stacked([RotorParameters.of(F450, 0)])
    for _ in range(steps):
        step_rotors(speeds, commands, x, wrenches, parameters, dt)
    return speeds[0, 0], wrenches[0, 0] / steps


def test_hover_thrust_equals_weight():
    rpm, wrench = spin(HOVER, HOVER)
    np.testing.assert_allclose(rpm, HOVER, rtol=1e-14)
    np.testing.assert_allclose(wrench, [0, 0, F450.mass * 9.81, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("start", "command", "time_constant"),
    [
        (3000.0, 5000.0, F450.rotor.time_constant_up),
        (5000.0, 3000.0, F450.rotor.time_constant_down),
    ],
)
def test_speed_covers_63_percent_in_its_own_time_constant(start, command, time_constant):
    rpm, _ = spin(start, command, dt=time_constant / 50.0, steps=50)
    np.testing.assert_allclose((rpm - start) / (command - start), 1.0 - math.exp(-1.0), rtol=1e-12)


def test_spinning_down_is_slower_than_spinning_up():
    up, _ = spin(3000.0, 5000.0, steps=20)
    down, _ = spin(5000.0, 3000.0, steps=20)
    assert (up - 3000.0 > 5000.0 - down).all()


def test_speed_and_impulse_do_not_depend_on_the_step_size():
    coarse, mean_coarse = spin(2000.0, 8000.0, dt=0.05)
    fine, mean_fine = spin(2000.0, 8000.0, dt=0.0005, steps=100)
    np.testing.assert_allclose(coarse, fine, rtol=1e-12)
    np.testing.assert_allclose(mean_coarse, mean_fine, rtol=1e-12, atol=1e-12)


def test_thrust_of_a_step_is_the_mean_over_the_lag():
    dt, tau = 0.03, F450.rotor.time_constant_up
    t = (np.arange(100_000) + 0.5) / 100_000 * dt
    n = 7000.0 + (2000.0 - 7000.0) * np.exp(-t / tau)
    _, wrench = spin(2000.0, 7000.0, dt=dt)
    mean = 4.0 * F450.rotor.thrust_coefficient * np.mean(n**2)
    assert wrench[2] == pytest.approx(mean, rel=1e-9)


def test_commands_beyond_the_limits_saturate():
    high, _ = spin(5000.0, 1e6, steps=2000)
    low, _ = spin(5000.0, 1.0, steps=2000)
    np.testing.assert_allclose(high, F450.rotor.rpm_max)
    np.testing.assert_allclose(low, F450.rotor.rpm_min)


def test_a_rotor_stops_only_when_commanded_off():
    off, wrench = spin(5000.0, 0.0, steps=5000)
    np.testing.assert_allclose(off, 0.0, atol=1e-9)
    off, wrench = spin(off, 0.0)
    np.testing.assert_allclose(wrench, 0.0, atol=1e-12)


def test_thrust_limits_of_the_aircraft_are_those_of_its_rotors():
    least, most = F450.thrust_limits
    assert spin(F450.rotor.rpm_min, 1.0)[1][2] == pytest.approx(least)
    assert spin(F450.rotor.rpm_max, 1e6)[1][2] == pytest.approx(most)


def test_ccw_rotors_push_the_airframe_clockwise():
    rpm = np.where(CCW, 5200.0, 5000.0)
    _, wrench = spin(rpm, rpm)
    assert wrench[5] < 0.0
    np.testing.assert_allclose(wrench[3:5], 0.0, atol=1e-12)


def test_more_thrust_on_the_left_rolls_to_the_right_and_at_the_rear_pitches_down():
    left, rear = np.where(LEFT, 5200.0, 5000.0), np.where(REAR, 5200.0, 5000.0)
    assert spin(left, left)[1][3] > 0.0
    assert spin(rear, rear)[1][4] > 0.0


def test_thrust_and_torque_turn_with_the_aircraft():
    q_WB = so3.quaternion_exp(np.array([0.4, -0.7, 1.1]))
    rpm = np.array([5000.0, 5300.0, 4800.0, 5100.0])
    _, upright = spin(rpm, rpm)
    _, tilted = spin(rpm, rpm, q_WB=q_WB)
    np.testing.assert_allclose(tilted[:3], so3.rotate(q_WB, upright[:3]), atol=1e-13)
    np.testing.assert_allclose(tilted[3:], so3.rotate(q_WB, upright[3:]), atol=1e-13)


def test_rotors_add_to_the_wrenches_of_their_own_bodies_only():
    parameters = stacked([RotorParameters.of(F450, row) for row in (2, 4)])
    x = np.zeros((1, 5, 13))
    x[..., 6] = 1.0
    wrenches = np.ones((1, 5, 6))
    step_rotors(np.full((1, 2, 4), 5e3), np.full((1, 2, 4), 5e3), x, wrenches, parameters, 1e-3)
    np.testing.assert_array_equal(wrenches[0, [0, 1, 3]], 1.0)
    assert (wrenches[0, [2, 4], 2] > 5.0).all()


def test_a_batch_equals_single_runs():
    rng = np.random.default_rng(3)
    parameters = stacked([RotorParameters.of(F450, row) for row in (1, 2, 3)])
    x = rng.normal(size=(6, 4, 13))
    x[..., Q] = so3.normalized(x[..., Q])
    rpm, command = rng.uniform(1e3, 9e3, (6, 3, 4)), rng.uniform(0.0, 1e4, (6, 3, 4))
    together, wrenches = rpm.copy(), np.zeros((6, 4, 6))
    step_rotors(together, command, x, wrenches, parameters, 2e-3)
    for b in range(6):
        alone, wrench = rpm[b : b + 1].copy(), np.zeros((1, 4, 6))
        step_rotors(alone, command[b : b + 1], x[b : b + 1], wrench, parameters, 2e-3)
        np.testing.assert_array_equal(alone[0], together[b])
        np.testing.assert_array_equal(wrench[0], wrenches[b])
