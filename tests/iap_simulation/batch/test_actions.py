# SPDX-License-Identifier: BSD-3-Clause
"""Actions on many worlds: each does what its columns say, in the world that its row is for."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_physics.engines.engine import DIVERGED, INVALID_COMMAND, RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_simulation.batch.actions import KINDS, action_of, action_size
from iap_simulation.batch.worlds import Worlds

WORLDS, COUNT = 4, 3
GRAVITY = 9.81


@pytest.fixture
def worlds():
    """Four hovering stars."""
    return Worlds.of("hover", WORLDS)


def flown(worlds, kind, values, seconds):
    for _ in range(round(seconds / worlds.scenario.dt)):
        worlds.advance(action_of(kind, values, worlds))
    assert (worlds.status == RUNNING).all()
    return worlds.state


def yaws(worlds):
    return so3.euler_from_matrix(so3.matrix_from_quaternion(worlds.state[:, 0, 3:7]))[:, 2]


def weight(worlds):
    return worlds.model.inertia.mass * GRAVITY


def test_a_pose_is_reached(worlds):
    values = np.array([[0.0, 0, 0, 0], [0.3, 0, 0, 0], [0, -0.2, 0.2, 0], [0, 0, 0, 0.5]])
    values[:, :3] += worlds.state[:, 0, :3]
    x = flown(worlds, "pose", values, 6.0)
    np.testing.assert_allclose(x[:, 0, :3], values[:, :3], atol=0.005)
    np.testing.assert_allclose(yaws(worlds), values[:, 3], atol=0.005)


def test_a_velocity_and_a_yaw_rate_are_kept_while_the_platform_stays_level(worlds):
    values = np.array([[0.0, 0, 0, 0], [0.4, 0, 0, 0], [0, -0.3, 0.2, 0], [0.2, 0, 0, 0.4]])
    x = flown(worlds, "velocity", values, 3.0)
    np.testing.assert_allclose(x[:, 0, 7:10], values[:, :3], atol=0.01)
    np.testing.assert_allclose(x[:, 0, 12], values[:, 3], atol=0.01)
    np.testing.assert_allclose(x[:, 0, 3:5], 0.0, atol=0.005)


@pytest.mark.parametrize("kind", ["velocity", "acceleration"])
def test_rotors_on_one_body_turn_at_the_yaw_rate_too(kind):
    """A quadrotor's heading is the integral of the rate, and its velocity stays in `map` meanwhile."""
    quadrotors = Worlds.of("hover", 3, platform="f450")
    values = np.zeros((3, 4))
    values[:, 3] = [0.5, -0.5, 0.0]
    if kind == "velocity":
        values[:, 0] = 0.3
    x = flown(quadrotors, kind, values, 3.0)
    np.testing.assert_allclose(x[:, 0, 12], values[:, 3], atol=0.01)
    np.testing.assert_allclose(yaws(quadrotors), 3.0 * values[:, 3], atol=0.1)
    # nothing brings a velocity back that no one asks for
    tolerance = {"velocity": 0.03, "acceleration": 0.12}[kind]
    np.testing.assert_allclose(x[:, 0, 7:10], values[:, :3], atol=tolerance)


def test_an_acceleration_adds_up(worlds):
    values = np.array([[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, -0.4, 0, 0], [0, 0, 0.3, 0.3]])
    x = flown(worlds, "acceleration", values, 1.0)
    # behind the lag of the aircraft's attitude and thrust
    np.testing.assert_allclose(x[:, 0, 7:10], values[:, :3], atol=0.12)
    assert np.linalg.norm(x[0, 0, 7:10]) < 1e-3


def test_a_wrench_moves_as_newton_says(worlds):
    values = np.zeros((WORLDS, 6))
    values[:, 2] = weight(worlds) * np.array([1.0, 1.02, 0.98, 1.05])
    x = flown(worlds, "wrench", values, 0.5)
    a_z = values[:, 2] / worlds.model.inertia.mass - GRAVITY
    np.testing.assert_allclose(x[:, 0, 9], 0.5 * a_z, atol=0.03)


def test_thrusts_and_attitudes_go_to_each_aircraft(worlds):
    share = weight(worlds) / COUNT
    values = np.zeros((WORLDS, COUNT, 4))
    values[..., 2], values[..., 3] = worlds.model.mount_yaw, share
    values[1, 0, 1] = 0.1  # one pitches: the platform drifts along its x axis
    values[2, 0, 2] += 0.3  # one turns its heading, and nothing else
    x = flown(worlds, "attitude_thrust", values.reshape(WORLDS, -1), 0.5)
    np.testing.assert_allclose(x[[0, 2], 0, 7:10], 0.0, atol=0.02)
    assert np.linalg.norm(x[1, 0, 7:9]) > 0.05
    headings = so3.euler_from_matrix(so3.matrix_from_quaternion(x[[0, 2], 1:, 3:7]))[..., 2]
    turned = headings - worlds.model.mount_yaw
    np.testing.assert_allclose(turned, [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]], atol=0.05)


