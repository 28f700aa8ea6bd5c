# SPDX-License-Identifier: BSD-3-Clause
"""Topics of what connects vehicles: latches between ports, and the wrenches in the joints between modules."""

from typing import Self

from iap_io.ros.message_classes import message_class
from iap_io.ros.node import EVERY, SuiteNode
from iap_io.runs.topics import JOINT_WRENCHES, LATCH_STATE
from iap_io.wire.module_views import JointWrenchesMessage
from iap_io.wire.sample_views import LatchStateMessage
from iap_physics.latching.latches import Latches
from iap_physics.session.session import Session


class LatchTopic:
    """Publishes what latches are doing, and logs what they do.

    Args:
        node: that publishes.
        latches: of its plant.
    """

    def __init__(self, node: SuiteNode, latches: Latches) -> None:
        self._node, self._latches, self._logged = node, latches, 0
        self._message = LatchStateMessage.of(list(latches.phases))
        kind = message_class(LatchStateMessage.TYPE)
        self._publisher = node.create_publisher(kind, node.absolute(LATCH_STATE), EVERY)

    @classmethod
    def of(cls, node: SuiteNode, latches: Latches | None) -> Self | None:
        """The topic of a plant's latches; None where it has none."""
        return None if latches is None else cls(node, latches)

    def publish(self, stamp: int, k: int) -> None:
        """Publish the phases at state k, before the state itself: who acts on both has them when it comes."""
        self._message.put_head(stamp, k)
        self._message.phases[:] = self._latches.numbers
        self._publisher.publish(self._message.dump())
        self._log_events()

    def _log_events(self) -> None:
        """Log what has happened since the last state."""
        events = self._latches.events
        if len(events) < self._logged:  # a reset
            self._logged = 0
        for event in events[self._logged :]:
            self._node.get_logger().info(
                f"t = {event.t:.3f} s: latch '{event.latch}' {event.what}"
            )
        self._logged = len(events)


class JointTopic:
    """Publishes what the joints between modules bear.

    Args:
        node: that publishes.
        session: with modules.
        names: of the joints.
    """

    def __init__(self, node: SuiteNode, session: Session, names: list[str]) -> None:
        self._session, self._names = session, names
        self._message = JointWrenchesMessage.of(names)
        kind = message_class(JointWrenchesMessage.TYPE)
        self._publisher = node.create_publisher(kind, node.absolute(JOINT_WRENCHES), EVERY)

    @classmethod
    def of(cls, node: SuiteNode, session: Session) -> Self | None:
        """The topic of a session's modules; None where it has none."""
        modules = session.spec.modules
        return None if modules is None else cls(node, session, list(modules.joints))

    def publish(self, stamp: int, k: int) -> None:
        """Publish the wrenches at state k, before the state itself: who acts on both has them when it comes."""
        joints = self._session.joints
        assert joints is not None
        borne = joints.wrenches_S()
        self._message.put_head(stamp, k)
        self._message.wrenches[:] = 0.0
        for i, name in enumerate(self._names):
            if name in borne:
                self._message.wrenches[i] = borne[name]
        self._publisher.publish(self._message.dump())
