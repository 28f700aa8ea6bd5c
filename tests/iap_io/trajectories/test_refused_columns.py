# SPDX-License-Identifier: BSD-3-Clause
"""Columns that a user lists, lines without times, and messages and folders that are not what they should be."""

import json

import numpy as np
import pytest
from made_up_flights import vehicle_meta

from iap_description.errors import BadInput
from iap_io.bags import mending
from iap_io.euroc.cut_recording import cut
from iap_io.runs.run_folder import METRICS, read_metrics
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.table_columns import TableHeader, by_option, listing, unnamed
from iap_io.trajectories.text_poses import _times
from iap_io.wire.cdr import MessageLayout, message, records_of, serialised
from iap_io.wire.message_views import StateMessage

HEADER = TableHeader(("t", "x", "y", "z", "qx", "qy", "qz", "qw", "2"), ",", 2)


@pytest.mark.parametrize(
    ("listed", "times", "place", "turns"),
    [
        ("t,x,y,z", (0,), (1, 2, 3), ()),
        ("1,4,3,x", (0,), (3, 2, 1), ()),
        ("t, x, y, z, qx, qy, qz, qw", (0,), (1, 2, 3), (4, 5, 6, 7)),
        ("t,2,3,4,qz", (0,), (8, 2, 3), (6,)),  # a name comes before a number
        ("t,x,y,z,5,6,9", (0,), (1, 2, 3), (4, 5, 8)),
    ],
)
def test_columns_are_listed_by_names_or_numbers_from_one(tmp_path, listed, times, place, turns):
    found = by_option(tmp_path, HEADER, listed)
    assert (found.time, found.place, found.turn) == (times, place, turns)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("t,x,y,w", "--columns: no column 'w'; it has 't', 'x', 'y', 'z'"),
        ("t,x,y,10", "--columns: no column '10'"),
        ("0,x,y,z", "--columns: no column '0'"),
        (
            "t,x,y",
            "--columns t,x,y: TIME,X,Y,Z are expected, and QX,QY,QZ,QW, ROLL,PITCH,YAW or YAW",
        ),
        ("t,x,y,z,qx,qy", "TIME,X,Y,Z are expected"),
        ("t,x,y,z,qx,qy,qz,qw,2", "TIME,X,Y,Z are expected"),
    ],
)
def test_lists_of_columns_that_are_no_pose_are_refused(tmp_path, listed, said):
    with pytest.raises(BadInput, match=said):
        by_option(tmp_path, HEADER, listed)


def test_names_of_columns_are_listed_up_to_thirty():
    assert listing(TableHeader((), ",", 1)) == "it is empty"
    many = listing(TableHeader(tuple(f"c{i}" for i in range(32)), ",", 1))
    assert "c29" in many and "c30" not in many and many.endswith("and 2 more")
    assert "more" not in listing(TableHeader(tuple(f"c{i}" for i in range(30)), ",", 1))


@pytest.mark.parametrize(
    ("line", "delimiter", "count"),
    [("1,2,3", ",", 3), ("1;2", ";", 2), ("1 2  3 4", " ", 4), ("1\t2", "\t", 2)],
)
def test_a_table_without_names_has_numbers_for_them(tmp_path, line, delimiter, count):
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\n")
    assert unnamed(path) == TableHeader(tuple(str(i + 1) for i in range(count)), delimiter, 1)


def test_lines_of_kitti_count_by_a_rate_or_have_times_beside_them(tmp_path):
    path = tmp_path / "00.txt"
    assert _times(path, 2, PoseReading(rate=10.0)) == [(1, "0"), (2, "1")]
    with pytest.raises(
        BadInput, match="KITTI poses have no times: --rate HZ gives them, or times.txt"
    ):
        _times(path, 2, PoseReading())


@pytest.mark.parametrize("count", [0, 1])
def test_a_path_has_two_samples_at_least(count):
    q = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    few = Samples("bag", RecordingSummary("bag"), None, np.arange(count), np.zeros((count, 3)), q)
    with pytest.raises(BadInput, match=rf"bag: {count} sample\(s\); a replay needs at least 2"):
        checked(few)


def test_a_part_is_cut_out_of_a_table_alone(tmp_path):
    with pytest.raises(BadInput, match="--since 3: flight.tum is no CSV file"):
        cut(tmp_path / "flight.tum", 3.0, tmp_path)


