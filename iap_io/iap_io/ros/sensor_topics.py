# SPDX-License-Identifier: BSD-3-Clause
"""Readings as topics: the very messages that a recording holds."""

import importlib
from collections.abc import Iterable

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_description.sensors.readings import ImageReading, Reading
from iap_description.sensors.sensor_info import CameraSensorInfo, SensorInfo
from iap_io.ros.images import image_message
from iap_io.sensor_messages.camera_messages import IMAGE
from iap_io.sensor_messages.sensor_messages import encoder

SENSOR_DATA = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)


def message_class(msgtype: str) -> type:
    """The class of a message type such as ``sensor_msgs/msg/Imu``."""
    package, _, name = msgtype.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


class SensorTopics:
    """Publishes the readings of some sensors; what nobody hears is not sent, and not compressed.

    Args:
        node: that publishes.
        infos: the sensors.
        qos: of all topics.
        compressed: whether images are published as PNG, too.
    """

    def __init__(
        self,
        node: Node,
        infos: Iterable[SensorInfo],
        qos: QoSProfile,
        *,
        compressed: bool = False,
    ) -> None:
        self._outlets = {}
        for meta in infos:
            ways = (
                ["none", "png"] if compressed and isinstance(meta, CameraSensorInfo) else ["none"]
            )
            self._outlets[meta.topic] = [_Outlet(node, meta, qos, way) for way in ways]

    def publish(self, readings: Iterable[Reading]) -> None:
        """Publish readings now."""
        for reading in readings:
            for outlet in self._outlets[reading.source.topic]:
                outlet.publish(reading)


class _Outlet:
    """The topics of one sensor, with images compressed in one way."""

    def __init__(self, node: Node, meta: SensorInfo, qos: QoSProfile, compression: str) -> None:
        self._encode = encoder(meta, compression=compression)
        self._kinds = self._encode.topics
        own = [name for name in self._kinds if compression == "none" or _is_compressed(name)]
        self._publishers = {
            name: node.create_publisher(message_class(self._kinds[name]), name, qos)
            for name in own
        }

    def publish(self, reading: Reading) -> None:
        """Publish one reading, if anybody hears any of the topics."""
        if not any(each.get_subscription_count() for each in self._publishers.values()):
            return
        for name, parts in self._encode(reading):
            publisher = self._publishers.get(name)
            if publisher is None or not publisher.get_subscription_count():
                continue
            is_image = isinstance(reading, ImageReading) and self._kinds[name] == IMAGE
            message = image_message(reading, parts) if is_image else b"".join(parts)
            publisher.publish(message)


def _is_compressed(name: str) -> bool:
    return name.endswith("/compressed")
