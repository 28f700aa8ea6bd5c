# SPDX-License-Identifier: BSD-3-Clause
"""One command per aircraft from the platform's wrench: limits, headings, and which law a platform gets."""

from dataclasses import replace

import numpy as np
import pytest
from flying import Loop, controller_of, gains_of, model_of, platform_with_joints, scenario_of

from iap_control.allocation.allocator import Allocator
from iap_control.allocation.tables import AllocationTables
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.math.saturation import without_rounding
from iap_description.signals import Reference
from iap_description.states import Level, Mode, resting_state
from iap_description.vehicles.platform import load_platform

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
RIGID = ["f450", "three_star_fixed", "star_2_fixed", "line_3_fixed", "star_7_fixed"]


def test_a_hovering_platform_shares_its_weight_equally_and_points_all_thrusts_up():
    controller = controller_of("star_6")
    weight = controller.model.inertia.mass * 9.81
    command = controller.allocator(np.array([0, 0, weight, 0, 0, 0.0]), LEVEL, np.zeros(6))
    np.testing.assert_allclose(command.thrust, weight / 6, rtol=1e-12)
    np.testing.assert_allclose(so3.rotate(command.q_WB, [0, 0, 1.0])[:, 2], 1.0, atol=1e-12)


def allocator_of(name, rate_filter=0.0):
    return Allocator(model_of(name), rate_filter=rate_filter, dt=0.005)


def test_commanded_tilts_stay_a_degree_off_the_stops_of_joints():
    model = replace(model_of("three_star"), travel=np.radians([30.0, 45.0, 60.0]))
    tilts = np.arctan(AllocationTables.of(model).limits[:, 3])
    np.testing.assert_allclose(np.degrees(tilts), [29.0, 44.0, 59.0], atol=1e-9)


@pytest.mark.parametrize("name", ["three_star", "two_line", "star_12"])
def test_allocated_commands_are_within_the_aircraft_limits_for_any_wrench(name):
    allocator = allocator_of(name)
    aircraft = load_platform(name).aircraft
    low, high = aircraft.thrust_limits
    rng = np.random.default_rng(9)
    for U in rng.normal(size=(100, 6)) * 200.0:
        q_WP = so3.quaternion_exp(rng.normal(size=3))
        command = allocator(U, q_WP, rng.normal(size=allocator.model.count))
        assert (command.thrust >= low - 1e-9).all() and (command.thrust <= high + 1e-9).all()
        tilt = np.arccos(so3.rotate(command.q_WB, [0, 0, 1.0])[:, 2])
        assert (tilt <= aircraft.tilt_max + 1e-9).all()


def test_saturation_is_reported_exactly_when_a_thrust_was_limited():
    allocator = allocator_of("three_star")
    weight = allocator.model.inertia.mass * 9.81
    allocator(np.array([0, 0, weight, 0, 0, 0.0]), LEVEL, np.zeros(3))
    assert not allocator.saturated
    allocator(np.array([0, 0, 3 * 36.1, 0, 0, 0.0]), LEVEL, np.zeros(3))
    assert allocator.saturated
    allocator(np.array([2.0 * weight, 0, weight, 0, 0, 0.0]), LEVEL, np.zeros(3))
    assert allocator.saturated  # by tilt
    allocator(np.array([0, 0, weight, 0, 0, 0.0]), LEVEL, np.zeros(3))
    assert not allocator.saturated


@pytest.mark.parametrize("name", ["three_star", "f450"])
def test_a_wrench_is_known_to_be_made_unless_rotors_of_one_body_are_at_their_limits(name):
    allocator = allocator_of(name)
    weight = allocator.model.inertia.mass * 9.81
    for U, within in ((0.9 * weight, True), (90.0 * weight, False)):
        allocator(np.array([0, 0, U, 0, 0, 0.0]), LEVEL, np.zeros(allocator.model.count))
        made = allocator.made_P
        if name == "f450" and not within:
            assert allocator.saturated and made is None
        else:
            assert (made[2] == pytest.approx(U)) == within and made[2] > 0.8 * weight


def test_thrust_vectors_turn_with_the_platform():
    """(18) takes R_0 Lambda_i: the same wrench in P on a tilted platform leans the aircraft with it."""
    q_WP = so3.quaternion_exp(np.array([0.2, -0.1, 0.6]))
    U = np.array([0.0, 0.0, 50.0, 0.0, 0.0, 0.0])
    command = allocator_of("three_star")(U, q_WP, np.zeros(3))
    up_P = so3.rotate(q_WP, [0, 0, 1.0])
    np.testing.assert_allclose(
        so3.rotate(command.q_WB, [0, 0, 1.0]), np.tile(up_P, (3, 1)), atol=1e-12
    )


