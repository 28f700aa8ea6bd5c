# SPDX-License-Identifier: BSD-3-Clause
"""Trajectories of joints that come in messages."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.wire.cdr import decoded
from iap_io.wire.joint_views import JointCommandMessage, trajectory_of
from iap_physics.arm.arm_commands import ArmCommands, JointTrajectory

NAMES = ("arm_q1", "arm_q2")


def test_between_points_a_cubic_goes_through_coordinates_and_velocities():
    t = np.array([1.0, 3.0])
    q, v = np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[0.5, 0.0], [0.0, 1.0]])
    points = np.stack([q, v, np.zeros((2, 2))], axis=1)
    trajectory, h = JointTrajectory(t, points), 1e-6
    for i, at in enumerate((1.0 + 1e-9, 3.0 - 1e-9)):
        np.testing.assert_allclose(trajectory.at(at)[:2], points[i, :2], atol=1e-7)
    for at in (1.3, 2.0, 2.9):
        slope = (trajectory.at(at + h)[0] - trajectory.at(at - h)[0]) / (2.0 * h)
        np.testing.assert_allclose(trajectory.at(at)[1], slope, atol=1e-7)
    np.testing.assert_array_equal(trajectory.at(9.0), [q[1], [0.0, 0.0], [0.0, 0.0]])


def test_a_single_point_is_kept_with_its_velocity_and_newer_ones_replace_it():
    commands, first = ArmCommands(), np.arange(6.0).reshape(1, 3, 2)
    assert commands.target(0.0) is None
    commands.offer(0, 1, JointTrajectory(np.zeros(1), first))
    np.testing.assert_array_equal(commands.target(5.0), first[0])
    commands.offer(1, 1, JointTrajectory(np.zeros(1), 2.0 * first))
    commands.offer(0, 1, JointTrajectory(np.zeros(1), first))  # overtaken
    np.testing.assert_array_equal(commands.target(5.0), 2.0 * first[0])
    with pytest.raises(BadInput, match="later than the present state"):
        commands.offer(2, 1, JointTrajectory(np.zeros(1), first))


def content_of(names=NAMES, target=((0.1, 0.2), (0.3, 0.4), (0.5, 0.6))):
    """A decoded message of one point."""
    message = JointCommandMessage.of(names)
    message.put_target(2_500_000_000, np.array(target))
    return decoded(message.dump(), JointCommandMessage.TYPE)


def test_a_message_is_read_in_the_order_of_the_arm():
    given = trajectory_of(content_of(names=NAMES[::-1]), NAMES)
    assert given.stamp == 2_500_000_000
    for part, wanted in ((given.q, (0.2, 0.1)), (given.v, (0.4, 0.3)), (given.torque, (0.6, 0.5))):
        np.testing.assert_array_equal(part, [wanted])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (content_of(names=("elbow", "arm_q2")), "joint_names: elbow, arm_q2; the arm's are"),
        (content_of(target=((np.nan, 0.0), (0.0, 0.0), (0.0, 0.0))), "positions is not finite"),
    ],
)
def test_a_message_of_other_joints_or_of_no_number_is_refused_with_its_field(content, said):
    with pytest.raises(BadInput, match=said):
        trajectory_of(content, NAMES)
