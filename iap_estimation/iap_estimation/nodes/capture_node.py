# SPDX-License-Identifier: BSD-3-Clause
"""Localises a vehicle of one body by a motion capture and its inertial unit: samples and poses in, its state out.

Runs in the vehicle's namespace, which is ``iap`` unless it is remapped. It begins at the first state of `start_topic`,
and where nobody publishes one, at the first pose.
"""

import math
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.sensors.sensor_info import load_sensors
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CaptureFilter
from iap_estimation.capture.gains import CaptureFilterSpec
from iap_estimation.navigation.capture_navigator import health_of
from iap_estimation.navigation.health import LOOK_EVERY
from iap_estimation.nodes.estimate_topics import RELIABLE_QOS, BodyFrames
from iap_estimation.nodes.platform_topics import AT_ORIGIN
from iap_io.ros.conversions import frame, status_message, warning_or
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, EVERY, STEADY, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.runs.topics import ESTIMATED, HEALTH
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.message_views import StateMessage
from iap_io.wire.sample_views import HealthMessage
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND, stamp_of_time
from iap_msgs.msg import EstimateHealth, PlatformState

SAMPLE_QUEUE = 2000  # messages of a sensor that may wait
RESTART_JUMP = SECOND // 2  # back from the newest state, where time begins anew [ns]
STAMP_TOLERANCE = 1e-6  # [s]


