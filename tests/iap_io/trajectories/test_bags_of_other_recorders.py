# SPDX-License-Identifier: BSD-3-Clause
"""Bags of other recorders, and of trackers and simulations that stopped, began anew or lost the body."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import mcap.writer
import numpy as np
import pytest
from flight_bags import START_NS, BagMaker, Motion, motion
from numpy.typing import NDArray
from refusals import refusal

from iap_bringup.fuzz.made_bags import POSE, BagSample, MadeBags
from iap_control.references.motions import Replay
from iap_control.references.replay import commanded
from iap_description.earth import GRAVITY
from iap_description.math import euler, so3
from iap_io.trajectories.reader import read_recorded

Array = NDArray[np.float64]
ODOMETRY = "nav_msgs/msg/Odometry"


@pytest.fixture
def multirotor() -> Motion:
    """Eight seconds at 50 Hz of what tilts to accelerate."""
    t = np.arange(0.0, 8.0, 0.02)
    m, slow = motion(0.6 * t), 0.6
    z = slow**2 * m.a + [0.0, 0.0, GRAVITY]
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    yaw = 0.5 + 0.1 * t
    y = np.cross(z, np.stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw], axis=1))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    q = so3.quaternion_from_matrix(np.stack([np.cross(y, z), y, z], axis=2))
    return Motion(t, m.p, q, slow * m.v, slow * m.w, slow**2 * m.a, slow**2 * m.alpha)


def with_pose(m: Motion, p: Array, q: Array) -> Motion:
    """The motion with other numbers."""
    return Motion(m.t, p, q, m.v, m.w, m.a, m.alpha)


def at(m: Motion, index: Array) -> Motion:
    """The motion's times with the poses of other samples."""
    return with_pose(m, m.p[index], m.q[index])


# --- files ---------------------------------------------------------------------------------------


def test_messages_that_a_recorder_left_in_its_journal_are_read(
    bag_maker: Callable[[str], BagMaker], multirotor: Motion, tmp_path: Path
) -> None:
    """sqlite3's write-ahead log holds what was not yet moved into the file when the recorder was killed."""
    maker = bag_maker("sqlite3")
    path = maker.write({"/vicon/pose": maker.poses(multirotor)})
    killed = tmp_path / "killed"
    with closing(sqlite3.connect(next(path.glob("*.db3")))) as database:
        late = "FROM messages WHERE timestamp > ?", (START_NS + 4 * 10**9,)
        rows = database.execute(f"SELECT * {late[0]}", late[1]).fetchall()
        database.execute(f"DELETE {late[0]}", late[1])
        database.commit()
        database.execute("PRAGMA journal_mode = WAL")
        places = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO messages VALUES ({places})", rows)
        database.commit()
        shutil.copytree(path, killed)
    assert next(killed.glob("*-wal")).stat().st_size
    for opened in (killed, next(killed.glob("*.db3"))):
        recorded = read_recorded(opened)
        np.testing.assert_allclose(recorded.p_WP_W, multirotor.p, atol=1e-12)
        assert any("-wal beside" in note for note in recorded.about.notes)
    assert next(killed.glob("*-wal")).stat().st_size  # the bag itself is as it was


def written(maker: BagMaker, m: Motion, path: Path, profile: str, kind: str) -> Path:
    """An mcap file as other libraries write it."""
    text = maker.store.generate_msgdef(POSE, ros_version=2)[0].encode()
    with path.open("wb") as file:
        writer = mcap.writer.Writer(file)
        writer.start(profile, "another library")
        schema = writer.register_schema(kind, "ros2msg", text)
        channel = writer.register_channel("/vicon/pose", "cdr", schema)
        for stamp, message in maker.poses(m)[1]:
            data = bytes(maker.store.serialize_cdr(message, POSE))
            writer.add_message(channel, log_time=stamp, publish_time=stamp, data=data)
        writer.finish()
    return path


def test_an_mcap_file_without_a_profile_is_read_and_one_of_ros_1_is_called_so(
    mcap: BagMaker, multirotor: Motion, tmp_path: Path
) -> None:
    recorded = read_recorded(written(mcap, multirotor, tmp_path / "a.mcap", "", POSE))
    np.testing.assert_allclose(recorded.p_WP_W, multirotor.p, atol=1e-12)
    assert "a.mcap names no profile: taken as ROS 2's" in recorded.about.notes
    text = refusal(read_recorded, written(mcap, multirotor, tmp_path / "b.mcap", "ros1", POSE))
    assert "'ros1', not of ROS 2: convert it" in text and "damaged" not in text


def test_a_types_name_may_lack_its_middle_part(
    mcap: BagMaker, multirotor: Motion, tmp_path: Path
) -> None:
    path = written(mcap, multirotor, tmp_path / "a.mcap", "ros2", "geometry_msgs/PoseStamped")
    np.testing.assert_allclose(read_recorded(path).p_WP_W, multirotor.p, atol=1e-12)