def test_attitudes_are_those_of_roll_pitch_and_yaw(worlds):
    angles = np.random.default_rng(3).uniform(-np.pi, np.pi, (WORLDS, COUNT, 3))
    values = np.concatenate([angles, np.ones((WORLDS, COUNT, 1))], axis=-1)
    command = action_of("attitude_thrust", values.reshape(WORLDS, -1), worlds)
    wanted = so3.matrix_from_euler(angles)
    np.testing.assert_allclose(so3.matrix_from_quaternion(command.q_WB), wanted, atol=1e-15)
    np.testing.assert_array_equal(command.thrust, 1.0)


def test_body_rates_go_to_each_aircraft(worlds):
    values = np.zeros((WORLDS, COUNT, 4))
    values[..., 3] = weight(worlds) / COUNT
    values[1, 2, 2] = 0.5
    x = flown(worlds, "rate_thrust", values.reshape(WORLDS, -1), 0.4)
    turning = np.zeros((WORLDS, COUNT))
    turning[1, 2] = 0.5
    np.testing.assert_allclose(x[:, 1:, 12], turning, atol=0.03)


@pytest.mark.parametrize("kind", ["rotor_thrust", "rpm"])
def test_rotors_that_carry_the_weight_hover(worlds, kind):
    thrusts = np.full((WORLDS, 4 * COUNT), weight(worlds) / (4 * COUNT))
    per_square = worlds.model.fleet[0].rotor.thrust_coefficient
    values = thrusts if kind == "rotor_thrust" else np.sqrt(thrusts / per_square)
    x = flown(worlds, kind, values, 0.2)
    np.testing.assert_allclose(x[:, 0, 7:10], 0.0, atol=1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("column", [0, -1])
@pytest.mark.parametrize("kind", KINDS)
def test_an_action_that_is_not_finite_ends_its_world_alone(worlds, kind, column, value):
    values = np.zeros((WORLDS, action_size(kind, COUNT)))
    values[2, column] = value
    worlds.advance(action_of(kind, values, worlds))
    assert worlds.status.tolist() == [RUNNING, RUNNING, INVALID_COMMAND, RUNNING]
    assert np.isfinite(worlds.state).all()


def test_unknown_kinds_and_other_shapes_are_refused(worlds):
    with pytest.raises(BadInput, match="action 'push': choose pose, velocity"):
        action_of("push", np.zeros((WORLDS, 4)), worlds)
    with pytest.raises(BadInput, match=r"'rpm': has shape \(4, 4\); \(4, 12\) is expected"):
        action_of("rpm", np.zeros((WORLDS, 4)), worlds)


def test_states_are_handed_over_without_a_copy(worlds):
    shared = np.from_dlpack(worlds.state)
    worlds.advance()
    assert np.shares_memory(shared, worlds.state)


def test_a_rotor_does_not_pull_and_of_no_number_it_makes_none(worlds):
    values = np.zeros((WORLDS, 4 * COUNT))
    values[0, 0], values[1, 1], values[2, 2] = -1.0, 2.0, np.nan
    rpm = action_of("rotor_thrust", values, worlds).rpm.reshape(WORLDS, -1)
    lift = worlds.model.fleet[0].rotor.c_f
    assert rpm[0, 0] == 0.0
    assert rpm[1, 1] == pytest.approx(np.sqrt(2.0 / lift))
    assert np.isnan(rpm[2, 2]) and np.isfinite(rpm).sum() == rpm.size - 1


def test_a_world_keeps_the_first_cause_of_its_end(worlds):
    x = worlds.state
    over = [1.0, 0.0, 0.0, 0.0]  # half a turn about x
    x[0, :, 0] += 30.0
    x[1, 0, 3:7] = over
    x[2, :, 0] += 30.0
    x[2, 0, 3:7] = over
    worlds.status[2] = DIVERGED
    worlds.control()
    assert worlds.status.tolist() == [TOO_FAR, UPSIDE_DOWN, DIVERGED, RUNNING]
    worlds.control()
    assert worlds.status.tolist() == [TOO_FAR, UPSIDE_DOWN, DIVERGED, RUNNING]
    before = x.copy()
    worlds.advance()
    np.testing.assert_array_equal(x[:3], before[:3])
