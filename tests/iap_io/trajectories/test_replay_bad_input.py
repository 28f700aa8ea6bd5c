# SPDX-License-Identifier: BSD-3-Clause
"""Bags that cannot be replayed give one line that names file, topic and value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flight_bags import FORMATS, REFERENCE, START_NS, BagMaker, Motion
from refusals import refusal

from iap_description import frames
from iap_description.errors import BadInput
from iap_io.trajectories.reader import read_recorded

POSE = "geometry_msgs/msg/PoseStamped"


def refused(path: Path, **options: Any) -> str:  # noqa: ANN401
    """The error's text, which has one line and names the file."""
    text = refusal(read_recorded, path, **options)
    assert str(path) in text
    return text


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_truncated_bag(
    bag_maker: Callable[[str], BagMaker], flight: Motion, kind: str, share: float
) -> None:
    maker = bag_maker(kind)
    path = maker.write({"/command": maker.poses(flight)})
    file = path if path.is_file() else next(f for f in path.iterdir() if f.suffix != ".yaml")
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    if (
        kind == "mcap" and share >= 0.9
    ):  # whole but for its end, as a recorder that is killed leaves it
        recorded = read_recorded(path)
        np.testing.assert_allclose(recorded.p_WP_W, flight.p[: len(recorded.t)], atol=1e-12)
        assert any("has no end" in note for note in recorded.about.notes)
    else:
        assert "not a readable rosbag" in refused(path)


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_bag_is_read_or_refused(
    bag_maker: Callable[[str], BagMaker], flight: Motion, kind: str
) -> None:
    maker, random = bag_maker(kind), np.random.default_rng(3)
    path = maker.write({"/command": maker.poses(flight)})
    file = path if path.is_file() else next(f for f in path.iterdir() if f.suffix != ".yaml")
    data = np.frombuffer(file.read_bytes(), np.uint8)
    outcomes = set()
    for _ in range(30):
        damaged = data.copy()
        damaged[random.integers(len(data), size=30)] = random.integers(256, size=30)
        file.write_bytes(damaged.tobytes())
        try:
            outcomes.add(np.isfinite(read_recorded(path).p_WP_W).all())
        except BadInput as error:
            outcomes.add(str(path) in str(error))
    assert outcomes == {True}


@pytest.mark.parametrize("kind", FORMATS)
def test_bag_without_messages(bag_maker: Callable[[str], BagMaker], kind: str) -> None:
    path = bag_maker(kind).write({"/command": (POSE, [])})
    assert "the bag holds no messages" in refused(path)


@pytest.mark.parametrize("suffix", [".bag", ".mcap", ".db3", ".csv"])
@pytest.mark.parametrize(
    "content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10, b"hello\n"]
)
def test_foreign_file(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"foreign{suffix}"
    path.write_bytes(content)
    refused(path)


def test_other_paths(tmp_path: Path) -> None:
    assert "no such file or folder" in refused(tmp_path / "missing.bag")
    assert "no metadata.yaml" in refused(tmp_path)
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    assert "neither a .bag, .mcap, .db3 or .csv file" in refused(other)
    assert "key 'convention'" in refused(other, convention="nwu")


def test_bag_of_other_things(mcap: BagMaker) -> None:
    string = mcap.make("std_msgs/msg/String", "hello")
    path = mcap.write({"/chatter": ("std_msgs/msg/String", [(START_NS, string)])})
    assert "no topic with poses; it holds /chatter (std_msgs/String)" in refused(path)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("part", ["position.y", "orientation.z"])
def test_number_that_is_none(mcap: BagMaker, flight: Motion, value: float, part: str) -> None:
    """In more samples than can be left out."""
    kind, messages = mcap.poses(flight)
    group, axis = part.split(".")
    for _, message in messages[7:60]:
        setattr(getattr(message.pose, group), axis, value)
    text = refused(mcap.write({"/command": (kind, messages)}))
    assert f"topic /command: sample 7: {part} is {value} (53 of " in text
    assert text.endswith("samples are none: --topic or --columns name others)")


def test_one_in_five_without_a_place_are_left_out(mcap: BagMaker, flight: Motion) -> None:
    flight.p[3::5] = np.nan
    recorded = read_recorded(mcap.write({"/command": mcap.poses(flight)}))
    kept = np.isfinite(flight.p[:, 0])
    np.testing.assert_allclose(recorded.p_WP_W, flight.p[kept], atol=1e-12)
    note = "80 samples without a place or attitude left out, the first is number 3"
    assert note in recorded.about.notes


def test_a_flight_begins_where_its_places_do(mcap: BagMaker, flight: Motion) -> None:
    flight.p[:100] = np.nan
    path = mcap.write({"/command": mcap.poses(flight)})
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.p_WP_W, flight.p[100:], atol=1e-12)
    later = read_recorded(path, begin=1.0)  # from the first place on
    np.testing.assert_allclose(later.p_WP_W, flight.p[140:], atol=1e-12)


