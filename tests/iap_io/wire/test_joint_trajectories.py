# SPDX-License-Identifier: BSD-3-Clause
"""Messages of an arm's joints: what they carry, and trajectories as anybody may send them."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.wire.cdr import decoded, message, serialised
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage, trajectory_of

JOINTS = ("yaw", "shoulder", "elbow")
ANGLES = np.array([0.1, 0.2, 0.3])


def point(t_ns, positions=ANGLES, **others):
    sec, nanosec = divmod(t_ns, 10**9)
    time = message("builtin_interfaces/msg/Duration", sec=sec, nanosec=nanosec)
    kind = "trajectory_msgs/msg/JointTrajectoryPoint"
    return message(kind, time_from_start=time, positions=np.array(positions), **others)


def trajectory(*points, names=JOINTS, stamp=(0, 0)):
    header = message("std_msgs/msg/Header")
    header.stamp.sec, header.stamp.nanosec = stamp
    kind = "trajectory_msgs/msg/JointTrajectory"
    content = message(kind, header=header, joint_names=list(names), points=list(points))
    return trajectory_of(decoded(serialised(content), kind), JOINTS)


def test_a_trajectory_is_in_the_order_of_the_arms_joints():
    speeds = np.array([1.0, 2.0, 3.0])
    read = trajectory(
        point(0),
        point(2_250_000_000, ANGLES + 1.0, velocities=speeds, effort=-speeds),
        names=("elbow", "yaw", "shoulder"),
        stamp=(7, 5),
    )
    assert read.stamp == 7_000_000_005
    assert read.t.tolist() == [0.0, 2.25]
    np.testing.assert_allclose(read.q, [[0.2, 0.3, 0.1], [1.2, 1.3, 1.1]])
    assert read.v.tolist() == [[0.0, 0.0, 0.0], [2.0, 3.0, 1.0]]
    assert read.torque.tolist() == [[0.0, 0.0, 0.0], [-2.0, -3.0, -1.0]]


@pytest.mark.parametrize("times", [(0,), (0, 1), (5, 7, 10**9)])
def test_times_of_points_increase_from_0_on(times):
    assert trajectory(*map(point, times)).t.tolist() == [each / 1e9 for each in times]


@pytest.mark.parametrize("times", [(0, 0), (2, 1), (0, 3, 3), (-1, 5), (-(10**9),)])
def test_other_times_are_refused(times):
    with pytest.raises(BadInput, match=r"^points: their time_from_start must increase$"):
        trajectory(*map(point, times))


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"positions": ()}, r"^points\[1\]\.positions: of 0 joints, the arm has 3$"),
        ({"positions": (1.0, 2.0)}, r"^points\[1\]\.positions: of 2 joints, the arm has 3$"),
        ({"velocities": np.ones(1)}, r"^points\[1\]\.velocities: of 1 joints, the arm has 3$"),
        ({"effort": np.ones(4)}, r"^points\[1\]\.effort: of 4 joints, the arm has 3$"),
        ({"effort": np.array([0.0, np.nan, 0.0])}, "^points: a number of effort is not finite$"),
        ({"positions": (0.0, 0.0, np.inf)}, "^points: a number of positions is not finite$"),
    ],
)
def test_numbers_are_of_all_joints_and_finite(odd, said):
    with pytest.raises(BadInput, match=said):
        trajectory(point(0), point(1, **odd))


def test_names_of_a_trajectory_are_repeated_up_to_80_letters():
    with pytest.raises(BadInput) as refused:
        trajectory(point(0), names=["n" * 100])
    assert str(refused.value) == f"joint_names: {'n' * 80}; the arm's are yaw, shoulder, elbow"
    with pytest.raises(BadInput, match=r"^joint_names: none; the arm's are"):
        trajectory(point(0), names=())


def test_a_state_and_a_command_of_joints_carry_their_numbers():
    state, command = JointStateMessage.of(JOINTS), JointCommandMessage.of(JOINTS)
    rows = np.arange(9.0).reshape(3, 3)
    state.position[:], state.velocity[:], state.effort[:] = rows
    command.put_target(3_000_000_004, rows)
    said = decoded(state.dump(), JointStateMessage.TYPE)
    assert (said.name, said.header.frame_id) == (list(JOINTS), "")
    for part, row in zip((said.position, said.velocity, said.effort), rows, strict=True):
        assert part.tolist() == row.tolist()
    said = decoded(command.dump(), JointCommandMessage.TYPE)
    assert (said.header.stamp.sec, said.header.stamp.nanosec) == (3, 4)
    assert said.joint_names == list(JOINTS)
    (sent,) = said.points
    for part, row in zip((sent.positions, sent.velocities, sent.effort), rows, strict=True):
        assert part.tolist() == row.tolist()
    assert command.target["effort"].tolist() == rows[2].tolist()