class CaptureNode(SuiteNode):
    """The filter of capture and inertial unit between topics."""

    def __init__(
        self, namespace: str = "iap", parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("capture_node", namespace=namespace, of="vehicle", parameters=parameters)
        self.refuse_scenario("sensors")
        assembly = Assembly.of(self.platform(), self.vehicle)
        self._filter = self._declared_filter(assembly)
        what = "Of states [Hz]."
        self._control_hz = self.parameter("control_rate", 200.0, what, limits=(1.0, 1e4))
        what = "States wait for poses that are due by then, for so long [s], as in lockstep; 0: they never wait."
        self._waits = bool(self.parameter("max_lag", 0.0, what, limits=(0.0, 10.0)))
        self._has_waited_in_vain = False
        self._row, self._no_rpm = np.zeros((1, 13)), np.zeros((1, 4))
        self._state = StateMessage.of(assembly, 4)
        self._health = HealthMessage.empty()
        self._advertise(assembly)
        self._restart(-1)
        self._listen()
        if self._waits:
            self.create_timer(DIAGNOSTIC_TIMEOUT / 4, self._look, clock=STEADY)
        self._received = time.monotonic()
        self._diagnostics = Diagnostics(self, self._statuses)

    def _declared_filter(self, assembly: Assembly) -> CaptureFilter:
        what = "The vehicle's sensors: the path of a sensors.yaml, as run folders have it, or the YAML itself."
        text = self.parameter("sensors", "", what)
        if not text:
            raise BadInput(
                "parameter sensors: missing; give the path of a sensors.yaml, or the YAML itself"
            )
        sensors = load_sensors(text, source="parameter sensors")
        gravity = self.parameter(
            "gravity", GRAVITY, "Along -z of map [m/s^2].", limits=(0.0, 100.0)
        )
        preset = self.parameter("preset", "default", "Settings of the filter: default, ...")
        return CaptureFilter.of(assembly, sensors, CaptureFilterSpec.load(preset), gravity)

    def _advertise(self, assembly: Assembly) -> None:
        space = self.absolute(self.vehicle)
        self._states = self.create_publisher(PlatformState, f"{space}/{ESTIMATED}", EVERY)
        self._healths = self.create_publisher(EstimateHealth, f"{space}/{HEALTH}", 1)
        what = "Whether controllers go by the estimate: its frames then have the vehicle's names."
        in_control = self.parameter("in_control", False, what)
        prefix = self.vehicle if in_control else f"{self.vehicle}/estimate"
        frames = [frame(prefix, body.name) for body in assembly.bodies]
        self._frames = BodyFrames(self, frame(self.vehicle, "odom"), frames)

    def _listen(self) -> None:
        what = "Whether lost messages of sensors are sent again, if those who publish them can."
        kind = self.parameter("reliable", False, what)
        policy = ReliabilityPolicy.RELIABLE if kind else ReliabilityPolicy.BEST_EFFORT
        qos = QoSProfile(depth=SAMPLE_QUEUE, reliability=policy)
        imu = self._filter.imu.model_copy(update={"has_bias": False})
        decode = Decoder([imu, self._filter.capture])
        for topic, kind in decode.types.items():
            read, name = partial(decode, topic), self.absolute(topic)
            self.inputs.listen(kind, name, read, self._take, qos, guard=StampGuard())
        what = "Topic of the states whose first one is where the vehicle begins."
        start = self.parameter("start_topic", self.absolute(f"{self.vehicle}/state"), what)
        self.inputs.listen_to_states(start, 1, self._on_state, RELIABLE_QOS)

    def _restart(self, newest: int) -> None:
        """Forget all; `newest` is the stamp of the newest state of `start_topic` [ns]."""
        self._filter.reset()
        self._newest, self._sent, self._last = newest, -1, b""
        self._due: tuple[int, float] | None = None  # stamp [ns], and since when [s of wall time]
        self._health_t = -math.inf

    def _on_state(self, state: StateMessage) -> None:
        """Begin at the first state, and send again what was not answered."""
        self._received = time.monotonic()
        repeats, begins_anew = (
            state.stamp == self._newest,
            state.stamp < self._newest - RESTART_JUMP,
        )
        if begins_anew:
            self._restart(state.stamp)
        self._newest = max(self._newest, state.stamp)
        if not math.isfinite(self._filter.t):
            self._filter.begin(state.stamp / SECOND, state.rows[0])
            self._send(state.stamp)
        elif repeats and self._last and self._due is None:
            self._states.publish(self._last)

    def _take(self, reading: Reading) -> None:
        """Take a sample, whose state is then due, or a pose."""
        self._received = time.monotonic()
        if isinstance(reading, ImuReading):
            before = self._filter.t
            self._filter.take_sample(reading)
            if self._filter.t > before:
                self._due = (reading.stamp, time.monotonic())
        else:
            self._filter.take_pose(reading)
            self._has_waited_in_vain = False
        if self._due is not None and not self._is_awaited(self._due[0]):
            self._send(self._due[0])

    def _is_awaited(self, stamp: int) -> bool:
        """True if a pose that is there by a stamp [ns] has not come, and the state waits for it."""
        if not self._waits or self._has_waited_in_vain:
            return False
        capture = self._filter.capture
        newest = max(self._filter.t_pose, -1.0 / capture.rate)
        return stamp / SECOND - newest > capture.latency + 1.0 / capture.rate - STAMP_TOLERANCE

    def _send(self, stamp: int) -> None:
        """Publish the state of a stamp [ns], and from time to time the filter's health."""
        self._due, t = None, stamp / SECOND
        self._filter.put_row(t, self._row[0])
        if not np.isfinite(self._row).all():
            return
        self._state.put_head(stamp, round(t * self._control_hz))
        self._state.put_rows(self._row, self._no_rpm)
        self._sent, self._last = stamp, self._state.dump()
        self._states.publish(self._last)
        self._frames.publish(stamp, AT_ORIGIN, self._row)
        if t >= self._health_t + LOOK_EVERY - STAMP_TOLERANCE:
            self._health_t = t
            self._health.put(health_of(self._filter, t))
            self._healths.publish(self._health.stamped(stamp_of_time(t)))

    def _look(self) -> None:
        """Let a state go that has waited for too long; the next ones do not wait until a pose comes."""
        if self._due is None or time.monotonic() - self._due[1] <= DIAGNOSTIC_TIMEOUT:
            return
        self.get_logger().warning(
            f"no pose is newer than {self._filter.t_pose:.3f} s; states no longer wait"
        )
        self._has_waited_in_vain = True
        self._send(self._due[0])

    def _statuses(self) -> list[DiagnosticStatus]:
        silent = time.monotonic() - self._received > DIAGNOSTIC_TIMEOUT
        text = "no sensor is heard" if silent else ""
        if not text and not math.isfinite(self._filter.t_pose):
            text = "waiting for the motion capture"
        level, text = warning_or("localizing", text, self.inputs.refusals.newest())
        t, offsets = max(self._sent, 0) / SECOND, self._filter.offsets
        values = {
            "t": t,
            "accel_offset": offsets[:3].tolist(),
            "gyro_offset": offsets[3:].tolist(),
        }
        return [status_message(self.get_fully_qualified_name(), level, text, values)]


main = program("capture_node", CaptureNode)

if __name__ == "__main__":
    sys.exit(main())
