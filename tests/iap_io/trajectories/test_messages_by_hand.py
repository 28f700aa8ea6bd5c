# SPDX-License-Identifier: BSD-3-Clause
"""Messages with poses and paths by numbers that are worked out by hand."""

from dataclasses import replace
from types import SimpleNamespace as Fields

import numpy as np
import pytest
from made_up_samples import samples_of

from iap_description.errors import BadInput
from iap_io.trajectories import (
    paths,
    poses,
)
from iap_io.trajectories.messages import READINGS, Sample, stamp_ns
from iap_io.trajectories.pose_reading import RecordingSummary

NO_TURN = (0.0, 0.0, 0.0, 1.0)


def vector(x, y, z):
    return Fields(x=x, y=y, z=z)


def quaternion(x, y, z, w):
    return Fields(x=x, y=y, z=z, w=w)


def twist(k):
    return Fields(
        linear=vector(k + 1.0, k + 2.0, k + 3.0), angular=vector(k + 4.0, k + 5.0, k + 6.0)
    )


PLACE, TURN = vector(1.0, 2.0, 3.0), quaternion(0.1, 0.2, 0.3, 0.4)
POSE = Fields(position=PLACE, orientation=TURN)
XYZ, XYZW = (1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.4)


@pytest.mark.parametrize(
    ("kind", "message", "sample"),
    [
        ("geometry_msgs/msg/PoseStamped", Fields(pose=POSE), Sample(XYZ, XYZW)),
        ("nav_msgs/msg/Odometry", Fields(pose=Fields(pose=POSE), twist=Fields(twist=twist(10))),
         Sample(XYZ, XYZW, (11, 12, 13), (14, 15, 16))),
        ("geometry_msgs/msg/PoseWithCovarianceStamped", Fields(pose=Fields(pose=POSE)), Sample(XYZ, XYZW)),
        ("iap_msgs/msg/PlatformReference", Fields(level=0, pose=POSE, twist=twist(10), accel=twist(20)),
         Sample(XYZ, XYZW, (11, 12, 13), (14, 15, 16), (21, 22, 23), (24, 25, 26))),
    ],
)  # fmt: skip
def test_each_type_has_its_numbers_where_its_definition_says(kind, message, sample):
    assert list(READINGS[kind].samples(message)) == [sample]


def test_points_of_a_trajectory_come_later_than_its_stamp():
    pose = Fields(translation=PLACE, rotation=TURN)
    points = [
        Fields(
            transforms=[pose],
            velocities=[twist(10)],
            accelerations=[twist(20)],
            time_from_start=Fields(sec=2, nanosec=5),
        ),
        Fields(
            transforms=[pose],
            velocities=[],
            accelerations=[],
            time_from_start=Fields(sec=3, nanosec=0),
        ),
    ]
    read = READINGS["trajectory_msgs/msg/MultiDOFJointTrajectory"]
    first, second = read.samples(Fields(points=points))
    assert first == Sample(
        XYZ, XYZW, (11, 12, 13), (14, 15, 16), (21, 22, 23), (24, 25, 26), 2_000_000_005
    )
    assert second == Sample(XYZ, XYZW, later_ns=3_000_000_000)
    with pytest.raises(
        BadInput, match="^a point has 2 transforms; one is expected, the platform's$"
    ):
        list(read.samples(Fields(points=[Fields(transforms=[pose, pose])])))
    with pytest.raises(BadInput, match="^level is 2: not a pose reference"):
        list(READINGS["iap_msgs/msg/PlatformReference"].samples(Fields(level=2)))
    assert stamp_ns(Fields(sec=3, nanosec=7)) == 3_000_000_007


def message(variances=None, frame="map", child="cf"):
    covariance = np.zeros(36)
    if variances is not None:
        covariance[[0, 7, 14]] = variances
        covariance[35] = 1e9
    return Fields(
        pose=Fields(covariance=covariance),
        header=Fields(frame_id=f"/{frame}"),
        child_frame_id=f"{child}/",
    )


@pytest.mark.parametrize(
    ("variances", "deviation"),
    [((4.0, 9.0, 1.0), 3.0), ((np.nan, 0.0, 16.0), 4.0), ((-1.0, -1.0, -1.0), 0.0)],
)
def test_the_deviation_of_a_position_is_its_largest(variances, deviation):
    assert poses._deviation(message(variances)) == deviation
    assert poses._deviation(Fields(pose=POSE)) == poses._deviation(Fields()) == 0.0


def test_samples_that_call_themselves_lost_are_left_out():
    messages = [message((v, 0.0, 0.0)) for v in (1.0, 100.0, 99.9, 400.0)]
    kept, (note,) = poses._not_lost(messages, [0, 1, 2, 3])
    assert (
        kept == [0, 2]
        and note == "2 samples left out that their covariances call off by 10 m or more"
    )
    assert poses._not_lost(messages, [0, 2]) == ([0, 2], ())
    kept, (note,) = poses._not_lost(messages, [1, 3])
    assert (
        kept == [1, 3] and note == "its covariances say that it is off by 10 m or more throughout"
    )


