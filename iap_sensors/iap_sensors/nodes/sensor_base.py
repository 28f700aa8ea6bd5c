# SPDX-License-Identifier: BSD-3-Clause
"""What the nodes of sensors share: their topics, and for those that look at states, when they look."""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from functools import partial

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_bringup.nodes.scenario_parameters import resolved_scenario
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_description.states import STATE_SIZE
from iap_io.ros.conversions import status_message
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, OK, WARN, Diagnostics, SuiteNode
from iap_io.ros.sensor_topics import RELIABLE, SENSOR_DATA, SensorTopics
from iap_io.ros.statistics import RateMonitor, RecentValues
from iap_io.ros.synchronizer import Instant, RateSchedule, TimeSynchronizer
from iap_io.runs.topics import WORLD_STATE
from iap_io.wire.message_views import SECOND, MessageReader, StateMessage
from iap_msgs.msg import PlatformState

Array = NDArray[np.float64]


class SensorNode(SuiteNode):
    """Publishes readings of a scenario's sensors and says what rate each keeps.

    Args:
        name: of the node.
        namespace: of the node; its topics are absolute.

    Attributes:
        scenario: whose sensors they are.
    """

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, namespace=namespace)
        self.scenario, _ = resolved_scenario(self)
        what = "Whether lost messages are sent again, as a recording needs; false: sensor data's quality of service."
        self._qos = RELIABLE if self.parameter("reliable", False, what) else SENSOR_DATA
        self.stamp = -1  # of what was heard last [ns]
        self._heard, self._fault = time.monotonic(), ""

    def show(self, metas: Sequence[SensorInfo], *, compressed: bool = False) -> None:
        """Begin to publish the readings of some sensors.

        Raises:
            BadInput: there is none.
        """
        if not metas:
            raise BadInput(
                f"{self.scenario.scenario}: no sensors for {self.get_name()} (key 'sensors')"
            )
        self._topics = SensorTopics(self, metas, self._qos, compressed=compressed)
        self._rates = {meta.topic: RateMonitor(meta.rate) for meta in metas}
        self._diagnostics = Diagnostics(self, self.statuses, lambda: self.stamp)

    def publish(self, readings: Sequence[Reading]) -> None:
        """Publish readings and count them."""
        self._topics.publish(readings)
        for topic, stamp in {(each.source.topic, round(each.t * SECOND)) for each in readings}:
            self._rates[topic].add(stamp)

    def repeat(self, readings: Sequence[Reading]) -> None:
        """Publish readings again, for those who have come since."""
        self._topics.publish(readings)

    def forget(self) -> None:
        """Time began anew."""
        for rate in self._rates.values():
            rate.reset()

    def heard(self, fault: str = "") -> None:
        """Note that something came, and what was wrong with it."""
        self._heard, self._fault = time.monotonic(), fault
        if fault:
            self.get_logger().warning(fault, throttle_duration_sec=2.0)

    def values(self) -> dict[str, object]:
        """What diagnostics say besides the rates."""
        return {"t": max(self.stamp, 0) / SECOND}

    def statuses(self) -> list[DiagnosticStatus]:
        """One for the node: which rates it keeps."""
        rates, now = self._rates, self.stamp
        short = [topic for topic, rate in rates.items() if rate.is_short(now)]
        level, text = OK, "sensing"
        if short:
            few = min(short, key=lambda topic: rates[topic].rate(now) / rates[topic].wanted)
            kept, wanted = rates[few].rate(now), rates[few].wanted
            level, text = WARN, f"{few}: {kept:.1f} of {wanted:.4g} Hz"
        if self._fault or time.monotonic() - self._heard > DIAGNOSTIC_TIMEOUT:
            level, text = WARN, self._fault or "nothing comes from physics_node"
        shown = {topic: f"{rate.rate(now):.4g} Hz" for topic, rate in rates.items()}
        name = self.get_fully_qualified_name()
        return [status_message(name, level, text, {**self.values(), **shown})]


