# SPDX-License-Identifier: BSD-3-Clause
"""Readings as a bag has them: the way back from `iap_io.sensor_messages.sensor_messages`.

Readings in messages are checked, as an estimator keeps what it takes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.readings import (
    CloudReading,
    ImageReading,
    ImuReading,
    MagneticReading,
    PoseReading,
    RangeReading,
    Reading,
    SensorSource,
)
from iap_description.sensors.sensor_info import ImuInfo, SensorInfo
from iap_io.bags.bag_reading import parsing, raw_messages
from iap_io.sensor_messages.camera_messages import IMAGE
from iap_io.sensor_messages.reading_checks import check_reading
from iap_io.sensor_messages.sensor_messages import (
    CLOUD,
    IMU,
    MAGNETIC,
    POINT,
    POSE,
    RANGES,
    encoder,
)
from iap_io.transports.h264 import PacketReader
from iap_io.transports.table import COMPRESSIONS, offered, unpacked
from iap_io.transports.transport import COMPRESSED
from iap_io.wire.cdr import decoded, doubles_behind_header
from iap_io.wire.number_check import check_stamp
from iap_io.wire.other_types import PACKET
from iap_io.wire.stamps import stamp_of, stamp_parts

IMU_NUMBERS = 4 + 9 + 2 * (3 + 9)  # attitude, rates and specific force, each with its covariance
DTYPES = {"mono8": np.uint8, "rgb8": np.uint8, "16UC1": np.uint16, "32FC1": np.float32}


class Decoder:
    """Turns serialised messages into readings again, from a bag or from topics.

    Args:
        sensors: whose messages come, as a run's meta has them.
        compressions: in which images may come; see `iap_io.transports.table.offered`.

    Attributes:
        types: of the messages that are taken, by topic.
    """

    def __init__(
        self, sensors: Iterable[SensorInfo], compressions: Sequence[str] = COMPRESSIONS
    ) -> None:
        self._owners: dict[str, SensorInfo] = {}
        self.types: dict[str, str] = {}
        # Samples that wait for their biases, or the reverse: topic, stamp and message.
        self._halves: dict[str, tuple[str, int, Any]] = {}
        self._readers: dict[str, Callable[..., Reading]] = {}
        for meta in sensors:
            for compression in compressions:
                codec = encoder(meta, transports=offered(compression))
                for topic, msgtype in codec.topics.items():
                    read = getattr(codec, "reading", _reader(msgtype))
                    if read is not None:
                        self._owners[topic], self.types[topic] = meta, msgtype
                        self._readers[topic] = read

    def __call__(self, topic: str, data: bytes) -> Reading | None:
        """The reading that a message completes, if it does: true biases come in one of their own.

        Raises:
            BadInput: it is no message of this topic, or a field holds what cannot be meant.
        """
        meta, msgtype = self._owners[topic], self.types[topic]
        message = _inertial(data) if msgtype == IMU else decoded(data, msgtype)
        check_stamp(*stamp_parts(data))
        stamp = stamp_of(data)
        if not isinstance(meta, ImuInfo) or not meta.has_bias:
            return self._reading(topic, stamp, message)
        waiting = self._halves.pop(meta.topic, None)
        if waiting is not None and waiting[1] == stamp:
            pair = {waiting[0]: waiting[2], topic: message}
            return self._reading(meta.topic, stamp, *(pair[name] for name in sorted(pair)))
        self._halves[meta.topic] = topic, stamp, message
        is_alone = waiting is not None and waiting[0] == meta.topic  # its biases were lost
        return self._reading(*waiting) if waiting is not None and is_alone else None

    def _reading(self, topic: str, stamp: int, *messages: Any) -> Reading:  # noqa: ANN401
        meta = self._owners[topic]
        try:
            source = SensorSource(meta.topic, meta.frame)
            reading = self._readers[topic](source, stamp / 1e9, *messages)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{topic}: no {self.types[topic]} that can be used: {error}") from error
        check_reading(reading)
        return reading


def read_sensors(
    bag: Path,
    sensors: Iterable[SensorInfo],
    *,
    start: int | None = None,
    stop: int | None = None,
) -> Iterator[Reading]:
    """Readings of some sensors in order of their time.

    Args:
        bag: the bag's folder.
        sensors: those that count, from the run's meta.
        start: first stamp [ns].
        stop: stamp [ns] before which they end.

    Raises:
        BadInput: the bag is damaged, or a message holds what no sensor says.
    """
    decode = Decoder(sensors)
    with parsing(bag, "recording"):
        for connection, _, data in raw_messages(bag, decode.types, start=start, stop=stop):
            try:
                reading = decode(connection.topic, data)
            except BadInput as error:
                raise BadInput(f"{bag}: {connection.topic}: {error}") from error
            if reading is not None:
                yield reading


class _Inertial(NamedTuple):
    """The numbers that are read of a sensor_msgs/Imu: several units send one at 200 Hz to every node that estimates."""

    q: Array
    q_covariance: Array
    w: Array
    f: Array


def _inertial(data: bytes) -> _Inertial:
    numbers = doubles_behind_header(data, IMU_NUMBERS)
    if numbers is not None:
        return _Inertial(numbers[:4], numbers[4:13], numbers[13:16], numbers[25:28])
    sample = decoded(data, IMU)
    q, w, f = sample.orientation, sample.angular_velocity, sample.linear_acceleration
    return _Inertial(
        np.array([q.x, q.y, q.z, q.w]), sample.orientation_covariance, _xyz(w), _xyz(f)
    )


def _imu(
    source: SensorSource, t: float, sample: _Inertial, bias: _Inertial | None = None
) -> ImuReading:
    q = sample.q if sample.q_covariance[0] >= 0.0 else None
    true = (None, None) if bias is None else (bias.w, bias.f)
    return ImuReading(source, t, sample.w, sample.f, q, *true)


def _magnetic(source: SensorSource, t: float, sample: Any) -> MagneticReading:  # noqa: ANN401
    return MagneticReading(source, t, _xyz(sample.magnetic_field))


def _pose(source: SensorSource, t: float, sample: Any) -> PoseReading:  # noqa: ANN401
    q = sample.pose.orientation
    return PoseReading(source, t, _xyz(sample.pose.position), np.array([q.x, q.y, q.z, q.w]))


def _ranges(source: SensorSource, t: float, sample: Any) -> RangeReading:  # noqa: ANN401
    entries = sample.ranges
    return RangeReading(
        source,
        t,
        tuple(each.anchor_id for each in entries),
        np.array([_xyz(each.position) for each in entries]).reshape(-1, 3),
        np.array([each.range for each in entries]),
        np.array([each.standard_deviation for each in entries]),
        np.array([each.valid for each in entries], bool),
    )


def _cloud(source: SensorSource, t: float, sample: Any) -> CloudReading:  # noqa: ANN401
    points = sample.data.view(POINT)
    xyz = np.stack([points[name] for name in "xyz"], -1)
    return CloudReading(source, t, xyz, points["ring"].copy())


def _image(source: SensorSource, t: float, image: Any) -> ImageReading:  # noqa: ANN401
    if image.encoding not in DTYPES:
        raise BadInput(f"encoding '{image.encoding[:40]}' is none of {', '.join(DTYPES)}")
    shape = (image.height, image.width) + ((3,) if image.encoding == "rgb8" else ())
    pixels = image.data.view(DTYPES[image.encoding]).reshape(shape)
    return ImageReading(source, t, image.encoding, pixels)


def _compressed(source: SensorSource, t: float, image: Any) -> ImageReading:  # noqa: ANN401
    return ImageReading(source, t, *unpacked(image.format, image.data))


class _Stream:
    """Reads the packets of one topic."""

    def __init__(self) -> None:
        self._image = PacketReader()

    def __call__(self, source: SensorSource, t: float, packet: Any) -> ImageReading:  # noqa: ANN401
        image = self._image(packet)
        if image is None:
            raise ValueError("a packet before it is missing; images begin at the next key frame")
        return ImageReading(source, t, *image)


def _reader(msgtype: str) -> Callable[..., Reading] | None:
    """The reader of one topic's messages; None where they are no readings."""
    return _STREAMS[msgtype]() if msgtype in _STREAMS else _READERS.get(msgtype)


def _xyz(vector: Any) -> Array:  # noqa: ANN401
    return np.array([vector.x, vector.y, vector.z])


_READERS: dict[str, Callable[..., Reading]] = {
    IMU: _imu,
    MAGNETIC: _magnetic,
    POSE: _pose,
    RANGES: _ranges,
    CLOUD: _cloud,
    IMAGE: _image,
    COMPRESSED: _compressed,
}
_STREAMS: dict[str, Callable[[], Callable[..., Reading]]] = {PACKET: _Stream}
