# SPDX-License-Identifier: BSD-3-Clause
"""Bags of others: what is in them is understood and shown, or refused with the option that mends it."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from flight_bags import START_NS, BagMaker, Motion, motion
from numpy.typing import NDArray
from refusals import refusal

from iap_control.references.motions import Replay
from iap_control.references.replay import RecordedCommand, commanded
from iap_description import frames
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.headings import headings
from iap_io.trajectories.reader import read_recorded

Array = NDArray[np.float64]
Rows = list[tuple[int, Any]]
POSE, TRANSFORM = "geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/TransformStamped"


@pytest.fixture
def calm() -> Motion:
    """Four seconds at 50 Hz, at up to 1 m/s and level."""
    t = np.arange(0.0, 4.0, 0.02)
    m = motion(0.3 * t)
    return Motion(t, m.p, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)), m.v, m.w, m.a, m.alpha)


def poses(
    maker: BagMaker, m: Motion, headers: list[int] | None = None, frame: str = "map"
) -> Rows:
    """Messages of PoseStamped with their times of reception."""
    rows = []
    for received, header, p, q in zip(m.stamps, headers or m.stamps, m.p, m.q, strict=True):
        message = maker.pose_stamped(header, p, q)
        message.header.frame_id = frame
        rows.append((received, message))
    return rows


def transforms(maker: BagMaker, m: Motion, child: str, later: int = 0) -> Rows:
    """Messages of TransformStamped of one body."""
    rows = []
    for stamp, p, q in zip(m.stamps, m.p, m.q, strict=True):
        placed = maker.make("geometry_msgs/msg/Transform", maker.xyz(p), maker.quaternion(q))
        message = maker.make(TRANSFORM, maker.header(stamp + later), child, placed)
        rows.append((stamp + later, message))
    return rows


def shifted(m: Motion, p: Array) -> Motion:
    """The motion with other positions."""
    return Motion(m.t, p, m.q, m.v, m.w, m.a, m.alpha)


def replayed(path: Path, **keys: Any) -> RecordedCommand:
    """The command of a recording."""
    return commanded(Replay(type="replay", path=str(path), **keys))


# --- bodies and topics --------------------------------------------------------------------------


@pytest.mark.parametrize("later", [0, 1_500_000])
def test_bodies_of_one_topic_are_distinguished_by_their_names(
    mcap: BagMaker, calm: Motion, later: int
) -> None:
    stand = shifted(calm, np.tile([4.0, 4.0, 1.0], (len(calm.t), 1)))
    rows = sorted(
        transforms(mcap, stand, "stand") + transforms(mcap, calm, "cf7", later),
        key=lambda row: row[0],
    )
    path = mcap.write({"/vicon/transforms": (TRANSFORM, rows)})
    text = refusal(read_recorded, path)
    assert "2 bodies; choose one with --body: cf7 in map (200 samples), stand in map" in text
    for keys in ({"body": "cf7"}, {"topic": "/vicon/transforms:cf7"}):
        recorded = read_recorded(path, **keys)
        np.testing.assert_allclose(recorded.p_WP_W, calm.p, atol=1e-12)
        assert (recorded.about.body, recorded.about.frame) == ("cf7", "map")
        assert recorded.about.others == ("stand in map on /vicon/transforms",)
    assert "--body cf8: it has cf7 in map" in refusal(read_recorded, path, body="cf8")


def test_the_world_as_a_body_of_the_vehicle_is_turned_round(mcap: BagMaker, calm: Motion) -> None:
    q = so3.quaternion_exp(np.outer(calm.t, [0.02, -0.03, 0.4]))
    inverse = so3.conjugate(q)
    turned = Motion(calm.t, -so3.rotate(inverse, calm.p), inverse, *[calm.v] * 4)
    rows = transforms(mcap, turned, "world")
    for _, message in rows:
        message.header.frame_id = "cf7"
    recorded = read_recorded(mcap.write({"/pose": (TRANSFORM, rows)}))
    np.testing.assert_allclose(recorded.p_WP_W, calm.p, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(recorded.q_WP * q, axis=1)), 1.0, atol=1e-12)
    assert (recorded.about.body, recorded.about.frame) == ("cf7", "world")
    assert recorded.about.notes == ("poses of world in cf7: inverted",)


def test_poses_in_two_frames_are_distinguished(mcap: BagMaker, calm: Motion) -> None:
    rows = poses(mcap, calm) + poses(mcap, shifted(calm, calm.p + 5.0), frame="odom")
    path = mcap.write({"/pose": (POSE, rows)})
    assert "choose one with --frame" in refusal(read_recorded, path)
    np.testing.assert_allclose(read_recorded(path, frame="map").p_WP_W, calm.p, atol=1e-12)


@pytest.mark.parametrize("later", [0, 3_000_000, 10_000_000])
def test_two_bodies_without_names_are_not_woven_into_one(
    mcap: BagMaker, calm: Motion, later: int
) -> None:
    stamps = [stamp + later for stamp in calm.stamps]
    other = [
        (s, mcap.pose_stamped(s, p + [0.7, 0, 0], q))
        for s, p, q in zip(stamps, calm.p, calm.q, strict=True)
    ]
    rows = sorted(poses(mcap, calm) + other, key=lambda row: row[0])
    assert "two bodies" in refusal(read_recorded, mcap.write({"/pose": (POSE, rows)}))


# --- clocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [-0.8, 3.7, 111.7, 1_690_000_000.0])
def test_a_truth_by_another_clock_is_compared_by_the_times_of_reception(
    mcap: BagMaker, calm: Motion, apart: float
) -> None:
    headers = [stamp - round(apart * 1e9) for stamp in calm.stamps]
    late = [(stamp + 5_000_000, message) for stamp, message in poses(mcap, calm, headers)]
    path = mcap.write({"/command/pose": (POSE, poses(mcap, calm)), "/vicon/pose": (POSE, late)})
    command = replayed(path, actual_topic="/vicon/pose")
    assert command.actual is not None
    np.testing.assert_allclose(command.actual.t - command.commanded.t, 0.005, atol=1e-6)
    assert "these are used" in " ".join(command.about.notes)


def test_stamps_a_little_apart_count_and_are_noted(mcap: BagMaker, calm: Motion) -> None:
    headers = [stamp + 60_000_000 for stamp in calm.stamps]
    early = [(stamp + 4_000_000, message) for stamp, message in poses(mcap, calm, headers)]
    path = mcap.write({"/command/pose": (POSE, poses(mcap, calm)), "/vicon/pose": (POSE, early)})
    command = replayed(path, actual_topic="/vicon/pose")
    assert command.actual is not None
    np.testing.assert_allclose(command.actual.t - command.commanded.t, 0.06, atol=1e-6)
    assert "0.056 s ahead of the command's" in " ".join(command.about.notes)
    assert "--clock bag" in " ".join(command.about.notes)


def test_a_truth_at_other_times_is_refused(mcap: BagMaker, calm: Motion) -> None:
    later = [stamp + 60 * 10**9 for stamp in calm.stamps]
    late = list(zip(later, (row[1] for row in poses(mcap, calm, later)), strict=True))
    path = mcap.write({"/command/pose": (POSE, poses(mcap, calm)), "/vicon/pose": (POSE, late)})
    with pytest.raises(BadInput, match="they do not overlap"):
        replayed(path, actual_topic="/vicon/pose")


@pytest.mark.parametrize("step", [-0.1, -0.04, 0.03, 0.5, 7.0])
def test_header_stamps_that_step_and_stay_give_way_to_the_times_of_reception(
    mcap: BagMaker, calm: Motion, step: float
) -> None:
    headers = [stamp + round(1e9 * step * (k > 90)) for k, stamp in enumerate(calm.stamps)]
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, calm, headers))}))
    np.testing.assert_allclose(recorded.t, calm.t, atol=1e-8)
    assert recorded.about.clock == "bag"
    assert f"by {abs(step):.3f} s at t = 1.820 s and stay there" in recorded.about.notes[0]


def test_a_receiver_that_steps_leaves_the_header_stamps(mcap: BagMaker, calm: Motion) -> None:
    rows = poses(mcap, calm)
    late = [(stamp + 150_000_000 * (k > 90), row) for k, (stamp, row) in enumerate(rows)]
    recorded = read_recorded(mcap.write({"/pose": (POSE, late)}))
    assert recorded.about.clock == "header"
    np.testing.assert_allclose(recorded.t, calm.t, atol=1e-8)


def test_late_messages_are_no_step_of_a_clock(mcap: BagMaker, calm: Motion) -> None:
    late = [
        (s + 60_000_000 * (k in (50, 51, 52)), m) for k, (s, m) in enumerate(poses(mcap, calm))
    ]
    recorded = read_recorded(mcap.write({"/pose": (POSE, sorted(late, key=lambda row: row[0]))}))
    assert recorded.about.clock == "header"
    np.testing.assert_allclose(recorded.t, calm.t, atol=1e-8)


@pytest.mark.parametrize("rate", [0.985, 1.012])
def test_a_clock_that_drifts_gets_the_receivers_rate(
    mcap: BagMaker, calm: Motion, rate: float
) -> None:
    headers = [START_NS - 10**12 + round(1e9 * rate * t) for t in calm.t]
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, calm, headers))}))
    np.testing.assert_allclose(recorded.t, calm.t, atol=2e-3)
    assert "against the times of reception" in recorded.about.notes[0]


def test_a_slow_simulation_keeps_its_own_time(mcap: BagMaker, calm: Motion) -> None:
    headers = [round(1e9 * t) for t in calm.t]
    slow = [
        (START_NS + 3 * header, row[1])
        for header, row in zip(headers, poses(mcap, calm, headers), strict=True)
    ]
    recorded = read_recorded(mcap.write({"/pose": (POSE, slow)}))
    np.testing.assert_allclose(recorded.t, calm.t, atol=1e-8)
    assert "a simulation's or a player's" in recorded.about.notes[0]


def test_a_lone_first_sample_of_another_time_is_left_out(mcap: BagMaker, calm: Motion) -> None:
    headers = [stamp - 10**18 * (k == 0) for k, stamp in enumerate(calm.stamps)]
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, calm, headers))}))
    np.testing.assert_allclose(recorded.p_WP_W, calm.p[1:], atol=1e-12)
    assert "the first sample was left out" in recorded.about.notes[0]


def test_a_long_gap_is_bridged_or_cut_off_when_that_is_asked_for(
    mcap: BagMaker, calm: Motion
) -> None:
    rows = [row for row, t in zip(poses(mcap, calm), calm.t, strict=True) if not 1.0 < t < 2.5]
    path = mcap.write({"/pose": (POSE, rows)})
    text = refusal(read_recorded, path)
    assert "--bridge 1.5" in text
    assert "--to 1.000 or --from 2.500" in text
    assert read_recorded(path, bridge=1.5).duration == pytest.approx(calm.t[-1])
    assert read_recorded(path, end=1.0).duration == pytest.approx(1.0)
    assert read_recorded(path, begin=2.5).duration == pytest.approx(calm.t[-1] - 2.5)


# --- units, axes, leaps -------------------------------------------------------------------------


@pytest.mark.parametrize(("unit", "scale"), [(1000.0, 0.001), (100.0, 0.01)])
def test_positions_in_another_unit_are_refused_with_the_scale_that_mends_them(
    mcap: BagMaker, flight: Motion, unit: float, scale: float
) -> None:
    path = mcap.write({"/pose": (POSE, poses(mcap, shifted(flight, unit * flight.p)))})
    assert f"--scale {scale}" in refusal(read_recorded, path)
    recorded = read_recorded(path, scale=scale)
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=1e-12)
    assert recorded.about.scale == scale


@pytest.mark.parametrize(
    ("topic", "frame"), [("/drone_1/odom_local_ned", "odom"), ("/pose", "map_ned")]
)
def test_ned_in_a_name_sets_the_convention_and_is_shown(
    mcap: BagMaker, flight: Motion, topic: str, frame: str
) -> None:
    R = frames.swap_attitude(so3.matrix_from_quaternion(flight.q))
    p, q = frames.swap_world(flight.p), so3.quaternion_from_matrix(R)
    ned = Motion(flight.t, p, q, flight.v, flight.w, flight.a, flight.alpha)
    path = mcap.write({topic: (POSE, poses(mcap, ned, frame=frame))})
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=1e-9)
    assert "--convention enu, if it is not" in recorded.about.notes[0]


@pytest.mark.parametrize("upside", ["wxyz", "frd"])
def test_a_body_that_starts_on_its_head_is_refused_with_remedies(
    mcap: BagMaker, calm: Motion, upside: str
) -> None:
    q = calm.q[:, [3, 0, 1, 2]] if upside == "wxyz" else np.tile([1.0, 0.0, 0.0, 0.0], (200, 1))
    turned = Motion(calm.t, calm.p, q, calm.v, calm.w, calm.a, calm.alpha)
    path = mcap.write({"/pose": (POSE, poses(mcap, turned))})
    text = refusal(read_recorded, path)
    assert "--convention ned" in text and "--mounting rest" in text
    recorded = read_recorded(path, mounting="rest")
    np.testing.assert_allclose(np.abs(recorded.q_WP[:, 3]), 1.0, atol=1e-9)
    by_angles = read_recorded(path, mounting="180,0,0")
    np.testing.assert_allclose(np.abs(by_angles.q_WP[:, 3]), 1.0, atol=1e-9)


@pytest.mark.parametrize(
    ("size", "samples"), [(0.4, (60,)), (0.4, (60, 120)), (3.7, (60, 61)), (60.0, (0, 150))]
)
def test_samples_that_leap_away_and_back_are_left_out_and_counted(
    mcap: BagMaker, calm: Motion, size: float, samples: tuple[int, ...]
) -> None:
    p = calm.p.copy()
    p[list(samples)] += size * np.array([0.8, -0.6, 0.0])
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, p)))}))
    np.testing.assert_allclose(recorded.p_WP_W, np.delete(calm.p, samples, axis=0), atol=1e-12)
    assert recorded.about.notes[0].startswith(f"{len(samples)} sample")


def test_samples_that_repeat_a_place_are_stale_where_the_body_moves(
    mcap: BagMaker, calm: Motion
) -> None:
    p = calm.p.copy()
    p[[40, 90, 91]] = p[[39, 89, 89]]
    p[150:] = p[150]  # at rest
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, p)))}))
    np.testing.assert_array_equal(recorded.p_WP_W, np.delete(p, [40, 90, 91], axis=0))
    assert recorded.about.notes[0].startswith("3 samples at the very place of the one before")


def test_a_tracker_that_holds_its_last_pose_is_a_gap(mcap: BagMaker, calm: Motion) -> None:
    p = calm.p.copy()
    p[60:95] = p[60]  # at 50 Hz, while the body flies on
    path = mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, p)))})
    recorded = read_recorded(path)
    np.testing.assert_array_equal(recorded.p_WP_W, np.delete(p, slice(61, 95), axis=0))
    assert "0.70 s from t = 1.200 s at one place" in recorded.about.notes[0]
    with pytest.raises(BadInput, match=r"holds its last pose: --bridge 0.7 crosses it"):
        read_recorded(path, bridge=0.5)
    p[60:] = p[60]  # and never moves again
    recorded = read_recorded(
        mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, p)))}, "stands")
    )
    assert len(recorded.t) == len(calm.t)


def test_zeros_where_nothing_was_seen_are_a_gap(mcap: BagMaker, calm: Motion) -> None:
    p = calm.p + [1.0, 2.0, 0.5]
    p[60:80] = 0.0
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, p)))}))
    np.testing.assert_array_equal(recorded.p_WP_W, np.delete(p, slice(60, 80), axis=0))


@pytest.mark.parametrize("turn", [179.0, 90.0])
def test_samples_whose_attitude_flips_are_left_out(
    mcap: BagMaker, calm: Motion, turn: float
) -> None:
    q = calm.q.copy()
    half = np.radians(0.5 * turn)
    q[[80, 140]] = [np.sin(half), 0.0, 0.0, np.cos(half)]
    flipped = Motion(calm.t, calm.p, q, calm.v, calm.w, calm.a, calm.alpha)
    recorded = read_recorded(mcap.write({"/pose": (POSE, poses(mcap, flipped))}))
    assert len(recorded.t) == len(calm.t) - 2
    np.testing.assert_allclose(np.abs(recorded.q_WP[:, 3]), 1.0, atol=1e-12)


def test_a_leap_that_stays_is_refused_with_place_and_size(mcap: BagMaker, calm: Motion) -> None:
    p = calm.p + np.where(calm.t[:, None] > 2.0, 2.5, 0.0) * np.array([1.0, 0.0, 0.0])
    path = mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, p)))})
    text = refusal(read_recorded, path)
    assert "by 2.5" in text and "at t = 2.000 s" in text and "--from and --to" in text
    assert read_recorded(path, end=2.0).duration == pytest.approx(2.0)


def test_a_step_that_stays_is_noted_and_two_bodies_close_to_each_other_are_refused(
    mcap: BagMaker, calm: Motion
) -> None:
    east = np.array([1.0, 0.0, 0.0])
    stepped = calm.p + np.where(calm.t[:, None] > 2.0, 0.45, 0.0) * east
    path = mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, stepped)))}, "stepped")
    recorded = read_recorded(path)
    (note,) = recorded.about.notes
    assert note.startswith("1 step as of set-points, by up to 0.4") and "at t = 2.000 s" in note
    woven = calm.p + 0.05 * (np.arange(len(calm.t)) % 2)[:, None] * east
    path = mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, woven)))}, "woven")
    with pytest.raises(BadInput, match=r"to and fro by 0.050 m, as 2 bodies in one: --body"):
        read_recorded(path)
    noise = np.random.default_rng(5).normal(0.0, 0.03, calm.p.shape)
    path = mcap.write({"/pose": (POSE, poses(mcap, shifted(calm, calm.p + noise)))}, "noisy")
    notes = read_recorded(path).about.notes
    assert any(note.startswith("the samples shake by 0.05 m") for note in notes)
    path = mcap.write({"/pose": (POSE, poses(mcap, calm))}, "calm")
    assert not read_recorded(path).about.notes


@pytest.mark.parametrize("speed", [1.5, 4.0])
def test_set_points_that_step_far_are_refused_or_followed_at_a_speed(
    mcap: BagMaker, calm: Motion, speed: float
) -> None:
    steps = np.where(np.floor(calm.t) % 2 == 0, 0.0, 3.0)
    p = np.column_stack([steps, 0.0 * steps, 0.0 * steps + 2.0])
    path = mcap.write({"/setpoint": (POSE, poses(mcap, shifted(calm, p)))})
    with pytest.raises(BadInput, match=r"leap, in 3 steps, by 3 m .*--max-speed V follows"):
        replayed(path)
    command = replayed(path, max_speed=speed)
    rows = command.rows(np.arange(0.5, command.duration - 0.5, 0.01))
    assert np.linalg.norm(rows[:, 7:10], axis=1).max() < 1.2 * speed
    assert np.linalg.norm(rows[:, 13:16], axis=1).max() < 8.0


def test_a_heading_goes_on_through_a_loop() -> None:
    t = np.linspace(0.0, 2.0, 200)
    angle = np.pi * t
    zero = 0.0 * angle
    pitch = np.stack([zero, np.sin(0.5 * angle), zero, np.cos(0.5 * angle)], axis=1)
    roll = pitch[:, [1, 0, 2, 3]]
    for start in (0.0, 1.2, -2.5):
        q = np.array([0.0, 0.0, np.sin(0.5 * start), np.cos(0.5 * start)])
        for loop in (pitch, roll):
            np.testing.assert_allclose(headings(t, so3.multiply(q, loop)), start, atol=1e-9)


# --- faulty frames of bags ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sqlite3", "mcap"])
def test_a_storage_without_a_name_is_known_by_its_files(
    tmp_path: Path, calm: Motion, kind: str
) -> None:
    maker = BagMaker(tmp_path, kind)
    path = maker.write({"/pose": (POSE, poses(maker, calm))})
    tree = yaml.safe_load((path / "metadata.yaml").read_text())
    tree["rosbag2_bagfile_information"]["storage_identifier"] = ""
    (path / "metadata.yaml").write_text(yaml.safe_dump(tree))
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.p_WP_W, calm.p, atol=1e-12)
    assert "names no storage" in recorded.about.notes[0]


def record(code: int, *parts: bytes) -> bytes:
    """A record of an mcap file."""
    return struct.pack("<BQ", code, sum(map(len, parts))) + b"".join(parts)


def text(value: str) -> bytes:
    """A string of an mcap file."""
    return struct.pack("<I", len(value)) + value.encode()


def mcap_file(path: Path, maker: BagMaker, rows: Rows, *, protobuf: bool, ends: bool) -> Path:
    """An mcap file without chunks, perhaps with a channel of protobuf, and perhaps with its end."""
    magic = b"\x89MCAP0\r\n"
    definition, _ = maker.store.generate_msgdef(POSE, ros_version=2)
    parts = [magic, record(1, text("ros2"), text("test"))]
    parts.append(record(3, struct.pack("<H", 1), text(POSE), text("ros2msg"), text(definition)))
    parts.append(record(4, struct.pack("<HH", 1, 1), text("/pose"), text("cdr"), bytes(4)))
    if protobuf:
        parts.append(
            record(3, struct.pack("<H", 2), text("foxglove.Log"), text("protobuf"), bytes(4))
        )
        parts.append(record(4, struct.pack("<HH", 2, 2), text("/viz"), text("protobuf"), bytes(4)))
        parts.append(record(5, struct.pack("<HIQQ", 2, 0, START_NS, START_NS), b"\x08\x01"))
    for stamp, message in rows:
        data = bytes(maker.store.serialize_cdr(message, POSE))
        parts.append(record(5, struct.pack("<HIQQ", 1, 0, stamp, stamp), data))
    end = [record(15, bytes(4)), record(2, bytes(20)), magic] if ends else []
    path.write_bytes(b"".join(parts + end))
    return path


def test_a_packing_of_others_is_named(mcap: BagMaker, calm: Motion, tmp_path: Path) -> None:
    path = mcap.write({"/pose": (POSE, poses(mcap, calm))})
    about = yaml.safe_load((path / "metadata.yaml").read_text())
    about["rosbag2_bagfile_information"] |= {
        "compression_mode": "FILE",
        "compression_format": "lz4",
    }
    (path / "metadata.yaml").write_text(yaml.safe_dump(about))
    assert "packed by 'lz4', not zstd: unpack its files" in refusal(read_recorded, path)
    packed = tmp_path / "flight.mcap.lz4"
    packed.write_bytes(b"")
    assert "it is packed: unpack it" in refusal(read_recorded, packed)


def test_a_channel_of_protobuf_does_not_hide_the_others(
    mcap: BagMaker, calm: Motion, tmp_path: Path
) -> None:
    path = mcap_file(tmp_path / "both.mcap", mcap, poses(mcap, calm), protobuf=True, ends=True)
    np.testing.assert_allclose(read_recorded(path).p_WP_W, calm.p, atol=1e-12)


@pytest.mark.parametrize("cut", [0, 11, 500])
def test_what_a_killed_recorder_left_whole_is_read(
    mcap: BagMaker, calm: Motion, tmp_path: Path, cut: int
) -> None:
    path = mcap_file(tmp_path / "killed.mcap", mcap, poses(mcap, calm), protobuf=False, ends=False)
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) - cut])
    recorded = read_recorded(path)
    assert len(recorded.t) >= len(calm.t) - 5
    np.testing.assert_allclose(recorded.p_WP_W, calm.p[: len(recorded.t)], atol=1e-12)
    assert "has no end, as of a recorder that was killed" in recorded.about.notes[0]


def test_a_killed_recorder_without_messages_is_named(mcap: BagMaker, tmp_path: Path) -> None:
    path = mcap_file(tmp_path / "killed.mcap", mcap, [], protobuf=False, ends=False)
    assert "a recorder that was killed, and no message before that" in refusal(read_recorded, path)


def test_a_level_flight_that_may_be_in_centimetres_has_a_note(tmp_path: Path) -> None:
    t = np.arange(0.0, 40.0, 0.1)
    angle = 2.0 * np.pi * t / 40.0
    p = 100.0 * np.column_stack([np.cos(angle), np.sin(angle), 1.4 + 0.0 * t])
    table = np.column_stack([t, p, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))])
    np.savetxt(tmp_path / "flight.txt", table)
    note = "it moves at 15.7 m/s: if its unit is cm, --scale 0.01 reads it"
    assert note in read_recorded(tmp_path / "flight.txt").about.notes
    assert read_recorded(tmp_path / "flight.txt", scale=0.01).about.notes == ()


def test_an_attitude_that_never_changes_in_flight_is_noted_unless_it_is_level(
    mcap: BagMaker,
) -> None:
    """Set-points have no attitude; an estimate of one that stands still was lost."""
    m = motion(np.arange(0.0, 4.0, 0.02))
    note = "its attitude never changes while it moves: was it measured?"
    for q, is_noted in (([0.0, 0.1, 0.0, 0.995], True), ([0.0, 0.0, 0.6, 0.8], False)):
        still = Motion(m.t, m.p, np.tile(q, (len(m.t), 1)), m.v, m.w, m.a, m.alpha)
        path = mcap.write({"/vicon/pose": mcap.poses(still)}, f"noted_{is_noted}")
        assert (note in read_recorded(path).about.notes) is is_noted