def test_the_body_rate_fed_forward_is_that_of_the_attitude_commands():
    allocator = allocator_of("three_star")
    U, rate = np.array([0.0, 0.0, 50.0, 0.0, 0.0, 0.0]), np.array([0.3, -0.2, 0.0])
    for k in range(4):
        command = allocator(U, so3.quaternion_exp(rate * 0.005 * k), np.zeros(3))
    turn = so3.rotate(so3.conjugate(command.q_WB), rate)
    np.testing.assert_allclose(command.w_WB_B[:, :2], turn[:, :2], atol=1e-3)


def test_the_first_command_after_a_reset_has_no_body_rate():
    allocator = allocator_of("three_star")
    U = np.array([0.0, 0.0, 50.0, 0.0, 0.0, 0.0])
    allocator(U, LEVEL, np.zeros(3))
    allocator.reset()
    command = allocator(U, so3.quaternion_exp(np.array([0.3, 0.0, 0.0])), np.zeros(3))
    np.testing.assert_array_equal(command.w_WB_B, 0.0)


@pytest.mark.parametrize("name", RIGID)
def test_rotors_fixed_to_one_body_give_four_degrees_of_freedom(name):
    model = model_of(name)
    assert model.actuation.name == "rigid"
    assert np.linalg.matrix_rank(model.B) == 4
    np.testing.assert_allclose(model.B[:2], 0.0, atol=1e-12)  # no force across z


@pytest.mark.parametrize("name", RIGID)
def test_rotor_speeds_of_a_rigid_platform_reproduce_thrust_and_torque(name):
    model = model_of(name)
    weight = model.inertia.mass * 9.81
    U = np.array([0.0, 0.0, weight, 0.2, -0.3, 0.05])
    U[3:] += np.cross(model.inertia.d_0, U[:3])
    command = Allocator(model, rate_filter=0.0, dt=0.005)(U, LEVEL, np.zeros(model.count))
    assert command.mode == Mode.RPM
    thrusts = model.fleet[0].rotor.thrust_coefficient * command.rpm**2
    np.testing.assert_allclose(model.B @ thrusts.ravel(), U, atol=1e-9)
    np.testing.assert_allclose(command.thrust, thrusts.sum(1), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "actuation"),
    [
        ("three_star", "full"),
        ("three_square", "full"),
        ("star_2", "collinear"),
        ("two_line", "collinear"),
        ("three_line", "collinear"),
        ("line_12", "collinear"),
        ("f450", "rigid"),
        ("three_line_fixed", "rigid"),
    ],
)
def test_the_control_law_follows_from_joint_types_and_rank(name, actuation):
    assert model_of(name).actuation.name == actuation


def test_the_line_of_collinear_joints_is_found_wherever_it_is():
    direction = np.array([0.6, -0.64, 0.48])
    point = np.array([0.1, 0.2, 0.05])
    places = [point + s * direction for s in (-1.0, 0.2, 0.9)]
    model = model_of(platform_with_joints(places))
    assert abs(model.line.direction_P @ direction) == pytest.approx(1.0)
    np.testing.assert_allclose(np.cross(model.line.point_P - point, direction), 0.0, atol=1e-9)


def test_headings_follow_the_platform_are_held_or_are_given():
    yaw = 0.7
    q_WP = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    x = resting_state(np.zeros(3), q_WP)
    reference = np.zeros(22)
    reference[3:7], reference[19:] = q_WP, (0.1, 0.2, 0.3)
    mount = np.deg2rad([0.0, 120.0, -120.0])
    for mode, wanted in (("follow", mount + yaw), ("reference", np.array([0.1, 0.2, 0.3]))):
        controller = controller_of("three_star", yaw_mode=mode)
        np.testing.assert_allclose(
            controller.headings(x, Reference(reference)), wanted, atol=1e-12
        )
    held = controller_of("three_star", yaw_mode="hold")
    first = held.headings(x, Reference(reference)).copy()
    turned = reference.copy()
    turned[3:7] = LEVEL
    np.testing.assert_array_equal(held.headings(x, Reference(turned)), first)
    np.testing.assert_allclose(first, mount + yaw, atol=1e-12)


