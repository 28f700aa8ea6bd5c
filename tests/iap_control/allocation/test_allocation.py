# SPDX-License-Identifier: BSD-3-Clause
"""From a wrench to thrust vectors, and from a thrust vector to attitude and thrust."""

import math

import numpy as np
import pytest
from flying import model_of, platform_with_joints

from iap_control.allocation.allocation import (
    allocation_matrix,
    attitude_of_thrust,
    limited_thrust,
    minimum_norm,
)
from iap_control.allocation.thrust_directions import Reach
from iap_description import frames
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform

COUNTS = range(2, 13)
SIZES = (1e-7, 1.0, 1e7)
SCALES = (1e-3, 1.0, 1e3)


def joints_of(name):
    return np.array([joint.position for joint in load_platform(name).joints])


@pytest.mark.parametrize("scale", SIZES)
@pytest.mark.parametrize("count", COUNTS)
def test_stars_are_fully_actuated_but_for_two_aircraft(count, scale):
    rank = Reach.of(scale * joints_of(f"star_{count}")).rank
    assert rank == (5 if count == 2 else 6)


@pytest.mark.parametrize("scale", SIZES)
@pytest.mark.parametrize("count", COUNTS)
def test_lines_cannot_turn_about_themselves(count, scale):
    assert Reach.of(scale * joints_of(f"line_{count}")).rank == 5


@pytest.mark.parametrize("scale", SIZES)
def test_rank_does_not_depend_on_where_the_joints_are_nor_how_they_are_turned(scale):
    R = so3.exp(np.array([0.4, -1.1, 0.7]))
    for name, rank in (("three_star", 6), ("three_line", 5), ("three_square", 6), ("two_line", 5)):
        joints = scale * (joints_of(name) @ R.T + np.array([0.3, -2.0, 5.0]))
        assert Reach.of(joints).rank == rank


@pytest.mark.parametrize("scale", SIZES)
def test_a_bend_of_a_thousandth_of_the_span_makes_a_line_fully_actuated(scale):
    bent = scale * np.array([[1.0, 0.0, 0.0], [0.0, 0.001, 0.0], [-1.0, 0.0, 0.0]])
    assert Reach.of(bent).rank == 6
    assert Reach.of(bent * [1.0, 1e-5, 1.0]).rank == 5  # of a hundred-millionth it is none


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
