# SPDX-License-Identifier: BSD-3-Clause
"""Platforms of rank 4: position and yaw are commanded, tilt follows."""

import numpy as np
import pytest
from flying import GRAVITY, Loop, controller_of, fly_scenario, gains_of, scenario_of

from iap_control.allocation.allocation import attitude_of_thrust
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.signals import Reference
from iap_description.states import Level, Q, V, W, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform

RIGID = ["f450", "three_star_fixed", "line_3_fixed", "star_6_fixed"]
every_rigid = pytest.mark.parametrize("name", RIGID)


def row_at(name, p=(0, 0, 0), yaw=0.0):
    row = np.zeros(19 + load_platform(name).count)
    row[:3], row[3:7] = p, so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    return row


def hover(name, seconds=4.0, yaw_deg=0.0, **settings):
    """A loop that hovers at 12 m and is ready to be put elsewhere."""
    position = {"position": [0.0, 0.0, 12.0], "rpy_deg": [0.0, 0.0, yaw_deg]}
    reference = {"type": "hover", "duration": seconds, **position}
    tree = {"platform": name, "start": {"lead_in": 0.0}, "reference": reference, **settings}
    return Loop.of(scenario_of(tree))


def displace(loop, p=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    """Put the whole platform beside its reference."""
    pilot = loop.vehicles[0]
    x = pilot.start.copy()
    q = so3.quaternion_exp(np.array(turn))
    x[:, :3] = x[0, :3] + so3.rotate(q, x[:, :3] - x[0, :3]) + p
    x[:, Q] = so3.multiply(q, x[:, Q])
    loop.plant.reset(x[None], [pilot.start_rpm], np.random.default_rng(1))
    return loop


@every_rigid
def test_at_rest_the_wrench_is_the_weight_with_its_lever(name):
    controller = controller_of(name)
    row = row_at(name, yaw=0.6)
    U = controller.wrench(row[:13].copy(), Reference(row))
    assembly = Assembly.of(load_platform(name))
    weight = np.array([0.0, 0.0, assembly.mass * GRAVITY])
    np.testing.assert_allclose(U[:3], weight, atol=1e-9)
    np.testing.assert_allclose(U[3:], np.cross(assembly.d_0, weight), atol=1e-9)


@every_rigid
def test_the_wrench_has_no_force_across_the_platform_s_z_axis(name):
    controller = controller_of(name)
    x = resting_state(np.array([0.3, -0.2, 0.1]), so3.quaternion_exp(np.array([0.2, -0.1, 0.4])))
    U = controller.wrench(x, Reference(row_at(name)))
    np.testing.assert_array_equal(U[:2], 0.0)


@every_rigid
def test_an_external_wrench_is_carried_by_thrust_and_by_torque_about_the_com(name):
    """The balance of forces along z and of torques about the CoM holds with it as without."""
    controller = controller_of(name)
    row, F_e = row_at(name), np.array([0.0, 0.0, -3.0, 0.2, -0.1, 0.05])
    d_0, m = controller.model.inertia.d_0, controller.model.inertia.mass
    U = controller.wrench(row[:13].copy(), Reference(row), F_e)
    total = U + F_e
    assert total[2] == pytest.approx(m * GRAVITY)
    np.testing.assert_allclose(total[3:] - np.cross(d_0, total[:3]), 0.0, atol=1e-9)


@every_rigid
def test_a_platform_that_leans_against_a_force_is_in_balance(name):
    """Tilted so that thrust, weight and a force at P's origin cancel, no torque about the CoM is left either."""
    controller = controller_of(name)
    d_0, m = controller.model.inertia.d_0, controller.model.inertia.mass
    f_W, weight_W = np.array([2.0, -1.5, -3.0]), np.array([0.0, 0.0, -m * GRAVITY])
    thrust_W = -(f_W + weight_W)
    q = np.array(attitude_of_thrust(tuple(thrust_W), 0.0))
    to_P = so3.conjugate(q)
    x = resting_state(d_0 - so3.rotate(q, d_0), q)  # the CoM stands above its reference
    F_e = np.concatenate([so3.rotate(to_P, f_W), np.zeros(3)])
    U = controller.wrench(x, Reference(row_at(name)), F_e)
    forces = U[:3] + so3.rotate(to_P, f_W + weight_W)
    np.testing.assert_allclose(forces, 0.0, atol=1e-9)
    torques = U[3:] - np.cross(d_0, U[:3] + F_e[:3])
    np.testing.assert_allclose(torques, 0.0, atol=1e-9)


@every_rigid
def test_hover_stays_where_it_is(name):
    flown = hover(name, 3.0).fly()[0]
    assert np.abs(flown.position_error).max() < 1e-3
    assert np.abs(flown.attitude_error_deg).max() < 0.1


@pytest.mark.parametrize(
    "step", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (4.0, -4.0, 0)]
)
def test_a_step_of_position_is_answered_within_seconds_by_the_quadrotor(step):
    flown = displace(hover("f450", 8.0), p=-np.array(step)).fly()[0]
    error = flown.position_error
    assert np.abs(error[-1]).max() < 0.02
    overshoot = error @ np.array(step) / np.linalg.norm(step)
    assert overshoot.max() < 0.35


