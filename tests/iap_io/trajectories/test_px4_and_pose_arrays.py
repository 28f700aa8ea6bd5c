# SPDX-License-Identifier: BSD-3-Clause
"""PX4's odometry, lists of bodies with and without names, and points without attitudes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flight_bags import BagMaker, Motion, motion
from rosbags.typesys import get_types_from_msg

from iap_description import frames
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.reader import read_recorded

ODOMETRY = "px4_msgs/msg/VehicleOdometry"
DEFINITION = """
uint64 timestamp
uint64 timestamp_sample
uint8 pose_frame
float32[3] position
float32[4] q
uint8 velocity_frame
float32[3] velocity
float32[3] angular_velocity
float32[3] position_variance
float32[3] orientation_variance
float32[3] velocity_variance
uint8 reset_counter
int8 quality
"""
NED, BODY_FRD = 1, 3
FLIPPED = np.array([1.0, -1.0, -1.0])
ARRAY = "geometry_msgs/msg/PoseArray"


@pytest.fixture
def moved() -> Motion:
    """Four seconds at 50 Hz."""
    return motion(np.arange(0.0, 4.0, 0.02))


def odometry(maker: BagMaker, m: Motion, frame: int, velocity: Any, **changes: Any) -> Path:  # noqa: ANN401
    """A bag of PX4's odometry, in NED with w first, its clock since start-up in microseconds."""
    maker.store.register(get_types_from_msg(DEFINITION, ODOMETRY))
    xyzw = so3.quaternion_from_matrix(frames.swap_attitude(so3.matrix_from_quaternion(m.q)))
    p, none = frames.swap_world(m.p), np.zeros(3, np.float32)
    rows = []
    for k, stamp in enumerate(m.stamps):
        now = 5_000_000 + round(m.t[k] * 1e6)
        numbers = (p[k], xyzw[k, [3, 0, 1, 2]], velocity[k], m.w[k] * FLIPPED)
        place, q, v, w = (each.astype(np.float32) for each in numbers)
        message = maker.make(
            ODOMETRY, now + 300, now, NED, place, q, frame, v, w, none, none, none, 0, 1
        )
        for name, value in changes.items():
            setattr(message, name, value)
        rows.append((stamp, message))
    return maker.write({"/fmu/out/vehicle_odometry": (ODOMETRY, rows)})


@pytest.mark.parametrize("frame", [NED, BODY_FRD])
def test_odometry_of_px4_is_the_motion_in_enu(mcap: BagMaker, moved: Motion, frame: int) -> None:
    in_world = frames.swap_world(moved.v)
    in_body = so3.rotate(so3.conjugate(moved.q), moved.v) * FLIPPED
    path = odometry(mcap, moved, frame, in_world if frame == NED else in_body)
    recorded = read_recorded(path, mounting="none")
    assert recorded.about.convention == "ned"
    np.testing.assert_allclose(recorded.t, moved.t, atol=1e-6)
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-5)
    turned = so3.multiply(so3.conjugate(recorded.q_WP), moved.q)
    assert np.abs(so3.quaternion_log(turned)).max() < 1e-6
    np.testing.assert_allclose(recorded.v_WP_W, moved.v, atol=1e-5)
    np.testing.assert_allclose(recorded.w_WP_P, moved.w, atol=1e-5)


def test_what_px4_does_not_know_is_not_read(mcap: BagMaker, moved: Motion) -> None:
    path = odometry(mcap, moved, NED, moved.v, angular_velocity=np.full(3, np.nan, np.float32))
    assert read_recorded(path).w_WP_P is None


def test_odometry_in_a_frame_without_a_name_is_refused(mcap: BagMaker, moved: Motion) -> None:
    path = odometry(mcap, moved, NED, moved.v, pose_frame=0)
    with pytest.raises(BadInput, match=r"message 0: pose_frame is 0: neither NED \(1\) nor FRD"):
        read_recorded(path)


def arrays(maker: BagMaker, m: Motion, bodies: int) -> Path:
    """A bag of arrays of poses, the last of which moves; the others stand."""
    rows = []
    for stamp, p, q in zip(m.stamps, m.p, m.q, strict=True):
        still = [maker.pose(np.array([float(k), 0.0, 1.0]), m.q[0]) for k in range(bodies - 1)]
        rows.append((stamp, maker.make(ARRAY, maker.header(stamp), [*still, maker.pose(p, q)])))
    return maker.write({"/bodies": (ARRAY, rows)})


