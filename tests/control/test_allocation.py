# SPDX-License-Identifier: BSD-3-Clause
"""From a wrench to thrust vectors, and from a thrust vector to attitude and thrust."""

import math

import numpy as np
import pytest
from flying import controller_of, gains_of, model_of, platform_with_joints

from iap_control.allocation import (
    allocation_matrix,
    allocation_rank,
    attitude_of_thrust,
    limited_thrust,
    minimum_norm,
)
from iap_control.allocator import Allocator
from iap_control.controller import Reference
from iap_description import frames, so3
from iap_description.errors import BadInput
from iap_description.platform import load_platform
from iap_description.states import Level, Mode, resting_state

COUNTS = range(2, 13)
SCALES = (1e-3, 1.0, 1e3)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
RIGHT_ANGLED = ["f450", "three_star_fixed", "star_2_fixed", "line_3_fixed", "star_7_fixed"]


def joints_of(name):
    return np.array([joint.position for joint in load_platform(name).joints])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("count", COUNTS)
def test_stars_are_fully_actuated_but_for_two_aircraft(count, scale):
    rank = allocation_rank(scale * joints_of(f"star_{count}"))
    assert rank == (5 if count == 2 else 6)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("count", COUNTS)
def test_lines_cannot_turn_about_themselves(count, scale):
    assert allocation_rank(scale * joints_of(f"line_{count}")) == 5


@pytest.mark.parametrize("scale", SCALES)
def test_rank_does_not_depend_on_where_the_joints_are_nor_how_they_are_turned(scale):
    R = so3.exp(np.array([0.4, -1.1, 0.7]))
    for name, rank in (("three_star", 6), ("three_line", 5), ("three_square", 6), ("two_line", 5)):
        joints = scale * (joints_of(name) @ R.T + np.array([0.3, -2.0, 5.0]))
        assert allocation_rank(joints) == rank


def test_a_bend_of_a_thousandth_makes_a_line_fully_actuated():
    bent = np.array([[1.0, 0.0, 0.0], [0.0, 0.001, 0.0], [-1.0, 0.0, 0.0]])
    assert allocation_rank(bent) == 6
    assert allocation_rank(bent * [1.0, 1e-5, 1.0]) == 5  # a bend of 10 nm is none


def test_the_rank_falls_by_the_free_turn_about_the_line():
    joints = joints_of("line_4")
    B = allocation_matrix(joints)
    axis, point = np.array([1.0, 0.0, 0.0]), joints[0]
    twist = np.concatenate([-np.cross(axis, point), axis])
    np.testing.assert_allclose(twist @ B, 0.0, atol=1e-15)


def test_allocation_matrix_sums_forces_and_their_torques_about_the_origin():
    rng = np.random.default_rng(1)
    joints, thrusts = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    U = allocation_matrix(joints) @ thrusts.ravel()
    np.testing.assert_allclose(U[:3], thrusts.sum(0), atol=1e-14)
    np.testing.assert_allclose(U[3:], np.cross(joints, thrusts).sum(0), atol=1e-14)


@pytest.mark.parametrize("name", ["star_3", "star_5", "star_12", "three_square", "three_star"])
def test_allocated_thrusts_reproduce_any_wrench_of_a_fully_actuated_platform(name):
    B = allocation_matrix(joints_of(name))
    wrenches = np.random.default_rng(2).normal(size=(6, 20)) * 30.0
    np.testing.assert_allclose(B @ minimum_norm(B) @ wrenches, wrenches, atol=1e-10)


@pytest.mark.parametrize("name", ["line_2", "line_7", "star_2", "two_line", "three_line"])
def test_allocated_thrusts_reproduce_any_feasible_wrench_of_a_line(name):
    B = allocation_matrix(joints_of(name))
    rng = np.random.default_rng(3)
    feasible = B @ rng.normal(size=(B.shape[1], 20)) * 10.0
    np.testing.assert_allclose(B @ minimum_norm(B) @ feasible, feasible, atol=1e-10)


@pytest.mark.parametrize("name", ["three_star", "star_2", "line_5", "star_8"])
def test_no_other_thrusts_with_the_same_wrench_have_a_smaller_norm(name):
    B = allocation_matrix(joints_of(name))
    rng = np.random.default_rng(4)
    some = rng.normal(size=B.shape[1])
    least = minimum_norm(B) @ (B @ some)
    null = np.linalg.svd(B)[2][np.linalg.matrix_rank(B) :]
    assert len(null) > 0
    for shares in rng.normal(size=(20, len(null))):
        other = least + shares @ null
        np.testing.assert_allclose(B @ other, B @ some, atol=1e-10)
        assert np.linalg.norm(other) > np.linalg.norm(least)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["three_star", "three_line", "star_2"])
