# SPDX-License-Identifier: BSD-3-Clause
"""A motion known in closed form, and bags in every format to put it into."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from iap_description.math import so3

Array = NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ("ros1", "sqlite3", "mcap")
START_NS = 1_700_000_000_000_000_000
REFERENCE = "iap_msgs/msg/PlatformReference"


@dataclass(frozen=True)
class Motion:
    """A curve with its derivatives, in ENU/FLU."""

    t: Array
    p: Array
    q: Array
    v: Array
    w: Array
    a: Array
    alpha: Array

    @property
    def stamps(self) -> list[int]:
        """Stamps of the samples [ns]."""
        return [START_NS + round(t * 1e9) for t in self.t]


def motion(t: Array) -> Motion:
    """Sines in position, and two turns of yaw in 10 s under swinging roll and pitch.

    The attitude is exp(phi(t)) per axis, q = q_z(yaw) q_y(pitch) q_x(roll); its rates follow from
    the Euler angles' derivatives.
    """
    f, o = np.array([0.4, 0.3, 0.2]), np.array([0.0, 0.5, 1.0])
    size = np.array([1.0, 0.8, 0.5])
    angle = 2.0 * np.pi * f * t[:, None] + o
    p = size * np.sin(angle) + np.array([0.0, 0.0, 3.0])
    v = size * 2.0 * np.pi * f * np.cos(angle)
    a = -size * (2.0 * np.pi * f) ** 2 * np.sin(angle)
    roll, d_roll, dd_roll = 0.3 * np.sin(2.0 * t), 0.6 * np.cos(2.0 * t), -1.2 * np.sin(2.0 * t)
    pitch, d_pitch, dd_pitch = 0.2 * np.cos(t), -0.2 * np.sin(t), -0.2 * np.cos(t)
    rate = 0.4 * np.pi
    yaw = rate * t
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(np.stack([roll, pitch, yaw], 1)))
    sr, cr, sp, cp = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    w = np.stack(
        [d_roll - rate * sp, d_pitch * cr + rate * sr * cp, -d_pitch * sr + rate * cr * cp], 1
    )
    alpha = np.stack(
        [
            dd_roll - rate * cp * d_pitch,
            dd_pitch * cr - d_pitch * sr * d_roll + rate * (cr * cp * d_roll - sr * sp * d_pitch),
            -dd_pitch * sr
            - d_pitch * cr * d_roll
            + rate * (-sr * cp * d_roll - cr * sp * d_pitch),
        ],
        1,
    )
    return Motion(t, p, q, v, w, a, alpha)


Stamped = Iterable[tuple[int, Any]]


class BagMaker:
    """Writes bags of one of FORMATS below a folder, and makes the messages for them."""

    def __init__(self, folder: Path, kind: str) -> None:
        """Load the message types of the format's ROS version."""
        self.folder, self.kind = folder, kind
        self.store = get_typestore(Stores.ROS1_NOETIC if kind == "ros1" else Stores.LATEST)
        text = (ROOT / "iap_msgs/msg/PlatformReference.msg").read_text()
        self.store.register(get_types_from_msg(text, REFERENCE))

    def write(
        self,
        topics: dict[str, tuple[str, Stamped]],
        name: str = "flight",
        packed: str | None = None,
    ) -> Path:
        """Write topic -> (type, stamped messages); returns the bag's path.

        Args:
            topics: to write.
            name: of the bag.
            packed: compression of ROS 1, or what of ROS 2 is compressed (message, file, storage).
        """
        if self.kind == "ros1":
            path = self.folder / f"{name}.bag"
            writer: Any = rosbag1.Writer(path)
            encode = self.store.serialize_ros1
            if packed is not None:
                writer.set_compression(rosbag1.Writer.CompressionFormat[packed.upper()])
        else:
            path = self.folder / name
            plugin = rosbag2.StoragePlugin[self.kind.upper()]
            writer = rosbag2.Writer(path, version=9, storage_plugin=plugin)
            encode = self.store.serialize_cdr
            if packed is not None:
                mode = rosbag2.CompressionMode[packed.upper()]
                writer.set_compression(mode, rosbag2.CompressionFormat.ZSTD)
        with writer:
            for topic, (msgtype, messages) in topics.items():
                connection = writer.add_connection(topic, msgtype, typestore=self.store)
                for stamp, message in messages:
                    writer.write(connection, stamp, encode(message, msgtype))
        return path

    def make(self, msgtype: str, *values: Any) -> Any:  # noqa: ANN401
        """A message from its fields' values in order."""
        return self.store.types[msgtype](*values)

    def xyz(self, vector: Array, msgtype: str = "geometry_msgs/msg/Vector3") -> Any:  # noqa: ANN401
        """A Vector3 or Point."""
        return self.make(msgtype, *map(float, vector))

    def point(self, vector: Array) -> Any:  # noqa: ANN401
        """A Point."""
        return self.xyz(vector, "geometry_msgs/msg/Point")

    def header(self, stamp: int) -> Any:  # noqa: ANN401
        """A Header."""
        time = self.make("builtin_interfaces/msg/Time", stamp // 10**9, stamp % 10**9)
        first = (0,) if self.kind == "ros1" else ()
        return self.make("std_msgs/msg/Header", *first, time, "map")

    def quaternion(self, q: Array) -> Any:  # noqa: ANN401
        """A Quaternion."""
        return self.make("geometry_msgs/msg/Quaternion", *map(float, q))

    def pose(self, p: Array, q: Array) -> Any:  # noqa: ANN401
        """A Pose."""
        return self.make("geometry_msgs/msg/Pose", self.point(p), self.quaternion(q))

    def pair(self, kind: str, linear: Array, angular: Array) -> Any:  # noqa: ANN401
        """A Twist or Accel."""
        return self.make(f"geometry_msgs/msg/{kind}", self.xyz(linear), self.xyz(angular))

    def pose_stamped(self, stamp: int, p: Array, q: Array) -> Any:  # noqa: ANN401
        """A PoseStamped."""
        return self.make("geometry_msgs/msg/PoseStamped", self.header(stamp), self.pose(p, q))

    def poses(self, m: Motion) -> tuple[str, list[tuple[int, Any]]]:
        """A topic of PoseStamped."""
        samples = zip(m.stamps, m.p, m.q, strict=True)
        messages = [(stamp, self.pose_stamped(stamp, p, q)) for stamp, p, q in samples]
        return "geometry_msgs/msg/PoseStamped", messages

    def points(self, stamps: list[int], values: Array) -> tuple[str, list[tuple[int, Any]]]:
        """A topic of Points."""
        messages = [(s, self.point(v)) for s, v in zip(stamps, values, strict=True)]
        return "geometry_msgs/msg/Point", messages