def test_the_one_body_of_an_array_is_read(mcap: BagMaker, moved: Motion) -> None:
    recorded = read_recorded(arrays(mcap, moved, 1))
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-12)
    assert recorded.about.body == "0"


def test_of_several_bodies_in_an_array_one_is_chosen_by_its_place(
    mcap: BagMaker, moved: Motion
) -> None:
    path = arrays(mcap, moved, 3)
    with pytest.raises(
        BadInput, match=r"3 bodies; choose one with --body: 0 in map \(200 samples\)"
    ):
        read_recorded(path)
    np.testing.assert_allclose(read_recorded(path, body="2").p_WP_W, moved.p, atol=1e-12)
    with pytest.raises(BadInput, match="--body 3: it has 0 in map"):
        read_recorded(path, body="3")


def test_an_array_is_no_rival_of_a_topic_of_poses(mcap: BagMaker, moved: Motion) -> None:
    rows = [
        (stamp, mcap.make(ARRAY, mcap.header(stamp), [mcap.pose(p + 1.0, q)]))
        for stamp, p, q in zip(moved.stamps, moved.p, moved.q, strict=True)
    ]
    path = mcap.write({"/particles": (ARRAY, rows), "/robot/pose": mcap.poses(moved)})
    recorded = read_recorded(path)
    assert recorded.about.topic == "/robot/pose"
    assert "/particles" in recorded.about.others


NAMED = {
    "mocap_msgs/msg/RigidBodies": (
        "std_msgs/Header header\nuint32 frame_number\nmocap_msgs/RigidBody[] rigidbodies\n",
        "mocap_msgs/msg/RigidBody",
        "string rigid_body_name\ngeometry_msgs/Pose pose\n",
    ),
    "motion_capture_tracking_interfaces/msg/NamedPoseArray": (
        "std_msgs/Header header\nmotion_capture_tracking_interfaces/NamedPose[] poses\n",
        "motion_capture_tracking_interfaces/msg/NamedPose",
        "string name\ngeometry_msgs/Pose pose\n",
    ),
}


@pytest.mark.parametrize("kind", NAMED)
def test_bodies_of_motion_capture_are_chosen_by_their_names(
    mcap: BagMaker, moved: Motion, kind: str
) -> None:
    whole, part, body = NAMED[kind]
    types = get_types_from_msg(body, part) | get_types_from_msg(whole, kind)
    mcap.store.register(types)
    rows = []
    for stamp, p, q in zip(moved.stamps, moved.p, moved.q, strict=True):
        bodies = [mcap.make(part, n, mcap.pose(x, q)) for n, x in (("box", p + 1.0), ("uav", p))]
        count = [1] if "frame_number" in whole else []
        rows.append((stamp, mcap.make(kind, mcap.header(stamp), *count, bodies)))
    path = mcap.write({"/rigid_bodies": (kind, rows)})
    with pytest.raises(BadInput, match="2 bodies; choose one with --body: box in map"):
        read_recorded(path)
    np.testing.assert_allclose(read_recorded(path, body="uav").p_WP_W, moved.p, atol=1e-12)


def test_points_with_stamps_are_flown_level_and_give_way_to_poses(
    mcap: BagMaker, moved: Motion
) -> None:
    kind = "geometry_msgs/msg/PointStamped"
    rows = [
        (stamp, mcap.make(kind, mcap.header(stamp), mcap.point(p)))
        for stamp, p in zip(moved.stamps, moved.p, strict=True)
    ]
    alone = read_recorded(mcap.write({"/leica/position": (kind, rows)}, "alone"))
    np.testing.assert_allclose(alone.p_WP_W, moved.p, atol=1e-12)
    np.testing.assert_array_equal(alone.q_WP, np.tile([0.0, 0.0, 0.0, 1.0], (len(rows), 1)))
    assert "geometry_msgs/PointStamped has no attitude: level" in alone.about.notes
    both = mcap.write({"/leica/position": (kind, rows), "/a/pose": mcap.poses(moved)}, "both")
    assert read_recorded(both).about.topic == "/a/pose"


def test_a_bag_without_poses_is_refused_with_what_to_record(mcap: BagMaker, moved: Motion) -> None:
    kind = "geometry_msgs/msg/Twist"
    zero = mcap.xyz(np.zeros(3))
    path = mcap.write(
        {"/cmd_vel": (kind, [(s, mcap.make(kind, zero, zero)) for s in moved.stamps])}
    )
    with pytest.raises(BadInput, match=r"no topic with poses; it holds /cmd_vel .* record one of"):
        read_recorded(path)
