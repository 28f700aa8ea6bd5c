# SPDX-License-Identifier: BSD-3-Clause
"""A stereo pair with an inertial unit that stands still before a wall, as a folder in EuRoC's layout or as a bag."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

WIDTH, HEIGHT, F, BASELINE, DISTANCE = 320, 240, 160.0, 0.1, 2.0
START = 1_403_636_579_763_555_584  # ns
IMU_STEP, IMAGE_STEP = 5_000_000, 50_000_000
Q_OPTICAL = (-0.5, 0.5, -0.5, 0.5)
R_BC = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
LEVERS = (np.array([0.2, 0.05, 0.0]), np.array([0.2, -0.05, 0.0]))
FORMATS = ("ros1", "sqlite3", "mcap")
ROS1 = "ros1"
TF, TF_TEXT = "tf2_msgs/msg/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"


@dataclass
class Pair:
    """The recording: stamps [ns] and images of both sides, samples of the inertial unit."""

    stamps: tuple[list[int], list[int]]
    images: tuple[np.ndarray, np.ndarray]
    imu_stamps: list[int]
    imu: np.ndarray
    levers: tuple[np.ndarray, np.ndarray] = LEVERS

    def image(self, side: int, k: int) -> np.ndarray:
        """With a mark of its number, so that every one is different."""
        image = self.images[side].copy()
        image[0, 0] = k
        return image


def resting(duration: float = 1.0) -> Pair:
    """Still before a wall at `DISTANCE`."""
    rng = np.random.default_rng(1)
    wall = cv2.GaussianBlur(rng.uniform(0, 255, (HEIGHT, WIDTH + 40)), (0, 0), 2.0)
    wall = cv2.normalize(wall, None, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)
    disparity = round(F * BASELINE / DISTANCE)
    images = wall[:, :WIDTH].copy(), wall[:, disparity : WIDTH + disparity].copy()
    end = START + round(duration * 1e9)
    stamps = list(range(START, end + 1, IMAGE_STEP))
    imu_stamps = list(range(START - IMU_STEP, end + 1, IMU_STEP))
    noise = rng.normal(size=(len(imu_stamps), 6)) * [1e-3] * 6
    imu = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 9.81]) + noise
    return Pair((stamps, list(stamps)), images, imu_stamps, imu)


def write_euroc(folder: Path, pair: Pair, *, truth: bool = True) -> Path:
    """The folder that holds ``mav0``."""
    for side in (0, 1):
        home = folder / "mav0" / f"cam{side}"
        (home / "data").mkdir(parents=True)
        (home / "sensor.yaml").write_text(camera_yaml(pair.levers[side]))
        rows = ["#timestamp [ns],filename"]
        for k, stamp in enumerate(pair.stamps[side]):
            cv2.imwrite(str(home / "data" / f"{stamp}.png"), pair.image(side, k))
            rows.append(f"{stamp},{stamp}.png")
        (home / "data.csv").write_text("\n".join(rows) + "\n")
    home = folder / "mav0" / "imu0"
    home.mkdir()
    (home / "sensor.yaml").write_text(imu_yaml())
    rows = [
        ",".join(map(repr, [s, *v.tolist()]))
        for s, v in zip(pair.imu_stamps, pair.imu, strict=True)
    ]
    (home / "data.csv").write_text("#timestamp [ns],w,f\n" + "\n".join(rows) + "\n")
    if truth:
        still = [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0] + [0.0] * 9
        write_truth(
            folder, "state_groundtruth_estimate0", [[s, *still] for s in sorted(pair.imu_stamps)]
        )
    return folder


def write_truth(
    folder: Path, name: str, rows: list[list[float]], T_BS: np.ndarray | None = None
) -> None:
    """A table of truth: stamp, place, and maybe attitude with w first, velocity, biases."""
    home = folder / "mav0" / name
    home.mkdir(parents=True)
    T = np.eye(4) if T_BS is None else T_BS
    (home / "sensor.yaml").write_text(_placed("truth", T))
    text = "\n".join(",".join(map(repr, [int(row[0]), *map(float, row[1:])])) for row in rows)
    (home / "data.csv").write_text(f"#timestamp, ...\n{text}\n")


def camera_yaml(lever: np.ndarray) -> str:
    """``sensor.yaml`` of a camera at a place (3,) on the unit."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R_BC, lever
    cx, cy = 0.5 * (WIDTH - 1), 0.5 * (HEIGHT - 1)
    return (
        _placed("camera", T)
        + f"rate_hz: 20\nresolution: [{WIDTH}, {HEIGHT}]\ncamera_model: pinhole\n"
        + f"intrinsics: [{F}, {F}, {cx}, {cy}]\ndistortion_model: radial-tangential\n"
        + "distortion_coefficients: [0.0, 0.0, 0.0, 0.0]\n"
    )


