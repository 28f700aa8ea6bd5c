# SPDX-License-Identifier: BSD-3-Clause
"""The law of an end effector's path: its Jacobian, what shares the work, and what it leaves to the null space."""

import numpy as np
import pytest
from jacobians import numeric

from iap_control.laws.end_effector import (
    EndEffectorGains,
    EndEffectorLaw,
    SingularPose,
    task_jacobian,
    task_pose,
)
from iap_description.config.record import validate
from iap_description.vehicles.arm import load_arm

ARM = load_arm("m100")
CHAIN = ARM.chain()
GAINS = {
    "task": "position_heading",
    "slope": (1.0,) * 4,
    "speed": (1.0,) * 4,
    "weights": (1.0,) * 7,
    "centring": 0.0,
    "singular": 1e-3,
}


def law(**changes):
    return EndEffectorLaw(ARM, validate(EndEffectorGains, {**GAINS, **changes}, source="test"))


def some_poses(count=20, seed=4):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.normal(size=3), rng.uniform(-3.0, 3.0), rng.uniform(-1.0, 1.2, 3)


def test_the_task_jacobian_is_equation_a1():
    l2, l3 = 0.075, 0.185
    for _, yaw, q in some_poses():
        s, c = np.sin(yaw + q[0]), np.cos(yaw + q[0])
        rho = l2 * np.cos(q[1]) + l3 * np.cos(q[1] + q[2])
        drop, last = l2 * np.sin(q[1]) + l3 * np.sin(q[1] + q[2]), l3 * np.sin(q[1] + q[2])
        expected = [
            [np.cos(yaw), -np.sin(yaw), 0.0, -s * rho, -s * rho, -c * drop, -c * last],
            [np.sin(yaw), np.cos(yaw), 0.0, c * rho, c * rho, -s * drop, -s * last],
            [0.0, 0.0, 1.0, 0.0, 0.0, -rho, -l3 * np.cos(q[1] + q[2])],
            [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
        ]
        np.testing.assert_allclose(task_jacobian(CHAIN, yaw, q), expected, atol=1e-12)


def test_the_task_jacobian_agrees_with_finite_differences():
    for p, yaw, q in some_poses():
        c, s = np.cos(yaw), np.sin(yaw)

        def moved(v, p=p, yaw=yaw, q=q, c=c, s=s):
            shift = np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
            return task_pose(CHAIN, p + shift, yaw + v[3], q + v[4:])

        assert np.abs(task_jacobian(CHAIN, yaw, q) - numeric(moved, 7)).max() < 1e-6


@pytest.mark.parametrize("weights", [(1.0,) * 7, (3.0, 3.0, 3.0, 1.0, 0.2, 0.2, 0.2)])
@pytest.mark.parametrize("task", ["position_heading", "position"])
def test_the_end_effector_gets_the_velocity_that_it_shall_have(weights, task):
    own = law(weights=weights, task=task, centring=0.7)
    for p, yaw, q in some_poses():
        r_d, dr_d = task_pose(CHAIN, p, yaw, q) + 0.1, np.array([0.2, -0.1, 0.3, 0.1])
        J = own.jacobian(yaw, q)
        wanted = dr_d + own.correction(own.error(r_d, p, yaw, q))
        np.testing.assert_allclose(J @ own(r_d, dr_d, p, yaw, q), wanted[: len(J)], atol=1e-12)


def test_equal_weights_are_the_moore_penrose_inverse():
    for _, yaw, q in some_poses():
        J = law().jacobian(yaw, q)
        np.testing.assert_allclose(law().inverse(J), np.linalg.pinv(J), atol=1e-12)


def test_weights_give_the_least_weighted_velocities():
    own, heavy = law(), law(weights=(1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0))
    for p, yaw, q in some_poses():
        told = (task_pose(CHAIN, p, yaw, q), np.array([0.2, -0.1, 0.3, 0.4]), p, yaw, q)
        assert np.linalg.norm(heavy(*told)[4:]) < np.linalg.norm(own(*told)[4:])


def test_at_rest_on_the_path_joints_are_drawn_to_the_middle_of_their_travel():
    low, high = ARM.limits
    own, middle = law(centring=1.0), 0.5 * (low + high)
    for p, yaw, q in some_poses():
        v = own(task_pose(CHAIN, p, yaw, q), np.zeros(4), p, yaw, q)
        assert v[4:] @ (middle - q) > 0.0


def test_errors_ask_for_no_more_than_the_largest_speed_and_headings_go_the_short_way():
    own = law(speed=(0.5, 0.5, 0.5, 0.3), slope=(2.0,) * 4)
    p, q = np.zeros(3), np.zeros(3)
    r_d = task_pose(CHAIN, p, -3.1, q) + np.array([100.0, -100.0, 0.0, 6.2])
    error = own.error(r_d, p, -3.1, q)
    assert abs(error[3]) < 0.1
    np.testing.assert_allclose(own.correction(error)[:2], [0.5, -0.5], atol=1e-9)
    small = own.correction(np.full(4, 1e-4))
    np.testing.assert_allclose(small, 2e-4, rtol=1e-6)


def test_a_pose_in_which_a_direction_is_lost_is_said():
    own = law(weights=(1e12, 1e12, 1e12, 1e12, 1.0, 1.0, 1.0))
    with pytest.raises(SingularPose, match="singular pose: the smallest singular value"):
        own(np.zeros(4), np.zeros(4), np.zeros(3), 0.0, np.array([0.0, 0.5, 0.0]))
