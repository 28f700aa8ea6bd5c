# SPDX-License-Identifier: BSD-3-Clause
"""The aircraft's own autopilot: mixer, saturation, attitude, rate and rotor speed modes."""

import numpy as np
import pytest
from flying import gains_of, hover_rpm, plant_of

from iap_description.math import so3
from iap_description.math.kernels import stacked
from iap_description.states import Command, Mode, Q, W, resting_state
from iap_description.vehicles.aircraft import inertia_matrix
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.autopilot import Autopilot, FleetState, autopilot_step
from iap_physics.propulsion.estimates import AutopilotEstimates, OwnEstimates
from iap_physics.propulsion.last_command import LastCommand
from iap_physics.propulsion.rotors import RotorParameters, RotorStates
from iap_physics.propulsion.tilting_rotors import TiltParameters

F450 = load_platform("f450")
AIRCRAFT = F450.aircraft
J = inertia_matrix(AIRCRAFT.inertia)
LOW, HIGH = AIRCRAFT.rotor.rpm_min, AIRCRAFT.rotor.rpm_max
HOVER = AIRCRAFT.mass * 9.81
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def pilot_of(**changes):
    """An autopilot without rotor lead, so that its output is the mixer's."""
    changes = {"rotor_lead": 1.0, **changes}
    return Autopilot.of(AIRCRAFT, gains_of().autopilot.model_copy(update=changes))


def rotor_speeds(pilot, mode, *, thrust=HOVER, x=None, q=LEVEL, w=(0, 0, 0), rpm=None, now=None):
    """Commands (4,) of one aircraft for one command and state."""
    x = resting_state(np.zeros(3), LEVEL) if x is None else x
    command = LastCommand(
        np.array([[int(mode)]]),
        np.full((1, 1), float(thrust)),
        np.reshape(np.asarray(q, float), (1, 1, 4)),
        np.reshape(np.asarray(w, float), (1, 1, 3)),
        np.full((1, 1, 4), 0.0 if rpm is None else rpm),
        np.zeros((1, 1, 4)),
    )
    fleet = fleet_of([pilot], command, np.full((1, 1, 4), 0.0 if now is None else now))
    autopilot_step(x[None, None], np.array([True]), fleet)
    return fleet.rotors.target[0, 0]


def fleet_of(pilots, command, rpm):
    """Aircraft of these autopilots, whose bodies are the first ones, at rotor speeds (B, N, 4)."""
    records = [stacked([RotorParameters.of(AIRCRAFT, n) for n in range(len(pilots))])]
    records.append(stacked([TiltParameters.of(AIRCRAFT)] * len(pilots)))
    rotors = RotorStates(rpm, np.zeros_like(rpm), np.empty_like(rpm), *records)
    batch, count = command.modes.shape
    known = AutopilotEstimates(np.zeros(batch, bool), np.zeros((batch, count, 13)))
    memory, own = (
        np.zeros((batch, count, 0)),
        OwnEstimates.of(gains_of().autopilot, (batch, count), 9.81),
    )
    return FleetState(np.arange(count), stacked(pilots), command, rotors, memory, known, own)


def made_by(rpm):
    """Thrust and torque [N, N m] of rotor speeds, from positions and spins alone."""
    f = AIRCRAFT.rotor.thrust_coefficient * rpm**2
    p = np.array([rotor.position for rotor in AIRCRAFT.rotors])
    signs = np.array([1.0 if rotor.spin == "ccw" else -1.0 for rotor in AIRCRAFT.rotors])
    tilt = np.cross(p * [1, 1, 0], np.array([0.0, 0.0, 1.0]) * f[:, None]).sum(0)
    return f.sum(), tilt - [0.0, 0.0, AIRCRAFT.rotor.torque_ratio * (signs * f).sum()]


def rate_for(torque, pilot):
    """Body rate command that asks for a torque from an aircraft that does not turn."""
    return np.linalg.solve(J, torque) / pilot.rate


