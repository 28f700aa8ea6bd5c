# SPDX-License-Identifier: BSD-3-Clause
"""Readings as ROS messages in CDR: what is equal in all messages of a topic is serialised once.

They are what the bag holds, and what nodes may publish as they are.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from iap_description.config.plugins import load_class
from iap_description.sensors.readings import (
    CloudReading,
    ImuReading,
    MagneticReading,
    PoseReading,
    RangeReading,
)
from iap_description.sensors.sensor_info import (
    CameraSensorInfo,
    CaptureInfo,
    ImuInfo,
    LidarInfo,
    MagnetometerInfo,
    OtherSensorInfo,
    SensorInfo,
    UwbInfo,
)
from iap_io.sensor_messages.camera_messages import CameraEncoder, Encoded, packed
from iap_io.transports.transport import Packing, Transport
from iap_io.wire.cdr import MessageLayout, in_frame, message
from iap_io.wire.message import Message
from iap_io.wire.stamps import put_stamp, stamp_of_time

IMU, MAGNETIC = "sensor_msgs/msg/Imu", "sensor_msgs/msg/MagneticField"
CLOUD = "sensor_msgs/msg/PointCloud2"
POSE, MAP = "geometry_msgs/msg/PoseStamped", "map"
RANGES, RANGE = "iap_msgs/msg/UwbRanges", "iap_msgs/msg/UwbRange"
BIAS = "true_bias"  # topic of an inertial unit's biases, in the same kind of message
_POINT = (("x", "<f4", 0, 7), ("y", "<f4", 4, 7), ("z", "<f4", 8, 7), ("ring", "<u2", 12, 4))
POINT = np.dtype(
    {
        "names": [name for name, *_ in _POINT],
        "formats": [kind for _, kind, *_ in _POINT],
        "offsets": [offset for _, _, offset, _ in _POINT],
        "itemsize": 16,
    }
)


class Encoder(Protocol):
    """Turns the readings of one sensor into messages.

    Attributes:
        topics: names and types of all that it makes.
    """

    topics: dict[str, str]

    def __call__(self, reading: Any) -> Encoded:  # noqa: ANN401 - each takes its own kind
        """The messages of one reading."""


def encoder(
    meta: SensorInfo, *, transports: Sequence[Transport] = (), pack: Packing = packed
) -> Encoder:
    """The encoder of a sensor.

    Args:
        meta: the sensor.
        transports: an image is of the first that takes its encoding, else as it is.
        pack: compresses an image.
    """
    if isinstance(meta, CameraSensorInfo):
        return CameraEncoder(meta, transports=transports, pack=pack)
    if isinstance(meta, OtherSensorInfo):
        codec: Encoder = load_class(meta.codec, ("__call__", "reading"), key="codec")(meta)
        return codec
    kinds: dict[type, Callable[[Any], Encoder]] = {
        ImuInfo: ImuEncoder,
        MagnetometerInfo: MagnetometerEncoder,
        UwbInfo: UwbEncoder,
        CaptureInfo: CaptureEncoder,
        LidarInfo: LidarEncoder,
    }
    return kinds[type(meta)](meta)


def _blank(msgtype: str, frame: str, **fields: object) -> Message:
    """A message in a sensor's frame, to be filled again and again."""
    return Message(MessageLayout.of(in_frame(msgtype, frame, **fields)))


class ImuEncoder:
    """sensor_msgs/Imu; its orientation is the estimate, and covariances are those of white noise."""

    def __init__(self, meta: ImuInfo) -> None:
        self._names = (meta.topic, f"{meta.topic}/{BIAS}")
        self.topics = dict.fromkeys(self._names if meta.has_bias else self._names[:1], IMU)
        self._sample, self._bias = (_blank(IMU, meta.frame) for _ in range(2))
        self._w, self._f = (
            self._sample.view("angular_velocity"),
            self._sample.view("linear_acceleration"),
        )
        self._b_w, self._b_f = (
            self._bias.view("angular_velocity"),
            self._bias.view("linear_acceleration"),
        )
        self._q = self._sample.view("orientation")
        self._q[3] = self._bias.view("orientation")[3] = 1.0
        self._has_attitude = meta.attitude_deviation is not None
        attitude = self._sample.view("orientation_covariance")
        attitude[0] = self._bias.view("orientation_covariance")[0] = -1.0  # there is none
        if meta.attitude_deviation is not None:
            attitude[::4] = meta.attitude_deviation**2
        for name, noise in (
            ("angular_velocity", meta.gyro_noise),
            ("linear_acceleration", meta.accel_noise),
        ):
            self._sample.view(f"{name}_covariance")[::4] = noise**2 * meta.rate

    def __call__(self, reading: ImuReading) -> Encoded:
        """The sample, and the true biases where they are recorded."""
        stamp = stamp_of_time(reading.t)
        self._w[:], self._f[:] = reading.w_WS_S, reading.f_S
        if self._has_attitude:
            self._q[:] = reading.q_WS
        yield self._names[0], [self._sample.stamped(stamp)]
        if len(self.topics) > 1 and reading.gyro_bias is not None:
            self._b_w[:], self._b_f[:] = reading.gyro_bias, reading.accel_bias
            yield self._names[1], [self._bias.stamped(stamp)]


