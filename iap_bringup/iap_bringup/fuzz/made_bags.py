# SPDX-License-Identifier: BSD-3-Clause
"""Bags of other people's making, of ROS 1 and 2, and the messages in them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from iap_description.arrays import Array

SECOND = 1_000_000_000  # [ns]
ROS1, SQLITE3, MCAP = "ros1", "sqlite3", "mcap"
FORMATS = (ROS1, SQLITE3, MCAP)
POSE = "geometry_msgs/msg/PoseStamped"
Numbers = Sequence[float] | Array


class BagSample(NamedTuple):
    """A message of a bag: its time [ns], topic, type and content."""

    t: int
    topic: str
    kind: str
    message: Any


class MadeBags:
    """Bags of one format in a folder, and messages for them.

    Args:
        folder: of the bags.
        kind: one of `FORMATS`.
        definitions: of types that rosbags does not know, by their names.
    """

    def __init__(
        self, folder: Path, kind: str, definitions: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.folder, self.kind = folder, kind
        self.store = get_typestore(Stores.ROS1_NOETIC if kind == ROS1 else Stores.LATEST)
        for name, text in definitions.items():
            if name not in self.store.fielddefs:
                self.store.register(get_types_from_msg(text, name))

    def write_samples(
        self,
        samples: Iterable[BagSample],
        name: str,
        packed: str | None = None,
        topics: Mapping[str, str] = MappingProxyType({}),
    ) -> Path:
        """Write a bag; returns its path.

        Args:
            samples: in the order of the bag.
            name: of the bag.
            packed: compression of ROS 1, or what of ROS 2 is compressed (message, file, storage).
            topics: types of topics that it has also without a message.
        """
        if self.kind == ROS1:
            path, encode = self.folder / f"{name}.bag", self.store.serialize_ros1
            writer: Any = rosbag1.Writer(path)
            if packed is not None:
                writer.set_compression(rosbag1.Writer.CompressionFormat[packed.upper()])
        else:
            path, encode = self.folder / name, self.store.serialize_cdr
            plugin = rosbag2.StoragePlugin[self.kind.upper()]
            writer = rosbag2.Writer(path, version=9, storage_plugin=plugin)
            if packed is not None:
                mode = rosbag2.CompressionMode[packed.upper()]
                writer.set_compression(mode, rosbag2.CompressionFormat.ZSTD)
        with writer:

            def connect(topic: str, kind: str) -> Any:  # noqa: ANN401
                return writer.add_connection(topic, kind, typestore=self.store)

            connections = {topic: connect(topic, kind) for topic, kind in topics.items()}
            for t, topic, kind, message in samples:
                if topic not in connections:
                    connections[topic] = connect(topic, kind)
                writer.write(connections[topic], t, encode(message, kind))
        return path

    def make(self, msgtype: str, *values: Any) -> Any:  # noqa: ANN401 - of rosbags
        """A message from its fields' values in order."""
        return self.store.types[msgtype](*values)

    def header(self, stamp: int, frame: str = "map") -> Any:  # noqa: ANN401
        """A Header of a stamp [ns]."""
        time = self.make("builtin_interfaces/msg/Time", stamp // SECOND, stamp % SECOND)
        first = (0,) if self.kind == ROS1 else ()
        return self.make("std_msgs/msg/Header", *first, time, frame)

    def xyz(self, vector: Numbers, msgtype: str = "geometry_msgs/msg/Vector3") -> Any:  # noqa: ANN401
        """A Vector3 or Point."""
        return self.make(msgtype, *map(float, vector))

    def point(self, vector: Numbers) -> Any:  # noqa: ANN401
        """A Point."""
        return self.xyz(vector, "geometry_msgs/msg/Point")

    def quaternion(self, q: Numbers) -> Any:  # noqa: ANN401
        """A Quaternion, xyzw."""
        return self.make("geometry_msgs/msg/Quaternion", *map(float, q))

    def pose(self, p: Numbers, q: Numbers) -> Any:  # noqa: ANN401
        """A Pose."""
        return self.make("geometry_msgs/msg/Pose", self.point(p), self.quaternion(q))

    def pose_stamped(self, stamp: int, p: Numbers, q: Numbers) -> Any:  # noqa: ANN401
        """A PoseStamped."""
        return self.make(POSE, self.header(stamp), self.pose(p, q))

    def pair(self, kind: str, linear: Numbers, angular: Numbers) -> Any:  # noqa: ANN401
        """A Twist, Accel or Wrench."""
        return self.make(f"geometry_msgs/msg/{kind}", self.xyz(linear), self.xyz(angular))