def imu_yaml() -> str:
    """``sensor.yaml`` of the unit."""
    return (
        _placed("imu", np.eye(4))
        + "gyroscope_noise_density: 0.0017\ngyroscope_random_walk: 1.0e-05\n"
        + "accelerometer_noise_density: 0.02\naccelerometer_random_walk: 3.0e-3\n"
    )


def _placed(kind: str, T: np.ndarray) -> str:
    return f"sensor_type: {kind}\nT_BS:\n  cols: 4\n  rows: 4\n  data: {T.ravel().tolist()}\n"


class PairBag:
    """Writes a bag of one of `FORMATS`; topics can be left out or renamed."""

    def __init__(self, kind: str, *, compressed: bool = False) -> None:
        self.kind, self.compressed = kind, compressed
        self.store = get_typestore(Stores.ROS1_NOETIC if kind == ROS1 else Stores.LATEST)
        if TF not in self.store.fielddefs:
            self.store.register(get_types_from_msg(TF_TEXT, TF))
        self.names = {"left": "/stereo/left", "right": "/stereo/right", "imu": "/imu/data"}
        self.variances = 0.0, 0.0  # that samples tell, of angular velocity and specific force
        self.left_out: set[str] = set()  # of: imu, info, tf
        self.frames = {"left": "left_optical", "right": "right_optical"}
        self.lens, self.D = "plumb_bob", np.zeros(5)
        self.shift = -F * BASELINE  # P[3] of the right camera
        self.image_type = (
            "sensor_msgs/msg/CompressedImage" if compressed else "sensor_msgs/msg/Image"
        )

    def write(self, folder: Path, pair: Pair) -> Path:
        """The bag's path."""
        messages = sorted(self._messages(pair), key=lambda each: each[0])
        if self.kind == ROS1:
            path, encode = folder / "pair.bag", self.store.serialize_ros1
            writer: Any = rosbag1.Writer(path)
        else:
            path, encode = folder / "pair", self.store.serialize_cdr
            plugin = rosbag2.StoragePlugin[self.kind.upper()]
            writer = rosbag2.Writer(path, version=9, storage_plugin=plugin)
        with writer:
            connections: dict[str, Any] = {}
            for stamp, topic, kind, message in messages:
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=self.store)
                writer.write(connections[topic], stamp, encode(message, kind))
        return path

    def _messages(self, pair: Pair) -> Iterator[tuple[int, str, str, Any]]:
        if "imu" not in self.left_out:
            for i, (stamp, row) in enumerate(zip(pair.imu_stamps, pair.imu, strict=True)):
                yield (
                    START + i * IMU_STEP,
                    self.names["imu"],
                    "sensor_msgs/msg/Imu",
                    self._imu(stamp, row),
                )
        if "tf" not in self.left_out:
            yield START - IMU_STEP, "/tf_static", TF, self._frames(pair)
        for side, name in enumerate(("left", "right")):
            base = self.names[name]
            for k, stamp in enumerate(pair.stamps[side]):
                late = START + k * IMAGE_STEP + 20_000_000  # a driver takes its time
                suffix = "/image_raw/compressed" if self.compressed else "/image_raw"
                yield (
                    late,
                    base + suffix,
                    self.image_type,
                    self._image(name, stamp, pair.image(side, k)),
                )
                if "info" not in self.left_out:
                    shift = self.shift if side else 0.0
                    info = self._info(name, stamp, shift)
                    yield late, base + "/camera_info", "sensor_msgs/msg/CameraInfo", info

    def _make(self, kind: str, **given: Any) -> Any:
        return self.store.types[kind](**given)

    def _header(self, stamp: int, frame: str) -> Any:
        sec, nanosec = divmod(stamp, 1_000_000_000)
        time = self._make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
        extra = {"seq": 0} if self.kind == ROS1 else {}
        return self._make("std_msgs/msg/Header", stamp=time, frame_id=frame, **extra)

    def _xyz(self, v: np.ndarray) -> Any:
        x, y, z = map(float, v)
        return self._make("geometry_msgs/msg/Vector3", x=x, y=y, z=z)

    def _turn(self, q: tuple[float, ...]) -> Any:
        x, y, z, w = q
        return self._make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)

    def _imu(self, stamp: int, row: np.ndarray) -> Any:
        return self._make(
            "sensor_msgs/msg/Imu",
            header=self._header(stamp, "imu_link"),
            orientation=self._turn((0.0, 0.0, 0.0, 1.0)),
            orientation_covariance=np.full(9, -1.0),
            angular_velocity=self._xyz(row[:3]),
            angular_velocity_covariance=self.variances[0] * np.eye(3).ravel(),
            linear_acceleration=self._xyz(row[3:]),
            linear_acceleration_covariance=self.variances[1] * np.eye(3).ravel(),
        )

    def _image(self, name: str, stamp: int, pixels: np.ndarray) -> Any:
        header = self._header(stamp, self.frames[name])
        if self.compressed:
            data = cv2.imencode(".png", pixels)[1].ravel()
            return self._make(self.image_type, header=header, format="png", data=data)
        color = np.repeat(pixels[..., None], 3, axis=-1).ravel()  # of which grey is the same again
        return self._make(
            self.image_type,
            header=header,
            height=HEIGHT,
            width=WIDTH,
            encoding="bgr8",
            is_bigendian=0,
            step=3 * WIDTH,
            data=color,
        )

    def _info(self, name: str, stamp: int, shift: float) -> Any:
        cx, cy = 0.5 * (WIDTH - 1), 0.5 * (HEIGHT - 1)
        numbers = {
            "D": self.D,
            "K": np.array([F, 0.0, cx, 0.0, F, cy, 0.0, 0.0, 1.0]),
            "R": np.eye(3).ravel(),
            "P": np.array([F, 0.0, cx, shift, 0.0, F, cy, 0.0, 0.0, 0.0, 1.0, 0.0]),
        }
        if self.kind != ROS1:
            numbers = {key.lower(): value for key, value in numbers.items()}
        whole = self._make(
            "sensor_msgs/msg/RegionOfInterest",
            x_offset=0,
            y_offset=0,
            height=0,
            width=0,
            do_rectify=False,
        )
        return self._make(
            "sensor_msgs/msg/CameraInfo",
            header=self._header(stamp, self.frames[name]),
            height=HEIGHT,
            width=WIDTH,
            distortion_model=self.lens,
            binning_x=0,
            binning_y=0,
            roi=whole,
            **numbers,
        )

    def _frames(self, pair: Pair) -> Any:
        """The unit and a mast on the base, the cameras on the mast."""
        mast = np.array([0.1, 0.0, 0.3])
        unit = np.array([0.0, 0.02, 0.05])
        frames = [
            ("base_link", "imu_link", unit, (0.0, 0.0, 0.0, 1.0)),
            ("base_link", "mast", mast, (0.0, 0.0, 0.0, 1.0)),
        ]
        for name, lever in zip(("left", "right"), pair.levers, strict=True):
            if self.frames[name] == f"{name}_optical":
                frames.append(("mast", self.frames[name], lever + unit - mast, Q_OPTICAL))
        transforms = [
            self._make(
                "geometry_msgs/msg/TransformStamped",
                header=self._header(0, parent),
                child_frame_id=child,
                transform=self._make(
                    "geometry_msgs/msg/Transform", translation=self._xyz(p), rotation=self._turn(q)
                ),
            )
            for parent, child, p, q in frames
        ]
        return self._make(TF, transforms=transforms)
