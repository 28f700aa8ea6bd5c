# SPDX-License-Identifier: BSD-3-Clause
"""Every bag format and message type brings back the motion that was put into it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flight_bags import FORMATS, REFERENCE, START_NS, BagMaker, Motion, motion
from numpy.typing import NDArray

from iap_description import frames
from iap_description.math import so3
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import RecordedTrajectory

Array = NDArray[np.float64]
Topic = tuple[str, list[tuple[int, Any]]]


def assert_same_motion(recorded: RecordedTrajectory, m: Motion) -> None:
    """The recording is the motion, with what it carries of its derivatives."""
    np.testing.assert_allclose(recorded.t, m.t, atol=1e-8)
    np.testing.assert_allclose(recorded.p_WP_W, m.p, atol=1e-12)
    error = so3.quaternion_log(so3.multiply(so3.conjugate(m.q), recorded.q_WP))
    np.testing.assert_allclose(error, 0.0, atol=1e-12)
    assert (np.einsum("ki,ki->k", recorded.q_WP[1:], recorded.q_WP[:-1]) > 0.0).all()
    for name, expected in (("v_WP_W", m.v), ("w_WP_P", m.w), ("a_WP_W", m.a)):
        if getattr(recorded, name) is not None:
            np.testing.assert_allclose(getattr(recorded, name), expected, atol=1e-12)


def as_ned(m: Motion) -> Motion:
    """The same motion in NED/FRD."""
    R_WP = frames.swap_attitude(so3.matrix_from_quaternion(m.q))
    world, body = frames.swap_world, frames.swap_body
    q = so3.quaternion_from_matrix(R_WP)
    return Motion(m.t, world(m.p), q, world(m.v), body(m.w), world(m.a), body(m.alpha))


def pose_stamped(maker: BagMaker, m: Motion) -> Topic:
    """PoseStamped."""
    return maker.poses(m)


def odometry(maker: BagMaker, m: Motion) -> Topic:
    """Odometry, whose twist is in the body frame."""
    v_P, kind, none = so3.rotate(so3.conjugate(m.q), m.v), "nav_msgs/msg/Odometry", np.zeros(36)
    messages = []
    for k, stamp in enumerate(m.stamps):
        pose = maker.make("geometry_msgs/msg/PoseWithCovariance", maker.pose(m.p[k], m.q[k]), none)
        twist = maker.pair("Twist", v_P[k], m.w[k])
        twist = maker.make("geometry_msgs/msg/TwistWithCovariance", twist, none)
        messages.append((stamp, maker.make(kind, maker.header(stamp), "base_link", pose, twist)))
    return kind, messages


def transform_stamped(maker: BagMaker, m: Motion) -> Topic:
    """TransformStamped."""
    kind, messages = "geometry_msgs/msg/TransformStamped", []
    for stamp, p, q in zip(m.stamps, m.p, m.q, strict=True):
        pose = maker.make("geometry_msgs/msg/Transform", maker.xyz(p), maker.quaternion(q))
        messages.append((stamp, maker.make(kind, maker.header(stamp), "base_link", pose)))
    return kind, messages


def trajectory_point(maker: BagMaker, m: Motion, k: int, later_ns: int) -> Any:  # noqa: ANN401
    """Sample k as a point of a trajectory: all vectors in world axes."""
    pose = maker.make("geometry_msgs/msg/Transform", maker.xyz(m.p[k]), maker.quaternion(m.q[k]))
    time = maker.make("builtin_interfaces/msg/Duration", later_ns // 10**9, later_ns % 10**9)
    twist = maker.pair("Twist", m.v[k], so3.rotate(m.q[k], m.w[k]))
    accel = maker.pair("Twist", m.a[k], so3.rotate(m.q[k], m.alpha[k]))
    kind = "trajectory_msgs/msg/MultiDOFJointTrajectoryPoint"
    return maker.make(kind, [pose], [twist], [accel], time)


def trajectory(maker: BagMaker, m: Motion, first: int, stop: int) -> Any:  # noqa: ANN401
    """Samples first to stop in one message."""
    ns = m.stamps
    points = [trajectory_point(maker, m, k, ns[k] - ns[first]) for k in range(first, stop)]
    kind = "trajectory_msgs/msg/MultiDOFJointTrajectory"
    return maker.make(kind, maker.header(ns[first]), ["base_link"], points)


def one_trajectory(maker: BagMaker, m: Motion) -> Topic:
    """The whole motion in one MultiDOFJointTrajectory."""
    message = trajectory(maker, m, 0, len(m.t))
    return "trajectory_msgs/msg/MultiDOFJointTrajectory", [(START_NS, message)]


def trajectory_per_sample(maker: BagMaker, m: Motion) -> Topic:
    """A MultiDOFJointTrajectory of one point for each sample."""
    messages = [(s, trajectory(maker, m, k, k + 1)) for k, s in enumerate(m.stamps)]
    return "trajectory_msgs/msg/MultiDOFJointTrajectory", messages


def receding_trajectories(maker: BagMaker, m: Motion) -> Topic:
    """Plans of 40 points, each replaced by the next after 10: what is replaced is wrong."""
    wrong = Motion(m.t, m.p + 1.0, m.q, m.v, m.w, m.a, m.alpha)
    kind, messages = "trajectory_msgs/msg/MultiDOFJointTrajectory", []
    for first in range(0, len(m.t), 10):
        message = trajectory(maker, m, first, min(first + 10, len(m.t)))
        if first + 10 < len(m.t):
            rest = range(first + 10, min(first + 40, len(m.t)))
            message.points.extend(
                trajectory_point(maker, wrong, k, m.stamps[k] - m.stamps[first]) for k in rest
            )
        messages.append((m.stamps[first], message))
    return kind, messages


def platform_reference(maker: BagMaker, m: Motion) -> Topic:
    """The suite's own reference."""
    messages = []
    wrench = maker.make("geometry_msgs/msg/Wrench", maker.xyz(np.zeros(3)), maker.xyz(np.zeros(3)))
    for k, stamp in enumerate(m.stamps):
        pose = maker.pose(m.p[k], m.q[k])
        twist, accel = maker.pair("Twist", m.v[k], m.w[k]), maker.pair("Accel", m.a[k], m.alpha[k])
        message = maker.make(
            REFERENCE, maker.header(stamp), k, 0, pose, twist, accel, wrench, np.zeros(3)
        )
        messages.append((stamp, message))
    return REFERENCE, messages


