# SPDX-License-Identifier: BSD-3-Clause
"""Messages out of ROS 1 bags and rosbag2 recordings (sqlite3, mcap), through `rosbags`.

The types that a replay takes are the same in every ROS release, so rosbags' own definitions serve
for them, whether or not a bag carries any; only this suite's own messages need the definitions
that its bags embed.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rosbags import rosbag1, rosbag2
from rosbags.interfaces import MessageDefinitionFormat
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from iap_description.arrays import Integers
from iap_description.errors import BadInput, shown
from iap_io.bags.bag_reading import METADATA, check_entries, fault_of_metadata, parsing
from iap_io.bags.mending import mended
from iap_io.bags.storage_files import (
    ROS1_SUFFIX,
    STORAGE_SUFFIXES,
    is_bag_file,
    packing_of,
    storage_files,
    suffix_of,
)
from iap_io.trajectories.topics import Topic, short

EUROC = "mav0"  # folder of a data set in EuRoC's layout


@dataclass(frozen=True)
class Bag:
    """An open bag.

    Attributes:
        path: as the user gave it.
        topics: what it holds, by topic.
        notes: what of it had to be mended.
        start_ns: time of the first message [ns].
        end_ns: time after the last one [ns].
    """

    path: Path
    topics: dict[str, Topic]
    notes: tuple[str, ...]
    start_ns: int
    end_ns: int
    _reader: rosbag1.Reader | rosbag2.Reader
    _types: Typestore

    @property
    def is_ros1(self) -> bool:
        """True if it is of ROS 1."""
        return isinstance(self._reader, rosbag1.Reader)

    def read(self, topic: str) -> tuple[list[Any], Integers]:
        """Messages of a topic with their times of reception [ns].

        Raises:
            BadInput: the file is damaged, or the bag does not define the topic's type.
        """
        messages, stamps = [], []
        for message, stamp in self.messages(topic):
            messages.append(message)
            stamps.append(stamp)
        return messages, np.array(stamps, dtype=np.int64)

    def first(self, topic: str) -> tuple[Any, int]:
        """The first message of a topic and its time of reception [ns].

        Raises:
            BadInput: there is none, or see `read`.
        """
        newest = next(self.messages(topic), None)
        if newest is None:
            raise BadInput(f"{self.path}: no message on {topic}")
        return newest

    def last(self, topic: str) -> tuple[Any, int] | None:
        """The last message of a topic and its time of reception [ns]; none of the others is unpacked."""
        last = deque(self.raw((topic,)), maxlen=1)
        return self.decoded(*last[0])[1:] if last else None

    def spread(self, topic: str, count: int) -> Iterator[Any]:
        """The first messages of a topic after times that are spread over the bag."""
        step = max(1, (self.end_ns - self.start_ns) // count)
        for k in range(count):
            newest = next(self.raw((topic,), start=self.start_ns + k * step), None)
            if newest is None:
                return
            yield self.decoded(*newest)[1]

    def messages(self, topic: str) -> Iterator[tuple[Any, int]]:
        """Messages of a topic with their times of reception [ns], one after the other."""
        return (each[1:] for each in self.received((topic,)))

    def received(self, topics: Sequence[str]) -> Iterator[tuple[str, Any, int]]:
        """Topics, messages and times of reception [ns] in the order of the bag."""
        return (self.decoded(*each) for each in self.raw(topics))

    def raw(
        self, topics: Sequence[str], start: int | None = None, stop: int | None = None
    ) -> Iterator[tuple[Any, int, bytes]]:
        """Connections, times of reception and bytes of messages between two times [ns].

        Raises:
            BadInput: see `read`.
        """
        connections = [c for c in self._reader.connections if c.topic in topics]
        self._define(connections)
        with parsing(self.path):
            for connection, stamp, raw in self._reader.messages(connections, start, stop):
                yield connection, int(np.int64(stamp)), raw  # a damaged table may hold texts

    def decoded(self, connection: Any, stamp: int, raw: bytes) -> tuple[str, Any, int]:  # noqa: ANN401
        """Topic, message and time of reception [ns] of what `raw` gives."""
        decode = self._types.deserialize_ros1 if self.is_ros1 else self._types.deserialize_cdr
        with parsing(self.path):
            return connection.topic, decode(raw, full_type(connection.msgtype)), stamp

    def _define(self, connections: list[Any]) -> None:
        """Register the definitions of types that rosbags does not know."""
        for connection in connections:
            name = full_type(connection.msgtype)
            if name in self._types.fielddefs:
                continue
            if connection.msgdef.format != MessageDefinitionFormat.MSG:
                kind = short(name)
                raise BadInput(
                    f"{self.path}: topic {connection.topic}: the bag does not define {kind}"
                )
            with parsing(self.path):
                types = get_types_from_msg(connection.msgdef.data, name)
                known = self._types.fielddefs
                self._types.register(
                    {name: define for name, define in types.items() if name not in known}
                )


def full_type(name: str) -> str:
    """The name of a type of ROS 2; some writers leave its middle part out, as ROS 1 does."""
    package, parted, kind = name.partition("/")
    return f"{package}/msg/{kind}" if parted and "/" not in kind else name


def is_bag(path: Path) -> bool:
    """True if a path is that of a bag: a folder, or a file by its first bytes or its name."""
    return path.is_dir() or is_bag_file(path) or path.suffix in (ROS1_SUFFIX, *STORAGE_SUFFIXES)


@contextmanager
def opened(path: Path) -> Iterator[Bag]:
    """Open a bag; it closes at the end of the ``with`` statement.

    Raises:
        BadInput: the file is truncated, empty, of another kind, or holds no messages.
    """
    is_ros1 = path.is_file() and (suffix_of(path) or path.suffix) == ROS1_SUFFIX
    packing = packing_of(path)
    if packing is not None:
        raise BadInput(f"{path}: not a readable rosbag: {packing}")
    stack = ExitStack()
    try:
        with parsing(path):
            storage, storage_notes = (path, ()) if is_ros1 else _storage(path)
            mending = (path, ()) if is_ros1 else stack.enter_context(mended(storage))
            reader = rosbag1.Reader(path) if is_ros1 else rosbag2.Reader(mending[0])
            stack.enter_context(reader)
            types = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.LATEST)
            count = reader.message_count
            topics = {
                name: Topic(full_type(info.msgtype or "several types"), info.msgcount)
                for name, info in reader.topics.items()
            }
        if not count:
            raise BadInput(f"{path}: the bag holds no messages")
        notes = (*storage_notes, *mending[1])
        yield Bag(path, topics, notes, reader.start_time, reader.end_time, reader, types)
    finally:
        with parsing(path):
            stack.close()


def _is_sensor(table: Path) -> bool:
    """True if a table of a data set is of a camera or an inertial unit."""
    return table.parent.name.startswith(("cam", "imu"))


def _storage(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The path for rosbags to open, and what is to be said: that given, or the only recording in a folder.

    Raises:
        BadInput: several files whose metadata cannot be used, or none.
    """
    if not path.is_dir():
        return path, ()
    check_entries(path)
    if path.name == EUROC or (path / EUROC).is_dir():
        home = path if path.name == EUROC else path / EUROC
        truths = [str(each) for each in sorted(home.glob("*/data.csv")) if not _is_sensor(each)]
        raise BadInput(
            f"{path}: a data set in EuRoC's layout and no bag: name its true poses"
            f" ({', '.join(truths) or 'there are none'}), or 'iap localize {path}' estimates them"
        )
    is_there = (path / METADATA).exists()
    fault = fault_of_metadata(path) if is_there else None
    if is_there and fault is None:
        return path, ()
    files = storage_files(path)
    if len(files) != 1:
        packed = next((each for each in sorted(path.iterdir()) if packing_of(each)), None)
        if not files and packed is not None:
            raise BadInput(f"{packed}: {packing_of(packed)}")
        what = f"its {METADATA} {fault}" if fault else f"not a rosbag2 folder: no {METADATA}"
        ros1 = [each.name for each in sorted(path.iterdir()) if suffix_of(each) == ROS1_SUFFIX]
        if ros1 and not files:
            raise BadInput(
                f"{path}: {what}, but bags of ROS 1: name one of its {len(ros1)} ({', '.join(map(shown, ros1[:3]))}),"
                " or join those of one recording by rosbags-convert"
            )
        raise BadInput(
            f"{path}: {what}, and {len(files)} .mcap or .db3 files"
            + (": 'ros2 bag reindex' makes it, or name one of the files" if files else "")
        )
    return files[0], (f"{METADATA} {fault}: {files[0].name} was read without it",) if fault else ()
