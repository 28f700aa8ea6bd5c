# SPDX-License-Identifier: BSD-3-Clause
"""Poses in trees of frames, in paths and with covariances are read as what they mean."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flight_bags import BagMaker, Motion, motion
from refusals import refusal
from rosbags.typesys import get_types_from_msg

from iap_description.math import so3
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.transforms import _at, _Edge

TRANSFORM, TF = "geometry_msgs/msg/TransformStamped", "tf2_msgs/msg/TFMessage"
POSE, PATH = "geometry_msgs/msg/PoseStamped", "nav_msgs/msg/Path"
ARM = np.array([0.12, -0.05, 0.03])
NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.fixture
def moved() -> Motion:
    """Four seconds at 25 Hz."""
    return motion(np.arange(0.0, 4.0, 0.04))


def transform(maker: BagMaker, stamp: int, names: str, p: Any, q: Any) -> Any:  # noqa: ANN401
    """A TransformStamped; names are those of the frame and the body."""
    frame, child = names.split()
    placed = maker.make("geometry_msgs/msg/Transform", maker.xyz(p), maker.quaternion(q))
    message = maker.make(TRANSFORM, maker.header(stamp), child, placed)
    message.header.frame_id = frame
    return message


def drift(t: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """The frame of an odometry in the map, that slowly moves off."""
    zero, angle = 0.0 * t, 0.05 * t + 0.4
    p = np.stack([1.0 + 0.1 * t, 0.03 * t, zero], axis=-1)
    return p, np.stack([zero, zero, np.sin(0.5 * angle), np.cos(0.5 * angle)], axis=-1)


def tree(maker: BagMaker, m: Motion) -> Path:
    """A bag with map -> odom (5 Hz) -> base_link (25 Hz) -> imu (fixed)."""
    if TF not in maker.store.types:
        maker.store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TF))
    rows = []
    for k, stamp in enumerate(m.stamps):
        parts = [transform(maker, stamp, "odom base_link", m.p[k], m.q[k])]
        if k % 5 == 0 or k == len(m.t) - 1:
            parts.append(transform(maker, stamp, "map odom", *drift(m.t[k])))
        rows.append((stamp, maker.make(TF, parts)))
    fixed = maker.make(TF, [transform(maker, 0, "base_link imu", ARM, NO_TURN)])
    return maker.write({"/tf": (TF, rows), "/tf_static": (TF, [(m.stamps[0], fixed)])})


@pytest.mark.parametrize("kind", ["ros1", "mcap"])
def test_a_body_of_a_tree_of_frames_is_read_in_its_parent(
    bag_maker: Any,  # noqa: ANN401
    moved: Motion,
    kind: str,
) -> None:
    path = tree(bag_maker(kind), moved)
    text = refusal(read_recorded, path)
    assert "odom in map (21 samples), base_link in odom (100 samples)" in text
    recorded = read_recorded(path, body="base_link")
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-12)
    assert (recorded.about.body, recorded.about.frame) == ("base_link", "odom")
    assert "imu (fixed on base_link) on /tf" in recorded.about.others


def test_a_body_that_is_fixed_on_another_moves_with_it(mcap: BagMaker, moved: Motion) -> None:
    recorded = read_recorded(tree(mcap, moved), body="imu")
    np.testing.assert_allclose(recorded.p_WP_W, moved.p + so3.rotate(moved.q, ARM), atol=1e-12)
    assert (recorded.about.body, recorded.about.frame) == ("imu", "odom")


def test_a_chain_of_transforms_leads_to_the_frame_that_is_asked_for(
    mcap: BagMaker, moved: Motion
) -> None:
    recorded = read_recorded(tree(mcap, moved), topic="/tf:base_link", frame="map")
    p, q = drift(moved.t)
    np.testing.assert_allclose(recorded.p_WP_W, p + so3.rotate(q, moved.p), atol=1e-6)
    turned = so3.multiply(q, moved.q)
    same = np.abs(np.einsum("ki,ki->k", turned, recorded.q_WP))
    np.testing.assert_allclose(same, 1.0, atol=1e-9)


def test_frames_that_do_not_move_or_are_not_connected_are_named(
    mcap: BagMaker, moved: Motion
) -> None:
    path = tree(mcap, moved)
    assert "imu does not move in base_link" in refusal(
        read_recorded, path, body="imu", frame="base_link"
    )
    assert "from base_link to earth: base_link in odom in map" in refusal(
        read_recorded, path, body="base_link", frame="earth"
    )
    assert "--body rotor: it has" in refusal(read_recorded, path, body="rotor")


def test_a_tree_of_frames_is_no_rival_of_a_topic_of_poses(mcap: BagMaker, moved: Motion) -> None:
    rows = [
        (s, mcap.make(TF, [transform(mcap, s, "map cf3", p, q)]))
        for s, p, q in zip(moved.stamps, moved.p + 2.0, moved.q, strict=True)
    ]
    path = mcap.write({"/tf": (TF, rows), "/vicon/pose": mcap.poses(moved)})
    recorded = read_recorded(path)
    assert recorded.about.topic == "/vicon/pose"
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-12)
    np.testing.assert_allclose(read_recorded(path, topic="/tf").p_WP_W, moved.p + 2.0, atol=1e-12)


def path_message(maker: BagMaker, stamp: int, poses: list[Any]) -> Any:  # noqa: ANN401
    """A nav_msgs/Path."""
    return maker.make(PATH, maker.header(stamp), poses)


@pytest.mark.parametrize("shown", [10**6, 30, 1])
def test_a_path_that_grows_is_read_whole(mcap: BagMaker, moved: Motion, shown: int) -> None:
    """Also where it shows its latest poses alone."""
    _, poses = mcap.poses(moved)
    rows = [
        (stamp + 4_000_000, path_message(mcap, stamp, [m for _, m in poses[: k + 1]][-shown:]))
        for k, (stamp, _) in enumerate(poses)
    ]
    recorded = read_recorded(mcap.write({"/slam/path": (PATH, rows)}))
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-12)
    np.testing.assert_allclose(recorded.t, moved.t, atol=1e-8)


def test_a_path_whose_poses_have_no_stamps_is_read_by_its_messages(
    mcap: BagMaker, moved: Motion
) -> None:
    poses = [mcap.pose_stamped(0, p, q) for p, q in zip(moved.p, moved.q, strict=True)]
    rows = [
        (stamp, path_message(mcap, stamp, poses[: k + 1])) for k, stamp in enumerate(moved.stamps)
    ]
    recorded = read_recorded(mcap.write({"/path": (PATH, rows)}))
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-12)
    assert "have no stamps" in recorded.about.notes[0]
    planned = [(moved.stamps[0], path_message(mcap, moved.stamps[0], poses))]
    assert "says where, not when" in refusal(
        read_recorded, mcap.write({"/plan": (PATH, planned)}, "plan")
    )


def test_poses_with_covariances_are_read(mcap: BagMaker, moved: Motion) -> None:
    kind = "geometry_msgs/msg/PoseWithCovarianceStamped"
    rows = []
    for stamp, p, q in zip(moved.stamps, moved.p, moved.q, strict=True):
        sure = mcap.make("geometry_msgs/msg/PoseWithCovariance", mcap.pose(p, q), np.zeros(36))
        rows.append((stamp, mcap.make(kind, mcap.header(stamp), sure)))
    recorded = read_recorded(mcap.write({"/ekf/pose": (kind, rows)}))
    np.testing.assert_allclose(recorded.p_WP_W, moved.p, atol=1e-12)


@pytest.mark.parametrize("metadata", [None, "rosbag2_bagfile_information: ["])
def test_a_folder_whose_only_storage_file_is_damaged_is_refused_as_that_file_is(
    tmp_path: Path, metadata: str | None
) -> None:
    (tmp_path / "flight_0.db3").write_bytes(bytes(range(256)) * 20)
    if metadata is not None:
        (tmp_path / "metadata.yaml").write_text(metadata)
    said = refusal(read_recorded, tmp_path)
    assert said.startswith(f"{tmp_path}: not a readable rosbag: it is damaged")
    assert "flight_0.db3" in said


def test_a_bag_of_several_files_without_metadata_is_refused_with_the_remedy(
    mcap: BagMaker, moved: Motion
) -> None:
    path = mcap.write({"/pose": mcap.poses(moved)})
    storage = next(path.glob("*.mcap"))
    (path / "flight_1.mcap").write_bytes(storage.read_bytes())
    (path / "metadata.yaml").unlink()
    assert "'ros2 bag reindex' makes it" in refusal(read_recorded, path)
    assert len(read_recorded(storage).t) == len(moved.t)


def test_a_transform_at_any_time_is_between_its_samples_and_one_that_is_fixed_is_the_last():
    half = np.sqrt(0.5)
    poses = np.array([[0, 0, 0, 0, 0, 0, 1.0], [2, 4, 6, 0, 0, half, half]])
    stamps = np.array([0, 1_000_000_000])
    at = np.array([500_000_000, 1_050_000_000, 1_200_000_000, -150_000_000])
    found, covered = _at(_Edge(stamps, stamps, poses, False), at)
    turned = [0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8)]
    np.testing.assert_allclose(found[0], [1, 2, 3, *turned], atol=1e-9)
    assert covered.tolist() == [True, True, False, False]
    found, covered = _at(_Edge(stamps, stamps, poses, True), at)
    np.testing.assert_array_equal(found, np.tile(poses[-1], (4, 1)))
    assert covered.all()
