# SPDX-License-Identifier: BSD-3-Clause
"""The topics of a gripper that goes by commands, at the plant's side: hold and load out, commands in."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sensor_msgs.msg import JointState

from iap_io.ros.node import EVERY, LATEST, SuiteNode
from iap_io.runs.topics import GRIPPER, GRIPPER_COMMAND, GRIPPER_STATE
from iap_io.wire.cdr import decoded
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage, trajectory_of
from iap_io.wire.stamps import SECOND
from iap_physics.arm.gripper import Gripper
from iap_physics.session.session import Session


class GripperTopics:
    """The gripper of one vehicle.

    Args:
        node: that publishes.
        session: the plant.
        name: of the vehicle.
        gripper: that goes by commands.
        answered: called after a command came.
    """

    def __init__(
        self,
        node: SuiteNode,
        session: Session,
        name: str,
        gripper: Gripper,
        answered: Callable[[], None],
    ) -> None:
        self._session, self._gripper, self._answered = session, gripper, answered
        self._message = JointStateMessage.of(GRIPPER)
        states, commands = (
            node.absolute(f"{name}/{each}") for each in (GRIPPER_STATE, GRIPPER_COMMAND)
        )
        self._publisher = node.create_publisher(JointState, states, EVERY)
        kind = JointCommandMessage.TYPE
        node.inputs.listen(
            kind, commands, partial(decoded, msgtype=kind), self._on_command, LATEST
        )

    def publish(self, stamp: int) -> None:
        """Publish at a stamp [ns] whether it holds something, and the force that it bears."""
        self._message.put_head(stamp, 0)
        self._message.position[0] = float(self._gripper.holds)
        self._message.effort[0] = self._gripper.borne
        self._publisher.publish(self._message.dump())

    def _on_command(self, content: Any) -> None:  # noqa: ANN401 - a decoded message
        """Close from the stamp on where the position is above 0.5, else open; a stamp of 0 is now."""
        trajectory = trajectory_of(content, GRIPPER)
        stamp = trajectory.stamp / SECOND if trajectory.stamp else self._session.t
        if self._session.spec.grips_in_step:
            stamp = trajectory.stamp / SECOND
        self._session.offer_gripper(stamp, closes=bool(trajectory.q[0, 0] > 0.5))
        self._answered()
