# SPDX-License-Identifier: BSD-3-Clause
"""Images as messages: by cv_bridge where it is installed; the suite's own encoding has the same bytes."""

from collections.abc import Iterable

from sensor_msgs.msg import Image
from std_msgs.msg import Header

from iap_description.sensors.readings import ImageReading
from iap_io.bags.bag_writer import Buffer
from iap_io.ros.conversions import stamp_message
from iap_io.wire.message_views import stamp_of_time

try:
    from cv_bridge import CvBridge
except ImportError:  # it comes with a ROS 2 installation, not with the wheels
    CvBridge = None


def image_message(reading: ImageReading, own: Iterable[Buffer]) -> Image | bytes:
    """What is published of an image.

    Args:
        reading: the image.
        own: its message in the suite's own encoding, in parts.
    """
    if CvBridge is None:
        return b"".join(own)
    stamp = stamp_message(stamp_of_time(reading.t))
    header = Header(stamp=stamp, frame_id=reading.source.frame)
    return CvBridge().cv2_to_imgmsg(reading.pixels, reading.encoding, header)
