# SPDX-License-Identifier: BSD-3-Clause
"""Readings of one number as messages of an existing type, and back."""

from typing import Any, ClassVar

from iap_description.sensors.readings import ScalarReading, SensorSource
from iap_description.sensors.sensor_info import OtherSensorInfo
from iap_io.sensor_messages.camera_messages import Encoded
from iap_io.wire.cdr import MessageLayout, in_frame
from iap_io.wire.message import Message
from iap_io.wire.stamps import stamp_of_time


class ScalarCodec:
    """Base of the codec of a kind of sensor, which names a type of message and its fields.

    Args:
        info: the sensor.

    Attributes:
        MSGTYPE: of the messages, such as ``sensor_msgs/msg/FluidPressure``; it begins with a header.
        VALUE: field of the number.
        VARIANCE: field of its variance; empty where there is none.
        DEVIATION: entry of `OtherSensorInfo.values` with the standard deviation.
        topics: names and types of all messages.
    """

    MSGTYPE: ClassVar[str]
    VALUE: ClassVar[str]
    VARIANCE: ClassVar[str] = ""
    DEVIATION: ClassVar[str] = "deviation"

    def __init__(self, info: OtherSensorInfo) -> None:
        self.topics = {info.topic: self.MSGTYPE}
        self._topic = info.topic
        self._sample = Message(MessageLayout.of(in_frame(self.MSGTYPE, info.frame)))
        if self.VARIANCE:
            self._sample.view(self.VARIANCE)[...] = info.values[self.DEVIATION] ** 2

    def __call__(self, reading: ScalarReading) -> Encoded:
        """The message of a reading."""
        self._sample.view(self.VALUE)[...] = reading.value
        yield self._topic, [self._sample.stamped(stamp_of_time(reading.t))]

    def reading(self, source: SensorSource, t: float, message: Any) -> ScalarReading:  # noqa: ANN401
        """The reading of a message at its stamp [s]."""
        return ScalarReading(source, t, float(getattr(message, self.VALUE)))


class PressureCodec(ScalarCodec):
    """Pressures [Pa] as sensor_msgs/FluidPressure."""

    MSGTYPE, VALUE, VARIANCE = "sensor_msgs/msg/FluidPressure", "fluid_pressure", "variance"
