# SPDX-License-Identifier: BSD-3-Clause
"""Metadata of bags, topics that a bag has not, and packed files without end, by hand."""

import pytest
import yaml

from iap_description.errors import BadInput
from iap_io.bags import bag_reading
from iap_io.bags.bag_reading import METADATA, check_metadata, fault_of_metadata, raw_messages
from iap_io.bags.bag_writer import BagWriter
from iap_io.wire.cdr import message_types

GOOD = {
    "version": 9,
    "relative_file_paths": ["a.mcap"],
    "topics_with_message_count": [{"message_count": 3}],
}


def write(folder, about):
    (folder / METADATA).write_text(yaml.safe_dump({"rosbag2_bagfile_information": about}))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"version": 1}, None),
        ({"version": 0}, "is of version 0, which is not known"),
        ({"version": 10}, "is of version 10, which is not known"),
        ({"version": None}, "is of version None, which is not known"),
        ({"relative_file_paths": ["else/a.mcap"]}, None),
        ({"relative_file_paths": ["a.mcap", "b.mcap"]}, "names 'b.mcap', which is not there"),
        ({"relative_file_paths": [1]}, "is damaged"),
        ({"relative_file_paths": None}, "is damaged"),
        ({"files": [1]}, "is damaged"),
        ({"files": [{}]}, None),
        ({"topics_with_message_count": [{"message_count": "3"}]}, "is damaged"),
        ({"topics_with_message_count": [3]}, "is damaged"),
        ({"compression_mode": "FILE"}, "says that its files are packed, and they are not"),
        (
            {"compression_mode": "file", "compression_format": "zstd"},
            "says that its files are packed, and they are not",
        ),
        ({"compression_mode": "file", "compression_format": "other"}, None),
        ({"compression_mode": "message", "compression_format": "zstd"}, None),
    ],
)
def test_what_is_wrong_with_metadata_is_said_in_words(change, fault, tmp_path):
    (tmp_path / "a.mcap").write_bytes(b"\x89MCAP0\r\n")
    write(tmp_path, {**GOOD, **change})
    assert fault_of_metadata(tmp_path) == fault
    if fault == "is damaged":
        with pytest.raises(
            BadInput, match=r"metadata.yaml: the lists of files and topics are damaged$"
        ):
            check_metadata(tmp_path)
    else:
        check_metadata(tmp_path)


def test_a_single_storage_file_has_no_metadata(tmp_path):
    (tmp_path / "a.mcap").touch()
    check_metadata(tmp_path / "a.mcap")
    (tmp_path / METADATA).write_text("[")
    assert fault_of_metadata(tmp_path) == "is damaged"


def test_of_topics_that_a_bag_has_not_there_are_no_messages(tmp_path):
    writer = BagWriter(tmp_path / "bag", message_types())
    writer.append(writer.add_topic("/a", "std_msgs/msg/Bool"), 5, b"\0\1\0\0\1")
    writer.close()
    assert list(raw_messages(tmp_path / "bag", ("/b",))) == []
    assert [stamp for _, stamp, _ in raw_messages(tmp_path / "bag", ("/a", "/b"))] == [5]


@pytest.mark.parametrize(
    ("most", "ratio", "is_read"), [(900, 0, False), (1000, 0, True), (0, 10_000, True)]
)
def test_a_packed_file_comes_to_so_many_bytes_or_times_its_size(
    most, ratio, is_read, tmp_path, monkeypatch
):
    monkeypatch.setattr(bag_reading, "MAX_FILE", most)
    monkeypatch.setattr(bag_reading, "MAX_RATIO", ratio)
    path = tmp_path / "a.zstd"
    path.write_bytes(bag_reading._zstd.compress(bytes(1000)))
    with path.open("rb") as file, bag_reading._LimitedFile(file, "rb") as packed:
        assert len(packed.read(900)) == 900
        if is_read:
            assert len(packed.read(900)) == 100 and packed.read(1) == b""
        else:
            with pytest.raises(ValueError, match="far more than its size promises"):
                packed.read(900)