class LookingNode(SensorNode, ABC):
    """A node whose sensors look at states: those of all vehicles, and of what moves in the world.

    Args:
        name: of the node.
        namespace: of the node.
        depth: states that wait while sensors are busy; with 1 only the newest is looked at.
    """

    def __init__(self, name: str, namespace: str, *, depth: int) -> None:
        super().__init__(name, namespace)
        self._looks = QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)
        # Work is a task of its own: while a subscription has messages, EventsExecutor does nothing else.
        self._waiting: deque[tuple[Instant, float]] = deque(maxlen=depth)
        self._latency_ms, self._took_ms = RecentValues(200), RecentValues(200)
        self._shown: list[Reading] = []  # of the last state, which may come again

    def look(self, every: Sequence[int]) -> None:
        """Begin to look at states, with each sensor once in so many control periods."""
        self._heard = time.monotonic()  # until now nobody listened
        self._rounds = RateSchedule(every)
        items = self.scenario.world.objects.values()
        self._still = np.array([item.row(0.0) for item in items]).reshape(-1, STATE_SIZE)
        sources = [f"/{vehicle.name}/state" for vehicle in self.scenario.vehicles]
        sizes = [1 + len(vehicle.platform.joints) for vehicle in self.scenario.vehicles]
        if any(item.moves for item in items):
            sources, sizes = [*sources, WORLD_STATE], [*sizes, len(items)]
        self._gathering = TimeSynchronizer(len(sources))
        for number, (topic, size) in enumerate(zip(sources, sizes, strict=True)):
            take = partial(self._on_state, number, topic, size, MessageReader(StateMessage))
            self.create_subscription(PlatformState, topic, take, self._looks, raw=True)

    @abstractmethod
    def sense(
        self, number: int, k: int, t: float, x: list[Array], objects: Array
    ) -> list[Reading]:
        """What a sensor says.

        Args:
            number: of the sensor, in the order of `look`.
            k: number of the instant.
            t: its time [s].
            x: (bodies, 13) states of each vehicle.
            objects: (objects, 13) states of the world's objects.
        """

    @abstractmethod
    def restart(self) -> None:
        """Time began anew: noise does, too."""

    def _on_state(
        self, source: int, topic: str, size: int, inlet: MessageReader, data: bytes
    ) -> None:
        began = time.perf_counter()
        try:
            state = inlet.read(data)
        except BadInput as error:
            self.heard(f"{topic}: {error}")
            return
        if len(state.rows) != size:
            self.heard(f"{topic}: {len(state.rows)} bodies, expected {size}")
            return
        self.heard()
        instant = self._gathering.take(source, state.stamp, state.sequence, state.rows.copy())
        if instant is not None:
            self._waiting.append((instant, began))
            self.executor.create_task(self._work)

    def _work(self) -> None:
        if self._waiting:
            self._look_at(*self._waiting.popleft())

    def _look_at(self, instant: Instant, began: float) -> None:
        if instant.stamp == self.stamp:
            self.repeat(self._shown)
            return
        if instant.stamp < self.stamp:
            self._rounds.reset()
            self.forget()
            self.restart()
        self.stamp, self._shown = instant.stamp, []
        count = len(self.scenario.vehicles)
        x, moved = list(instant.parts[:count]), instant.parts[count:]
        objects = moved[0] if moved else self._still
        for number in self._rounds.due(instant.k):
            start = time.perf_counter()
            readings = self.sense(number, instant.k, instant.stamp / SECOND, x, objects)
            self._took_ms.add(1e3 * (time.perf_counter() - start))
            self.publish(readings)  # at once: many images in one burst are more than DDS holds
            self._latency_ms.add(1e3 * (time.perf_counter() - began))
            self._shown += readings

    def values(self) -> dict[str, object]:
        """How long a sensor takes, and from a state to what is published of it."""
        return {
            **super().values(),
            "took_ms": self._took_ms.percentile(50),
            "latency_ms": self._latency_ms.percentile(50),
            "latency_ms_p99": self._latency_ms.percentile(99),
        }