PLAIN = pilot_of()


def mixed(thrust, torque):
    return rotor_speeds(PLAIN, Mode.RATE_THRUST, thrust=thrust, w=rate_for(torque, PLAIN))


def test_an_unsaturated_mix_makes_exactly_the_thrust_and_torque_that_were_asked_for():
    rng = np.random.default_rng(1)
    for _ in range(100):
        thrust = rng.uniform(14.0, 22.0)
        torque = rng.uniform(-1, 1, 3) * [0.4, 0.4, 0.03]
        f, tau = made_by(mixed(thrust, torque))
        assert f == pytest.approx(thrust, abs=1e-9)
        np.testing.assert_allclose(tau, torque, atol=1e-9)


def random_demands(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.uniform(-5.0, 60.0), rng.normal(size=3) * rng.choice([0.5, 5.0]) * [1, 1, 0.1]


def test_mixed_speeds_are_within_the_rotor_limits_for_any_demand():
    for thrust, torque in random_demands(500, seed=2):
        rpm = mixed(thrust, torque)
        assert (rpm >= LOW * (1 - 1e-12)).all() and (rpm <= HIGH * (1 + 1e-12)).all()


def test_tilt_torque_is_kept_whenever_it_fits_between_the_rotor_limits():
    """Whatever thrust and yaw torque are asked for beside it."""
    span = AIRCRAFT.rotor.thrust_coefficient * (HIGH**2 - LOW**2)
    mix = np.linalg.inv(AIRCRAFT.wrench_of_rotor_thrusts[[2, 3, 4, 5]])
    fitting = 0
    for thrust, torque in random_demands(500, seed=3):
        if np.ptp(mix[:, 1:3] @ torque[:2]) <= span:
            fitting += 1
            np.testing.assert_allclose(
                made_by(mixed(thrust, torque))[1][:2], torque[:2], atol=1e-9
            )
    assert 100 < fitting < 500


def test_tilt_torque_that_does_not_fit_keeps_its_direction():
    torque = np.array([30.0, -12.0, 0.0])
    tau = made_by(mixed(HOVER, torque))[1]
    assert 2.0 < tau[0] < 30.0
    assert tau[1] / torque[1] == pytest.approx(tau[0] / torque[0])


def test_yaw_torque_is_given_up_before_thrust():
    f, tau = made_by(mixed(34.0, np.array([0.0, 0.0, 0.5])))
    assert f == pytest.approx(34.0, abs=1e-9)
    assert 0.0 < tau[2] < 0.1
    np.testing.assert_allclose(tau[:2], 0.0, atol=1e-9)


def test_yaw_torque_that_does_not_fit_is_as_large_as_the_rotors_allow():
    rpm = mixed(34.0, np.array([0.0, 0.0, 0.5]))
    assert rpm.max() == pytest.approx(HIGH)


def test_thrust_gives_way_to_tilt_torque_at_either_end():
    torque = np.array([1.5, 0.0, 0.0])
    for thrust in (36.0, 0.5):
        f, tau = made_by(mixed(thrust, torque))
        np.testing.assert_allclose(tau[:2], torque[:2], atol=1e-9)
        assert abs(f - thrust) > 1.0


@pytest.mark.parametrize("mode", [Mode.ATTITUDE_THRUST, Mode.RATE_THRUST])
def test_commanded_speeds_stay_within_the_limits_with_rotor_lead_and_any_motion(mode):
    """A command below zero would switch a rotor off in flight."""
    rng, pilot = np.random.default_rng(4), pilot_of(rotor_lead=2.5)
    for _ in range(200):
        x = resting_state(np.zeros(3), so3.quaternion_exp(rng.normal(size=3)))
        x[W] = rng.normal(size=3) * 10.0
        rpm = rotor_speeds(
            pilot,
            mode,
            thrust=rng.uniform(0.0, 40.0),
            x=x,
            q=so3.quaternion_exp(rng.normal(size=3)),
            w=rng.normal(size=3),
            now=rng.uniform(LOW, HIGH),
        )
        assert (rpm >= LOW * (1 - 1e-12)).all() and (rpm <= HIGH * (1 + 1e-12)).all()


def test_rotor_lead_divides_the_lag_of_a_small_step():
    """dn/dt = (n_c - n) / T with n_c = n* + (k - 1)(n* - n) is a lag of T / k."""
    wanted = rotor_speeds(pilot_of(), Mode.ATTITUDE_THRUST)
    led = rotor_speeds(pilot_of(rotor_lead=2.5), Mode.ATTITUDE_THRUST, now=wanted[0] - 10.0)
    np.testing.assert_allclose(led - (wanted[0] - 10.0), 2.5 * 10.0, rtol=1e-9)


def test_rotor_speed_commands_pass_through():
    np.testing.assert_array_equal(
        rotor_speeds(pilot_of(), Mode.RPM, rpm=[4000.0, 5000.0, 6000.0, 0.0]),
        [4000.0, 5000.0, 6000.0, 0.0],
    )


def test_no_torque_is_asked_for_at_the_commanded_attitude_and_rate():
    q = so3.quaternion_exp(np.array([0.3, -0.4, 1.0]))
    w_B = np.array([0.0, 0.0, 0.7])  # about a principal axis, so that w x J w = 0
    x = resting_state(np.zeros(3), q)
    x[W] = so3.rotate(q, w_B)
    f, tau = made_by(rotor_speeds(pilot_of(), Mode.ATTITUDE_THRUST, x=x, q=q, w=w_B))
    np.testing.assert_allclose(tau, 0.0, atol=1e-12)
    assert f == pytest.approx(HOVER)


def test_gyroscopic_torque_is_compensated():
    w_B = np.array([0.4, -0.3, 0.5])
    x = resting_state(np.zeros(3), LEVEL)
    x[W] = w_B
    tau = made_by(rotor_speeds(pilot_of(), Mode.RATE_THRUST, x=x, w=w_B))[1]
    np.testing.assert_allclose(tau, np.cross(w_B, J @ w_B), atol=1e-12)


def test_opposite_quaternions_are_one_attitude():
    q = so3.quaternion_exp(np.array([0.02, -0.01, 0.03]))
    speeds = [rotor_speeds(pilot_of(), Mode.ATTITUDE_THRUST, q=sign * q) for sign in (1.0, -1.0)]
    np.testing.assert_allclose(*speeds, rtol=1e-12)


def test_a_batch_of_equal_aircraft_gets_equal_commands():
    rng, pilot = np.random.default_rng(5), pilot_of()
    x = np.zeros((3, 2, 13))
    x[..., Q] = so3.quaternion_exp(rng.normal(size=(3, 2, 3)))
    x[..., W] = rng.normal(size=(3, 2, 3))
    thrust, q = rng.uniform(5, 30, (3, 2)), so3.quaternion_exp(rng.normal(size=(3, 2, 3)))
    zeros, rates, mode = np.zeros((3, 2, 4)), np.zeros((3, 2, 3)), Mode.ATTITUDE_THRUST
    command = LastCommand(np.full((3, 2), int(mode)), thrust, q, rates, zeros, zeros)
    fleet = fleet_of([pilot] * 2, command, zeros.copy())
    autopilot_step(x, np.ones(3, bool), fleet)
    out = fleet.rotors.target
    for b in range(3):
        for n in range(2):
            one = rotor_speeds(pilot, mode, thrust=thrust[b, n], x=x[b, n], q=q[b, n])
            np.testing.assert_array_equal(out[b, n], one)


def f450_in_the_air(**state):
    """An f450 on the closed form, its rotors at hover."""
    plant = plant_of("f450")
    x = resting_state(np.zeros(3), state.get("q", LEVEL))
    plant.reset(x[None, None], [np.full((1, 4), hover_rpm(F450))], np.random.default_rng(1))
    return plant


def fly(plant, command, seconds):
    for _ in range(round(seconds * 200)):
        plant.command(0, command)
        plant.advance()
    return plant.state()[0, 0]


@pytest.mark.parametrize(
    "start", [(0.5, 0.0, 0.0), (0.0, -1.0, 0.5), (2.0, 1.5, 0.0), (0, 0, 3.0)]
)
def test_the_attitude_loop_converges_from_far_away(start):
    plant = f450_in_the_air(q=so3.quaternion_exp(np.array(start)))
    command = Command.zeros(1, Mode.ATTITUDE_THRUST)
    command.q_WB[0] = so3.quaternion_exp(np.array([0.1, 0.2, 0.4]))
    command.thrust[:] = HOVER
    x = fly(plant, command, 3.0)
    error = so3.quaternion_log(so3.multiply(so3.conjugate(command.q_WB[0]), x[Q]))
    assert np.rad2deg(np.linalg.norm(error)) < 0.1
    assert np.linalg.norm(x[W]) < 0.01


def test_a_tilt_step_is_done_within_a_quarter_of_a_second():
    plant = f450_in_the_air()
    command = Command.zeros(1, Mode.ATTITUDE_THRUST)
    command.q_WB[0] = so3.quaternion_exp(np.array([0.2, 0.0, 0.0]))
    command.thrust[:] = HOVER
    x = fly(plant, command, 0.25)
    assert so3.quaternion_log(x[Q])[0] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("rate", [(0.8, 0.0, 0.0), (0.0, -0.6, 0.0), (0.3, 0.2, 0.5)])
def test_rate_mode_reaches_and_holds_a_body_rate(rate):
    plant = f450_in_the_air()
    command = Command.zeros(1, Mode.RATE_THRUST)
    command.w_WB_B[0], command.thrust[:] = rate, HOVER
    x = fly(plant, command, 0.8)
    w_B = so3.rotate(so3.conjugate(x[Q]), x[W])
    np.testing.assert_allclose(w_B, rate, atol=0.005)


def test_hover_speeds_carry_the_weight():
    plant = f450_in_the_air()
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:] = hover_rpm(F450)
    x = fly(plant, command, 1.0)
    np.testing.assert_allclose(x[:3], 0.0, atol=1e-9)
    np.testing.assert_allclose(x[Q], LEVEL, atol=1e-12)


