# SPDX-License-Identifier: BSD-3-Clause
"""Bags that come to far more than they are: refused within bounds, in every format that is compressed."""

import bz2
import gzip
import json
import os
import re
import sqlite3
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import lz4.frame
import numpy as np
import pytest
from backports import zstd
from flight_bags import BagMaker, motion
from refusals import refusal
from rosbags import rosbag1
from rosbags.rosbag1 import reader as rosbag1_reader
from rosbags.typesys import Stores, get_typestore

from iap_description.errors import BadInput
from iap_io.bags import bag_reading
from iap_io.bags.bag_reading import MAX_CHUNK, check_metadata, parsing
from iap_io.trajectories.reader import read_recorded

ZEROS = bytes(2 * MAX_CHUNK)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "bz2": bz2.compress,
    "lz4": lz4.frame.compress,
    "zstd": zstd.compress,
}

T = TypeVar("T")


def bounded_refusal(path: Path) -> str:
    """The one line, and no memory for what it would come to."""
    return bounded(lambda: refusal(read_recorded, path))


def bounded(call: Callable[[], T]) -> T:
    """The result of a call that takes little memory."""
    tracemalloc.start()
    try:
        result = call()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * MAX_CHUNK
    return result


def mcap(folder: Path) -> Path:
    maker = BagMaker(folder, "mcap")
    path = maker.write({"/reference": maker.poses(motion(np.arange(0.0, 1.0, 0.02)))})
    return path / "flight.mcap"


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_chunk_of_mcap_comes_to_no_more_than_the_limit(compression: str, tmp_path: Path) -> None:
    path = mcap(tmp_path)
    data = path.read_bytes()
    at = data.index(b"\x06", 30)  # its chunk, which is not compressed
    (size,) = struct.unpack_from("<Q", data, at + 1)
    packed = PACKERS[compression](ZEROS)
    inner = struct.pack("<QQQI", 0, 2**62, len(ZEROS), 0)
    inner += struct.pack("<I", len(compression)) + compression.encode()
    inner += struct.pack("<Q", len(packed)) + packed
    chunk = b"\x06" + struct.pack("<Q", len(inner)) + inner
    footer = b"\x0f" + struct.pack("<Q", 4) + bytes(4)
    footer += b"\x02" + struct.pack("<Q", 20) + bytes(20) + b"\x89MCAP0\r\n"  # without an index
    path.write_bytes(data[: at + 9 + size] + chunk + footer)
    assert path.stat().st_size < MAX_CHUNK // 50
    assert "comes to more than 32 MiB" in bounded_refusal(path)


@pytest.mark.parametrize("compression", ["bz2", "lz4"])
def test_a_chunk_of_ros_1_comes_to_no_more_than_the_limit(
    compression: str, tmp_path: Path
) -> None:
    path = tmp_path / "flight.bag"
    writer = rosbag1.Writer(path)
    writer.set_compression(rosbag1.Writer.CompressionFormat[compression.upper()])
    store = get_typestore(Stores.ROS1_NOETIC)
    with writer:
        poses = writer.add_connection(
            "/reference", "geometry_msgs/msg/PoseStamped", typestore=store
        )
        writer.write(poses, 1, ZEROS)
    assert path.stat().st_size < MAX_CHUNK // 50
    assert "comes to more than 32 MiB" in bounded_refusal(path)


@pytest.mark.parametrize("name", ["lz4", "bz2"])
def test_several_streams_are_one_chunk_and_half_a_stream_is_none(name: str) -> None:
    unpack = rosbag1_reader.decompressors[name]
    assert unpack(PACKERS[name](b"abc") * 3) == b"abcabcabc"
    with pytest.raises(ValueError, match="ends too early"):
        unpack(PACKERS[name](b"abc" * 100)[:-6])


