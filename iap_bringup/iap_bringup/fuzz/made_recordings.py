# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of other people's making: EuRoC's layout, bags of ranges and of poses, ArduPilot's dataflash."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_typestore

from iap_bringup.fuzz.made_texts import RANGE_MAP
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_io.flight_logs.dataflash import FORMAT_SIZE, FORMAT_TYPE, HEAD

WIDTH, HEIGHT, FOCAL_LENGTH, BASELINE, DISTANCE = 160, 120, 80.0, 0.1, 1.0  # [px], [m]
START = 1_403_636_580_000_000_000  # [ns]
SECOND = 1_000_000_000  # [ns]
IMU_STEP, IMAGE_STEP = 5_000_000, 50_000_000  # [ns]
DURATION = 1.0  # [s]
R_BC = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 9.81)  # w and f of a unit at rest
DATAFLASH_CODES = {
    "Q": "Q",
    "f": "f",
    "B": "B",
    "H": "H",
    "N": "16s",
    "Z": "64s",
    "c": "h",
    "n": "4s",
}
FIRST_TYPE = 129  # of messages in a dataflash log
LOG_DURATION, LOG_STEP = 6.0, 0.05  # of the flight in a log [s]


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

    def pose(self, t: int, p: Any, q: Any) -> _Sample:  # noqa: ANN401 - arrays
        """A pose of `q` with w first."""
        w, x, y, z = map(float, q)
        pose = self.make(
            "Pose", self.make("Point", *map(float, p)), self.make("Quaternion", x, y, z, w)
        )
        kind = "geometry_msgs/msg/PoseStamped"
        return _Sample(t, "/truth", kind, self.store.types[kind](self.header(t), pose))


def write_pose_bags(home: Path) -> None:
    """A line of half a second, as a bag of ROS 1 and as one of ROS 2 in sqlite3."""
    old, new = _Messages(Stores.ROS1_NOETIC), _Messages(Stores.LATEST)
    _write_ros1(home / "poses.bag", old, _line(old))
    with rosbag2.Writer(
        home / "poses_db3", version=9, storage_plugin=rosbag2.StoragePlugin.SQLITE3
    ) as writer:
        kind = "geometry_msgs/msg/PoseStamped"
        channel = writer.add_connection("/truth", kind, typestore=new.store)
        for sample in _line(new):
            writer.write(channel, sample.t, new.store.serialize_cdr(sample.message, kind))


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


class Rows(NamedTuple):
    """Messages of one type.

    Attributes:
        name: of the type, up to 4 letters.
        letters: one for each number, of `DATAFLASH_CODES`.
        columns: their names, with commas.
        rows: the numbers; `time_us` of each is the first where the first letter is Q.
    """

    name: str
    letters: str
    columns: str
    rows: Iterable[Sequence[float | bytes]]


def dataflash(kinds: Iterable[Rows]) -> bytes:
    """The bytes of a log; messages are in the order of their times, and those without times come first."""
    formats, messages = (
        [_format(FORMAT_TYPE, FORMAT_SIZE, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")],
        [],
    )
    for number, kind in enumerate(kinds, FIRST_TYPE):
        code = "<" + "".join(DATAFLASH_CODES[each] for each in kind.letters)
        size = len(HEAD) + 1 + struct.calcsize(code)
        formats.append(_format(number, size, kind.name, kind.letters, kind.columns))
        for row in kind.rows:
            time = row[0] if kind.letters[0] == "Q" else 0
            messages.append((time, HEAD + bytes([number]) + struct.pack(code, *row)))
    messages.sort(key=lambda each: each[0])
    return b"".join([*formats, *(data for _, data in messages)])


def _format(number: int, size: int, name: str, letters: str, columns: str) -> bytes:
    texts = struct.pack("<4s16s64s", name.encode(), letters.encode(), columns.encode())
    return HEAD + bytes([FORMAT_TYPE, number, size]) + texts


def write_dataflash(home: Path) -> None:
    """The log of a copter that climbs and circles."""
    t = np.arange(0.0, LOG_DURATION, LOG_STEP)
    us = [round(1e6 * (50.0 + each)) for each in t]
    attitudes = [(k, 0.0, 5.0, 10.0) for k in us]
    circle = np.stack([np.cos(t), np.sin(t), -2.0 - 0.1 * t], 1)
    speed = np.stack([-np.sin(t), np.cos(t), np.full(len(t), -0.1)], 1)
    places = [(k, 0, *p, *v) for k, p, v in zip(us, circle, speed, strict=True)]
    kinds = (
        Rows("MSG", "QZ", "TimeUS,Message", [(us[0], b"ArduCopter V4.3.0")]),
        Rows("ATT", "Qfff", "TimeUS,Roll,Pitch,Yaw", attitudes),
        Rows("XKF1", "QBffffff", "TimeUS,C,PN,PE,PD,VN,VE,VD", places),
        Rows("EV", "QB", "TimeUS,Id", [(us[0], 10), (us[1], 28)]),
    )
    (home / "flight.bin").write_bytes(dataflash(kinds))
