# SPDX-License-Identifier: BSD-3-Clause
"""Places of a satellite receiver as sensor_msgs/NavSatFix, and back."""

from typing import Any

from iap_description.math.geodesy import Geodetic
from iap_description.sensors.readings import FixReading, SensorSource
from iap_description.sensors.sensor_info import OtherSensorInfo
from iap_io.sensor_messages.camera_messages import Encoded
from iap_io.wire.cdr import MessageLayout, in_frame
from iap_io.wire.message import Message
from iap_io.wire.stamps import stamp_of_time

FIX = "sensor_msgs/msg/NavSatFix"
GPS, KNOWN_DIAGONAL = 1, 2  # of NavSatStatus.service, and of position_covariance_type


class FixCodec:
    """Latitude, longitude and altitude with their covariance, east, north and up.

    Args:
        info: the receiver; its `values` have the standard deviations ``horizontal`` and ``vertical`` [m].

    Attributes:
        topics: names and types of all messages.
    """

    def __init__(self, info: OtherSensorInfo) -> None:
        self.topics = {info.topic: FIX}
        self._topic = info.topic
        self._sample = Message(MessageLayout.of(in_frame(FIX, info.frame)))
        level, up = (info.values[key] ** 2 for key in ("horizontal", "vertical"))
        self._sample.view("position_covariance")[::4] = level, level, up
        self._sample.view("position_covariance_type")[...] = KNOWN_DIAGONAL
        self._sample.view("status")["service"] = GPS

    def __call__(self, reading: FixReading) -> Encoded:
        """The message of a reading."""
        for name, value in reading.place._asdict().items():
            self._sample.view(name)[...] = value
        yield self._topic, [self._sample.stamped(stamp_of_time(reading.t))]

    def reading(self, source: SensorSource, t: float, message: Any) -> FixReading:  # noqa: ANN401
        """The reading of a message at its stamp [s]."""
        place = Geodetic(*(float(getattr(message, name)) for name in Geodetic._fields))
        return FixReading(source, t, place)
