# SPDX-License-Identifier: BSD-3-Clause
"""A bag of a stereo pair with an inertial unit."""

from collections.abc import Iterator
from itertools import starmap
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from iap_bringup.fuzz.made_bags import ROS1, BagSample, MadeBags
from iap_bringup.fuzz.made_recordings import (
    BASELINE,
    FOCAL_LENGTH,
    HEIGHT,
    IMAGE_STEP,
    IMU_STEP,
    START,
    WIDTH,
    Pair,
)

Q_OPTICAL = (-0.5, 0.5, -0.5, 0.5)
TF, TF_TEXT = "tf2_msgs/msg/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"


class PairBag:
    """Writes a bag of one of `FORMATS`; topics can be left out or renamed."""

    def __init__(self, kind: str, *, compressed: bool = False) -> None:
        self.kind, self.compressed = kind, compressed
        self._bags = MadeBags(Path(), kind, {TF: TF_TEXT})
        self.names = {"left": "/stereo/left", "right": "/stereo/right", "imu": "/imu/data"}
        self.variances = 0.0, 0.0  # that samples tell, of angular velocity and specific force
        self.left_out: set[str] = set()  # of: imu, info, tf
        self.frames = {"left": "left_optical", "right": "right_optical"}
        self.lens, self.D = "plumb_bob", np.zeros(5)
        self.shift = -FOCAL_LENGTH * BASELINE  # P[3] of the right camera
        self.image_type = (
            "sensor_msgs/msg/CompressedImage" if compressed else "sensor_msgs/msg/Image"
        )
        self.suffix = "/image_raw/compressed" if compressed else "/image_raw"

    def write(self, folder: Path, pair: Pair) -> Path:
        """The bag's path."""
        self._bags.folder = folder
        messages = sorted(self._messages(pair), key=lambda each: each[0])
        return self._bags.write_samples(starmap(BagSample, messages), "pair")

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
                yield (
                    late,
                    base + self.suffix,
                    self.image_type,
                    self._image(name, stamp, pair.image(side, k)),
                )
                if "info" not in self.left_out:
                    shift = self.shift if side else 0.0
                    info = self._info(name, stamp, shift)
                    yield late, base + "/camera_info", "sensor_msgs/msg/CameraInfo", info

    def _make(self, kind: str, **given: Any) -> Any:
        return self._bags.store.types[kind](**given)

    def _imu(self, stamp: int, row: np.ndarray) -> Any:
        return self._make(
            "sensor_msgs/msg/Imu",
            header=self._bags.header(stamp, "imu_link"),
            orientation=self._bags.quaternion((0.0, 0.0, 0.0, 1.0)),
            orientation_covariance=np.full(9, -1.0),
            angular_velocity=self._bags.xyz(row[:3]),
            angular_velocity_covariance=self.variances[0] * np.eye(3).ravel(),
            linear_acceleration=self._bags.xyz(row[3:]),
            linear_acceleration_covariance=self.variances[1] * np.eye(3).ravel(),
        )

    def _image(self, name: str, stamp: int, pixels: np.ndarray) -> Any:
        header = self._bags.header(stamp, self.frames[name])
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
            "K": np.array([FOCAL_LENGTH, 0.0, cx, 0.0, FOCAL_LENGTH, cy, 0.0, 0.0, 1.0]),
            "R": np.eye(3).ravel(),
            "P": np.array(
                [FOCAL_LENGTH, 0.0, cx, shift, 0.0, FOCAL_LENGTH, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
            ),
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
            header=self._bags.header(stamp, self.frames[name]),
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
                header=self._bags.header(0, parent),
                child_frame_id=child,
                transform=self._make(
                    "geometry_msgs/msg/Transform",
                    translation=self._bags.xyz(p),
                    rotation=self._bags.quaternion(q),
                ),
            )
            for parent, child, p, q in frames
        ]
        return self._make(TF, transforms=transforms)
