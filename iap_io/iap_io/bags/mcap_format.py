# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of an mcap file and of rosbag2's metadata.yaml, as pure functions.

The format is that of https://mcap.dev/spec, without compression and without check sums, both of
which it leaves free. A file is `head`, then schemas, channels and chunks, then `tail`.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from rosbags.typesys.store import Typestore

from iap_description.arrays import Integers

MESSAGE_HEADER = np.dtype(
    [
        ("op", "u1"),
        ("length", "<u8"),
        ("channel", "<u2"),
        ("sequence", "<u4"),
        ("log_time", "<u8"),
        ("time", "<u8"),
    ]
)
PREFIX = 9  # bytes of a record's code and length, which its length does not count
_MAGIC = b"\x89MCAP0\r\n"
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, MESSAGE, _CHUNK, _INDEX, _CHUNK_INDEX = range(1, 9)
_STATISTICS, _DATA_END = 0x0B, 0x0F
INDEX_ENTRY = np.dtype([("time", "<u8"), ("offset", "<u8")])
_FOREVER = "{sec: 9223372036, nsec: 854775807}"
_LATCHED = (
    "{history: keep_last, depth: 1, reliability: reliable, durability: transient_local,"
    f" deadline: {_FOREVER}, lifespan: {_FOREVER}, liveliness: automatic,"
    f" liveliness_lease_duration: {_FOREVER}, avoid_ros_namespace_conventions: false}}"
)

Stamps = Integers
Index = Mapping[int, tuple[Stamps, Integers]]  # channel to stamps [ns] and offsets


@dataclass
class Topics:
    """The topics of a bag; a topic's channel is its place in the list, counted from 1."""

    store: Typestore
    names: list[tuple[str, str]] = field(default_factory=list)  # topic and type
    latched: set[str] = field(default_factory=set)  # those whose last message late listeners get
    hashes: dict[str, str] = field(default_factory=dict)  # by type
    schemas: dict[str, bytes] = field(default_factory=dict)  # records, by type
    channels: list[bytes] = field(default_factory=list)  # records

    def add(self, name: str, msgtype: str, *, is_latched: bool = False) -> list[bytes]:
        """Add a topic; returns the records that announce it."""
        new = []
        if msgtype not in self.schemas:
            definition, _ = self.store.generate_msgdef(msgtype, ros_version=2)
            number = struct.pack("<H", len(self.schemas) + 1)
            texts = (_text(msgtype), _text("ros2msg"), _text(definition))
            self.schemas[msgtype] = _record(_SCHEMA, number, *texts)
            self.hashes[msgtype] = self.store.hash_rihs01(msgtype)
            new.append(self.schemas[msgtype])
        self.names.append((name, msgtype))
        schema = 1 + list(self.schemas).index(msgtype)
        numbers = struct.pack("<HH", len(self.names), schema)
        if is_latched:
            self.latched.add(name)
        quality = _text("offered_qos_profiles") + _text(self.quality(name))
        size = struct.pack("<I", len(quality))
        self.channels.append(_record(_CHANNEL, numbers, _text(name), _text("cdr"), size, quality))
        return [*new, self.channels[-1]]

    def quality(self, name: str) -> str:
        """The quality of service that a player offers on a topic, in YAML; empty is its default."""
        return f"[{_LATCHED}]" if name in self.latched else "[]"


@dataclass(frozen=True)
class Content:
    """Content of a file; one object, so that it changes at once or not at all.

    Attributes:
        end: position behind the last chunk.
        chunks: chunk index records.
        counts: messages per channel.
        start_ns: first stamp.
        stop_ns: last stamp.
    """

    end: int
    chunks: tuple[bytes, ...] = ()
    counts: tuple[int, ...] = ()
    start_ns: int = 0
    stop_ns: int = 0


def head() -> bytes:
    """The beginning of a file."""
    return _MAGIC + _record(_HEADER, _text("ros2"), _text("iap_bringup"))


def message_head(channel: int, stamp: int, size: int) -> bytes:
    """The record's bytes before those of one message with its stamp [ns]."""
    length = MESSAGE_HEADER.itemsize - PREFIX + size
    return struct.pack("<BQHIQQ", MESSAGE, length, channel, 0, stamp, stamp)