def test_changed_gains_reach_the_rate_filter_in_flight():
    """A slower filter of the attitude command feeds forward less of a sudden turn."""
    rates = []
    for change in (0.0, 0.1):
        controller = controller_of("three_star", gains_of(rate_filter=0.0))
        controller.set_gains(gains_of(rate_filter=change))
        U = np.array([0.0, 0.0, 50.0, 0.0, 0.0, 0.0])
        controller.allocator(U, LEVEL, np.zeros(3))
        tilted = so3.quaternion_exp(np.array([0.01, 0.0, 0.0]))
        rates.append(np.abs(controller.allocator(U, tilted, np.zeros(3)).w_WB_B).max())
    assert rates[1] < 0.1 * rates[0]


def test_a_wrench_reference_is_allocated_as_it_is():
    controller = controller_of("three_star")
    U = np.array([1.0, -2.0, 60.0, 0.3, 0.1, -0.2])
    row = np.zeros(22)
    row[6] = 1.0
    command = controller(resting_state(np.zeros(3), LEVEL), Reference(row, Level.WRENCH, U))
    forces = command.thrust[:, None] * so3.rotate(command.q_WB, [0, 0, 1.0])
    np.testing.assert_allclose(controller.model.B @ forces.ravel(), U, atol=1e-9)


def test_an_overloaded_platform_gives_up_force_before_torque():
    """More than the largest thrust is asked for, upwards and sideways, with a torque that must not suffer."""
    allocator = allocator_of("three_star")
    model = allocator.model
    torque_c = np.array([1.5, -1.0, 0.0])
    force = np.array([25.0, -10.0, 130.0])
    U = np.concatenate([force, torque_c + np.cross(model.inertia.d_0, force)])
    command = allocator(U, LEVEL, np.zeros(3))
    forces = command.thrust[:, None] * so3.rotate(command.q_WB, [0, 0, 1.0])
    made = model.B @ forces.ravel()
    assert allocator.saturated
    np.testing.assert_allclose(
        made[3:] - np.cross(model.inertia.d_0, made[:3]), torque_c, atol=1e-9
    )
    assert 100.0 < np.linalg.norm(made[:3]) < 108.0  # of 3 x 36 N


def test_an_overloaded_platform_gives_up_yaw_before_force():
    """More yaw torque is asked for than the aircraft can make while they carry the platform and its tilt torque."""
    allocator = allocator_of("star_6")
    model = allocator.model
    force, torque_c = (
        np.array([1.0, -2.0, 1.1 * model.inertia.mass * 9.81]),
        np.array([1.0, 2.0, 400.0]),
    )
    U = np.concatenate([force, torque_c + np.cross(model.inertia.d_0, force)])
    command = allocator(U, LEVEL, np.zeros(6))
    forces = command.thrust[:, None] * so3.rotate(command.q_WB, [0, 0, 1.0])
    made = model.B @ forces.ravel()
    about_com = made[3:] - np.cross(model.inertia.d_0, made[:3])
    assert allocator.saturated
    np.testing.assert_allclose(made[:3], force, atol=1e-9)
    np.testing.assert_allclose(about_com[:2], torque_c[:2], atol=1e-9)
    assert 1.0 < about_com[2] < 200.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["three_star", "three_square", "star_6", "two_line", "three_line"]
)
@pytest.mark.parametrize("yaw", [1.0, 2.5])
def test_a_jump_of_yaw_costs_no_height(name, yaw):
    loop = Loop.of(scenario_of("hover", platform=name, duration=12.0))
    start = loop.vehicles[0].start.copy()
    turn = so3.quaternion_exp(np.array([0.0, 0.0, -yaw]))
    start[:, :3] = start[0, :3] + so3.rotate(turn, start[:, :3] - start[0, :3])
    start[:, 3:7] = so3.multiply(turn, start[:, 3:7])
    loop.plant.reset(start[None], [loop.vehicles[0].start_rpm], stream(1, "gusts"))
    flown = loop.fly()[0]
    assert np.abs(flown.position_error).max() < 0.1
    assert np.abs(flown.attitude_error_deg[-1]).max() < 0.5


@pytest.mark.parametrize(("short", "counts"), [(2e-9, True), (-0.5, True), (-5e-10, False)])
def test_what_thrusts_lack_counts_from_rounding_on(short, counts):
    assert without_rounding(short) == pytest.approx(short if counts else 0.0, rel=1e-6, abs=0.0)