def test_unequal_speeds_turn_the_aircraft_by_their_torque():
    plant = f450_in_the_air()
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:] = hover_rpm(F450) + np.array([20.0, -20.0, 20.0, -20.0])
    x = fly(plant, command, 0.6)
    _, tau = made_by(command.rpm[0])
    early = fly(f450_in_the_air(), command, 0.5)
    acceleration = (x[W] - early[W]) / 0.1
    np.testing.assert_allclose(
        acceleration, tau / np.diag(J), atol=0.02 * np.abs(tau / J[0, 0]).max()
    )


def test_the_autopilot_may_run_slower_than_physics():
    gains = gains_of()
    slow = gains.model_copy(
        update={"autopilot": gains.autopilot.model_copy(update={"rate_hz": 250.0})}
    )
    states = []
    for chosen in (gains, slow):
        plant = plant_of("f450", chosen)
        x = resting_state(np.zeros(3), LEVEL)
        plant.reset(x[None, None], [np.full((1, 4), hover_rpm(F450))], np.random.default_rng(1))
        command = Command.zeros(1, Mode.ATTITUDE_THRUST)
        command.q_WB[0] = so3.quaternion_exp(np.array([0.2, 0.0, 0.0]))
        command.thrust[:] = HOVER
        states.append(fly(plant, command, 0.5).copy())
    assert so3.quaternion_log(states[1][Q])[0] == pytest.approx(0.2, abs=0.01)
    assert np.abs(states[0] - states[1]).max() > 1e-6  # it did run at another rate
