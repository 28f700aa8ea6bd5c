# SPDX-License-Identifier: BSD-3-Clause
"""Base of the nodes that localise: parameters, sensor subscriptions, order in time, diagnostics."""

import heapq
import itertools
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.sensors.mounts import space
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import AnySensor, ImuInfo, SensorInfo, load_sensors
from iap_description.vehicles.assembly import Assembly
from iap_estimation.datasets.bag_topics import IMAGES
from iap_estimation.navigation.measurements import Raw, Tally
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.navigation.settings import EstimationSettings, load_settings
from iap_estimation.nodes.estimate_topics import RELIABLE_QOS
from iap_estimation.nodes.platform_topics import FleetTopics
from iap_io.ros.conversions import status_message, warning_or
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, ERROR, OK, WARN, Diagnostics, Owner, SuiteNode
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND, stamp_of_time

SAMPLE_QUEUE = 2000  # messages of a sensor that may wait while a window is solved
IMAGE_QUEUE = 20  # images of a camera that may
WORK_TIME = 0.03  # that is worked before others may come in [s]
RESTART_JUMP = 0.5  # back from the last stamp of a topic, where time begins anew [s]
LONGEST_STEP = 2.0  # between messages of a topic, beyond which the first one is not trusted [s]


class EstimationNode(SuiteNode, ABC):
    """A node that takes readings of the sensors of a vehicle, or of one of its aircraft.

    Its namespace is that of the vehicle, such as ``/iap``, or of the aircraft, such as ``/iap/drone_1``, within that of
    the simulation, in which sensors' topics are, too. It is made of values: parameters `platform`, `sensors`
    (sensors.yaml), `gravity` and the estimator's settings.

    Args:
        name: of the node.
        namespace: of the node.
        of_aircraft: whether it is an aircraft's.
        parameters: those that win over those of the process.

    Attributes:
        assembly: the vehicle that it belongs to.
        sensor_set: sensors of the vehicle.
        spaces: namespaces of its aircraft.
        aircraft_index: index of its aircraft; 0 for a node of the vehicle.
        settings: of front end and estimator.
        tally: what was odd about the readings.
        stamp: of the newest message [ns]; -1 before.
    """

    def __init__(
        self,
        name: str,
        namespace: str,
        *,
        of_aircraft: bool,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        owner: Owner = "aircraft" if of_aircraft else "vehicle"
        super().__init__(name, namespace=namespace, of=owner, parameters=parameters)
        self.refuse_scenario("sensors")
        platform = self.platform()
        if not platform.joints:  # the only aircraft has no namespace of its own
            self.belong_to("vehicle")
        self.assembly = Assembly.of(platform, self.vehicle)
        aircraft = self.assembly.aircraft
        self.spaces = [self.absolute(space(self.assembly, body)) for body in aircraft]
        self.aircraft_index = self._index_of_aircraft(of_aircraft=of_aircraft)
        sensors, what = self._sensors(), "Along -z of map [m/s^2]."
        gravity = self.parameter("gravity", GRAVITY, what, limits=(0.0, 100.0))
        self.sensor_set = SensorSet.of(self.assembly, sensors, gravity)
        self._carried = (
            [self.sensor_set.carried[self.aircraft_index]]
            if of_aircraft
            else self.sensor_set.carried
        )
        self.settings = self._declared_settings()
        self._qos, self._picture_qos = self._declared_qos()
        self.stamp = -1
        self._newest: dict[str, float] = {}  # by topic
        step = stamp_of_time(LONGEST_STEP)
        back = stamp_of_time(RESTART_JUMP)
        self._jumps = defaultdict(partial(StampGuard, back=back, ahead=step))  # by topic
        self._waiting: list[tuple[float, int, str, Callable[[], None]]] = []
        self._numbers, self._is_called = itertools.count(), False
        self._received = time.monotonic()

    def _index_of_aircraft(self, *, of_aircraft: bool) -> int:
        mine = self.get_namespace()
        namespaces = self.spaces if of_aircraft else [self.absolute(self.vehicle)]
        if mine not in namespaces:
            raise BadInput(
                f"namespace '{mine}': the platform has none such, but {', '.join(namespaces)}"
            )
        return namespaces.index(mine)

    def _sensors(self) -> tuple[AnySensor, ...]:
        what = "The vehicle's sensors: the path of a sensors.yaml, as run folders have it, or the YAML itself."
        text = self.parameter("sensors", "", what)
        if not text:
            raise BadInput(
                "parameter sensors: missing; give the path of a sensors.yaml, or the YAML itself"
            )
        return load_sensors(text, source="parameter sensors")

    def _declared_qos(self) -> tuple[QoSProfile, QoSProfile]:
        """Of samples and of images."""
        what = "Whether lost messages of sensors are sent again, if those who publish them can."
        kind = self.parameter("reliable", False, what)
        policy = ReliabilityPolicy.RELIABLE if kind else ReliabilityPolicy.BEST_EFFORT
        samples = QoSProfile(depth=SAMPLE_QUEUE, reliability=policy)
        return samples, QoSProfile(depth=IMAGE_QUEUE, reliability=policy)

    def space_frame(self, aircraft: int) -> str:
        """Prefix of the frames that are estimated of an aircraft, such as ``iap/drone_1``."""
        return self.spaces[aircraft].removeprefix(self.simulation).strip("/")

    def unit_frame(self, aircraft: int) -> str:
        """TF frame of an aircraft's inertial unit as it is estimated; that of its own name is where it is."""
        return f"{self.space_frame(aircraft)}/virpo"

    def begin(self) -> None:
        """Start the diagnostics; the last step of a node's construction."""
        self._received = time.monotonic()
        self._diagnostics = Diagnostics(self, self.statuses)

    def platform_topics(self) -> FleetTopics:
        """Topics of the whole platform."""
        rate = self.parameter("control_rate", 200.0, "Of states [Hz].", limits=(1.0, 1e4))
        in_control = self.declared_in_control()
        return FleetTopics(self, self.sensor_set, self.assembly, rate, in_control=in_control)

    def declared_in_control(self) -> bool:
        """The parameter `in_control`."""
        what = "Whether controllers go by the estimate: its frames then have the vehicle's names."
        return bool(self.parameter("in_control", False, what))

    def listen(self, sensors: Sequence[SensorInfo], compression: str = "none") -> None:
        """Subscribe to sensors' topics; images come as `iap_io.transports.table.offered` has them."""
        plain = [
            each.model_copy(update={"has_bias": False}) if isinstance(each, ImuInfo) else each
            for each in sensors
        ]
        decode = Decoder(plain, (compression,))
        for topic, kind in decode.types.items():
            qos = self._picture_qos if kind in IMAGES else self._qos
            read, name = partial(decode, topic), self.absolute(topic)
            self.subscribe(kind, name, read, self.take_reading, qos)

    def subscribe(
        self,
        kind: str,
        topic: str,
        read: Callable[[bytes], Any],
        take: Callable[[Any], None],
        qos: QoSProfile = RELIABLE_QOS,
    ) -> None:
        """Take what a topic's messages hold, each with its time `t` [s], in order of time.

        Args:
            kind: of the messages.
            topic: absolute name.
            read: reads one; a BadInput that it raises is noted.
            take: takes what was read.
            qos: quality of service.
        """

        def on(content: Any) -> None:  # noqa: ANN401
            self.later(topic, content.t, partial(take, content))

        self.inputs.listen(kind, topic, read, on, qos)

    def take_reading(self, reading: Reading) -> None:
        """Take the measurement that a reading completes."""
        event = self._adapter(reading)
        if event is not None:
            self.take(*event)

    @abstractmethod
    def take(self, owner: int, measured: Raw) -> None:
        """Take a measurement of an aircraft, by its index among those of the node, or of `CENTRE`."""

    def later(self, topic: str, t: float, take: Callable[[], None]) -> None:
        """Take a message of a time [s] once everything that has come is in order of time.

        An executor may hand over all messages of one topic before it asks the next one.
        """
        self._received = time.monotonic()
        guard = self._jumps[topic]
        due = guard.offer(stamp_of_time(t), (t, take))
        if stray := guard.stray():
            self.inputs.refusals.add(topic, stray)
        for one in due:
            self._queue(topic, *one)

    def _queue(self, topic: str, t: float, take: Callable[[], None]) -> None:
        if t < self._newest.get(topic, -np.inf) - RESTART_JUMP:
            self.get_logger().info(f"{topic}: time begins anew at {t:.3f} s")
            self._newest.clear()
            self._waiting.clear()
            self.stamp = -1
            self.restart()
        self._newest[topic] = max(t, self._newest.get(topic, t))
        self.stamp = max(self.stamp, stamp_of_time(t))
        heapq.heappush(self._waiting, (t, next(self._numbers), topic, take))
        self._work_soon()

    def _work_soon(self) -> None:
        if not self._is_called:
            self._is_called = True
            self.soon(self._work)

    def _work(self) -> None:
        """Take what waits, but let others come in between when it takes long."""
        self._is_called, until = False, time.monotonic() + WORK_TIME
        while self._waiting and time.monotonic() < until:
            self._take_next()
        if self._waiting:
            self._work_soon()

    def _take_next(self) -> None:
        topic, take = heapq.heappop(self._waiting)[2:]
        try:
            take()
        except BadInput as error:
            self.inputs.refusals.add(topic, error)

    def restart(self) -> None:
        """Forget all measurements: time began anew."""
        self.tally = Tally()
        self._adapter = ReadingAdapter(self._carried, self.sensor_set.central, self.tally)

    def failed(self, text: str) -> None:
        """Report at once that there is no estimate."""
        self.get_logger().error(text)
        self._diagnostics.publish()

    def problem(self) -> tuple[bytes, str]:
        """Level and text where something is wrong; else an empty text."""
        return OK, ""

    def values(self) -> dict[str, object]:
        """Further values for diagnostics."""
        return {}

    def statuses(self) -> list[DiagnosticStatus]:
        """One for the node."""
        level, text = self.problem()
        if level != ERROR and time.monotonic() - self._received > DIAGNOSTIC_TIMEOUT:
            level, text = WARN, "no sensor is heard"
        least, text = warning_or("localizing", text, self.inputs.refusals.newest())
        values = {"t": max(self.stamp, 0) / SECOND, **self.values()}
        name = self.get_fully_qualified_name()
        return [status_message(name, max(level, least), text, values)]

    def _declared_settings(self) -> EstimationSettings:
        what = "Settings of the estimator: default, paper, ..."
        preset = self.parameter("preset", "default", what)
        what = "Settings of the front end: default, euroc."
        frontend = self.parameter("frontend", "default", what)
        what = "frontend.KEY=VALUE or estimator.KEY=VALUE on top of the preset's."
        assignments = self.parameter("settings", [""], what)
        return load_settings(preset, tuple(filter(None, assignments)), frontend)