def test_a_message_comes_to_no_more_than_the_limit(tmp_path: Path) -> None:
    maker = BagMaker(tmp_path, "sqlite3")
    path = maker.write({"/reference": maker.poses(motion(np.arange(0.0, 1.0, 0.02)))})
    text = (path / "metadata.yaml").read_text()
    text = text.replace("compression_format: ''", "compression_format: zstd")
    text = text.replace("compression_mode: ''", "compression_mode: message")
    (path / "metadata.yaml").write_text(text)
    with sqlite3.connect(path / "flight.db3") as base:
        base.execute("UPDATE messages SET data = ?", (zstd.compress(ZEROS),))
    assert "comes to more than 32 MiB" in bounded_refusal(path)


@pytest.mark.parametrize("stamp", ["x", None, 1.5e300])
def test_times_of_reception_are_numbers(stamp: object, tmp_path: Path) -> None:
    maker = BagMaker(tmp_path, "sqlite3")
    path = maker.write({"/reference": maker.poses(motion(np.arange(0.0, 1.0, 0.02)))})
    with sqlite3.connect(path / "flight.db3") as base:
        base.execute("CREATE TABLE loose AS SELECT * FROM messages")
        base.execute("DROP TABLE messages")
        base.execute("ALTER TABLE loose RENAME TO messages")
        base.execute("UPDATE messages SET timestamp = ? WHERE id = 7", (stamp,))
    with pytest.raises(BadInput, match="not a readable rosbag"):
        read_recorded(path)


def test_a_storage_file_comes_to_no_more_than_its_size_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bag_reading, "MAX_FILE", 1 << 20)
    maker = BagMaker(tmp_path, "sqlite3")
    path = maker.write({"/reference": maker.poses(motion(np.arange(0.0, 1.0, 0.02)))})
    text = (path / "metadata.yaml").read_text()
    text = text.replace("compression_format: ''", "compression_format: zstd")
    text = text.replace("compression_mode: ''", "compression_mode: file")
    (path / "metadata.yaml").write_text(text.replace("flight.db3", "flight.db3.zstd"))
    (path / "flight.db3").unlink()
    (path / "flight.db3.zstd").write_bytes(zstd.compress(ZEROS))
    assert "far more than its size promises" in bounded_refusal(path)


@pytest.mark.parametrize(
    ("kind", "part"), [("mcap", "storage"), ("sqlite3", "message"), ("sqlite3", "file")]
)
def test_what_is_compressed_within_limits_is_read(kind: str, part: str, tmp_path: Path) -> None:
    m = motion(np.arange(0.0, 1.0, 0.02))
    maker = BagMaker(tmp_path, kind)
    path = maker.write({"/reference": maker.poses(m)}, packed=part)
    np.testing.assert_allclose(read_recorded(path).p_WP_W, m.p, atol=1e-12)


