# SPDX-License-Identifier: BSD-3-Clause
"""Classes of messages by the names of their types."""

import importlib
import os

from iap_description.errors import BadInput


def message_class(msgtype: str) -> type:
    """The class of a message type such as ``sensor_msgs/msg/Imu``.

    Raises:
        BadInput: the package of messages is not installed.
    """
    package, _, name = msgtype.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)
    except ModuleNotFoundError as error:
        distribution = os.environ.get("ROS_DISTRO", "DISTRO")
        raise BadInput(
            f"ROS's package {package} is not installed: apt-get install"
            f" ros-{distribution}-{package.replace('_', '-')}, and source setup.bash anew"
        ) from error
