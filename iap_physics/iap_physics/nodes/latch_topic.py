# SPDX-License-Identifier: BSD-3-Clause
"""The topic of the latches between vehicles."""

from typing import Self

from iap_io.ros.message_classes import message_class
from iap_io.ros.node import RESENT, SuiteNode
from iap_io.wire.sample_views import LatchStateMessage
from iap_physics.latching.latches import Latches

TOPIC = "latches"


class LatchTopic:
    """Publishes what latches are doing, and logs what they do.

    Args:
        node: that publishes.
        latches: of its plant.
    """

    def __init__(self, node: SuiteNode, latches: Latches) -> None:
        self._node, self._latches, self._said = node, latches, 0
        self._message = LatchStateMessage.of(list(latches.phases))
        kind = message_class(LatchStateMessage.TYPE)
        self._publisher = node.create_publisher(kind, node.absolute(TOPIC), RESENT)

    @classmethod
    def of(cls, node: SuiteNode, latches: Latches | None) -> Self | None:
        """The topic of a plant's latches; None where it has none."""
        return None if latches is None else cls(node, latches)

    def publish(self, stamp: int, k: int) -> None:
        """Publish the phases at state k, before the state itself: who acts on both has them when it comes."""
        self._message.put_head(stamp, k)
        self._message.phases[:] = self._latches.numbers
        self._publisher.publish(self._message.dump())
        self._say()

    def _say(self) -> None:
        """Log what has happened since the last state."""
        events = self._latches.events
        if len(events) < self._said:  # a reset
            self._said = 0
        for event in events[self._said :]:
            self._node.get_logger().info(
                f"t = {event.t:.3f} s: latch '{event.latch}' {event.what}"
            )
        self._said = len(events)
