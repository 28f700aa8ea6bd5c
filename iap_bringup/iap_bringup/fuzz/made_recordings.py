# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of other people's making: a folder in EuRoC's layout, a bag with ranges, and bags of poses."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_typestore

from iap_bringup.fuzz.made_texts import RANGE_MAP
from iap_description.math import so3
from iap_description.process.extras import cv2

WIDTH, HEIGHT, FOCAL_LENGTH, BASELINE, DISTANCE = 160, 120, 80.0, 0.1, 1.0  # [px], [m]
START = 1_403_636_580_000_000_000  # [ns]
SECOND = 1_000_000_000  # [ns]
IMU_STEP, IMAGE_STEP = 5_000_000, 50_000_000  # [ns]
DURATION = 1.0  # [s]
R_BC = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 9.81)  # w and f of a unit at rest


def write_euroc(home: Path) -> None:
    """A stereo pair that stands still before a wall, with an inertial unit and the truth."""
    rng = np.random.default_rng(1)
    wall = cv2.GaussianBlur(rng.uniform(0, 255, (HEIGHT, WIDTH + 8)), (0, 0), 2.0)
    wall = cv2.normalize(wall, wall, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)
    disparity = round(FOCAL_LENGTH * BASELINE / DISTANCE)
    for side, first in enumerate((0, disparity)):
        _write_camera(home / "euroc" / "mav0" / f"cam{side}", wall[:, first : first + WIDTH], side)
    stamps = range(START, START + round(DURATION * SECOND), IMU_STEP)
    densities = {"gyroscope": (0.0017, 1e-5), "accelerometer": (0.02, 3e-3)}
    noise = "".join(
        f"{name}_noise_density: {white}\n{name}_random_walk: {walk}\n"
        for name, (white, walk) in densities.items()
    )
    rows = [(*STILL[:5], STILL[5] + 0.01 * rng.normal()) for _ in stamps]
    _write_table(home / "euroc" / "mav0" / "imu0", _placed("imu", np.eye(4)) + noise, stamps, rows)
    truth = [(1.0, 2.0, 3.0, 1.0, *[0.0] * 12)] * len(stamps)
    folder = home / "euroc" / "mav0" / "state_groundtruth_estimate0"
    _write_table(folder, _placed("truth", np.eye(4)), stamps, truth)


def _write_camera(folder: Path, image: Any, side: int) -> None:  # noqa: ANN401 - of OpenCV
    (folder / "data").mkdir(parents=True)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R_BC, (0.2, (0.5 - side) * BASELINE, 0.0)
    centre = f"{0.5 * (WIDTH - 1)}, {0.5 * (HEIGHT - 1)}"
    text = (
        _placed("camera", T)
        + f"rate_hz: 20\nresolution: [{WIDTH}, {HEIGHT}]\ncamera_model: pinhole\n"
        + f"intrinsics: [{FOCAL_LENGTH}, {FOCAL_LENGTH}, {centre}]\n"
        + "distortion_model: radial-tangential\ndistortion_coefficients: [0.0, 0.0, 0.0, 0.0]\n"
    )
    (folder / "sensor.yaml").write_text(text, encoding="utf-8")
    lines = ["#timestamp [ns],filename"]
    for stamp in range(START, START + round(DURATION * SECOND), IMAGE_STEP):
        cv2.imwrite(str(folder / "data" / f"{stamp}.png"), image)
        lines.append(f"{stamp},{stamp}.png")
    (folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_table(folder: Path, about: str, stamps: range, rows: list[Any]) -> None:
    folder.mkdir(parents=True)
    (folder / "sensor.yaml").write_text(about, encoding="utf-8")
    lines = [",".join(map(str, (t, *row))) for t, row in zip(stamps, rows, strict=True)]
    (folder / "data.csv").write_text("#timestamp\n" + "\n".join(lines) + "\n", encoding="utf-8")


def _placed(kind: str, T: Any) -> str:  # noqa: ANN401 - an array
    return f"sensor_type: {kind}\nT_BS:\n  cols: 4\n  rows: 4\n  data: {T.ravel().tolist()}\n"


class _Sample(NamedTuple):
    """A message of a bag: its time [ns], topic, type and content."""

    t: int
    topic: str
    kind: str
    message: Any


class _Messages:
    """Messages of one generation of ROS."""

    def __init__(self, store: Stores) -> None:
        self.store = get_typestore(store)
        self._has_seq = store == Stores.ROS1_NOETIC

    def header(self, t: int, frame: str = "map") -> Any:  # noqa: ANN401 - of rosbags
        sec, nanosec = divmod(t, SECOND)
        stamp = self.store.types["builtin_interfaces/msg/Time"](sec=sec, nanosec=nanosec)
        seq = {"seq": 0} if self._has_seq else {}
        return self.store.types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame, **seq)

    def make(self, kind: str, *values: Any) -> Any:  # noqa: ANN401 - of rosbags
        return self.store.types[f"geometry_msgs/msg/{kind}"](*values)

    def pose(self, t: int, p: Any, q: Any, topic: str = "/truth") -> _Sample:  # noqa: ANN401 - arrays
        """A pose of `q` with w first."""
        w, x, y, z = map(float, q)
        pose = self.make(
            "Pose", self.make("Point", *map(float, p)), self.make("Quaternion", x, y, z, w)
        )
        kind = "geometry_msgs/msg/PoseStamped"
        return _Sample(t, topic, kind, self.store.types[kind](self.header(t), pose))

    def wrench(self, t: int, topic: str, frame: str, f: Any, tau: Any) -> _Sample:  # noqa: ANN401 - arrays
        kind = "geometry_msgs/msg/WrenchStamped"
        wrench = self.make(
            "Wrench", *(self.make("Vector3", *map(float, each)) for each in (f, tau))
        )
        return _Sample(t, topic, kind, self.store.types[kind](self.header(t, frame), wrench))


