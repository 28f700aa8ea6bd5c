# SPDX-License-Identifier: BSD-3-Clause
"""Commands of a policy to a gripper, as messages."""

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from iap_io.ros.node import EVERY, SuiteNode
from iap_io.runs.topics import GRIPPER, GRIPPER_COMMAND
from iap_io.wire.joint_views import JointCommandMessage


class GripperOutput:
    """Publishes whether the gripper of a vehicle shall close.

    Args:
        node: that publishes.
        vehicle: name of it.
    """

    def __init__(self, node: SuiteNode, vehicle: str) -> None:
        self._message = JointCommandMessage.of(GRIPPER)
        topic = node.absolute(f"{vehicle}/{GRIPPER_COMMAND}")
        self._publisher = node.create_publisher(JointTrajectory, topic, EVERY)

    def publish(self, stamp: int, *, closes: bool) -> None:
        """Publish a command that counts from a stamp [ns] on."""
        self._message.put_target(stamp, np.array([[float(closes)], [0.0], [0.0]]))
        self._publisher.publish(self._message.dump())
