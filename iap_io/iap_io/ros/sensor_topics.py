# SPDX-License-Identifier: BSD-3-Clause
"""Readings as topics: the very messages that a recording holds."""

from collections.abc import Iterable, Sequence

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image
from std_msgs.msg import Header

from iap_description.sensors.readings import ImageReading, Reading
from iap_description.sensors.sensor_info import CameraSensorInfo, SensorInfo
from iap_io.bags.bag_writer import Buffer
from iap_io.ros.conversions import stamp_message
from iap_io.ros.message_classes import message_class
from iap_io.ros.node import SuiteNode
from iap_io.sensor_messages.camera_messages import CAMERA_INFO, IMAGE
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.transports.transport import Transport
from iap_io.wire.stamps import stamp_of_time

SMALL_IMAGES = {
    "mono8": np.zeros((1, 1), np.uint8),
    "rgb8": np.zeros((1, 1, 3), np.uint8),
    "32FC1": np.zeros((1, 1), np.float32),
    "16UC1": np.zeros((1, 1), np.uint16),
}  # of every encoding

try:
    from cv_bridge import CvBridge

    for encoding, pixels in SMALL_IMAGES.items():  # OpenCV 5 numbers types of three channels anew
        CvBridge().cv2_to_imgmsg(pixels, encoding)
except Exception:  # it is not in the wheels, or compiled for another NumPy or OpenCV
    CvBridge = None

SENSOR_DATA = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)


class SensorTopics:
    """Publishes the readings of some sensors; what has no subscriber is not sent, and not compressed.

    Args:
        node: that publishes.
        infos: the sensors.
        qos: of all topics.
        transports: an image is published as the first that takes its encoding, too.
    """

    def __init__(
        self,
        node: SuiteNode,
        infos: Iterable[SensorInfo],
        qos: QoSProfile,
        *,
        transports: Sequence[Transport] = (),
    ) -> None:
        self._outlets = {}
        for meta in infos:
            ways: list[Sequence[Transport]] = [()]
            if transports and isinstance(meta, CameraSensorInfo):
                ways.append(transports)
            self._outlets[meta.topic] = [_Outlet(node, meta, qos, way) for way in ways]

    def publish(self, readings: Iterable[Reading], *, again: bool = False) -> None:
        """Publish readings now, `again` only to topics that have new subscribers since they were published."""
        for reading in readings:
            for outlet in self._outlets[reading.source.topic]:
                outlet.publish(reading, again=again)


class _Outlet:
    """The topics of one sensor, with images compressed in one way."""

    def __init__(
        self, node: SuiteNode, meta: SensorInfo, qos: QoSProfile, transports: Sequence[Transport]
    ) -> None:
        self._encode = encoder(meta, transports=transports)
        self._kinds = self._encode.topics
        buffers = [
            name
            for name, kind in self._kinds.items()
            if not transports or kind not in (IMAGE, CAMERA_INFO)
        ]
        self._publishers = {
            name: node.create_publisher(message_class(self._kinds[name]), node.absolute(name), qos)
            for name in buffers
        }
        self._served = dict.fromkeys(buffers, 0)  # subscribers that the last reading went to

    def publish(self, reading: Reading, *, again: bool) -> None:
        """Publish one reading on those of the topics that have a subscriber, `again` those that have a new one."""
        counts = {name: each.get_subscription_count() for name, each in self._publishers.items()}
        due = {n for n, count in counts.items() if count > (self._served[n] if again else 0)}
        self._served = counts
        for name, parts in self._encode(reading) if due else ():
            if name not in due:
                continue
            is_image = isinstance(reading, ImageReading) and self._kinds[name] == IMAGE
            message = image_message(reading, parts) if is_image else b"".join(parts)
            self._publishers[name].publish(message)


def image_message(reading: ImageReading, buffers: Iterable[Buffer]) -> Image | bytes:
    """The message that is published of an image: cv_bridge's where it is installed; the suite's own has the same bytes.

    Args:
        reading: the image.
        buffers: its message in the suite's own encoding, in parts.
    """
    if CvBridge is None:
        return b"".join(buffers)
    stamp = stamp_message(stamp_of_time(reading.t))
    header = Header(stamp=stamp, frame_id=reading.source.frame)
    return CvBridge().cv2_to_imgmsg(reading.pixels, reading.encoding, header)