def chunk(old: Content, start: int, size: int, index: Index) -> tuple[bytes, bytes, Content]:
    """Frame a chunk of `size` bytes of message records at position `start`.

    Returns:
        What stands before the message records, what stands behind them, and the file's content
        with the chunk.
    """
    first = min(int(stamps.min()) for stamps, _ in index.values())
    last = max(int(stamps.max()) for stamps, _ in index.values())
    inner = struct.pack("<QQQIIQ", first, last, size, 0, 0, size)
    before = struct.pack("<BQ", _CHUNK, len(inner) + size) + inner
    records, positions, at = [], [], start + len(before) + size
    for channel, (times, offsets) in index.items():
        entries = np.empty(len(times), INDEX_ENTRY)
        entries["time"], entries["offset"] = times, offsets
        numbers = struct.pack("<HI", channel, entries.nbytes)
        records.append(_record(_INDEX, numbers, entries.tobytes()))
        positions.append(struct.pack("<HQ", channel, at))
        at += len(records[-1])
    behind = b"".join(records)
    entry = _record(
        _CHUNK_INDEX,
        struct.pack("<QQQQI", first, last, start, len(before) + size, sum(map(len, positions))),
        *positions,
        struct.pack("<QIQQ", len(behind), 0, size, size),
    )
    counts = list(old.counts)
    for channel, (times, _) in index.items():
        counts[channel - 1] += len(times)
    start_ns = min(first, old.start_ns) if old.chunks else first
    stop_ns = max(last, old.stop_ns)
    return before, behind, Content(at, (*old.chunks, entry), tuple(counts), start_ns, stop_ns)


def tail(content: Content, topics: Topics) -> bytes:
    """The bytes behind the data: schemas, channels, chunk indices, statistics, the footer."""
    data_end = _record(_DATA_END, bytes(4))
    per_channel = [struct.pack("<HQ", i, n) for i, n in enumerate(content.counts, 1)]
    sizes = (sum(content.counts), len(topics.schemas), len(topics.names), 0, 0)
    numbers = (*sizes, len(content.chunks), content.start_ns, content.stop_ns)
    statistics = struct.pack("<QHIIIIQQI", *numbers, 10 * len(per_channel))
    footer = _record(_FOOTER, struct.pack("<QQI", content.end + len(data_end), 0, 0))
    summary = [*topics.schemas.values(), *topics.channels, *content.chunks]
    summary.append(_record(_STATISTICS, statistics, *per_channel))
    return b"".join([data_end, *summary, footer, _MAGIC])


def metadata(content: Content, topics: Topics, storage: str, custom: Mapping[str, str]) -> bytes:
    """The text of metadata.yaml, version 9; `storage` is the mcap file's name.

    Written line by line, because it is written again after every chunk, for which yaml.safe_dump is too slow (28 ms).
    """
    start = f"starting_time: {{nanoseconds_since_epoch: {content.start_ns}}}"
    duration = f"duration: {{nanoseconds: {content.stop_ns - content.start_ns}}}"
    count = f"message_count: {sum(content.counts)}"
    lines = [
        "rosbag2_bagfile_information:",
        "  version: 9",
        "  storage_identifier: mcap",
        *(f"  {line}" for line in (start, duration, count)),
        "  compression_format: ''",
        "  compression_mode: ''",
        f"  relative_file_paths: [{storage}]",
        "  files:",
        f"  - path: {storage}",
        *(f"    {line}" for line in (start, duration, count)),
        "  ros_distro: rosbags",
        "  custom_data:",
        *(f"    {key}: {_quoted(value)}" for key, value in custom.items()),
        f"  topics_with_message_count:{'' if topics.names else ' []'}",
    ]
    for (name, msgtype), messages in zip(topics.names, content.counts, strict=True):
        lines += [
            f"  - message_count: {messages}",
            "    topic_metadata:",
            f"      name: {name}",
            f"      type: {msgtype}",
            "      serialization_format: cdr",
            f"      offered_qos_profiles: {topics.quality(name)}",
            f"      type_description_hash: {topics.hashes[msgtype]}",
        ]
    return ("\n".join(lines) + "\n").encode()


def _quoted(value: str) -> str:
    """A YAML single-quoted string."""
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _text(value: str) -> bytes:
    """A string as mcap stores it."""
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def _record(code: int, *parts: bytes) -> bytes:
    """A record: its code, the length of its content, the content."""
    return struct.pack("<BQ", code, sum(map(len, parts))) + b"".join(parts)


def total(parts: Sequence[bytes | memoryview]) -> int:
    """Size of buffers together [bytes]."""
    return sum(len(part) for part in parts)
