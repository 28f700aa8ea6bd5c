# SPDX-License-Identifier: BSD-3-Clause
"""Images by cv_bridge and by the suite's own encoding have the same bytes."""

import array
import sys

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image

from iap_description.sensors.readings import ImageReading, SensorSource
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_io.ros import sensor_topics
from iap_io.sensor_messages.camera_messages import IMAGE
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.wire.cdr import message_types

pytestmark = pytest.mark.ros
KINDS = {"mono8": np.uint8, "rgb8": np.uint8, "16UC1": np.uint16, "32FC1": np.float32}
OUTPUTS = {"mono8": "mono8", "rgb8": "rgb8", "16UC1": "segmentation", "32FC1": "depth"}


class StandIn:
    """Fills an Image as cv_bridge's documentation and its cv2_to_imgmsg in core.py of ROS 2 Jazzy do."""

    def cv2_to_imgmsg(self, pixels, encoding="passthrough", header=None):
        image = Image(height=pixels.shape[0], width=pixels.shape[1], encoding=encoding)
        image.header = header
        image.is_bigendian = pixels.dtype.byteorder == ">"
        image.data = array.array("B", pixels.tobytes())
        image.step = len(image.data) // image.height
        return image


def reading_of(encoding):
    shape = (6, 8, 3) if encoding == "rgb8" else (6, 8)
    values = np.random.default_rng(3).uniform(0.0, 250.0, shape).astype(KINDS[encoding])
    source = SensorSource("/iap/drone_1/left", "iap/drone_1_left_camera_optical")
    return ImageReading(source, 12.345, encoding, values)


def own_parts(reading):
    meta = CameraSensorInfo(
        topic=reading.source.topic,
        frame=reading.source.frame,
        parent="iap/drone_1",
        p_BS_B=(0.0, 0.0, 0.0),
        q_BS=(0.0, 0.0, 0.0, 1.0),
        rate=20.0,
        outputs=(OUTPUTS[reading.encoding],),
        width=8,
        height=6,
        K=(1.0,) * 9,
        D=(0.0,) * 5,
        P=(1.0,) * 12,
    )
    return next(iter(encoder(meta)(reading)))[1]


def serialised(image):
    """Its bytes as rclpy has them, but for the gaps before aligned numbers, which hold whatever was there."""
    store = message_types()
    return bytes(
        store.serialize_cdr(store.deserialize_cdr(serialize_message(image), IMAGE), IMAGE)
    )


@pytest.mark.parametrize("encoding", KINDS)
def test_both_ways_to_an_image_are_equal_byte_by_byte(encoding, monkeypatch):
    reading = reading_of(encoding)
    monkeypatch.setattr(sensor_topics, "CvBridge", StandIn)
    bridged = sensor_topics.image_message(reading, own_parts(reading))
    monkeypatch.setattr(sensor_topics, "CvBridge", None)
    assert sensor_topics.image_message(reading, own_parts(reading)) == serialised(bridged)


@pytest.mark.parametrize("encoding", KINDS)
def test_the_stand_in_is_what_cv_bridge_does(encoding):
    bridge = pytest.importorskip("cv_bridge", reason="it comes with a ROS 2 installation")
    pixels = reading_of(encoding).pixels
    ours, theirs = (
        serialised(each.cv2_to_imgmsg(pixels, encoding, Image().header))
        for each in (StandIn(), bridge.CvBridge())
    )
    assert ours == theirs


def test_what_is_installed_is_used():
    assert (sensor_topics.CvBridge is not None) == ("cv_bridge" in sys.modules)
