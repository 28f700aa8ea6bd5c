# SPDX-License-Identifier: BSD-3-Clause
"""Bags whose frame is faulty: what is whole of them is read from a copy, and what was mended is said."""

import shutil
import sqlite3
import struct
from contextlib import closing

import pytest
import yaml
from rosbags.highlevel import AnyReader

from iap_description.errors import BadInput
from iap_io.bags.bag_writer import METADATA, STORAGE, BagWriter
from iap_io.bags.mending import mended
from iap_io.wire.cdr import message, message_types, serialised

TIME = "builtin_interfaces/msg/Time"
HEAD = b"\x89MCAP0\r\n"
KILLED = "has no end, as of a recorder that was killed; what is whole of it was read"
INFORMATION = "rosbag2_bagfile_information"


@pytest.fixture
def bag(tmp_path):
    """A bag of two chunks with a message each."""
    writer = BagWriter(tmp_path / "bag", message_types())
    channel = writer.add_topic("/a", TIME)
    for k in (1, 2):
        writer.append(channel, k, serialised(message(TIME, sec=k)))
        writer.flush()
    writer.close()
    return writer.folder


def stamps(path):
    with AnyReader([path]) as reader:
        return [stamp for _, stamp, _ in reader.messages()]


def records(data):
    """Code and place of each record, and the place behind it."""
    at, out = len(HEAD), []
    while at + 9 <= len(data):
        code, length = struct.unpack_from("<BQ", data, at)
        out.append((code, at, at + 9 + length))
        at += 9 + length
    return out


def with_profile(data, profile):
    """The file with another profile in its first record."""
    _, begin, end = records(data)[0]
    rest = data[begin + 9 + 8 : end]
    content = struct.pack("<I", len(profile)) + profile + rest
    return HEAD + struct.pack("<BQ", 1, len(content)) + content + data[end:]


def test_a_sound_bag_is_opened_where_it_is(bag):
    for path in (bag, bag / STORAGE):
        with mended(path) as (opened, notes):
            assert (opened, notes) == (path, ())


@pytest.mark.parametrize("lost", [1, 3, 20])
def test_a_file_without_its_end_has_all_messages(bag, lost, tmp_path):
    path = tmp_path / "cut.mcap"
    path.write_bytes((bag / STORAGE).read_bytes()[:-lost])
    with mended(path) as (opened, notes):
        assert notes == (f"cut.mcap {KILLED}",)
        assert opened.name == "cut.mcap" and opened != path
        assert stamps(opened) == [1, 2]
    assert not opened.exists()


@pytest.mark.parametrize("lost", [1, 30])
def test_a_file_that_ends_within_a_chunk_has_those_before(bag, lost, tmp_path):
    data = (bag / STORAGE).read_bytes()
    ends = [end for code, _, end in records(data) if code == 6]
    path = tmp_path / "cut.mcap"
    path.write_bytes(data[: ends[1] - lost])
    with mended(path) as (opened, notes):
        assert (stamps(opened), len(notes)) == ([1], 1)


def test_a_file_that_ends_before_its_first_message_is_refused(bag, tmp_path):
    data = (bag / STORAGE).read_bytes()
    begin = next(begin for code, begin, _ in records(data) if code == 6)
    path = tmp_path / "cut.mcap"
    path.write_bytes(data[: begin + 12])
    said = f"^{path}: not a readable rosbag: it has no end, .* and no message before that; record anew$"
    with pytest.raises(BadInput, match=said), mended(path):
        pass


def test_a_file_is_opened_by_its_first_bytes(bag, tmp_path):
    path = tmp_path / "flight.bin"
    shutil.copy(bag / STORAGE, path)
    with mended(path) as (opened, notes):
        assert notes == ("flight.bin is a .mcap file by its first bytes",)
        assert opened.name == "flight.mcap" and opened.resolve() == path
        assert stamps(opened) == [1, 2]
    path.write_bytes(path.read_bytes()[:-1])
    with mended(path) as (opened, notes):
        assert notes == ("flight.bin is a .mcap file by its first bytes", f"flight.bin {KILLED}")
        assert stamps(opened) == [1, 2]