def test_a_jump_of_the_reference_leans_the_quadrotor_no_further_than_the_error_asks():
    """0.3 m ask for 2.7 m/s^2 and a tilt of 15 deg; the jump's derivative must not add to it."""
    loop = hover("f450")
    row = row_at("f450", (0.0, 0.0, 12.0))
    tilts = []
    for k in range(1000):
        row[0] = 0.3 if k > 100 else 0.0
        x = loop.plant.state(0)[0, 0]
        loop.plant.command(0, loop.vehicles[0].controller(x, Reference(row)))
        loop.plant.advance()
        tilts.append(np.rad2deg(np.arccos(so3.rotate(x[Q], [0.0, 0.0, 1.0])[2])))
    assert 5.0 < max(tilts) < 15.0
    assert loop.plant.state(0)[0, 0, 0] == pytest.approx(0.3, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_star_fixed", "line_3_fixed", "star_6_fixed"])
@pytest.mark.parametrize("size", [0.3, 1.5])
def test_a_step_is_survived_by_platforms_that_turn_slowly(name, size):
    """Their torque is small for their inertia: the position must not ask for more than they can turn."""
    flown = displace(hover(name, 9.0), p=(-size, 0.0, 0.0)).fly()[0]
    assert np.abs(flown.position_error[-1]).max() < 0.03
    assert flown.position_error[:, 0].max() < 0.1  # overshoot
    assert np.abs(flown.position_error[:, 2]).max() < 0.05  # height is kept


@pytest.mark.parametrize("name", ["f450", "three_star_fixed"])
def test_a_step_of_yaw_is_answered_in_place(name):
    flown = displace(hover(name, 9.0), turn=(0.0, 0.0, -0.5)).fly()[0]
    assert np.abs(flown.attitude_error_deg[-1]).max() < 0.5
    assert np.abs(flown.position_error).max() < 0.03


def test_a_quadrotor_recovers_from_lying_on_its_side():
    flown = displace(hover("f450", 5.0), turn=(1.4, 0.0, 0.0)).fly()[0]
    assert np.abs(flown.position_error[-1]).max() < 0.05


@pytest.mark.parametrize(("name", "limit"), [("f450", 0.05), ("three_star_fixed", 0.05)])
def test_position_is_tracked_while_the_tilt_follows(name, limit):
    flown = fly_scenario("three_star_spiral", platform=name, duration=9.0)[0]
    assert flown.position_rmse < 0.2 * limit
    tilt = np.arccos(so3.rotate(flown.x[:, 0, Q], [0, 0, 1.0])[:, 2])
    assert np.rad2deg(tilt.max()) > 2.0


@pytest.mark.parametrize("name", ["f450", "three_star_fixed"])
def test_state_noise_does_not_saturate_the_rotors(name):
    noise = {"position": 0.005, "attitude_deg": 0.2, "velocity": 0.0, "rate_deg": 0.0}
    flown = hover(name, 3.0, state_noise=noise).fly()[0]
    rotor = load_platform(name).aircraft.rotor
    assert flown.position_rmse < 0.02
    assert flown.rpm.min() > 1.5 * rotor.rpm_min and flown.rpm.max() < 0.95 * rotor.rpm_max


def fly_level(name, level, seconds, *, v=(0, 0, 0), w=(0, 0, 0), a=(0, 0, 0), alpha=(0, 0, 0)):
    """Central state row after a constant reference at a level, from hover at the origin."""
    loop = hover(name)
    pilot, plant = loop.vehicles[0], loop.plant
    row = row_at(name)
    row[7:10], row[10:13], row[13:16], row[16:19] = v, w, a, alpha
    for _ in range(round(seconds * 200)):
        plant.command(0, pilot.controller(plant.state(0)[0, 0], Reference(row, level)))
        plant.advance()
    return plant.state(0)[0, 0]


@pytest.mark.parametrize("name", ["f450", "three_star_fixed"])
def test_a_velocity_reference_is_followed_without_turning(name):
    x = fly_level(name, Level.VELOCITY, 4.0, v=(0.5, 0.2, -0.1))
    np.testing.assert_allclose(x[V], (0.5, 0.2, -0.1), atol=0.01)
    assert abs(yaw_of(x[Q])) < 0.01


@pytest.mark.parametrize("name", ["f450", "three_star_fixed"])
def test_a_yaw_rate_reference_turns_the_platform(name):
    x = fly_level(name, Level.VELOCITY, 4.0, w=(0.0, 0.0, 0.3))
    assert x[W][2] == pytest.approx(0.3, abs=0.01)
    assert yaw_of(x[Q]) == pytest.approx(1.2, abs=0.1)


@pytest.mark.parametrize("name", ["f450", "three_star_fixed"])
def test_an_acceleration_reference_is_followed(name):
    early, late = (
        fly_level(name, Level.ACCELERATION, t, a=(0.3, 0.0, 0.1), alpha=(0.0, 0.0, 0.05))
        for t in (1.0, 2.0)
    )
    np.testing.assert_allclose(late[V] - early[V], (0.3, 0.0, 0.1), atol=0.02)
    assert late[W][2] - early[W][2] == pytest.approx(0.05, abs=0.01)


def test_the_fixed_heading_counts_for_the_platform_itself():
    loop = hover("f450", control={"gains": "default", "yaw": "hold"})
    controller = loop.vehicles[0].controller
    x = loop.plant.state(0)[0, 0]
    controller(x, Reference(row_at("f450", (0.0, 0.0, 12.0))))
    U = controller.wrench(x, Reference(row_at("f450", (0.0, 0.0, 12.0), yaw=0.5)))
    assert abs(U[5]) < 1e-9


def test_the_paper_s_gains_fly_rigid_platforms_too():
    for name in ("f450", "three_star_fixed"):
        flown = hover(name, 3.0, control={"gains": "paper"}).fly()[0]
        assert np.abs(flown.position_error).max() < 2e-3


def test_the_integral_carries_a_platform_that_is_heavier_than_its_model():
    flown = hover("f450", 8.0, model_error={"mass": 1.1}).fly()[0]
    assert np.abs(flown.position_error[-1]).max() < 5e-3
    assert np.abs(flown.position_error).max() < 0.15


def test_reset_makes_the_next_flight_equal_the_first():
    loop = hover("f450", 2.0)
    first = displace(loop, p=(0.3, 0.0, 0.0), turn=(0.0, 0.0, 0.2)).fly()[0]
    loop.vehicles[0].controller.reset()
    second = displace(loop, p=(0.3, 0.0, 0.0), turn=(0.0, 0.0, 0.2)).fly()[0]
    np.testing.assert_array_equal(first.x, second.x)


@every_rigid
def test_gains_that_are_changed_in_flight_are_those_that_it_flies_by(name):
    """After the change its wrench is that of a controller that was made with these gains."""
    stiffer = gains_of(kP=tuple(2.0 * k for k in gains_of().kP))
    x = resting_state(np.array([0.3, -0.2, 0.1]), so3.quaternion_exp(np.array([0.2, -0.1, 0.4])))
    reference, changed = Reference(row_at(name)), controller_of(name)
    before = changed.wrench(x, reference)
    changed.reset()
    changed.set_gains(stiffer)
    wrench = changed.wrench(x, reference)
    np.testing.assert_allclose(
        wrench, controller_of(name, stiffer).wrench(x, reference), atol=1e-12
    )
    assert np.abs(wrench - before)[3:].max() > 0.1