@pytest.mark.parametrize(("content", "kind"), [([1, 2], "list"), (3.5, "float"), ("a", "str")])
def test_metrics_are_a_mapping(tmp_path, content, kind):
    (tmp_path / METRICS).write_text(json.dumps(content))
    with pytest.raises(BadInput, match=f"{METRICS}: expected a mapping, found {kind}"):
        read_metrics(tmp_path)


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        (
            "joints",
            lambda tree: tree["joints"][0].update(child=4),
            "key 'joints': not between 4 bodies",
        ),
        (
            "joints",
            lambda tree: tree["joints"][1].update(parent=-1),
            "key 'joints': not between 4 bodies",
        ),
        (
            "aircraft",
            lambda tree: tree.update(aircraft=[1, 2, 4]),
            "key 'aircraft': not indices of 4 bodies",
        ),
        ("aircraft", lambda tree: tree.update(aircraft=[]), "key 'aircraft': not indices"),
    ],
)
def test_joints_and_aircraft_of_a_vehicle_are_its_bodies(key, change, said):
    tree = vehicle_meta("three_star").model_dump(mode="json")
    assert VehicleMeta.model_validate_json(json.dumps(tree)) is not None
    change(tree)
    with pytest.raises(ValueError, match=said):
        VehicleMeta.model_validate_json(json.dumps(tree))


def state_message(**counts):
    sizes = {"poses": 2, "twists": 2, "rotor_rpm": 8, "rotor_tilt": 8, **counts}
    kinds = {"poses": "geometry_msgs/msg/Pose", "twists": "geometry_msgs/msg/Twist"}
    parts = {
        key: [message(kinds[key]) for _ in range(n)] if key in kinds else np.zeros(n)
        for key, n in sizes.items()
    }
    return MessageLayout.of(message("iap_msgs/msg/PlatformState", **parts))


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({}, None),
        ({"poses": 1}, "1 poses and 2 twists"),
        ({"poses": 0, "twists": 0}, "0 poses and 0 twists"),
        ({"rotor_rpm": 6, "rotor_tilt": 6}, "rotor_rpm has 6 entries, not four for each aircraft"),
        ({"rotor_tilt": 4}, "4 entries in rotor_tilt, 8 in rotor_rpm"),
        ({"rotor_rpm": 0, "rotor_tilt": 0}, None),  # objects of a world
    ],
)
def test_a_state_has_a_twist_for_each_pose_and_four_rotors_an_aircraft(counts, said):
    if said is None:
        assert StateMessage(state_message(**counts)) is not None
    else:
        with pytest.raises(BadInput, match=said):
            StateMessage(state_message(**counts))


def test_messages_of_one_layout_have_one_size():
    text = [
        serialised(message("std_msgs/msg/String", data=each)) for each in ("a", "a", "abcdefgh")
    ]
    assert len(records_of("std_msgs/msg/String", text[:2])) == 2
    with pytest.raises(ValueError, match="String: the size changes from message to message"):
        records_of("std_msgs/msg/String", text)
    with pytest.raises(ValueError, match="String: no message"):
        records_of("std_msgs/msg/String", [])
    layout = MessageLayout.of(message("std_msgs/msg/Float64"))
    size = layout.template.size
    with pytest.raises(ValueError, match=f"{size - 1} bytes a message, expected {size}"):
        layout.records(np.zeros((1, size - 1), np.uint8))


@pytest.mark.parametrize(
    ("is_cut", "profile", "said"),
    [
        (
            True,
            b"ros2",
            "it has no end, as of a recorder that was killed: 'mcap recover' mends it",
        ),
        (False, b"", "it has no profile in its head: 'mcap recover' mends it"),
        (False, b"ros1", "its messages are those of 'ros1', not of ROS 2: convert it"),
    ],
)
def test_a_file_that_is_too_large_to_be_mended_names_who_mends_it(
    tmp_path, monkeypatch, is_cut, profile, said
):
    path = tmp_path / "a.mcap"
    path.write_bytes(bytes(100))
    monkeypatch.setattr(mending, "_is_cut", lambda _: is_cut)
    monkeypatch.setattr(mending, "_profile", lambda _: profile)
    monkeypatch.setattr(mending, "MAX_COPY", 99)
    with pytest.raises(BadInput, match=f"a.mcap: {said}"):
        mending._mended_copy(path, ".mcap", tmp_path / "b.mcap")
    monkeypatch.setattr(mending, "_is_cut", lambda _: False)
    monkeypatch.setattr(mending, "_profile", lambda _: b"ros2")
    assert mending._mended_copy(path, ".mcap", tmp_path / "b.mcap") == ()