@pytest.mark.parametrize(
    "error", [MemoryError(), AssertionError(), struct.error("x"), ValueError()]
)
def test_the_reason_is_said_in_words(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused, parsing(tmp_path / "bag"):
        raise error
    assert "not a readable rosbag" in str(refused.value)
    assert "Error" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        (lambda data: data[: len(data) // 2], "'rosbag reindex' makes it anew"),
        (lambda data: gzip.compress(data), "not a readable rosbag: packed by gzip: unpack it"),
    ],
)
def test_a_bag_of_ros_1_that_is_cut_or_packed_names_the_remedy(
    change: Callable[[bytes], bytes], remedy: str, tmp_path: Path
) -> None:
    maker = BagMaker(tmp_path, "ros1")
    path = maker.write({"/reference": maker.poses(motion(np.arange(0.0, 2.0, 0.02)))})
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(BadInput, match=remedy):
        read_recorded(path)


def test_metadata_that_grows_is_not_used(tmp_path: Path) -> None:
    path = mcap(tmp_path).parent
    laughs = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for x, y in zip("abcdefgh", "bcdefghi", strict=True):
        laughs += f"{y}: &{y} [{', '.join([f'*{x}'] * 10)}]\n"
    text = (path / "metadata.yaml").read_text()
    (path / "metadata.yaml").write_text(laughs + text)
    notes = bounded(lambda: read_recorded(path)).about.notes
    assert notes == ("metadata.yaml is damaged: flight.mcap was read without it",)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda text: "", "metadata.yaml is damaged: flight."),
        (lambda text: "\0" * 400, "metadata.yaml is damaged: flight."),
        (lambda text: re.sub(r"version: \d+", "version: 41", text, count=1), "is of version 41, which is not known"),
        (lambda text: re.sub(r"flight\.(mcap|db3)", "away.db3", text), "names 'away.db3', which is not there"),
        (lambda text: text.replace("identifier: mcap", "identifier: sqlite3"), "names the storage 'sqlite3'"),
        (lambda text: re.sub("mode: ''", "mode: FILE", text), "says that its files are packed, and they are not"),
    ],
)  # fmt: skip
def test_one_file_is_read_where_its_metadata_are_wrong(
    tmp_path: Path, change: Callable[[str], str], note: str
) -> None:
    maker, flight = BagMaker(tmp_path, "mcap"), motion(np.arange(0.0, 1.0, 0.02))
    path = maker.write({"/reference": maker.poses(flight)}) / "metadata.yaml"
    path.write_text(change(path.read_text()))
    recorded = read_recorded(path.parent)
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=1e-12)
    assert note in recorded.about.notes[0]


def test_a_packed_file_in_a_folder_without_metadata_is_named(tmp_path: Path) -> None:
    maker, flight = BagMaker(tmp_path, "mcap"), motion(np.arange(0.0, 1.0, 0.02))
    path = maker.write({"/reference": maker.poses(flight)})
    (storage,) = path.glob("*.mcap")
    storage.with_suffix(".mcap.gz").write_bytes(gzip.compress(storage.read_bytes()))
    storage.unlink()
    (path / "metadata.yaml").unlink()
    with pytest.raises(BadInput, match=r"flight.mcap.gz: packed by gzip: unpack it"):
        read_recorded(path)


@pytest.mark.parametrize("kind", ["ros1", "sqlite3", "mcap"])
@pytest.mark.parametrize(
    "name", ["a.db3", "a.mcap", "a.bag", "a.csv", "a.ulg", "a.bag.active", "a"]
)
def test_a_bag_is_known_by_its_bytes_and_not_by_its_name(
    tmp_path: Path, kind: str, name: str
) -> None:
    maker, flight = BagMaker(tmp_path, kind), motion(np.arange(0.0, 1.0, 0.02))
    path = maker.write({"/reference": maker.poses(flight)})
    file = path if path.is_file() else next(f for f in path.iterdir() if f.suffix != ".yaml")
    recorded = read_recorded(file.rename(tmp_path / name))
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        {"relative_file_paths": "bag_0.mcap"},
        {"files": "bag_0.mcap"},
        {"topics_with_message_count": [{"message_count": "many"}]},
        {"topics_with_message_count": None},
    ],
)
def test_metadata_of_other_types_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    about = {"relative_file_paths": ["bag_0.mcap"], "topics_with_message_count": []}
    for damaged in ({}, change):
        tree = {"rosbag2_bagfile_information": {**about, **damaged}}
        (tmp_path / "metadata.yaml").write_text(json.dumps(tree), encoding="utf-8")
        if not damaged:
            check_metadata(tmp_path)
    with pytest.raises(BadInput, match="the lists of files and topics are damaged"):
        check_metadata(tmp_path)


def test_a_pipe_within_a_bag_is_refused_and_not_waited_for(tmp_path):
    (tmp_path / "metadata.yaml").write_text("{}", encoding="utf-8")
    os.mkfifo(tmp_path / "bag_0.mcap")
    with pytest.raises(BadInput, match=r"bag_0\.mcap: cannot be read: not a file"):
        check_metadata(tmp_path)
