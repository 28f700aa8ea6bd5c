# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of sensors: mounts, rates, noise and calibration, as recordings and estimators need them."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from iap_description.config.plain_yaml import parse_yaml, yaml_text
from iap_description.config.record import Record, validate
from iap_description.config.text_files import read_text
from iap_description.config.values import Count, Flag, Hertz, NonNegative, Real, Vec3
from iap_description.errors import BadInput
from iap_description.sensors.lens import (
    PLUMB_BOB,
    Coefficients,
    Lens,
    LensModel,
    check_coefficients,
)

Quaternion = tuple[Real, Real, Real, Real]
Matrix3 = tuple[Real, Real, Real, Real, Real, Real, Real, Real, Real]
UNIT = 1e-3  # by which the length of a quaternion in a file may be off
LARGEST_IMAGE = 8192  # pixels along a side, which every OpenGL can draw to
Size = Annotated[int, Field(strict=True, ge=1, le=LARGEST_IMAGE)]
Output = Literal["mono8", "rgb8", "depth", "segmentation"]
ENCODINGS: dict[Output, str] = {  # of the images that show an output
    "mono8": "mono8",
    "rgb8": "rgb8",
    "depth": "32FC1",
    "segmentation": "16UC1",
}


class FixedFrame(Record):
    """A frame that is fixed to another.

    Attributes:
        frame: TF name of S.
        parent: TF name of B, such as ``iap/drone_1``; ``map`` for one in the world.
        p_BS_B: place of S [m].
        q_BS: attitude of S, xyzw.
    """

    frame: str
    parent: str
    p_BS_B: Vec3
    q_BS: Quaternion

    @model_validator(mode="after")
    def _is_a_turn(self) -> Self:
        length = math.hypot(*self.q_BS)
        if abs(length - 1.0) > UNIT:
            raise ValueError(f"key 'q_BS': a quaternion of length 1 is expected, not {length:.4g}")
        return self


class SensorInfo(FixedFrame):
    """One sensor; S is the frame of its data, of a camera the optical one.

    Attributes:
        topic: that its readings are named by (`iap_description.sensors.readings.SensorSource`).
        rate: [Hz].
    """

    topic: str
    rate: Hertz


class ImuInfo(SensorInfo):
    """An inertial unit.

    Attributes:
        gyro_noise: density [rad/s/sqrt(Hz)].
        gyro_walk: of its bias [rad/s^2/sqrt(Hz)].
        accel_noise: density [m/s^2/sqrt(Hz)].
        accel_walk: of its bias [m/s^3/sqrt(Hz)].
        gyro_scale: relative deviation of its gyroscope's readings, by scale and misalignment together.
        attitude_deviation: of the estimated attitude about each axis [rad]; None without estimate.
        has_bias: whether its true biases are recorded.
    """

    kind: Literal["imu"] = "imu"
    gyro_noise: NonNegative
    gyro_walk: NonNegative
    accel_noise: NonNegative
    accel_walk: NonNegative
    gyro_scale: NonNegative = 0.0
    attitude_deviation: NonNegative | None = None
    has_bias: Flag = False


class MagnetometerInfo(SensorInfo):
    """A magnetometer; standard deviation of a sample [T]."""

    kind: Literal["magnetometer"] = "magnetometer"
    deviation: NonNegative


class UwbInfo(SensorInfo):
    """A UWB tag; each of its ranges brings its standard deviation along."""

    kind: Literal["uwb"] = "uwb"


class CaptureInfo(SensorInfo):
    """Markers that a motion capture sees.

    Attributes:
        position_deviation: of a pose's place, per axis [m].
        attitude_deviation: of its rotation vector, per axis [rad].
        latency: from the instant that a pose shows until it is there [s].
    """

    kind: Literal["motion_capture"] = "motion_capture"
    position_deviation: NonNegative
    attitude_deviation: NonNegative
    latency: NonNegative


class CameraSensorInfo(SensorInfo):
    """A camera, as sensor_msgs/CameraInfo describes it.

    Attributes:
        outputs: the images that it gives.
        width: [pixels].
        height: [pixels].
        K: (9) intrinsic matrix of the distorted image, row by row [pixels].
        D: coefficients of its lens, see `iap_description.sensors.lens.Lens`.
        R: (9) rotation to the rectified image.
        P: (12) projection of the rectified image; of a pair's right camera with -fx baseline.
        distortion_model: of the lens, as ROS names it.
        noise: standard deviation of its white noise [grey levels].
        exposure_time: over which its images blur [s].
        effects: keys of the effects of a real camera in its images.
    """

    kind: Literal["camera"] = "camera"
    outputs: tuple[Output, ...]
    width: Size
    height: Size
    K: Matrix3
    D: Coefficients
    R: Matrix3 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    P: tuple[Real, Real, Real, Real, Real, Real, Real, Real, Real, Real, Real, Real]
    distortion_model: LensModel = PLUMB_BOB
    noise: NonNegative = 0.0
    exposure_time: NonNegative = 0.0
    effects: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """True if its images are those of a pinhole, without noise, blur and effects."""
        return not (self.lens.bends or self.noise or self.exposure_time or self.effects)

    @property
    def lens(self) -> Lens:
        """Its lens."""
        return Lens.of(self.distortion_model, self.D, source=self.topic)

    @model_validator(mode="after")
    def _has_a_lens(self) -> Self:
        check_coefficients(self.distortion_model, self.D, key="D")
        return self


class LidarInfo(SensorInfo):
    """A lidar; points of one turn at most."""

    kind: Literal["lidar"] = "lidar"
    points: Count


class OtherSensorInfo(SensorInfo):
    """A sensor of any other kind, with the class that reads and writes its messages.

    Attributes:
        codec: ``module:Class``, see `iap_io.sensor_messages.scalar_codec.ScalarCodec`.
        values: numbers that a reader must know, by name, such as a standard deviation.
    """

    kind: Literal["other"] = "other"
    codec: str
    values: dict[str, Real] = {}


AnySensor = Annotated[
    ImuInfo
    | MagnetometerInfo
    | UwbInfo
    | CaptureInfo
    | CameraSensorInfo
    | LidarInfo
    | OtherSensorInfo,
    Field(discriminator="kind"),
]


class _Sensors(Record):
    sensors: tuple[AnySensor, ...]


def sensors_text(sensors: Sequence[SensorInfo]) -> str:
    """The YAML of a list of sensors, as run folders keep it in sensors.yaml; no digit is lost."""
    return yaml_text([each.model_dump(mode="json") for each in sensors])


def load_sensors(path_or_text: str, *, source: str) -> tuple[AnySensor, ...]:
    """The sensors of a list in YAML.

    Args:
        path_or_text: the YAML itself, or the path of its file.
        source: to name in errors.

    Raises:
        BadInput: no such file, no list, or a sensor with a key that is unknown, missing or impossible.
    """
    text = path_or_text
    if "\n" not in path_or_text:
        try:
            text, source = read_text(Path(path_or_text)), path_or_text
        except BadInput as error:
            raise BadInput(f"{source}: {error}; a readable file of sensors is expected") from error
    return validate(_Sensors, {"sensors": parse_yaml(text, source=source)}, source=source).sensors
