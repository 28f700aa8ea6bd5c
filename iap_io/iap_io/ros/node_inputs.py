# SPDX-License-Identifier: BSD-3-Clause
"""The inputs of a node: bytes become checked messages here, and what cannot be used is refused in one way."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from iap_description.errors import BadInput
from iap_io.ros.conversions import status_message, warning_or
from iap_io.ros.message_classes import message_class
from iap_io.wire.message_reader import state_reader
from iap_io.wire.message_views import StateMessage
from iap_io.wire.stamp_guard import StampGuard

QUIET = 10.0  # after which a cause that comes again is a new one [s of wall time]
REMINDER = 60.0  # between two lines about a cause that lasts [s of wall time]
MOST_CAUSES = 8  # of one topic that are told apart
_VALUES = re.compile(r"'[^']*'|[-+]?(?:\d[\d.e+-]*|\b(?:nan|inf)\b)")


class Refusals:
    """Faults of messages: in the log once for every cause, and in the next diagnostics.

    Args:
        warn: writes a line into the log.
        now: wall time [s].
    """

    def __init__(
        self, warn: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._warn, self._now = warn, now
        self._newest: dict[str, str] = {}  # by topic
        self._causes: dict[str, dict[str, list[float]]] = {}  # topic, cause -> seen, said [s]
        self._counts: Counter[str] = Counter()  # by topic

    def add(self, topic: str, reason: object) -> bool:
        """Note that a topic's message was refused; returns whether the log says so, as it does when a cause is new."""
        self._counts[topic] += 1
        text = f"{topic}: {' '.join(str(reason).split())}"
        self._newest[topic] = text
        if not self._is_due(topic, text):
            return False
        self._warn(text)
        return True

    def _is_due(self, topic: str, text: str) -> bool:
        now, known = self._now(), self._causes.get(topic, {})
        known = self._causes[topic] = {c: t for c, t in known.items() if now - t[0] < QUIET}
        cause = _VALUES.sub("", text)
        if cause not in known and len(known) >= MOST_CAUSES:
            cause = topic  # whoever sends that knows no end of causes
        times = known.setdefault(cause, [now, -REMINDER])
        times[0], is_due = now, now - times[1] >= REMINDER
        if is_due:
            times[1] = now
        return is_due

    def count(self, prefix: str = "") -> int:
        """Number of refused messages of topics that begin with a prefix."""
        return sum(n for topic, n in self._counts.items() if topic.startswith(prefix))

    def newest(self, prefix: str = "") -> str:
        """The newest refusal since it was asked for last, of topics that begin with a prefix; empty without one."""
        matching = [topic for topic in self._newest if topic.startswith(prefix)]
        return [self._newest.pop(topic) for topic in matching][-1] if matching else ""


class NodeInputs:
    """Subscriptions of a node whose callbacks get checked messages, and cannot end it.

    Args:
        node: that subscribes.
        clock: topic of the simulation's clock.

    Attributes:
        refusals: what was wrong with messages.
    """

    def __init__(self, node: Node, clock: str = "/clock") -> None:
        self._node = node
        self.refusals = Refusals(lambda text: node.get_logger().warning(text))
        self._single = {node.resolve_topic_name(clock)}

    def listen(
        self,
        msgtype: str,
        topic: str,
        read: Callable[[bytes], Any],
        take: Callable[[Any], None],
        qos: QoSProfile | int,
        *,
        guard: StampGuard[bytes] | None = None,
    ) -> Subscription:
        """Subscribe to a topic.

        Args:
            msgtype: of its messages.
            topic: its name.
            read: reads one.
            take: takes what was read. A BadInput that either raises refuses the message.
            qos: quality of service.
            guard: holds back messages with stray stamps; they have an attribute `stamp` [ns].
        """

        def on(data: bytes) -> None:
            try:
                message = read(data)
                due = (data,) if guard is None else guard.offer(message.stamp, data)
                with _undone_if_refused(guard):
                    for each in due:
                        take(message if len(due) == 1 else read(each))
            except BadInput as error:
                self.refusals.add(subscription.topic_name, error)
            if guard is not None and (stray := guard.stray()):
                self.refusals.add(subscription.topic_name, stray)

        subscription = self._node.create_subscription(
            message_class(msgtype), topic, on, qos, raw=True
        )
        return subscription

    def listen_to_states(
        self,
        topic: str,
        bodies: int | tuple[int, ...],
        take: Callable[[StateMessage], None],
        qos: QoSProfile | int,
        *,
        rotors: int | None = None,
    ) -> Subscription:
        """Subscribe to states, which one node publishes, in the order of time.

        Args:
            topic: its name.
            bodies: that they are of; several numbers where they may be of so many, none where of any.
            take: takes one.
            qos: quality of service.
            rotors: that they must have; None: any.
        """
        counts = bodies if isinstance(bodies, tuple) else (bodies,)
        read = state_reader(*counts, rotors=rotors).read
        subscription = self.listen(StateMessage.TYPE, topic, read, take, qos, guard=StampGuard())
        self.expect_one_publisher(subscription.topic_name)
        return subscription

    def status(
        self, doing: str, values: Mapping[str, object], obstacle: str = ""
    ) -> DiagnosticStatus:
        """The status of a node that does something, unless there is an obstacle or a message was refused since."""
        level, text = warning_or(doing, obstacle, self.refusals.newest())
        shown = {**values, "refused": self.refusals.count()}
        return status_message(self._node.get_fully_qualified_name(), level, text, shown)

    def expect_one_publisher(self, topic: str) -> None:
        """From now on report when several publish a topic, given by its absolute name as it is remapped."""
        self._single.add(topic)

    def look(self) -> None:
        """Report topics that more than one publishes, though one should."""
        for topic in self._single:
            count = self._node.count_publishers(topic)
            if count > 1:
                self.refusals.add(topic, f"{count} publish it, and one should")


@contextmanager
def _undone_if_refused(guard: StampGuard[bytes] | None) -> Iterator[None]:
    """Let the stamp of a message that is refused, whatever for, not count either."""
    try:
        yield
    except BadInput:
        if guard is not None:
            guard.undo()
        raise