def test_a_folder_of_bags_of_ros_1_names_them(
    bag_maker: Callable[[str], BagMaker], multirotor: Motion, tmp_path: Path
) -> None:
    maker = bag_maker("ros1")
    maker.write({"/vicon/pose": maker.poses(multirotor)}, "flight_0")
    assert "bags of ROS 1: name one of its 1 ('flight_0.bag')" in refusal(read_recorded, tmp_path)


def test_a_data_sets_folder_is_no_bag_and_its_true_poses_are_named(tmp_path: Path) -> None:
    for name in ("cam0", "imu0", "vicon0"):
        (tmp_path / "mav0" / name).mkdir(parents=True)
        (tmp_path / "mav0" / name / "data.csv").write_text("#timestamp [ns]\n")
    text = refusal(read_recorded, tmp_path)
    assert f"({tmp_path / 'mav0/vicon0/data.csv'}), or 'iap localize" in text


def test_a_type_of_another_release_is_refused_by_the_field_that_it_lacks(tmp_path: Path) -> None:
    """px4_msgs had ``local_frame`` and x, y, z before ``pose_frame`` and ``position``."""
    kind = "px4_msgs/msg/VehicleOdometry"
    text = (
        "uint64 timestamp\nuint64 timestamp_sample\nuint8 local_frame\nfloat32 x\nfloat32[4] q\n"
    )
    maker = MadeBags(tmp_path, "mcap", {kind: text})
    q = np.array([1.0, 0.0, 0.0, 0.0], np.float32)
    samples = (
        BagSample(START_NS + k * 10**7, "/odometry", kind, maker.make(kind, k, k, 0, 0.1 * k, q))
        for k in range(50)
    )
    text = refusal(read_recorded, maker.write_samples(samples, "old"))
    assert "its type has no field 'pose_frame' in this bag" in text and "--topic" in text


# --- simulations and trackers --------------------------------------------------------------------


