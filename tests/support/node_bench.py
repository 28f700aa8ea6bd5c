# SPDX-License-Identifier: BSD-3-Clause
"""Nodes in the test's own process, without executor and DDS: bytes go into callbacks, what is published is kept."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from rclpy.node import Node
from std_srvs.srv import Trigger

from iap_io.ros.node import SuiteNode
from iap_io.wire.cdr import HEADER_SIZE, decoded
from iap_io.wire.stamps import SECOND, stamp_of

Said = tuple[str, bytes]  # topic and serialised message
# Fields that say by NaN that there is no value.
OPEN = {"views", "aircraft_yaw", "ranges", "data", "deviation"}


class Tasks:
    """Stands in for an executor: tasks are done when the bench says so."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []

    def create_task(self, task: Callable[[], None]) -> None:
        self._waiting.append(task)

    def wake(self) -> None:
        """There is nobody to wake."""

    def work(self) -> None:
        while self._waiting:
            self._waiting.pop(0)()


TASKS = Tasks()
BEGUN = 3  # instants after which a flight has begun


class Bench:
    """One node.

    Args:
        node: the node.
        sound: the messages of an instant, by its number.

    Attributes:
        lines: warnings about messages.
        k: number of the instant that comes next.
    """

    def __init__(self, node: SuiteNode, sound: Callable[[int], Iterable[Said]]) -> None:
        self.node, self._sound, self.k = node, sound, 0
        self.lines: list[str] = []
        self._published: list[tuple[str, Any, object]] = []
        node.inputs.refusals._warn = self.lines.append
        for publisher in node.publishers:
            kind, topic = publisher.msg_type, publisher.topic_name
            publisher.publish = lambda said, t=topic, kind=kind: self._published.append(
                (t, kind, said)
            )
            publisher.get_subscription_count = lambda: 1

    @property
    def inputs(self) -> set[str]:
        """Topics that it listens to."""
        topics = {each.topic_name for each in self.node.subscriptions}
        return {topic for topic in topics if not topic.endswith("/parameter_events")}

    @property
    def refused(self) -> int:
        return self.node.inputs.refusals.count()

    def calls_stray(self, data: bytes) -> bool:
        """True if the newest refusal is of a message with a stray stamp, and that is the one of `data`."""
        newest = self.node.inputs.refusals.newest()
        has_stamp = len(data) > HEADER_SIZE + 8
        return has_stamp and f"a message of {stamp_of(data) / SECOND:.3f} s," in newest

    def hear(self, topic: str, data: bytes) -> None:
        """Hand a message to whoever listens."""
        for each in list(self.node.subscriptions):
            if each.topic_name == topic:
                each.callback(data)
                TASKS.work()

    def words(self) -> dict[str, bytes]:
        """The sound messages of the next instant that it listens to; the last of a topic."""
        inputs = self.inputs
        return {topic: data for topic, data in self._sound(self.k) if topic in inputs}

    def go_on(self) -> list[tuple[str, Any, object]]:
        """Hear the next instant; returns all that was published since the last time."""
        for topic, data in self._sound(self.k):
            self.hear(topic, data)
        self.k += 1
        return self.taken()

    def taken(self) -> list[tuple[str, Any, object]]:
        published, self._published = self._published, []
        return published

    def begin_anew(self) -> None:
        """Time starts again, as after a reset of the simulation, which states that come again follow.

        They are heard before it, too, so that what came earlier is not held back against them.
        """
        while self.k < BEGUN:  # time that has not passed cannot go back
            self.go_on()
        self._hear_start()
        for service in self.node.services:
            if service.service_name.endswith("/reset"):
                service.callback(Trigger.Request(), Trigger.Response())
        self._hear_start()
        self.k = 0
        self.taken()

    def _hear_start(self) -> None:
        for topic, data in [*self._sound(0)] * 2:
            self.hear(topic, data)


def odd_field(kind: Any, said: object) -> str:
    """Name of a field of a published message that is not finite; empty if all are."""
    if isinstance(said, bytes):
        package = kind.__module__.partition(".")[0]
        said = decoded(said, f"{package}/msg/{kind.__name__}")
    return _odd(said, "")


def _odd(value: Any, name: str) -> str:
    if isinstance(value, float):
        return "" if np.isfinite(value) else name
    if isinstance(value, np.ndarray):
        return "" if value.dtype.kind != "f" or np.isfinite(value).all() else name
    if isinstance(value, list | tuple):
        return next(filter(None, (_odd(each, name) for each in value)), "")
    if hasattr(value, "get_fields_and_field_types"):
        fields = value.get_fields_and_field_types()
    else:
        fields = getattr(value, "__dataclass_fields__", {})
    names = [each for each in fields if each not in OPEN and not each.startswith("_")]
    return next(filter(None, (_odd(getattr(value, each), f"{name}.{each}") for each in names)), "")


def without_executor(monkeypatch: Any) -> None:
    """Let all nodes' tasks be done by `TASKS`."""
    monkeypatch.setattr(Node, "executor", property(lambda _: TASKS, lambda *_: None))