def test_small_and_large_platforms_reproduce_their_wrench_alike(name, scale):
    joints = scale * joints_of(name)
    model = model_of(platform_with_joints(joints, base="three_star"))
    rng = np.random.default_rng(5)
    feasible = model.B @ rng.normal(size=model.B.shape[1])
    np.testing.assert_allclose(model.B @ (model.B_inverse @ feasible), feasible, rtol=1e-9)


def test_a_hovering_platform_shares_its_weight_equally_and_points_all_thrusts_up():
    controller = controller_of("star_6")
    weight = controller.model.inertia.mass * 9.81
    command = controller.allocator(np.array([0, 0, weight, 0, 0, 0.0]), LEVEL, np.zeros(6))
    np.testing.assert_allclose(command.thrust, weight / 6, rtol=1e-12)
    np.testing.assert_allclose(so3.rotate(command.q_WB, [0, 0, 1.0])[:, 2], 1.0, atol=1e-12)


def random_thrusts(count, seed):
    rng = np.random.default_rng(seed)
    f_W = rng.normal(size=(count, 3)) * [6.0, 6.0, 0.0] + [0.0, 0.0, 1.0] * rng.uniform(
        0.5, 30.0, (count, 1)
    )
    return list(zip(f_W, rng.uniform(-math.pi, math.pi, count), strict=True))


def test_attitude_has_its_z_axis_along_the_thrust_and_the_yaw_that_was_asked_for():
    for f_W, yaw in random_thrusts(200, seed=6):
        R = so3.matrix_from_quaternion(np.array(attitude_of_thrust(tuple(f_W), yaw)))
        np.testing.assert_allclose(R[:, 2], f_W / np.linalg.norm(f_W), atol=1e-12)
        assert math.remainder(so3.euler_from_matrix(R)[2] - yaw, 2 * math.pi) == pytest.approx(0.0)


def printed_roll_and_pitch(thrust, psi):
    """Equation (18) of the IAP simulator paper as printed: a thrust vector in NED, yaw in NED."""
    x, y, z = thrust
    c, s = math.cos(psi), math.sin(psi)
    roll = math.asin((y * c - x * s) / np.linalg.norm(thrust))
    pitch = math.asin(-(x * c + y * s) / math.sqrt((x * c + y * s) ** 2 + z**2))
    return roll, pitch


def test_attitude_equals_the_printed_formula_after_conversion_from_ned():
    for f_W, yaw in random_thrusts(200, seed=7):
        psi = math.pi / 2 - yaw  # from north, clockwise
        roll, pitch = printed_roll_and_pitch(frames.swap_world(f_W), psi)
        R_ned = so3.matrix_from_euler(np.array([roll, pitch, psi]))
        R = so3.matrix_from_quaternion(np.array(attitude_of_thrust(tuple(f_W), yaw)))
        np.testing.assert_allclose(R, frames.swap_attitude(R_ned), atol=1e-12)


def test_thrust_within_the_limits_is_left_alone():
    f_W = (3.0, -4.0, 20.0)
    assert limited_thrust(f_W, 0.5, 36.0, math.tan(0.8)) == pytest.approx(f_W, abs=1e-15)


def test_limited_thrust_is_within_thrust_and_tilt_for_any_demand():
    tilt = math.radians(50.0)
    for f_W in np.random.default_rng(8).normal(size=(500, 3)) * 60.0:
        out = np.array(limited_thrust(tuple(f_W), 0.5, 36.0, math.tan(tilt)))
        length = np.linalg.norm(out)
        assert 0.5 - 1e-12 <= length <= 36.0 + 1e-9
        assert math.acos(out[2] / length) <= tilt + 1e-9
        cross = out[0] * f_W[1] - out[1] * f_W[0]  # it leans where it was asked to
        assert abs(cross) < 1e-9 and out[:2] @ f_W[:2] >= 0.0


def test_height_is_kept_before_direction_when_a_thrust_is_too_large():
    out = limited_thrust((40.0, 0.0, 30.0), 0.5, 36.0, math.tan(1.2))
    assert out[2] == 30.0
    assert np.linalg.norm(out) == pytest.approx(36.0)


