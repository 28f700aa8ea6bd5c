# SPDX-License-Identifier: BSD-3-Clause
"""Classes of messages by the names of their types."""

import importlib


def message_class(msgtype: str) -> type:
    """The class of a message type such as ``sensor_msgs/msg/Imu``."""
    package, _, name = msgtype.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)