POSES = [
    pose_stamped,
    odometry,
    transform_stamped,
    one_trajectory,
    trajectory_per_sample,
    receding_trajectories,
]


@pytest.mark.slow
@pytest.mark.parametrize("make", POSES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_type_comes_back_from_every_format(
    bag_maker: Callable[[str], BagMaker], flight: Motion, kind: str, make: Callable[..., Topic]
) -> None:
    maker = bag_maker(kind)
    recorded = read_recorded(maker.write({"/command": make(maker, flight)}))
    assert_same_motion(recorded, flight)
    assert recorded.start_ns == START_NS
    assert (recorded.v_WP_W is not None) == (make not in (pose_stamped, transform_stamped))


@pytest.mark.slow
@pytest.mark.parametrize("make", [*POSES, platform_reference], ids=lambda make: make.__name__)
def test_ned_recordings_of_every_type_are_converted_when_asked(
    mcap: BagMaker, flight: Motion, make: Callable[..., Topic]
) -> None:
    path = mcap.write({"/command": make(mcap, as_ned(flight))})
    assert_same_motion(read_recorded(path, convention="ned"), flight)


@pytest.mark.parametrize("kind", ["sqlite3", "mcap"])
def test_the_suites_reference_is_read_with_the_definition_in_the_bag(
    bag_maker: Callable[[str], BagMaker], flight: Motion, kind: str
) -> None:
    maker = bag_maker(kind)
    recorded = read_recorded(maker.write({"/iap/reference": platform_reference(maker, flight)}))
    assert_same_motion(recorded, flight)
    np.testing.assert_allclose(recorded.alpha_WP_P, flight.alpha, atol=1e-12)


def euler_ned(m: Motion) -> Array:
    """Roll, pitch, yaw of the FRD body in NED."""
    return so3.euler_from_matrix(frames.swap_attitude(so3.matrix_from_quaternion(m.q)))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("topic", [None, "/nominal_position_0", "nominal_position_0"])
def test_pair_of_points_is_ned_by_default(
    bag_maker: Callable[[str], BagMaker], flight: Motion, kind: str, topic: str | None
) -> None:
    maker, m = bag_maker(kind), flight
    path = maker.write(
        {
            "/nominal_position_0": maker.points(m.stamps, frames.swap_world(m.p)),
            "/nominal_euler_angle_0": maker.points(m.stamps, euler_ned(m)),
            # The original simulator's other topics of the same type must not be taken for a pose.
            "/nominal_velocity_0": maker.points(m.stamps, m.v),
            "/initial_euler_angle_1": maker.points(m.stamps[:3], m.p[:3]),
        }
    )
    assert_same_motion(read_recorded(path, topic=topic), m)


def test_pair_of_points_can_be_enu(mcap: BagMaker, flight: Motion) -> None:
    angles = so3.euler_from_matrix(so3.matrix_from_quaternion(flight.q))
    path = mcap.write(
        {
            "/body/position": mcap.points(flight.stamps, flight.p),
            "/body/attitude": mcap.points(flight.stamps, angles),
        }
    )
    assert_same_motion(read_recorded(path, convention="enu"), flight)


def test_angles_are_interpolated_to_the_positions(mcap: BagMaker, flight: Motion) -> None:
    later = [
        stamp + 7_000_000 for stamp in flight.stamps
    ]  # the first one after the first position
    path = mcap.write(
        {
            "/nominal_position_0": mcap.points(later, frames.swap_world(flight.p)),
            "/nominal_euler_angle_0": mcap.points(flight.stamps, euler_ned(flight)),
        }
    )
    recorded = read_recorded(path)
    shifted = motion(flight.t + 0.007)
    error = so3.quaternion_log(so3.multiply(so3.conjugate(shifted.q), recorded.q_WP))
    # Great circles against a turning rate that changes by 2 rad/s^2: alpha dt^2 / 8.
    assert np.abs(error[:-1]).max() < 2.5 * 0.025**2 / 8.0


def test_partner_of_any_name_is_found_when_it_is_the_only_one(
    mcap: BagMaker, flight: Motion
) -> None:
    path = mcap.write(
        {
            "/a": mcap.points(flight.stamps, frames.swap_world(flight.p)),
            "/b": mcap.points(flight.stamps, euler_ned(flight)),
        }
    )
    assert_same_motion(read_recorded(path, topic="/a"), flight)


@pytest.mark.parametrize("kind", ["sqlite3", "mcap"])
def test_lone_storage_file_and_folder_without_metadata(
    bag_maker: Callable[[str], BagMaker], flight: Motion, kind: str
) -> None:
    maker = bag_maker(kind)
    folder = maker.write({"/command": maker.poses(flight)})
    (storage,) = (file for file in folder.iterdir() if file.suffix != ".yaml")
    assert_same_motion(read_recorded(storage), flight)
    (folder / "metadata.yaml").unlink()
    assert_same_motion(read_recorded(folder), flight)


def test_sqlite_recording_of_an_older_release_has_no_definitions(
    bag_maker: Callable[[str], BagMaker], flight: Motion, tmp_path: Path
) -> None:
    maker, path = bag_maker("sqlite3"), tmp_path / "old.db3"
    kind, messages = maker.poses(flight)
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
        "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);"
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
        "timestamp INTEGER NOT NULL, data BLOB NOT NULL);"
    )
    database.execute("INSERT INTO topics VALUES (1, '/command', ?, 'cdr', '')", (kind,))
    rows = [(stamp, bytes(maker.store.serialize_cdr(m, kind))) for stamp, m in messages]
    database.executemany("INSERT INTO messages VALUES (NULL, 1, ?, ?)", rows)
    database.commit()
    database.close()
    assert_same_motion(read_recorded(path), flight)
