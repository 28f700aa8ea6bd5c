# SPDX-License-Identifier: BSD-3-Clause
"""Records a flight of the nodes into the same run folder as `iap run`, and scores it.

The folder ends with the references, with a crash, or at Ctrl-C; a reset of the simulation begins a
new one.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool

from iap_bringup.launching.node_parameters import health_topics
from iap_bringup.nodes.node_recording import NodeRecording
from iap_bringup.nodes.recorded_topics import (
    PauseEnd,
    RecordedTopic,
    shared_topics,
    vehicle_topics,
)
from iap_bringup.nodes.recorded_values import collisions_of, duration_of, landings_of
from iap_bringup.nodes.scenario_node import resolved_scenario
from iap_bringup.nodes.sensor_log import SensorLog, SensorMessage
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import FLIGHT_PLOTS, write_plots
from iap_control.nodes.topics import ESTIMATE_LOST
from iap_description.errors import IapError
from iap_description.sensors.readings import Reading
from iap_description.vehicles.gripper import row_of
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, EVERY, STEADY, Diagnostics, SuiteNode
from iap_io.ros.process import EXIT_DONE, EXIT_FAILED, program
from iap_io.runs import topics
from iap_io.runs.run_folder import create_run_folder
from iap_io.runs.run_meta import COMPLETED
from iap_io.sensor_messages.sensor_messages import IMU, POSE
from iap_io.wire.cdr import decoded
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import StateMessage
from iap_io.wire.sample_views import (
    HealthMessage,
)
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND
from iap_simulation.flights.flight import Flight

DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
LATE_SENSOR_TIMEOUT = 2.0  # for late sensors at the end of a flight [s of wall time]


class RecorderNode(SuiteNode):
    """One run folder after the other."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("recorder", namespace=namespace)
        scenario, self._config = resolved_scenario(self)
        self._flight = Flight.of(scenario)
        what = "Run folder to make; empty: the next free runs/SCENARIO-001."
        self._out = self.parameter("out", "", what)
        self._plot = self.parameter("plot", True, "Whether to draw the plots at the end.")
        what = "Whether to end the pause of a physics_node with start_paused, once all that is recorded arrives."
        has_pause = self.parameter("end_pause", False, what)
        self._pause = self.create_client(SetBool, "pause")
        self._runs = [self._new_run()]
        self._sensors = SensorLog(self._flight.meta.sensors, self._take_reading)
        self._pause_end = None
        if has_pause:
            self._pause_end = PauseEnd.of(self._flight, self._missing_sensors, self._resume)
            self._obstacle = ""
            self.create_timer(DIAGNOSTIC_TIMEOUT, self._look, clock=STEADY)
        self._late_timer, self._is_late = None, False
        self._subscribe()
        self._diagnostics = Diagnostics(self, self._statuses)

    def _statuses(self) -> list[DiagnosticStatus]:
        values = {"t": self._runs[-1].stamp / SECOND}
        obstacle = self._pause_end.obstacle if self._pause_end is not None else ""
        return [self.inputs.status("recording", values, obstacle)]

    def _look(self) -> None:
        """Log once for what the flight waits."""
        obstacle = self._pause_end.obstacle
        if obstacle and obstacle != self._obstacle:
            self.get_logger().warning(obstacle)
        self._obstacle = obstacle

    def _new_run(self) -> NodeRecording:
        out = Path(self._out) if self._out else None
        if out is not None and hasattr(self, "_runs"):  # a reset: NAME, NAME-2, NAME-3, ...
            out = out.with_name(f"{out.name}-{len(self._runs) + 1}")
        folder = create_run_folder(out, self._flight.scenario.scenario)
        self.get_logger().info(f"recording into {folder}")
        return NodeRecording(self._flight, self._config, folder)

    def _subscribe(self) -> None:
        """Subscribe to all that is recorded, and to diagnostics."""
        for number in range(len(self._flight.vehicles)):
            for topic in vehicle_topics(self._flight, number):
                self._listen_to(topic)
            self._listen_to_states(number)
        for name, kind in self._sensors.topics.items():
            take, step = partial(self._on_sensor, name), self._sensors.longest_step(name)
            guard, read = StampGuard(ahead=step), partial(self._sensors.read, name)
            self.inputs.listen(kind, self.absolute(name), read, take, EVERY, guard=guard)
        for topic in shared_topics(self._flight):
            self._listen_to(topic)
        read = partial(decoded, msgtype=DIAGNOSTICS)
        diagnostics = self.absolute("diagnostics")
        self.inputs.listen(DIAGNOSTICS, diagnostics, read, self._on_diagnostics, 10)

    def _listen_to(self, topic: RecordedTopic) -> None:
        take = self._recording(partial(self._take, topic))
        self.inputs.listen(topic.type, self.absolute(topic.name), topic.read, take, EVERY)

    def _listen_to_states(self, number: int) -> None:
        """Subscribe to a vehicle's states and, where it flies on estimates, to these and to their health."""
        vehicle = self._flight.scenario.vehicles[number]
        states = [(topics.STATE, self._take_state)]
        if self._flight.meta.vehicles[number].is_estimated:
            states.append((topics.ESTIMATED, self._take_estimate))
            take = partial(self._take_health, number)
            for topic in health_topics(vehicle):
                read, where = MessageReader(HealthMessage).read, f"{vehicle.name}/{topic}"
                self.inputs.listen(HealthMessage.TYPE, self.absolute(where), read, take, EVERY)
        bodies, rotors = (
            1 + len(vehicle.platform.joints),
            4 * self._flight.vehicles[number].model.count,
        )
        for topic, on_state in states:
            take = self._recording(partial(on_state, number))
            where = self.absolute(f"{vehicle.name}/{topic}")
            self.inputs.listen_to_states(where, bodies, take, EVERY, rotors=rotors)

    def _recording(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """A function that takes a message, with the end of the recording where that fails."""

        def on(message: Any) -> None:  # noqa: ANN401
            try:
                take(message)
            except RecordingFailed as error:
                self._fail(error)
            finally:
                self._end_if_over()

        return on

    def _on_sensor(self, topic: str, message: SensorMessage) -> None:
        self._recording(lambda each: self._sensors.put(topic, each.data))(message)

    def _take_reading(self, reading: Reading) -> None:
        self._runs[-1].receive(reading)

    def _fail(self, error: RecordingFailed) -> None:
        self.get_logger().error(str(error))
        self._runs[-1].outcome = "recording_failed"

    def _take_state(self, number: int, state: StateMessage) -> None:
        if self._runs[-1].synchronizer.is_reset(number, state.stamp):
            begun = self._new_run()
            begun.take_over(self._runs[-1])  # before it is emptied
            self._close_bag()
            self._runs.append(begun)
            self._sensors.reset()
        self._note(number, topics.STATE)
        self._runs[-1].note_state(number, state.stamp)
        synchronizer = self._runs[-1].synchronizer
        rest = (state.rpm, state.tilt, row_of(state.arm_load))
        synchronizer.take_state(number, state.stamp, state.sequence, state.rows, *rest)

    def _take_estimate(self, number: int, estimate: StateMessage) -> None:
        rows = estimate.rows.copy()
        self._runs[-1].note_estimate(number, estimate.stamp)
        self._runs[-1].synchronizer.take(number, topics.ESTIMATED, estimate.stamp, rows)

    def _take_health(self, number: int, message: HealthMessage) -> None:
        self._runs[-1].note_health(number, message.stamp / SECOND, message.health)

    def _take(self, topic: RecordedTopic, message: Any) -> None:  # noqa: ANN401 - as the topic reads it
        """Take the values that go with the state of a message's stamp."""
        for name, value in topic.values.items():
            content = value(message)
            if content is not None:  # it is of other joints, such as rotors
                self._note(topic.number, name)
                stamp = topic.stamp(message)
                self._runs[-1].synchronizer.take(topic.number, name, stamp, content)

    def _note(self, number: int, topic: str) -> None:
        if self._pause_end is not None:
            self._pause_end.note(number, topic)

    def _missing_sensors(self) -> Iterator[str]:
        """Sensors' topics that are not there; inertial units and captures that come late exist, and publish later."""
        for topic in self._sensors.missing:
            has_publisher = self.count_publishers(self.resolve_topic_name(self.absolute(topic)))
            if not (has_publisher and self._sensors.topics[topic] in (IMU, POSE)):
                yield topic

    def _resume(self) -> bool:
        """End the pause; returns whether the service was there."""
        is_ready = self._pause.service_is_ready()
        if is_ready:
            self._pause.call_async(SetBool.Request(data=False))
        return bool(is_ready)

    def _on_diagnostics(self, array: Any) -> None:  # noqa: ANN401 - that rosbags has made
        """Take what physics_node and the controllers tell of a flight; others' statuses tell nothing of it."""
        live = self._runs[-1]
        for status in array.status:
            values = {pair.key: pair.value for pair in status.values}
            if "control_step_us" in values:
                live.control_step_us = duration_of(values["control_step_us"])
            live.has_lost_estimate |= bool(values.get(ESTIMATE_LOST))
            if "collisions" in values:
                live.collisions = collisions_of(values["collisions"])
                if "landings" in values:
                    live.landings = landings_of(values["landings"])
                if re.fullmatch("[a-z_]+", values.get("outcome", "")):
                    live.end(values["outcome"])
        self._end_if_over()

    def _end_if_over(self) -> None:
        live = self._runs[-1]
        if live.outcome is None or self.exit_code is not None:
            return
        if live.outcome != COMPLETED:
            self.exit_code = EXIT_FAILED
        elif self._sensors.has_all(live.stamp) or self._is_late:
            self.exit_code = EXIT_DONE
        elif self._late_timer is None:
            self._late_timer = self.create_timer(
                LATE_SENSOR_TIMEOUT, self._on_timeout, clock=STEADY
            )

    def _on_timeout(self) -> None:
        """Sensors that are still behind are not waited for any longer."""
        self._is_late = True
        self._end_if_over()

    def _close_bag(self) -> None:
        try:
            self._runs[-1].close()
        except RecordingFailed as error:
            self.get_logger().error(str(error))

    def close(self) -> None:
        """Complete the bag, then score and draw every run of this process."""
        self._close_bag()
        for live in self._runs:
            if live.missed:
                what = f"{live.folder}: {live.missed} control periods are missing: their states came to no recorder"
                self.get_logger().warning(f"{what}, on a machine that was too busy for it")
            for topic, count in live.synchronizer.missing.items():
                what = f"{live.folder}: {count} control periods have the {topic} before theirs, which came"
                self.get_logger().warning(f"{what} to no recorder")
            try:
                metrics = live.score()
                if self._plot:
                    write_plots(RecordedRun(live.folder, metrics=metrics), FLIGHT_PLOTS)
            except IapError as error:
                self.get_logger().error(str(error))
            else:
                self.get_logger().info(f"{live.folder}: {metrics['outcome']}")


main = program("recorder", RecorderNode)

if __name__ == "__main__":
    sys.exit(main())
