# SPDX-License-Identifier: BSD-3-Clause
"""Frames that never move, in /tf_static, where tf2_msgs is installed."""

from collections.abc import Sequence

from iap_description.sensors.sensor_info import FixedFrame
from iap_io.ros.node import LATCHED, SuiteNode
from iap_io.sensor_messages.static_transforms import TF_STATIC, tf_message

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # it comes with a ROS 2 installation, not with the wheels
    TFMessage = None


def publish_static_frames(node: SuiteNode, frames: Sequence[FixedFrame]) -> None:
    """Publish fixed frames once, to those who come later too."""
    if TFMessage is not None and frames:
        topic = node.absolute(TF_STATIC)
        node.create_publisher(TFMessage, topic, LATCHED).publish(tf_message(frames))
