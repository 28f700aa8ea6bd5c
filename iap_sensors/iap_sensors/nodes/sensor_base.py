# SPDX-License-Identifier: BSD-3-Clause
"""Bases of the nodes of sensors: their topics, and of those that sample states, when they do."""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_description.states import STATE_SIZE
from iap_description.vehicles.aircraft import ROTORS
from iap_description.vehicles.arm_links import ChainState
from iap_io.ros.conversions import status_message, warning_or
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, Diagnostics, SuiteNode
from iap_io.ros.sensor_topics import RELIABLE, SENSOR_DATA, SensorTopics
from iap_io.ros.statistics import RateMonitor, RecentValues
from iap_io.ros.synchronizer import Instant, RateSchedule, TimeSynchronizer
from iap_io.runs.topics import WORLD_STATE
from iap_io.transports.transport import Transport
from iap_io.wire.message_views import StateMessage
from iap_io.wire.stamps import SECOND
from iap_sensors.mounted.faulty_sensors import FaultySensors
from iap_sensors.mounted.rig_spec import RigSpec
from iap_sensors.mounted.rig_state import RigState


class SensorNode(SuiteNode):
    """Publishes readings of a rig's sensors, and the rate that each keeps in its diagnostics.

    Args:
        name: of the node.
        namespace: of the node, that of the simulation.
        parameters: see `SuiteNode`.

    Attributes:
        rig: the sensors' specification.
        stamp: of the newest message [ns]; -1 before the first.
        faulty: what is said of readings, which sensors that fail change.
    """

    def __init__(
        self, name: str, namespace: str, parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(name, namespace=namespace, parameters=parameters)
        self.refuse_scenario("rig")
        what = "The sensors, as YAML text of iap_sensors.mounted.rig_spec.RigSpec or the path of such a file."
        self.rig = RigSpec.read(self.parameter("rig", "", what), source="parameter rig")
        what = "Whether lost messages are sent again, as a recording needs; false: sensor data's quality of service."
        self._qos = RELIABLE if self.parameter("reliable", False, what) else SENSOR_DATA
        self.stamp, self.faulty = -1, FaultySensors(self.rig)
        self._received = time.monotonic()

    def advertise(
        self,
        infos: Sequence[SensorInfo],
        *,
        notes: Sequence[str],
        transports: Sequence[Transport] = (),
    ) -> None:
        """Begin to publish the readings of some sensors, and log notes about them, each once.

        Args:
            infos: the sensors.
            notes: about them.
            transports: of compressed images, see `iap_io.ros.sensor_topics.SensorTopics`.

        Raises:
            BadInput: there is none.
        """
        if not infos:
            raise BadInput(f"parameter rig: no sensors for {self.get_name()} (key 'sensors')")
        for note in dict.fromkeys(notes):
            self.get_logger().warning(note)
        self._topics = SensorTopics(self, infos, self._qos, transports=transports)
        self._rates = {info.topic: RateMonitor(info.rate) for info in infos}
        self._diagnostics = Diagnostics(self, self.statuses)

    def publish(self, readings: Sequence[Reading]) -> None:
        """Publish readings and count them."""
        self._topics.publish(readings)
        for topic, stamp in {(each.source.topic, round(each.t * SECOND)) for each in readings}:
            self._rates[topic].add(stamp)

    def repeat(self, readings: Sequence[Reading]) -> None:
        """Publish readings again where subscribers have come since."""
        self._topics.publish(readings, again=True)

    def reset_rates(self) -> None:
        """Count anew, since time began anew."""
        for rate in self._rates.values():
            rate.reset()

    def note_message(self) -> None:
        """Note that a message came."""
        self._received = time.monotonic()

    def check_number(self, stamp: int, sequence: int) -> None:
        """Refuse a message [ns] whose number is not that of its time: rates of sensors are counted in it.

        Raises:
            BadInput: the number is another.
        """
        if sequence != round(stamp * self.rig.control_hz / SECOND):
            raise BadInput(f"sequence {sequence} does not fit the stamp {stamp / SECOND:.3f} s")

    def values(self) -> dict[str, object]:
        """Values of the diagnostics besides the rates."""
        return {"t": max(self.stamp, 0) / SECOND}

    def statuses(self) -> list[DiagnosticStatus]:
        """One for the node, with the rates that it keeps."""
        rates, now = self._rates, self.stamp
        short = [topic for topic, rate in rates.items() if rate.is_short(now)]
        slow = ""
        if short:
            few = min(short, key=lambda topic: rates[topic].rate(now) / rates[topic].target_rate)
            kept, target = rates[few].rate(now), rates[few].target_rate
            slow = f"{few}: {kept:.1f} of {target:.4g} Hz"
        is_silent = time.monotonic() - self._received > DIAGNOSTIC_TIMEOUT
        missing = "nothing comes from physics_node" if is_silent else slow
        level, text = warning_or("sensing", missing, self.inputs.refusals.newest())
        shown = {topic: f"{rate.rate(now):.4g} Hz" for topic, rate in rates.items()}
        name = self.get_fully_qualified_name()
        return [status_message(name, level, text, {**self.values(), **shown})]


class StateSensorNode(SensorNode, ABC):
    """A node whose sensors sample states: those of all vehicles, and of what moves in the world.

    Args:
        name: of the node; it, the namespace and what is given as for `SensorNode`.
        depth: states that wait while sensors are busy; with 1 only the newest is sampled.
    """

    def __init__(
        self, name: str, namespace: str, parameters: Mapping[str, Any] | None = None, *, depth: int
    ) -> None:
        super().__init__(name, namespace, parameters)
        self._state_qos = QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)
        # Work is a task of its own: while a subscription has messages, EventsExecutor does nothing else.
        self._waiting: deque[tuple[Instant, float]] = deque(maxlen=depth)
        self._latency_ms, self._took_ms = RecentValues(200), RecentValues(200)
        self._shown: list[Reading] = []  # of the last state, which may come again

    def start_sampling(self, every: Sequence[int]) -> None:
        """Begin to sample states, with each sensor once in so many control periods."""
        self._received = time.monotonic()  # until now nothing was subscribed to
        self._rounds = RateSchedule(every)
        items = self.rig.world.objects.values()
        self._still = np.array([item.row(0.0) for item in items]).reshape(-1, STATE_SIZE)
        sources = [self.absolute(f"{vehicle.name}/state") for vehicle in self.rig.vehicles]
        sizes = [1 + len(vehicle.platform.joints) for vehicle in self.rig.vehicles]
        fleets = {i: vehicle.platform.fleet for i, vehicle in enumerate(self.rig.vehicles)}
        rotors = {
            i: ROTORS * len(fleet)
            for i, fleet in fleets.items()
            if any(each.tilt is not None for each in fleet)
        }
        if any(item.moves for item in items):
            sources, sizes = [*sources, self.absolute(WORLD_STATE)], [*sizes, len(items)]
        arms = (vehicle.platform.arm for vehicle in self.rig.vehicles)
        self._joint_counts = [0 if arm is None else len(arm.joints) for arm in arms]
        self._synchronizer = TimeSynchronizer(len(sources))
        for number, (topic, size) in enumerate(zip(sources, sizes, strict=True)):
            take = partial(self._on_state, number)
            self.inputs.listen_to_states(
                topic, size, take, self._state_qos, rotors=rotors.get(number)
            )

    @abstractmethod
    def sample(self, number: int, k: int, t: float, state: RigState) -> list[Reading]:
        """The readings of a sensor, by its place in `start_sampling`'s order, at instant k, time t [s]."""

    @abstractmethod
    def restart(self) -> None:
        """Start noise anew, since time began anew."""

    def _on_state(self, source: int, state: StateMessage) -> None:
        began = time.perf_counter()
        self.check_number(state.stamp, state.sequence)
        self.note_message()
        counts = self._joint_counts
        n = counts[source] if source < len(counts) else 0
        joints = None if n == 0 else ChainState(*(each.copy() for each in state.arm(n)))
        part = state.rows.copy(), state.tilt.copy(), joints
        instant = self._synchronizer.take(source, state.stamp, state.sequence, part)
        if instant is not None:
            self._waiting.append((instant, began))
            self.soon(self._work)

    def _work(self) -> None:
        if self._waiting:
            self._sample_at(*self._waiting.popleft())

    def _sample_at(self, instant: Instant, began: float) -> None:
        if instant.stamp == self.stamp:
            self.repeat(self._shown)
            return
        if instant.stamp < self.stamp:
            self._rounds.reset()
            self.reset_rates()
            self.restart()
        self.stamp, self._shown = instant.stamp, []
        count = len(self.rig.vehicles)
        x, tilts, joints = map(list, zip(*instant.parts, strict=True))
        objects = x[count] if len(x) > count else self._still
        arms = [each for each in joints if each is not None]
        state = RigState(np.vstack(x[:count]), objects, np.vstack(tilts[:count]), arms)
        for number in self._rounds.due(instant.k):
            start = time.perf_counter()
            sampled = self.sample(number, instant.k, instant.stamp / SECOND, state)
            readings = list(self.faulty(sampled))
            self._took_ms.add(1e3 * (time.perf_counter() - start))
            self.publish(readings)  # at once: many images in one burst are more than DDS holds
            self._latency_ms.add(1e3 * (time.perf_counter() - began))
            self._shown += readings

    def values(self) -> dict[str, object]:
        """Times that a sensor takes, and from a state to the published readings of it."""
        return {
            **super().values(),
            "took_ms": self._took_ms.percentile(50),
            "latency_ms": self._latency_ms.percentile(50),
            "latency_ms_p99": self._latency_ms.percentile(99),
        }