class MagnetometerEncoder:
    """sensor_msgs/MagneticField."""

    def __init__(self, meta: MagnetometerInfo) -> None:
        self._name = meta.topic
        self.topics = {meta.topic: MAGNETIC}
        self._sample = _blank(MAGNETIC, meta.frame)
        self._sample.view("magnetic_field_covariance")[::4] = meta.deviation**2
        self._field = self._sample.view("magnetic_field")

    def __call__(self, reading: MagneticReading) -> Encoded:
        """The sample."""
        self._field[:] = reading.field_S
        yield self._name, [self._sample.stamped(stamp_of_time(reading.t))]


class UwbEncoder:
    """iap_msgs/UwbRanges."""

    def __init__(self, meta: UwbInfo) -> None:
        self._meta = meta
        self.topics = {meta.topic: RANGES}
        self._rounds: dict[tuple[str, ...], Message] = {}  # by the ids in them

    def __call__(self, reading: RangeReading) -> Encoded:
        """The round."""
        if reading.ids not in self._rounds:
            ranges = [message(RANGE, anchor_id=name) for name in reading.ids]
            self._rounds[reading.ids] = _blank(RANGES, self._meta.frame, ranges=ranges)
        sample = self._rounds[reading.ids]
        rows = zip(reading.p_W, reading.ranges, reading.deviations, reading.valid, strict=True)
        for i, (position, distance, deviation, valid) in enumerate(rows):
            entries = sample.view(
                "ranges"
            )  # an array where all are of one size, as a single one is
            entry = entries[i] if entries.ndim else entries[str(i)]
            entry["position"][:] = position
            entry["range"], entry["standard_deviation"], entry["valid"] = (
                distance,
                deviation,
                valid,
            )
        yield self._meta.topic, [sample.stamped(stamp_of_time(reading.t))]


class CaptureEncoder:
    """geometry_msgs/PoseStamped in `map`, at the instant that it shows."""

    def __init__(self, meta: CaptureInfo) -> None:
        self._name = meta.topic
        self.topics = {meta.topic: POSE}
        self._sample = _blank(POSE, MAP)
        self._pose = self._sample.view("pose")

    def __call__(self, reading: PoseReading) -> Encoded:
        """The pose."""
        self._pose[:3], self._pose[3:] = reading.p_WS_W, reading.q_WS
        yield self._name, [self._sample.stamped(stamp_of_time(reading.t))]


class LidarEncoder:
    """sensor_msgs/PointCloud2 of points with their channel (``ring``)."""

    def __init__(self, meta: LidarInfo) -> None:
        self._name = f"{meta.topic}/points"
        self.topics = {self._name: CLOUD}
        kind = "sensor_msgs/msg/PointField"
        fields = [
            message(kind, name=name, offset=offset, datatype=datatype, count=1)
            for name, _, offset, datatype in _POINT
        ]
        sample = in_frame(CLOUD, meta.frame, height=1, fields=fields, point_step=POINT.itemsize)
        layout = MessageLayout.of(sample)
        self._head = bytearray(layout.template[:-1])  # what stands behind the data is one flag
        offsets: Any = layout.dtype.fields
        self._width, self._row_step = (offsets[name][1] for name in ("width", "row_step"))

    def __call__(self, reading: CloudReading) -> Encoded:
        """The cloud; points are copied, since messages have them side by side with their channel."""
        points = np.zeros(len(reading.points_S), POINT)
        for i, name in enumerate("xyz"):
            points[name] = reading.points_S[:, i]
        points["ring"] = reading.rings
        put_stamp(self._head, stamp_of_time(reading.t))
        struct.pack_into("<I", self._head, self._width, len(points))
        struct.pack_into("<II", self._head, self._row_step, points.nbytes, points.nbytes)
        is_dense = bytes([bool(np.isfinite(reading.points_S).all())])
        yield self._name, [bytes(self._head), points.view(np.uint8).data, is_dense]