def test_a_long_time_without_places_is_a_gap_with_its_cause(
    mcap: BagMaker, flight: Motion
) -> None:
    flight.p[100:160] = np.nan
    path = mcap.write({"/command": mcap.poses(flight)})
    text = refused(path)
    assert "no sample for 1.52 s after t = 2.475 s" in text
    assert "(noted before: 60 samples without a place or attitude left out" in text
    assert len(read_recorded(path, end=2.475).t) == 100  # as it advises


@pytest.mark.parametrize("topic", ["/nominal_position_0", "/nominal_euler_angle_0"])
def test_nan_in_a_pair_of_points(mcap: BagMaker, flight: Motion, topic: str) -> None:
    topics = {
        "/nominal_position_0": mcap.points(flight.stamps, frames.swap_world(flight.p)),
        "/nominal_euler_angle_0": mcap.points(flight.stamps, flight.p),
    }
    topics[topic][1][3][1].x = np.nan
    assert f"topic {topic}: sample 3: x" in refused(mcap.write(topics))


def test_pair_of_points_that_do_not_overlap(mcap: BagMaker, flight: Motion) -> None:
    later = [stamp + 60 * 10**9 for stamp in flight.stamps]
    path = mcap.write(
        {"/position": mcap.points(flight.stamps, flight.p), "/euler": mcap.points(later, flight.p)}
    )
    assert "its times and those of /euler do not overlap" in refused(path)


def test_a_body_that_never_moves_is_noted(mcap: BagMaker, flight: Motion) -> None:
    flight.p[:], flight.q[:] = flight.p[0], flight.q[0]
    (note,) = read_recorded(mcap.write({"/command": mcap.poses(flight)})).about.notes
    assert note.startswith("it never moves")


def test_names_without_numbers_below_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,x,y,z,qx,qy,qz,qw\n")
    assert "names of columns alone, without a line of numbers" in refused(path)


def test_quaternions_of_length_zero_alone(mcap: BagMaker, flight: Motion) -> None:
    flight.q[:] = 0.0
    text = refused(mcap.write({"/command": mcap.poses(flight)}))
    assert "0 of its 400 samples have attitudes (its quaternions are zero)" in text
    assert "--topic" in text


def test_one_sample(mcap: BagMaker, flight: Motion) -> None:
    kind, messages = mcap.poses(flight)
    assert "1 sample(s)" in refused(mcap.write({"/command": (kind, messages[:1])}))
    same = [(START_NS, messages[0][1])] * 5
    assert "one stamp" in refused(mcap.write({"/command": (kind, same)}, name="same"))
    path = mcap.write({"/command": (kind, []), "/other": (kind, messages)}, name="none")
    assert "0 sample(s)" in refused(path, topic="/command")


def test_reference_that_is_not_a_pose(mcap: BagMaker, flight: Motion) -> None:
    zero = np.zeros(3)
    wrench = mcap.make("geometry_msgs/msg/Wrench", mcap.xyz(zero), mcap.xyz(zero))
    body = (
        mcap.pose(flight.p[0], flight.q[0]),
        mcap.pair("Twist", zero, zero),
        mcap.pair("Accel", zero, zero),
        wrench,
        zero,
    )
    message = mcap.make(REFERENCE, mcap.header(START_NS), 0, 1, *body)
    path = mcap.write({"/iap/reference": (REFERENCE, [(START_NS, message)])})
    assert "topic /iap/reference: message 0: level is 1: not a pose reference" in refused(path)


def test_trajectory_of_several_bodies(mcap: BagMaker, flight: Motion) -> None:
    identity = mcap.quaternion(np.array([0.0, 0.0, 0.0, 1.0]))
    pose = mcap.make("geometry_msgs/msg/Transform", mcap.xyz(flight.p[0]), identity)
    time = mcap.make("builtin_interfaces/msg/Duration", 0, 0)
    kind = "trajectory_msgs/msg/MultiDOFJointTrajectory"
    point = mcap.make(f"{kind}Point", [pose, pose], [], [], time)
    message = mcap.make(kind, mcap.header(START_NS), ["a", "b"], [point])
    path = mcap.write({"/command": (kind, [(START_NS, message)])})
    assert "message 0: a point has 2 transforms" in refused(path)


def test_a_bag_has_no_columns(bag_maker: Callable[[str], BagMaker], flight: Motion) -> None:
    maker = bag_maker("mcap")
    path = maker.write({"/command": maker.poses(flight)})
    assert "--columns 1,2,3,4: it has topics and no columns" in refused(path, columns="1,2,3,4")
