# SPDX-License-Identifier: BSD-3-Clause
"""Rotors that follow their commands, as observers of wrenches have them; in Python, as they are compiled."""

import math
from typing import Any

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import Command, Mode
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench import module_observer, thrust_model
from iap_estimation.wrench.module_observer import CommandedModule, ModuleObserver, VectoredThrust
from iap_estimation.wrench.thrust_model import STEPS, ThrustModel

DT = 0.005


def plain(compiled: Any) -> Any:
    """The Python function that is compiled."""
    return compiled.py_func


AIRCRAFT = load_platform("f450").fleet[0]
GAINS = AutopilotGains(
    rate_hz=None, attitude=(100.0, 90.0, 20.0), rate=(20.0, 18.0, 8.0), rotor_lead=1.5
)
MODEL = ThrustModel.of(AIRCRAFT, GAINS, DT)


def row(q: Any = (0.0, 0.0, 0.0, 1.0), w: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    x = np.zeros(13)
    x[3:7], x[10:] = q, w
    return x


def test_a_model_has_the_numbers_of_its_aircraft() -> None:
    rotor = AIRCRAFT.rotor
    assert (MODEL.lift, MODEL.rpm_min, MODEL.rpm_max) == (rotor.c_f, rotor.rpm_min, rotor.rpm_max)
    assert MODEL.lead == pytest.approx(0.5)
    assert MODEL.up == pytest.approx(math.exp(-DT / STEPS / rotor.time_constant_up))
    assert MODEL.down == pytest.approx(math.exp(-DT / STEPS / rotor.time_constant_down))
    thrusts = 0.25 * 8.0 + MODEL.mix @ [0.01, -0.02, 0.003]
    np.testing.assert_allclose(MODEL.torques @ thrusts, [0.01, -0.02, 0.003], atol=1e-12)
    assert thrusts.sum() == pytest.approx(8.0)


@pytest.mark.parametrize("mode", [Mode.ATTITUDE_THRUST, Mode.RPM])
def test_rotors_that_have_long_followed_turn_as_commanded(mode: Mode) -> None:
    rpm, speeds = np.zeros(4), np.array([3000.0, 3100.0, 3200.0, 3300.0])
    plain(thrust_model.first_speeds)(int(mode), 8.0, speeds, MODEL, rpm)
    np.testing.assert_allclose(rpm, speeds if mode == Mode.RPM else math.sqrt(2.0 / MODEL.lift))


def test_a_rotor_lags_faster_up_than_down_and_lifts_the_mean_of_its_squares() -> None:
    for command, left in ((4000.0, MODEL.up), (2000.0, MODEL.down)):
        rpm = np.array([3000.0])
        thrust = plain(thrust_model._spin)(command, MODEL, rpm)
        assert rpm[0] == pytest.approx(command + left * (3000.0 - command))
        n = np.linspace(3000.0, rpm[0], 2001)
        assert thrust == pytest.approx(
            MODEL.lift * np.trapezoid(n**2, n) / (n[-1] - n[0]), rel=1e-5
        )


def test_a_speed_is_over_driven_by_the_lead_within_the_rotors_limits() -> None:
    speed = plain(thrust_model._speed)
    mix, torque = (1.0, 2.0, 3.0), (0.1, -0.02, 0.03)
    goal = math.sqrt((0.25 * 8.0 + 0.1 - 0.04 + 0.09) / MODEL.lift)
    assert speed(8.0, mix, torque, goal - 100.0, MODEL) == pytest.approx(goal + 50.0)
    assert speed(8.0, mix, torque, goal + 100.0, MODEL) == pytest.approx(goal - 50.0)
    assert speed(1e4, mix, torque, MODEL.rpm_max, MODEL) == MODEL.rpm_max
    assert speed(1e4, mix, torque, MODEL.rpm_min, MODEL) == MODEL.rpm_max
    assert speed(-1e4, mix, torque, MODEL.rpm_min, MODEL) == MODEL.rpm_min


def test_between_two_states_attitude_and_rate_go_evenly_whatever_the_sign_of_quaternions() -> None:
    first, last = (
        so3.quaternion_exp(np.array([0.0, 0.0, 0.2])),
        so3.quaternion_exp(np.array([0.0, 0.0, 0.6])),
    )
    for sign in (1.0, -1.0):
        q, w = plain(thrust_model.between)(
            row(first, [1.0, 0.0, 3.0]), row(sign * last, [2.0, 0.0, 5.0]), 0.5
        )
        middle = so3.quaternion_exp(np.array([0.0, 0.0, 0.4]))
        np.testing.assert_allclose(q, middle, atol=1e-12)
        np.testing.assert_allclose(
            w, so3.rotate(so3.conjugate(middle), np.array([1.5, 0.0, 4.0])), atol=1e-12
        )
    q, _ = plain(thrust_model.between)(row(first), row(last), 0.25)
    assert 2.0 * math.asin(q[2]) == pytest.approx(0.3, abs=1e-3)


def test_a_command_that_holds_gives_its_thrust_and_an_attitude_error_its_torque() -> None:
    level, rpm = row(), np.full(4, math.sqrt(2.0 / MODEL.lift))
    command = (int(Mode.ATTITUDE_THRUST), 8.0, level[3:7], np.zeros(3), np.zeros(4))
    thrust, torque = plain(thrust_model.follow)(command, level, level, MODEL, rpm)
    assert thrust == pytest.approx(8.0)
    np.testing.assert_allclose(torque, 0.0, atol=1e-9)
    turned = so3.quaternion_exp(np.array([0.05, 0.0, 0.0]))
    _, torque = plain(thrust_model.follow)(
        (command[0], 8.0, turned, np.zeros(3), np.zeros(4)), level, level, MODEL, rpm
    )
    assert torque[0] > 10.0 * np.abs(torque[1:]).max() > -1.0 and torque[0] > 1e-3
    speeds = np.array([3000.0, 3000.0, 3000.0, 3600.0])
    rpm = speeds.copy()
    thrust, torque = plain(thrust_model.follow)(
        (int(Mode.RPM), 0.0, turned, np.zeros(3), speeds), level, level, MODEL, rpm
    )
    forces = MODEL.lift * speeds**2
    assert thrust == pytest.approx(forces.sum())
    np.testing.assert_allclose(torque, MODEL.torques @ forces, rtol=1e-9)


def test_thrust_acts_along_the_bodys_z_axis() -> None:
    q = so3.quaternion_exp(np.array([0.3, -0.4, 0.5]))
    np.testing.assert_allclose(
        plain(thrust_model.thrust_axis)(row(q)), so3.matrix_from_quaternion(q)[:, 2]
    )


# rotors that tilt

MAP = np.zeros((6, 4))
MAP[:3] = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
MAP[5] = [0.1, 0.0, -0.1, 0.0]
TILTING = VectoredThrust.of(MAP, lags=(0.05, 0.1), tilt_lag=0.08, tilt_rate=4.0, dt=DT)


def test_tilting_rotors_have_the_lags_of_one_fifth_of_a_period() -> None:
    h = DT / 5
    np.testing.assert_allclose(TILTING[1:4], np.exp([-h / 0.05, -h / 0.1, -h / 0.08]))
    assert TILTING.most == pytest.approx(4.0 * h)


def test_tilting_rotors_follow_thrust_and_tilt_and_push_by_cosine_and_sine() -> None:
    follow = plain(module_observer.follow_vectored)
    out, speed, tilt = np.full(6, 9.0), np.array([2.0, 3.0]), np.array([0.3, -0.2])
    follow(np.array([4.0, 9.0]), tilt.copy(), TILTING, speed, tilt, out)
    up, sideways = [4.0 * np.cos(0.3), 9.0 * np.cos(0.2)], [4.0 * np.sin(0.3), -9.0 * np.sin(0.2)]
    np.testing.assert_allclose(
        out, [*sideways, sum(up), 0.0, 0.0, 0.1 * (up[0] - up[1])], atol=1e-12
    )
    follow(np.array([16.0, 1.0]), np.array([0.301, 9.0]), TILTING, speed, tilt, out)
    np.testing.assert_allclose(speed, [4.0 - 2.0 * TILTING.up**5, 1.0 + 2.0 * TILTING.down**5])
    np.testing.assert_allclose(tilt, [0.301 - 0.001 * TILTING.turn**5, -0.2 + 5 * TILTING.most])
    follow(np.array([-5.0, 1.0]), np.array([0.0, -9.0]), TILTING, speed, tilt, out)
    assert tilt[1] == pytest.approx(-0.2) and np.isfinite(out).all()


def observer(gain: float = 20.0) -> ModuleObserver:
    return ModuleObserver(
        2.0, np.diag([0.02, 0.03, 0.04]), TILTING, gravity=9.81, gain=[gain] * 6, dt=DT
    )


def test_a_constant_force_on_a_module_is_known_by_the_gain_along_its_body() -> None:
    """Body at a yaw of 90 deg that accelerates along x of the world; thrust bears the weight."""
    watch = observer()
    x, weight = row(so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * np.pi]))), 2.0 * 9.81
    thrust, tilt = np.full(2, 0.5 * weight), np.zeros(2)
    np.testing.assert_array_equal(watch(x, thrust, tilt), np.zeros(6))
    for k in range(1, 41):
        x = x.copy()
        x[7] = 1.5 * DT * k
        wrench = watch(x, thrust, tilt)
        known = 3.0 * -np.expm1(-20.0 * DT * k)
        np.testing.assert_allclose(wrench, [0.0, -known, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
    watch.reset()
    np.testing.assert_array_equal(watch(x, thrust, tilt), np.zeros(6))


def test_a_torque_on_a_module_is_the_change_of_its_spin() -> None:
    watch, thrust, tilt = observer(), np.full(2, 9.81), np.zeros(2)
    watch(row(), thrust, tilt)
    for k in range(1, 400):
        wrench = watch(row(w=[0.0, 0.0, 0.2 * DT * k]), thrust, tilt)
    np.testing.assert_allclose(wrench, [0.0, 0.0, 0.0, 0.0, 0.0, 0.04 * 0.2], atol=1e-9)
    missing = observer()
    missing(row(), 0.5 * thrust, tilt)
    for _ in range(400):
        wrench = missing(row(), 0.5 * thrust, tilt)
    np.testing.assert_allclose(
        wrench, [0.0, 0.0, 9.81, 0.0, 0.0, 0.0], atol=1e-9
    )  # something else bears it


def test_whole_commands_are_thrusts_by_the_square_of_speeds_and_a_reset_forgets_them() -> None:
    command, c_f = Command.zeros(1), 2e-6
    command.rpm[:], command.tilt[:] = np.sqrt(0.5 * 9.81 / c_f), 0.0
    rotors = TILTING._replace(map=np.hstack([MAP, MAP]))
    alone = ModuleObserver(2.0, np.eye(3), rotors, gravity=9.81, gain=[20.0] * 6, dt=DT)
    watch = CommandedModule(alone, c_f)
    for k in range(3):
        first = watch(row(w=[0.0, 0.0, 0.1 * k])[None], command).copy()
    assert first[5] > 0.1
    np.testing.assert_allclose(first[:3], 0.0, atol=1e-9)  # four rotors bear the weight
    watch.reset()
    np.testing.assert_array_equal(watch(row(w=[0.0, 0.0, 5.0])[None], command), np.zeros(6))