@pytest.mark.parametrize("later_ms", [0, 7])
@pytest.mark.parametrize("runs", [2, 3])
def test_a_simulation_that_begins_anew_is_not_woven_into_one_run(
    mcap: BagMaker, multirotor: Motion, runs: int, later_ms: int
) -> None:
    """The same flight again: its samples lie beside those of the run before, at the same header stamps."""
    each = len(multirotor.t) // runs
    index = np.arange(runs * each) % each
    stamps = [1_000_000_000 + 20_000_000 * int(k) for k in index]
    stamps = [s + 1_000_000 * later_ms * (i // each) for i, s in enumerate(stamps)]
    rows = [
        (received, mcap.pose_stamped(stamp, multirotor.p[k], multirotor.q[k]))
        for received, stamp, k in zip(multirotor.stamps, stamps, index, strict=False)
    ]
    path = mcap.write({"/odom": (POSE, rows)})
    recorded = read_recorded(path, bridge=9.0, max_speed=5.0)
    assert len(recorded.t) == runs * each and recorded.clock == "bag"
    np.testing.assert_allclose(recorded.p_WP_W[:each], multirotor.p[:each], atol=1e-12)
    assert any("header stamps jump back" in note for note in recorded.about.notes)
    alone = read_recorded(path, end=0.02 * each - 0.03)
    np.testing.assert_allclose(alone.p_WP_W, multirotor.p[: each - 1], atol=1e-12)


@pytest.mark.parametrize("end", ["first", "last"])
def test_a_tracker_that_stands_still_at_an_end_is_left_out(
    mcap: BagMaker, multirotor: Motion, end: str
) -> None:
    k = 170
    assert np.linalg.norm(multirotor.v[k]) > 0.6
    index = np.arange(400)
    index = np.minimum(index, k) if end == "last" else np.maximum(index, k)
    recorded = read_recorded(mcap.write({"/vicon/pose": mcap.poses(at(multirotor, index))}))
    moved = multirotor.p[: k + 1] if end == "last" else multirotor.p[k:]
    np.testing.assert_allclose(recorded.p_WP_W, moved, atol=1e-12)
    assert any(f"the {end} " in note and "stood still" in note for note in recorded.about.notes)


def test_a_body_that_waits_and_set_points_that_stop_are_no_such_tracker(
    mcap: BagMaker, multirotor: Motion
) -> None:
    t = multirotor.t
    s = np.clip((t - 2.0) / 4.0, 0.0, 1.0)
    p = np.array([0.0, 0.0, 1.5]) + (6.0 * s**5 - 15.0 * s**4 + 10.0 * s**3)[:, None] * [1.0, 0, 0]
    level = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    eased = with_pose(multirotor, p, level)
    ramped = np.column_stack([np.clip(t - 2.0, 0.0, 4.0), 0.0 * t, 0.0 * t + 1.5])
    ramp = with_pose(multirotor, ramped, level)
    for name, m in (("eased", eased), ("ramp", ramp)):
        recorded = read_recorded(mcap.write({"/vicon/pose": mcap.poses(m)}, name))
        assert len(recorded.t) == len(t)


@pytest.mark.parametrize(
    ("kind", "share"), [("odometry", 0.1), ("odometry", 1.0), ("covariance", 0.1)]
)
def test_samples_that_their_covariance_calls_lost_are_left_out(
    mcap: BagMaker, multirotor: Motion, kind: str, share: float
) -> None:
    """Visual odometries go on publishing with 9999 m^2 where they have lost the scene."""
    lost = np.arange(400) < 400 * share if share == 1.0 else np.abs(np.arange(400) - 220) < 20
    p = multirotor.p + np.where(lost, 0.01 * (np.arange(400) - 200), 0.0)[:, None] * [
        share < 1,
        0,
        0,
    ]
    make, types = mcap.make, "geometry_msgs/msg/"
    rows: list[tuple[int, Any]] = []
    for stamp, place, q, is_lost in zip(multirotor.stamps, p, multirotor.q, lost, strict=True):
        covariance = np.eye(6).ravel() * (9999.0 if is_lost else 1e-3)
        pose = make(f"{types}PoseWithCovariance", mcap.pose(place, q), covariance)
        header = mcap.header(stamp)
        if kind == "odometry":
            zero = mcap.pair("Twist", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            twist = make(f"{types}TwistWithCovariance", zero, np.zeros(36))
            message = make(ODOMETRY, header, "base_link", pose, twist)
        else:
            message = make(f"{types}PoseWithCovarianceStamped", header, pose)
        rows.append((stamp, message))
    msgtype = ODOMETRY if kind == "odometry" else f"{types}PoseWithCovarianceStamped"
    recorded = read_recorded(mcap.write({"/vo": (msgtype, rows)}))
    kept = multirotor.p if share == 1.0 else multirotor.p[~lost]
    np.testing.assert_allclose(recorded.p_WP_W, kept, atol=1e-12)
    said = "throughout" if share == 1.0 else "39 samples left out that their covariances call off"
    assert any(said in note for note in recorded.about.notes)


# --- mounting and cover --------------------------------------------------------------------------


@pytest.mark.parametrize("angles", [(0.0, 45.0), (-40.0, 0.0), (25.0, -30.0)])
def test_a_camera_that_is_mounted_with_a_tilt_is_asked_about_and_turned_level(
    mcap: BagMaker, multirotor: Motion, angles: tuple[float, float]
) -> None:
    """The axis along which it is pushed is not the body's z axis; the option that is named makes it that."""
    R_PB = euler.matrix_from_rpy_deg([*angles, 0.0])
    R = so3.matrix_from_quaternion(multirotor.q) @ R_PB
    m = with_pose(multirotor, multirotor.p, so3.quaternion_from_matrix(R))
    path = mcap.write({"/vicon/pose": mcap.poses(m)})
    text = refusal(read_recorded, path)
    option = f"--mounting={angles[0]:.0f},{angles[1]:.0f},0"
    assert option in text and "--mounting none keeps it" in text
    recorded = read_recorded(path, mounting=option.partition("=")[2])
    z = so3.matrix_from_quaternion(recorded.q_WP)[:, :, 2]
    expected = so3.matrix_from_quaternion(multirotor.q)[:, :, 2]
    np.testing.assert_allclose(z, expected, atol=0.02)
    assert len(read_recorded(path, mounting="none").t) == 400


def test_a_lean_that_wind_may_make_is_noted(mcap: BagMaker, multirotor: Motion) -> None:
    R = so3.matrix_from_quaternion(multirotor.q) @ euler.matrix_from_rpy_deg([0.0, 12.0, 0.0])
    m = with_pose(multirotor, multirotor.p, so3.quaternion_from_matrix(R))
    (note,) = read_recorded(mcap.write({"/vicon/pose": mcap.poses(m)})).about.notes
    assert note.startswith("its body is tilted by 12 deg all along") and "wind" in note


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_flight_that_was_recorded_in_part_is_said_to_be(
    mcap: BagMaker, multirotor: Motion, share: float
) -> None:
    command = mcap.poses(multirotor)
    rows = [(stamp + 1, message) for stamp, message in command[1][: round(share * 400)]]
    path = mcap.write({"/command/pose": command, "/vicon/pose": (POSE, rows)})
    notes = commanded(
        Replay(type="replay", path=str(path), actual_topic="/vicon/pose")
    ).about.notes
    assert any("recorded from 0.00 to 2.38 s of the command's 7.98 s" in x for x in notes) == (share < 1.0)  # fmt: skip
