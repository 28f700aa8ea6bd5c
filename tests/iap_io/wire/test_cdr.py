# SPDX-License-Identifier: BSD-3-Clause
"""Records in numpy are the bytes that rosbags serialises."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.runs import topics
from iap_io.wire import cdr
from iap_io.wire.stamps import stamp_of


def _randomised(store: Any, message: Any, rng: np.random.Generator) -> Any:
    """The same message with other numbers; strings and lengths stay."""
    for name, (kind, detail) in store.fielddefs[message.__msgtype__][1]:
        value = getattr(message, name)
        if hasattr(value, "__msgtype__"):
            _randomised(store, value, rng)
        elif isinstance(value, list) and value and hasattr(value[0], "__msgtype__"):
            for element in value:
                _randomised(store, element, rng)
        elif isinstance(value, np.ndarray):
            setattr(message, name, rng.normal(size=value.shape).astype(value.dtype))
        elif kind == cdr.Nodetype.BASE and detail[0] != "string":
            number = rng.integers(0, 2 if detail[0] == "bool" else 100)
            setattr(message, name, type(value)(number))
    return message


def _leaves(dtype: np.dtype, prefix: str = "") -> list[str]:
    return [
        leaf
        for name in dtype.names or ()
        for leaf in (
            _leaves(dtype[name], f"{prefix}{name}.") if dtype[name].names else [f"{prefix}{name}"]
        )
    ]


def _imu() -> Any:
    make = cdr.message
    return make("sensor_msgs/msg/Imu", header=make("std_msgs/msg/Header", frame_id="imu"))


def _joints() -> Any:
    return cdr.message(
        "sensor_msgs/msg/JointState",
        name=["a", "bc", ""],
        position=np.zeros(3),
        effort=np.zeros(1),
    )


def _ranges() -> Any:
    """Elements of different sizes, with padding between them."""
    ranges = [
        cdr.message("iap_msgs/msg/UwbRange", anchor_id=name, valid=True)
        for name in ("a", "long name", "b")
    ]
    return cdr.message("iap_msgs/msg/UwbRanges", ranges=ranges)


@pytest.mark.parametrize("build", [_imu, _joints, _ranges])
def test_filled_records_are_serialised_messages(build: Any) -> None:
    store, rng = cdr.message_types(), np.random.default_rng(3)
    layout = cdr.MessageLayout.of(build())
    message = _randomised(store, build(), rng)
    expected = np.frombuffer(store.serialize_cdr(message, message.__msgtype__), np.uint8)
    source = layout.records(expected[None])
    filled = layout.template.copy().view(layout.dtype)
    for leaf in _leaves(layout.dtype):
        target, value = filled, source
        *groups, last = leaf.split(".")
        for group in groups:
            target, value = target[group], value[group]
        target[last] = value[last]
    assert filled.tobytes() == expected.tobytes()


def test_poses_and_twists_are_vectors() -> None:
    odometry = cdr.message("nav_msgs/msg/Odometry", child_frame_id="iap/base_link")
    odometry.pose.pose.orientation.w = 0.5
    odometry.twist.twist.angular.z = 0.25
    layout = cdr.MessageLayout.of(odometry)
    record = layout.template.view(layout.dtype)
    assert record["pose"][0, 6] == 0.5
    assert record["twist"][0, 5] == 0.25


def test_other_names_are_refused() -> None:
    store = cdr.message_types()
    blobs = []
    for name in ("map", "mop"):
        header = cdr.message("std_msgs/msg/Header", frame_id=name)
        message = cdr.message(topics.POSE, header=header)
        blobs.append(bytes(store.serialize_cdr(message, topics.POSE)))
    with pytest.raises(ValueError, match="names or counts change"):
        cdr.records_of(topics.POSE, blobs)


def test_stamp_of_raw_bytes() -> None:
    store = cdr.message_types()
    message = cdr.message(topics.POSE)
    message.header.stamp.sec, message.header.stamp.nanosec = 7, 5
    assert stamp_of(bytes(store.serialize_cdr(message, topics.POSE))) == 7_000_000_005


@pytest.mark.parametrize(
    "place",
    [
        "iap_msgs/msg",
        "share/iap_msgs/msg",
        "iap_msgs/share/iap_msgs/msg",
        "lib/python/data/msg",  # of a wheel
    ],
)
def test_message_files_are_found_in_source_and_install_trees_and_in_the_package(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "A.msg").write_text("bool a\n")
    monkeypatch.setattr(cdr, "__file__", str(tmp_path / "lib/python/iap_description/cdr.py"))
    assert cdr.message_folder() == tmp_path / place


def test_message_files_are_found_in_a_sourced_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cdr, "__file__", "/nowhere/iap_description/cdr.py")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    with pytest.raises(BadInput, match="AMENT_PREFIX_PATH"):
        cdr.message_folder()
    folder = tmp_path / "b/share/iap_msgs/msg"
    folder.mkdir(parents=True)
    (folder / "A.msg").write_text("bool a\n")
    assert cdr.message_folder() == folder


@pytest.mark.parametrize("frame", ["", "i", "imu", "drone_1_imu_link"])
def test_the_numbers_behind_a_header_are_those_that_rosbags_reads(frame):
    store = cdr.message_types()
    sample = _randomised(store, _imu(), np.random.default_rng(len(frame)))
    sample.header.frame_id = frame
    data = cdr.serialised(sample)
    read = cdr.decoded(data, "sensor_msgs/msg/Imu")
    numbers = cdr.doubles_behind_header(data, 37)
    f, w, q = read.linear_acceleration, read.angular_velocity, read.orientation
    assert numbers is not None
    np.testing.assert_array_equal(numbers[:4], [q.x, q.y, q.z, q.w])
    np.testing.assert_array_equal(numbers[4:13], read.orientation_covariance)
    np.testing.assert_array_equal(numbers[13:16], [w.x, w.y, w.z])
    np.testing.assert_array_equal(numbers[25:28], [f.x, f.y, f.z])
    for end in range(len(data)):  # cut off anywhere
        assert cdr.doubles_behind_header(data[:end], 37) is None
    assert cdr.doubles_behind_header(data + bytes(8), 37) is None
    assert cdr.doubles_behind_header(b"\0\0" + data[2:], 37) is None  # big-endian
    for length in (0, 2**31, 2**32 - 1):  # of a string that is not there
        forged = data[:12] + length.to_bytes(4, "little") + data[16:]
        assert cdr.doubles_behind_header(forged, 37) is None


def test_the_frame_before_numbers_ends_with_a_zero_and_what_fills_up_may_be_anything():
    data = bytearray(cdr.serialised(cdr.in_frame("sensor_msgs/msg/Imu", "i")))
    # 4 bytes of the encapsulation, 8 of the stamp, 4 of the length, "i" and its end, 2 that fill up
    assert data[16:20] == b"i\0\0\0"
    data[18:20] = b"\1\2"
    assert not cdr.doubles_behind_header(bytes(data), 37)[:3].any()
    data[17] = 1
    assert cdr.doubles_behind_header(bytes(data), 37) is None


@pytest.mark.parametrize(
    "names", [[], [""], ["a"], ["ab", "c"], ["abc", "abcd"], ["abcdefg", "é"]]
)
def test_numbers_behind_texts_lie_where_rosbags_writes_them(names):
    values = {key: np.arange(2.0) + k for k, key in enumerate(("position", "velocity", "effort"))}
    sample = cdr.in_frame("sensor_msgs/msg/JointState", "map", name=names, **values)
    layout = cdr.MessageLayout.of(sample)
    record = layout.template.view(layout.dtype)[0]
    for key, numbers in values.items():
        assert record[key].tolist() == numbers.tolist()
    assert (
        layout.template.tobytes()[: layout.template.size]
        == cdr.serialised(sample)[: layout.template.size]
    )
    other = cdr.serialised(
        cdr.in_frame("sensor_msgs/msg/JointState", "map", name=[*names, "z"], **values)
    )
    assert len(other) > layout.template.size


def test_records_of_no_message_or_of_unlike_sizes_are_refused():
    blobs = [
        cdr.serialised(cdr.in_frame(topics.POSE, frame)) for frame in ("map", "a longer name")
    ]
    with pytest.raises(ValueError, match=f"^{topics.POSE}: no message$"):
        cdr.records_of(topics.POSE, [])
    with pytest.raises(
        ValueError, match=f"^{topics.POSE}: the size changes from message to message$"
    ):
        cdr.records_of(topics.POSE, blobs)
    assert len(cdr.records_of(topics.POSE, blobs[:1] * 3)) == 3


@pytest.mark.parametrize(("padding", "is_read"), [(-1, 0), (0, 1), (3, 1), (4, 0)])
def test_a_record_has_at_most_three_bytes_of_padding(padding, is_read):
    data = cdr.serialised(cdr.in_frame(topics.POSE, "map"))
    layout = cdr.MessageLayout.of(cdr.decoded(data, topics.POSE))
    padded = np.frombuffer((data + bytes(4))[: len(data) + padding], np.uint8)[None]
    if is_read:
        assert layout.records(padded).shape == (1,)
    else:
        with pytest.raises(ValueError, match=f": {len(data) + padding} bytes a message, expected"):
            layout.records(padded)


def test_a_group_of_one_number_has_its_place_in_a_record():
    """A Header's frame has no numbers; its stamp has two of one size, which are no vector."""
    layout = cdr.MessageLayout.of(cdr.in_frame("iap_msgs/msg/UwbRanges", "ab"))
    assert layout.dtype.names is not None and layout.dtype["header"].names == ("stamp",)
    assert layout.dtype["header"]["stamp"].names == ("sec", "nanosec")
    assert layout.dtype.itemsize == layout.template.size
    text = layout.template[layout.fixed].tobytes()
    assert text.startswith(b"\3\0\0\0ab\0")


def test_fields_have_the_names_that_users_write():
    sample = cdr.message(
        "geometry_msgs/msg/PoseArray", poses=[cdr.message("geometry_msgs/msg/Pose")] * 2
    )
    layout = cdr.MessageLayout.of(sample)
    names = list(layout.doubles.values())
    assert names[0] == "poses[0].position.x" and names[-1] == "poses[1].orientation.w"
    first, second = layout.quaternions
    assert layout.doubles[first] == "poses[0].orientation.x"
    assert layout.doubles[second] == "poses[1].orientation.x" and second - first == 56
