# SPDX-License-Identifier: BSD-3-Clause
"""Platform wrenches commanded from outside, which a controller allocates to its aircraft."""

import numpy as np

from iap_control.allocator import Allocator
from iap_description.errors import BadInput
from iap_description.states import Command, Mode, Q
from iap_io.ros.node import LATEST, SuiteNode
from iap_io.wire.message_views import CommandMessage, MessageReader, StateMessage
from iap_msgs.msg import PlatformCommand, PlatformState

TOPIC = "command/wrench"


class WrenchCommands:
    """Answers every message on `command/wrench` with a command of the same stamp on `command`.

    A wrench is allocated at the attitude of its stamp's state, or of a newer one. States are listened to from the
    first wrench on.

    Args:
        node: of the controller; it has declared `state_topic`.
        allocator: of the platform, for nobody else.
    """

    def __init__(self, node: SuiteNode, allocator: Allocator) -> None:
        self._node, self._allocator = node, allocator
        count = allocator.model.count
        self._reader, self._states = MessageReader(CommandMessage), MessageReader(StateMessage)
        self._wanted, self._answer = Command.zeros(count), CommandMessage.of(count)
        self._attitude, self._stamp = np.zeros(4), -1  # of the newest state
        self._head = (-1, 0)  # stamp [ns] and number of the newest wrench
        self._answered = -1  # stamp of the newest answer
        self._is_listening = False
        self._publisher = node.create_publisher(PlatformCommand, "command", LATEST)
        node.create_subscription(PlatformCommand, TOPIC, self._on_wrench, LATEST, raw=True)

    def _on_wrench(self, data: bytes) -> None:
        try:
            message = self._reader.read(data)
            if message.mode != Mode.WRENCH:
                raise BadInput(f"mode {message.mode} is none of a platform wrench")
            message.get(self._wanted)
        except BadInput as error:
            self._node.get_logger().warning(f"{TOPIC}: {error}", throttle_duration_sec=2.0)
            return
        self._head = (message.stamp, message.sequence)
        if not self._is_listening:
            topic = self._node.get_parameter("state_topic").value
            self._node.create_subscription(PlatformState, topic, self._on_state, LATEST, raw=True)
            self._is_listening = True
        self._publish()

    def _on_state(self, data: bytes) -> None:
        try:
            state = self._states.read(data)
        except BadInput:
            return  # the controller reports it
        self._attitude[:], self._stamp = state.rows[0, Q], state.stamp
        if self._head[0] > self._answered:
            self._publish()

    def _publish(self) -> None:
        """Publish the answer to the newest wrench, once its state is there; the same again if it came again."""
        stamp, number = self._head
        if self._stamp < stamp:
            return
        if stamp != self._answered:
            if stamp < self._answered:  # simulation time began anew
                self._allocator.reset()
            self._answer.put(self._allocator.allocate(self._wanted.wrench_P, self._attitude))
        self._answer.put_head(stamp, number)
        self._answered = stamp
        self._publisher.publish(self._answer.dump())