def test_a_thrust_downwards_becomes_the_least_thrust_upwards():
    out = limited_thrust((0.0, 0.0, -20.0), 0.5, 36.0, math.tan(0.8))
    assert out == (0.0, 0.0, 0.5)


def allocator_of(name, rate_filter=0.0):
    return Allocator(model_of(name), rate_filter=rate_filter, dt=0.005)


@pytest.mark.parametrize("name", ["three_star", "two_line", "star_12"])
def test_allocated_commands_are_within_the_aircraft_limits_for_any_wrench(name):
    allocator = allocator_of(name)
    craft = load_platform(name).aircraft
    low, high = craft.thrust_limits
    rng = np.random.default_rng(9)
    for U in rng.normal(size=(100, 6)) * 200.0:
        q_WP = so3.quaternion_exp(rng.normal(size=3))
        command = allocator(U, q_WP, rng.normal(size=allocator.model.count))
        assert (command.thrust >= low - 1e-9).all() and (command.thrust <= high + 1e-9).all()
        tilt = np.arccos(so3.rotate(command.q_WB, [0, 0, 1.0])[:, 2])
        assert (tilt <= craft.tilt_max + 1e-9).all()


def test_saturation_is_told_exactly_when_a_thrust_was_limited():
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


@pytest.mark.parametrize("name", RIGHT_ANGLED)
def test_rotors_fixed_to_one_body_give_four_degrees_of_freedom(name):
    model = model_of(name)
    assert model.actuation == "rigid"
    assert np.linalg.matrix_rank(model.B) == 4
    np.testing.assert_allclose(model.B[:2], 0.0, atol=1e-12)  # no force across z


@pytest.mark.parametrize("name", RIGHT_ANGLED)
def test_rotor_speeds_of_a_rigid_platform_reproduce_thrust_and_torque(name):
    model = model_of(name)
    weight = model.inertia.mass * 9.81
    U = np.array([0.0, 0.0, weight, 0.2, -0.3, 0.05])
    U[3:] += np.cross(model.inertia.d_0, U[:3])
    command = Allocator(model, rate_filter=0.0, dt=0.005)(U, LEVEL, np.zeros(model.count))
    assert command.mode == Mode.RPM
    thrusts = model.aircraft.rotor.thrust_coefficient * command.rpm**2
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
    assert model_of(name).actuation == actuation


def test_a_platform_with_spherical_and_fixed_joints_is_refused():
    platform = load_platform("three_star")
    first = platform.joints[0].model_copy(update={"type": "fixed"})
    mixed = platform.model_copy(update={"joints": (first, *platform.joints[1:])})
    with pytest.raises(BadInput, match="joints"):
        model_of(mixed)


def test_the_line_of_collinear_joints_is_found_wherever_it_is():
    direction = np.array([0.6, -0.64, 0.48])
    point = np.array([0.1, 0.2, 0.05])
    places = [point + s * direction for s in (-1.0, 0.2, 0.9)]
    model = model_of(platform_with_joints(places))
    assert abs(model.line_P @ direction) == pytest.approx(1.0)
    np.testing.assert_allclose(np.cross(model.p_line_P - point, direction), 0.0, atol=1e-9)


def test_headings_follow_the_platform_are_held_or_are_given():
    yaw = 0.7
    q_WP = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    x = resting_state(np.zeros(3), q_WP)
    reference = np.zeros(22)
    reference[3:7], reference[19:] = q_WP, (0.1, 0.2, 0.3)
    mount = np.deg2rad([0.0, 120.0, -120.0])
    for mode, wanted in (("follow", mount + yaw), ("given", np.array([0.1, 0.2, 0.3]))):
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
    """Twice the largest thrust sideways and upwards is asked for, with a torque that must not suffer."""
    allocator = allocator_of("three_star")
    model = allocator.model
    torque_c = np.array([1.5, -1.0, 0.0])
    force = np.array([0.0, 0.0, 130.0])
    U = np.concatenate([force, torque_c + np.cross(model.inertia.d_0, force)])
    command = allocator(U, LEVEL, np.zeros(3))
    forces = command.thrust[:, None] * so3.rotate(command.q_WB, [0, 0, 1.0])
    made = model.B @ forces.ravel()
    assert allocator.saturated
    np.testing.assert_allclose(
        made[3:] - np.cross(model.inertia.d_0, made[:3]), torque_c, atol=1e-9
    )
    assert 100.0 < made[2] < 108.0  # of 3 x 36 N