def write_wrench_bag(home: Path) -> None:
    """Poses that were commanded and measured, with the wrenches of both, in sqlite3."""
    new = _Messages(Stores.LATEST)
    samples = list(_line(new))
    for each in _line(new):
        t = each.t
        p = (0.005 * (t - START) / 1e7, 0.01, 1.0)
        samples.append(new.pose(t + 1_000_000, p, (1.0, 0.0, 0.0, 0.0), "/flown"))
        samples.append(new.wrench(t, "/wrench", "base_link", (0.1, 0.0, 47.0), (0.0, 0.1, 0.0)))
        samples.append(new.wrench(t, "/felt", "map", (0.0, 0.1, 0.0), (0.0, 0.0, 0.01)))
    _write_ros2(home / "wrenches_db3", new, samples)


def write_pose_bags(home: Path) -> None:
    """A line of half a second, as a bag of ROS 1 and as one of ROS 2 in sqlite3."""
    old, new = _Messages(Stores.ROS1_NOETIC), _Messages(Stores.LATEST)
    _write_ros1(home / "poses.bag", old, _line(old))
    _write_ros2(home / "poses_db3", new, _line(new))


def _write_ros2(path: Path, messages: _Messages, samples: Iterable[_Sample]) -> None:
    with rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin.SQLITE3) as writer:
        channels: dict[str, Any] = {}
        for t, topic, kind, message in samples:
            if topic not in channels:
                channels[topic] = writer.add_connection(topic, kind, typestore=messages.store)
            writer.write(channels[topic], t, messages.store.serialize_cdr(message, kind))


def _line(messages: _Messages) -> Iterator[_Sample]:
    for k in range(50):
        yield messages.pose(START + 10_000_000 * k, (0.005 * k, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))


def _write_ros1(path: Path, messages: _Messages, samples: Iterator[_Sample]) -> None:
    with rosbag1.Writer(path) as writer:
        channels: dict[str, Any] = {}
        for t, topic, kind, message in samples:
            if topic not in channels:
                channels[topic] = writer.add_connection(topic, kind, typestore=messages.store)
            writer.write(channels[topic], t, messages.store.serialize_ros1(message, kind))


def write_range_bag(home: Path) -> None:
    """A turn on the spot among anchors for three seconds, as a bag of ROS 1."""
    messages = _Messages(Stores.ROS1_NOETIC)
    _write_ros1(home / "walk.bag", messages, _walk(messages))


def _walk(messages: _Messages) -> Iterator[_Sample]:
    imu, ranged = "sensor_msgs/msg/Imu", "sensor_msgs/msg/Range"
    anchors = [(each["id"], np.array(each["position"])) for each in RANGE_MAP["anchors"]]
    zeros = np.zeros(9)
    for k in range(300):
        t = START + 10_000_000 * k
        s = max(0.0, 0.01 * k - 1.0)
        p = np.array([np.sin(0.5 * s * s), 0.0, 1.0])
        q = so3.quaternion_exp(np.zeros(3))
        a = np.cos(0.5 * s * s) - s * s * np.sin(0.5 * s * s) if s else 0.0
        w, f = (
            messages.make("Vector3", 0.0, 0.0, 0.0),
            messages.make("Vector3", float(a), 0.0, 9.81),
        )
        level = messages.make("Quaternion", 0.0, 0.0, 0.0, 1.0)
        content = messages.header(t), level, zeros, w, zeros, f, zeros
        yield _Sample(t, "/imu", imu, messages.store.types[imu](*content))
        yield messages.pose(t, p, q)
        name, place = anchors[k % len(anchors)]
        away = messages.header(t, name), 0, 0.1, 0.1, 50.0, float(np.linalg.norm(p - place))
        yield _Sample(t, "/uwb", ranged, messages.store.types[ranged](*away))
