# SPDX-License-Identifier: BSD-3-Clause
"""A bag as it stands on the disk while it is written and once it is closed, as rosbags reads it."""

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import Reader

from iap_io.bags import bag_writer, mcap_format
from iap_io.bags.bag_reading import raw_messages
from iap_io.bags.bag_writer import METADATA, STORAGE, BagWriter, GrowingFile, RecordingFailed, put
from iap_io.wire.cdr import message, message_types, serialised

TIME = "builtin_interfaces/msg/Time"


def word(k):
    return serialised(message(TIME, sec=k))


def read(folder, **part):
    return [
        (c.topic, stamp, data) for c, stamp, data in raw_messages(folder, ("/a", "/b"), **part)
    ]


@pytest.fixture
def writer(tmp_path):
    made = BagWriter(tmp_path / "deep/bag", message_types(), {"key": "it's a text"})
    yield made
    made.close()


def test_messages_are_there_once_they_are_flushed_and_for_good_once_closed(writer):
    a, b = (writer.add_topic(name, TIME, is_latched=name == "/b") for name in ("/a", "/b"))
    assert (a, b) == (1, 2)
    assert read(writer.folder) == []
    writer.append(a, 5, word(1))
    writer.append(b, 7, word(2))
    assert read(writer.folder) == []
    writer.flush()
    first = [("/a", 5, word(1)), ("/b", 7, word(2))]
    assert read(writer.folder) == first
    writer.append(a, 9, word(3))
    assert read(writer.folder) == first
    assert (writer.folder / ".reserve").stat().st_size == 65536
    writer.close()
    writer.close()
    assert read(writer.folder) == [*first, ("/a", 9, word(3))]
    assert read(writer.folder, start=7, stop=9) == first[1:]
    assert sorted(each.name for each in writer.folder.iterdir()) == [STORAGE, METADATA]
    with Reader(writer.folder) as reader:
        assert [(c.topic, c.msgcount) for c in reader.connections] == [("/a", 2), ("/b", 1)]
        assert (reader.start_time, reader.end_time, reader.message_count) == (5, 10, 3)


def test_metadata_name_topics_times_and_texts(writer):
    writer.append(writer.add_topic("/b", TIME, is_latched=True), 20, word(2))
    writer.append(1, 30, word(3))
    writer.flush()
    writer.append(writer.add_topic("/a", TIME), 7, word(3))
    writer.close()
    text = (writer.folder / METADATA).read_text()
    about = yaml.safe_load(text)["rosbag2_bagfile_information"]
    times = {
        "starting_time": {"nanoseconds_since_epoch": 7},
        "duration": {"nanoseconds": 23},
        "message_count": 3,
    }
    topics = about.pop("topics_with_message_count")
    assert text == text.rstrip(" ") and about == {
        "version": 9, "storage_identifier": "mcap", **times, "compression_format": "", "compression_mode": "",
        "relative_file_paths": [STORAGE], "files": [{"path": STORAGE, **times}], "ros_distro": "rosbags",
        "custom_data": {"key": "it's a text"},
    }  # fmt: skip
    assert [each["message_count"] for each in topics] == [2, 1]
    latched, usual = (each["topic_metadata"] for each in topics)
    assert (latched["name"], latched["type"], latched["serialization_format"]) == (
        "/b",
        TIME,
        "cdr",
    )
    assert usual["offered_qos_profiles"] == []
    assert latched["offered_qos_profiles"][0]["durability"] == "transient_local"
    assert latched["type_description_hash"] == message_types().hash_rihs01(TIME)


def test_a_description_is_padded_to_whole_pages_while_it_may_grow(writer):
    assert (writer.folder / METADATA).stat().st_size % 4096 == 0
    writer.close()
    assert 0 < (writer.folder / METADATA).stat().st_size % 4096


def test_a_bag_without_messages_opens(writer):
    writer.flush()
    writer.close()
    assert read(writer.folder) == []


def test_a_mebibyte_of_single_messages_is_written_at_once(writer, monkeypatch):
    monkeypatch.setattr(bag_writer, "_PENDING", 100)
    channel = writer.add_topic("/a", TIME)
    size = len(mcap_format.message_head(channel, 0, 12)) + 12
    for k in range(100 // size):
        writer.append(channel, k, word(k))
    assert read(writer.folder) == []
    writer.append(channel, 99, word(99))
    assert [stamp for _, stamp, _ in read(writer.folder)] == [*range(100 // size), 99]


@pytest.mark.parametrize(
    ("recorded", "said"),
    [((), "nothing could be recorded"), ((1_500_000_000,), r"it is kept up to t = 1\.500 s")],
)
def test_a_disk_that_fills_up_leaves_what_was_recorded(writer, monkeypatch, recorded, said):
    channel = writer.add_topic("/a", TIME)
    for stamp in recorded:
        writer.append(channel, stamp, word(1))
    writer.flush()
    writer.append(channel, 2_500_000_000, word(2))
    whole, calls = put, []

    def full(file, at, *parts):
        calls.append(len(parts))
        if len(calls) == 1:
            raise OSError(28, "full")
        whole(file, at, *parts)

    with monkeypatch.context() as patch:
        patch.setattr(bag_writer, "put", full)
        with pytest.raises(RecordingFailed, match=f"stopped, full; {said}$"):
            writer.flush()
    assert not (writer.folder / ".reserve").exists()
    writer.append(channel, 3_500_000_000, word(3))
    writer.close()  # takes no more, and does not fail again
    assert [stamp for _, stamp, _ in read(writer.folder)] == [*recorded]


def test_a_folder_that_is_there_already_is_refused(tmp_path):
    with pytest.raises(RecordingFailed, match=f"^{tmp_path}: cannot be made: File exists$"):
        BagWriter(tmp_path, message_types())


def test_parts_are_written_one_behind_the_other_from_a_place_on(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("r+b") as file:
        put(file.fileno(), 3, b"ab", b"", memoryview(np.array([0x6463], "<u2")), b"e")
    assert path.read_bytes() == b"012abcde89"


def test_more_parts_than_a_system_call_takes_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(bag_writer, "_BUFFERS", 2)
    path = tmp_path / "file"
    path.write_bytes(b"")
    with path.open("r+b") as file:
        put(file.fileno(), 0, b"a", b"bc", b"def", b"g", b"hi")
    assert path.read_bytes() == b"abcdefghi"


def test_a_growing_file_has_whole_pieces(tmp_path, monkeypatch):
    path = tmp_path / "a.tum"
    file = GrowingFile(path)
    file.append("one\n")
    file.append("größer\n")

    def half(number, at, data):
        put(number, at, data[:2])
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr(bag_writer, "put", half)
        with pytest.raises(RecordingFailed, match=f"^{path}: cannot be written: full$"):
            file.append("three\n")
    assert path.read_text() == "one\ngrößer\n"
    file.append("four\n")
    file.close()
    file.close()
    assert path.read_text() == "one\ngrößer\nfour\n"
    with pytest.raises(FileExistsError):
        GrowingFile(path)
