# SPDX-License-Identifier: BSD-3-Clause
"""The topics of one vehicle's arm at the plant's side: joint states out, commands to its motors in."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from iap_io.ros.node import EVERY, LATEST, SuiteNode
from iap_io.runs.topics import JOINT_COMMAND, JOINT_STATES
from iap_io.wire.cdr import decoded
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage, trajectory_of
from iap_io.wire.stamps import SECOND, stamp_of_time
from iap_physics.arm.arm_commands import JointTrajectory
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.session.session import Session


class ArmTopics:
    """One vehicle's arm.

    Args:
        node: that publishes.
        session: the plant.
        number: of the vehicle in the session.
        name: of the vehicle.
        motors: of its arm.
        answered: called after a command came.
    """

    def __init__(
        self,
        node: SuiteNode,
        session: Session,
        number: int,
        name: str,
        motors: ArmMotors,
        answered: Callable[[], None],
    ) -> None:
        self._session, self._number, self._motors = session, number, motors
        self._answered, self._names = answered, motors.arm.record.joint_names
        self._in_step = session.spec.vehicles[number].joints_in_step
        self._message = JointStateMessage.of(self._names)
        states, commands = (
            node.absolute(f"{name}/{each}") for each in (JOINT_STATES, JOINT_COMMAND)
        )
        self._publisher = node.create_publisher(JointState, states, EVERY)
        kind = JointCommandMessage.TYPE
        read = partial(decoded, msgtype=kind)
        node.inputs.listen(kind, commands, read, self._on_command, LATEST)

    def publish(self, stamp: int) -> None:
        """Publish where the joints stand, at a stamp [ns]."""
        message, motors = self._message, self._motors
        message.put_head(stamp, 0)
        message.position[:], message.velocity[:], message.effort[:] = (
            motors.q,
            motors.v,
            motors.efforts,
        )
        self._publisher.publish(message.dump())

    def _on_command(self, content: Any) -> None:  # noqa: ANN401 - a decoded message
        """Let the motors go for a trajectory from its stamp on; without one from now on, and from where they are.

        Where every state is answered, a stamp of 0 is that of the first state, whose answer may come again late.
        """
        given = trajectory_of(content, self._names)
        stamp = given.stamp
        if not stamp and not self._in_step:
            stamp = stamp_of_time(self._session.t)
        t = stamp / SECOND + given.t
        points = np.stack([given.q, given.v, given.torque], axis=1)
        if given.t[0] > 0.0:  # it begins where the joints are
            here = np.stack([self._motors.q, self._motors.v, self._motors.targets[2]])
            t, points = np.append(stamp / SECOND, t), np.concatenate([here[None], points])
        self._session.offer_arm(self._number, stamp / SECOND, JointTrajectory(t, points))
        self._answered()