def test_a_file_without_a_profile_is_one_of_ros_2_and_others_are_refused(bag, tmp_path):
    data, path = (bag / STORAGE).read_bytes(), tmp_path / "a.mcap"
    path.write_bytes(with_profile(data, b""))
    with mended(path) as (opened, notes):
        assert notes == ("a.mcap names no profile: taken as ROS 2's",)
        begin = opened.read_bytes()[: len(HEAD) + 17]
        assert begin.endswith(struct.pack("<I", 4) + b"ros2") and stamps(opened) == [1, 2]
    path.write_bytes(with_profile(data, b"ros1"))
    with (
        pytest.raises(BadInput, match="its messages are those of 'ros1', not of ROS 2: convert"),
        mended(path),
    ):
        pass
    for length, is_refused in ((63, True), (64, False)):  # longer ones are no profile
        path.write_bytes(with_profile(data, b"p" * length))
        if is_refused:
            with pytest.raises(BadInput, match="not of ROS 2"), mended(path):
                pass
        else:
            with mended(path) as (opened, notes):
                assert (opened, notes) == (path, ())


def changed(bag, **values):
    """Change entries of a bag's metadata."""
    tree = yaml.safe_load((bag / METADATA).read_text())
    tree[INFORMATION].update(values)
    (bag / METADATA).write_text(yaml.safe_dump(tree))
    return tree[INFORMATION]


@pytest.mark.parametrize(
    ("named", "words"),
    [("", "no storage, as after 'ros2 bag reindex'"), ("sqlite3", "the storage 'sqlite3'")],
)
def test_a_folder_names_the_storage_of_its_files(bag, named, words):
    changed(bag, storage_identifier=named)
    with mended(bag) as (opened, notes):
        assert notes == (f"metadata.yaml names {words}; it was taken from the files",)
        about = yaml.safe_load((opened / METADATA).read_text())[INFORMATION]
        assert about["storage_identifier"] == "mcap"
        assert (opened / STORAGE).is_symlink() and stamps(opened) == [1, 2]


def test_a_file_of_a_folder_without_its_end_is_copied(bag):
    path = bag / STORAGE
    path.write_bytes(path.read_bytes()[:-1])
    with mended(bag) as (opened, notes):
        assert notes == (f"{STORAGE} {KILLED}",)
        assert not (opened / STORAGE).is_symlink() and stamps(opened) == [1, 2]


def test_topics_in_other_serialisations_are_left_out(bag):
    topics = changed(bag)["topics_with_message_count"]
    others = [
        {
            "message_count": 1,
            "topic_metadata": {
                **topics[0]["topic_metadata"],
                "name": name,
                "serialization_format": kind,
            },
        }
        for name, kind in (("/b", "protobuf"), ("/c", "json"))
    ]
    changed(bag, topics_with_message_count=[others[0], *topics, others[1]])
    with mended(bag) as (opened, notes):
        assert notes == ("topics in other serialisations (json, protobuf) were left out",)
        about = yaml.safe_load((opened / METADATA).read_text())[INFORMATION]
        assert about["topics_with_message_count"] == topics
    changed(bag, topics_with_message_count=others)  # nothing would be left
    with mended(bag) as (opened, notes):
        assert (opened, notes) == (bag, ())


def test_files_that_are_packed_otherwise_than_by_zstd_are_refused(bag):
    changed(bag, compression_format="lz4", compression_mode="")
    with mended(bag) as (_, notes):
        assert notes == ()
    changed(bag, compression_mode="file")
    with (
        pytest.raises(BadInput, match=f"^{bag}: packed by 'lz4', not zstd: unpack its files"),
        mended(bag),
    ):
        pass
    changed(bag, compression_format="")
    with mended(bag) as (_, notes):
        assert notes == ()


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_journal_beside_a_file_of_sqlite_is_brought_into_a_copy(mode, tmp_path):
    made, path = tmp_path / "made.db3", tmp_path / "flight.db3"
    with closing(sqlite3.connect(made)) as database:
        database.execute(f"PRAGMA journal_mode={mode}")
        database.execute("CREATE TABLE rows (k)")
        database.commit()
        database.execute("INSERT INTO rows VALUES (7)")
        database.commit()
        for each in tmp_path.glob("made.db3*"):
            shutil.copy(each, tmp_path / each.name.replace("made", "flight"))
    with mended(path) as (opened, notes):
        said = "flight.db3-wal beside flight.db3, as of a recorder that was killed: read, too"
        assert notes == ((said,) if mode == "WAL" else ())
        assert (opened == path) == (mode == "DELETE")
        if mode == "WAL":
            assert opened.read_bytes()[18:20] == b"\1\1"  # no longer written ahead
        with closing(sqlite3.connect(f"file:{opened}?immutable=1", uri=True)) as database:
            assert database.execute("SELECT k FROM rows").fetchall() == [(7,)]
