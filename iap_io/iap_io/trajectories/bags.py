# SPDX-License-Identifier: BSD-3-Clause
"""Messages out of ROS 1 bags and rosbag2 recordings (sqlite3, mcap), through `rosbags`.

The types that a replay takes are the same in every ROS release, so rosbags' own definitions serve
for them, whether or not a bag carries any; only this suite's own messages need the definitions
that its bags embed.
"""

from collections import deque
from collections.abc import Iterator
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
from iap_description.errors import BadInput
from iap_io.bags.bag_reading import METADATA, check_metadata, parsing
from iap_io.bags.mending import mended
from iap_io.trajectories.topics import Topic, short

STORAGE_SUFFIXES = (".mcap", ".db3")


@dataclass(frozen=True)
class Bag:
    """An open bag.

    Attributes:
        path: as the user gave it.
        topics: what it holds, by topic.
        notes: what of it had to be mended.
    """

    path: Path
    topics: dict[str, Topic]
    notes: tuple[str, ...]
    _reader: rosbag1.Reader | rosbag2.Reader
    _types: Typestore

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

    def last(self, topic: str) -> tuple[Any, int] | None:
        """The last message of a topic and its time of reception [ns]; none of the others is unpacked."""
        with parsing(self.path):
            last = deque(self._raw(topic), maxlen=1)
            return self._decoded(*last[0]) if last else None

    def messages(self, topic: str) -> Iterator[tuple[Any, int]]:
        """Messages of a topic with their times of reception [ns], one after the other."""
        with parsing(self.path):
            for raw in self._raw(topic):
                yield self._decoded(*raw)

    def _raw(self, topic: str) -> Iterator[tuple[Any, int, bytes]]:
        connections = [c for c in self._reader.connections if c.topic == topic]
        self._define(topic, connections)
        return self._reader.messages(connections=connections)

    def _decoded(self, connection: Any, stamp: int, raw: bytes) -> tuple[Any, int]:  # noqa: ANN401
        is_ros1 = isinstance(self._reader, rosbag1.Reader)
        decode = self._types.deserialize_ros1 if is_ros1 else self._types.deserialize_cdr
        return decode(raw, connection.msgtype), int(np.int64(stamp))

    def _define(self, topic: str, connections: list[Any]) -> None:
        """Register the definition of a topic's type where rosbags does not know it."""
        for connection in connections:
            if connection.msgtype in self._types.fielddefs:
                continue
            if connection.msgdef.format != MessageDefinitionFormat.MSG:
                kind = short(connection.msgtype)
                raise BadInput(f"{self.path}: topic {topic}: the bag does not define {kind}")
            with parsing(self.path):
                types = get_types_from_msg(connection.msgdef.data, connection.msgtype)
                known = self._types.fielddefs
                self._types.register(
                    {name: define for name, define in types.items() if name not in known}
                )


def is_bag(path: Path) -> bool:
    """True if a path is that of a bag, by its name."""
    return path.is_dir() or path.suffix in (".bag", *STORAGE_SUFFIXES)


@contextmanager
def opened(path: Path) -> Iterator[Bag]:
    """Open a bag; it closes at the end of the ``with`` statement.

    Raises:
        BadInput: the file is truncated, empty, of another kind, or holds no messages.
    """
    is_ros1 = path.suffix == ".bag" and path.is_file()
    stack = ExitStack()
    try:
        with parsing(path):
            storage, notes = (path, ()) if is_ros1 else stack.enter_context(mended(_storage(path)))
            reader = rosbag1.Reader(path) if is_ros1 else rosbag2.Reader(storage)
            stack.enter_context(reader)
            types = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.LATEST)
            count = reader.message_count
            topics = {
                name: Topic(info.msgtype or "several types", info.msgcount)
                for name, info in reader.topics.items()
            }
        if not count:
            raise BadInput(f"{path}: the bag holds no messages")
        yield Bag(path, topics, notes, reader, types)
    finally:
        with parsing(path):
            stack.close()


def _storage(path: Path) -> Path:
    """The path for rosbags to open: that given, or the only recording in a folder without metadata."""
    if not path.is_dir() or (path / METADATA).exists():
        check_metadata(path)
        return path
    files = [file for file in path.iterdir() if file.suffix in STORAGE_SUFFIXES]
    if len(files) != 1:
        raise BadInput(
            f"{path}: not a rosbag2 folder: no {METADATA}, and {len(files)} .mcap or .db3 files"
            + (": 'ros2 bag reindex' makes it, or name one of the files" if files else "")
        )
    return files[0]