def test_names_of_a_message_are_without_slashes_and_say_its_axes():
    assert poses._label(message()) == ("map", "cf") and poses._label(Fields()) == ("", "")
    assert poses.named_convention("/vicon/pose", "map") == ("enu", ())
    assert poses.named_convention("/vicon/pose_ned", "map")[0] == "ned"
    assert poses.named_convention("/pose_ned", "map_enu") == ("enu", ())
    convention, (note,) = poses.named_convention("/pose", "odom_ned")
    assert (convention, note) == (
        "ned",
        "NED/FRD by the name odom_ned (--convention enu, if it is not)",
    )


def at(*later):
    return [Sample((k, 0.0, 0.0), NO_TURN, later_ns=k) for k in later]


def test_of_plans_counts_what_no_newer_one_replaces():
    kept = poses._superseded([at(0, 10, 20, 30), at(0, 10), at(5, 15)], np.array([100, 115, 120]))
    assert [[s.later_ns for s in each] for each in kept] == [[0, 10], [0], [5, 15]]
    assert [len(each) for each in poses._superseded([at(0, 10), []], np.array([100, 105]))] == [
        2,
        0,
    ]


def test_samples_of_messages_are_stacked_with_their_own_times():
    about = RecordingSummary("bag")
    per_message = [at(0, 10), at(5), [Sample((9.0, 0.0, 0.0), NO_TURN, v=(1.0, 2.0, 3.0))]]
    out = poses._stacked(
        "src", about, per_message, np.array([100, 0, 300]), np.array([110, 210, 310])
    )
    assert out.header_ns.tolist() == [100, 110, 0, 300] and out.bag_ns.tolist() == [
        110,
        120,
        215,
        310,
    ]
    assert out.p[:, 0].tolist() == [0, 10, 5, 9] and out.v is None
    both = poses._stacked("src", about, per_message[2:], np.array([0]), np.array([7]))
    assert both.v.tolist() == [[1.0, 2.0, 3.0]] and both.header_ns.tolist() == [0]


def test_velocities_are_turned_into_the_axes_of_this_suite():
    quarter = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    x = np.array([[1.0, 0.0, 0.0]])
    samples = replace(samples_of([[0.0, 0.0, 0.0]], quarter), v=x, w=x, alpha=None)
    odometry = poses._in_house_axes(samples, READINGS["nav_msgs/msg/Odometry"])
    np.testing.assert_allclose((odometry.v, odometry.w), ([[0, 1, 0]], [[1, 0, 0]]), atol=1e-12)
    plan = poses._in_house_axes(samples, READINGS["trajectory_msgs/msg/MultiDOFJointTrajectory"])
    np.testing.assert_allclose((plan.v, plan.w), ([[1, 0, 0]], [[0, -1, 0]]), atol=1e-12)
    assert plan.alpha is None


def path_of(stamps, received=50, header=40):
    rows = np.column_stack(
        [np.arange(len(stamps)), np.zeros((len(stamps), 5)), np.ones(len(stamps))]
    )
    return paths._Path("map", header, received, np.array(stamps, np.int64), rows)


@pytest.mark.parametrize(
    ("stamps", "is_stamped"),
    [([1, 2], True), ([0, 2], False), ([2, 2], False), ([3], False), ([2, 1], False)],
)
def test_poses_of_a_path_have_times_that_grow(stamps, is_stamped):
    assert path_of(stamps).is_stamped == is_stamped


def path_message(stamps, header=40):
    def time(ns):
        return Fields(stamp=Fields(sec=0, nanosec=ns), frame_id="/map/")

    listed = [
        Fields(
            header=time(ns),
            pose=Fields(position=vector(ns, 0.0, 0.0), orientation=quaternion(*NO_TURN)),
        )
        for ns in stamps
    ]
    return Fields(header=time(header), poses=listed)


def bag_of(*messages):
    return Fields(messages=lambda _: iter(messages))


def test_what_later_paths_replace_does_not_count():
    shown = [
        (path_message([10, 20, 30]), 35),
        (path_message([]), 36),
        (path_message([25, 35, 45], 45), 49),
    ]
    choice = Fields(topic="/path")
    stamps, received, rows = paths._stamped(bag_of(*shown), choice, paths._path(*shown[-1]))
    assert stamps.tolist() == [10, 20, 25, 35, 45] and received.tolist() == [14, 24, 29, 39, 49]
    assert rows[:, 0].tolist() == [10, 20, 25, 35, 45]
    whole = [(path_message([10, 20]), 35), (path_message([10, 20, 30], 0), 49)]
    stamps, received, _ = paths._stamped(bag_of(*whole), choice, paths._path(*whole[-1]))
    assert stamps.tolist() == [10, 20, 30] and received.tolist() == [29, 39, 49]


def test_last_poses_of_ten_messages_are_a_way():
    shown = [(path_message([k + 1, k + 2], header=100 + k), 200 + k) for k in range(10)]
    header, received, rows = paths._last_poses(
        "src", bag_of(*shown, (path_message([]), 9)), Fields(topic="/path")
    )
    assert header.tolist() == [*range(100, 110)] and received.tolist() == [*range(200, 210)]
    assert rows[:, 0].tolist() == [*range(2, 12)]
    with pytest.raises(
        BadInput,
        match="^src: a path whose poses have no stamps says where, not when: record the poses",
    ):
        paths._last_poses("src", bag_of(*shown[:9]), Fields(topic="/path"))
