# SPDX-License-Identifier: BSD-3-Clause
"""Records a flight of the nodes into the same run folder as `iap run`, and scores it.

The folder ends with the references, with a crash, or at Ctrl-C; a reset of the simulation begins a
new one.
"""

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool

from iap_bringup.launching.node_parameters import health_topics
from iap_bringup.nodes.node_recording import NodeRecording, expected_topics
from iap_bringup.nodes.recorded_values import (
    collisions_of,
    command_of,
    duration_of,
    joints_of,
    phases_of,
    reference_of,
    said_of,
    target_of,
    task_of,
    wrench_of,
)
from iap_bringup.nodes.scenario_parameters import resolved_scenario
from iap_bringup.nodes.sensor_log import SensorLog, SensorMessage
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import FLIGHT_PLOTS, write_plots
from iap_control.nodes.topics import ESTIMATE_LOST
from iap_description.errors import IapError
from iap_description.frames import MAP
from iap_description.sensors.readings import Reading
from iap_description.vehicles.gripper import row_of
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.recording.step_synchronizer import MEASURED_WRENCHES
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, EXIT_DONE, EXIT_FAILED, STEADY, Diagnostics, SuiteNode, run
from iap_io.runs import topics
from iap_io.runs.run_folder import create_run_folder
from iap_io.runs.run_meta import COMPLETED
from iap_io.sensor_messages.sensor_messages import IMU
from iap_io.wire.cdr import decoded
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, Message, ReferenceMessage, StateMessage
from iap_io.wire.module_views import (
    JointWrenchesMessage,
    ModuleJointsMessage,
    ModuleReferenceMessage,
)
from iap_io.wire.sample_views import (
    ForceTaskMessage,
    HealthMessage,
    LatchStateMessage,
    WrenchMessage,
)
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.module_joints import is_coordinated
from iap_simulation.vehicles.vehicle import Vehicle

DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
LATE_SENSOR_TIMEOUT = 2.0  # for late sensors at the end of a flight [s of wall time]
REPEATS = 3  # of the standing state, 0.1 s apart, in which the other nodes find each other, too


class RecorderNode(SuiteNode):
    """One run folder after the other."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("recorder", namespace=namespace)
        scenario, self._config = resolved_scenario(self)
        self._flight = Flight.of(scenario)
        self._is_coordinated = is_coordinated(scenario)
        self._is_estimated = [v.is_estimated for v in self._flight.meta.vehicles]
        what = "Run folder to make; empty: the next free runs/SCENARIO-001."
        self._out = self.parameter("out", "", what)
        self._plot = self.parameter("plot", True, "Whether to draw the plots at the end.")
        what = "Whether to end the pause of a physics_node with start_paused, once all that is recorded arrives."
        self._missing = self._all_topics() if self.parameter("end_pause", False, what) else None
        self._pause, self._repeats = self.create_client(SetBool, "pause"), 0
        self._runs = [self._new_run()]
        self._sensors = SensorLog(self._flight.meta.sensors, self._take_reading)
        for number, vehicle in enumerate(self._flight.vehicles):
            self._subscribe(number, vehicle)
        for topic, kind in self._sensors.topics.items():
            take, step = partial(self._on_sensor, topic), self._sensors.longest_step(topic)
            guard, read = StampGuard(ahead=step), partial(self._sensors.read, topic)
            self.inputs.listen(kind, self.absolute(topic), read, take, EVERY, guard=guard)
        self._listen_to_all()
        self._late_timer, self._is_late = None, False
        read = partial(decoded, msgtype=DIAGNOSTICS)
        diagnostics = self.absolute("diagnostics")
        self.inputs.listen(DIAGNOSTICS, diagnostics, read, self._on_diagnostics, 10)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _statuses(self) -> list[DiagnosticStatus]:
        return [self.inputs.status("recording", {"t": self._runs[-1].stamp / SECOND})]

    def _new_run(self) -> NodeRecording:
        out = Path(self._out) if self._out else None
        if out is not None and hasattr(self, "_runs"):  # a reset: NAME, NAME-2, NAME-3, ...
            out = out.with_name(f"{out.name}-{len(self._runs) + 1}")
        folder = create_run_folder(out, self._flight.scenario.scenario)
        self.get_logger().info(f"recording into {folder}")
        return NodeRecording(self._flight, self._config, folder)

    def _listen_to_all(self) -> None:
        """Subscribe to what is of no vehicle."""
        scenario = self._flight.scenario
        taken: list[tuple[type[Message], str, str, Callable[[Any], object]]] = []
        if scenario.latches:
            phases = partial(phases_of, len(scenario.latches))
            taken.append((LatchStateMessage, "latches", topics.LATCHES, phases))
        if self._is_coordinated and scenario.modules is not None:
            joints = tuple(scenario.modules.joints)
            said = partial(said_of, joints, len(scenario.vehicles))
            wrenches = topics.JOINT_WRENCHES
            taken.append((ModuleJointsMessage, "joints", topics.JOINTS, said))
            taken.append((JointWrenchesMessage, wrenches, wrenches, lambda m: m.borne(joints)))
        for kind, topic, key, value in taken:
            self._listen_to(kind, topic, partial(self._take, 0, key, value))

    def _subscribe(self, number: int, vehicle: Vehicle) -> None:
        count, name = vehicle.model.count, vehicle.name
        reference, wrench, task = partial(reference_of, count), wrench_of, task_of
        taken: list[tuple[str, type[Message], Callable[[Any], object]]] = [
            (topics.COMMAND, CommandMessage, partial(command_of, count)),
        ]
        if self._is_coordinated:
            coordinated = partial(self._take_coordinated, number)
            self._listen_to(ModuleReferenceMessage, f"{name}/{topics.COORDINATED}", coordinated)
            taken.append((topics.WRENCHES[2], WrenchMessage, wrench))
        else:
            taken.append((topics.REFERENCE, ReferenceMessage, reference))
        if vehicle.interaction is not None:
            taken += [(topic, WrenchMessage, wrench) for topic in MEASURED_WRENCHES]
            taken.append((topics.TASK, ForceTaskMessage, task))
            if vehicle.interaction.admittance is not None:
                taken.append((topics.REVISED, ReferenceMessage, reference))
        frames = ("", MAP, frame(name, BASE_LINK))
        for topic, kind, value in taken:
            own = partial(self._take, number, topic, value)
            self._listen_to(kind, f"{name}/{topic}", own, frames)
        if vehicle.arm is not None:
            self._listen_to_arm(number, name)
        states = [(topics.STATE, self._take_state)]
        if self._is_estimated[number]:
            states.append((topics.ESTIMATED, self._take_estimate))
            self._listen_to_health(number, name)
        bodies = 1 + len(self._flight.scenario.vehicles[number].platform.joints)
        for topic, on_state in states:
            take = self._recording(partial(on_state, number))
            states_of = self.absolute(f"{name}/{topic}")
            self.inputs.listen_to_states(states_of, bodies, take, EVERY, rotors=4 * count)

    def _listen_to_arm(self, number: int, name: str) -> None:
        joints = self._flight.meta.vehicles[number].arm_joints
        for topic, kind, value in (
            (topics.JOINT_STATES, JointStateMessage.TYPE, partial(joints_of, joints)),
            (topics.JOINT_COMMAND, JointCommandMessage.TYPE, partial(target_of, joints)),
        ):
            take = self._recording(partial(self._take_joints, number, topic, value))
            read = partial(decoded, msgtype=kind)
            self.inputs.listen(kind, self.absolute(f"{name}/{topic}"), read, take, EVERY)

    def _take_joints(
        self,
        number: int,
        topic: str,
        value: Callable[[Any], object | None],
        content: Any,  # noqa: ANN401 - a decoded message
    ) -> None:
        taken = value(content)
        if taken is None:  # of other joints, such as rotors
            return
        stamp = content.header.stamp
        self._note(number, topic)
        at = stamp.sec * SECOND + stamp.nanosec
        self._runs[-1].synchronizer.take(number, topic, at, taken)

    def _listen_to_health(self, number: int, name: str) -> None:
        take = partial(self._take_health, number)
        for topic in health_topics(self._flight.scenario.vehicles[number]):
            read = MessageReader(HealthMessage).read
            self.inputs.listen(
                HealthMessage.TYPE, self.absolute(f"{name}/{topic}"), read, take, EVERY
            )

    def _recording(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """What takes a message, with the end of the recording where that fails."""

        def on(message: Any) -> None:  # noqa: ANN401
            try:
                take(message)
            except RecordingFailed as error:
                self._fail(error)
            finally:
                self._end_if_over()

        return on

    def _listen_to(
        self,
        kind: type[Message],
        topic: str,
        take: Callable[[Any], None],
        frames: Sequence[str] = ("", MAP),
    ) -> None:
        """Hand over every message of a topic in the simulation's namespace."""
        read = MessageReader(kind, frames).read
        recording = self._recording(take)
        self.inputs.listen(kind.TYPE, self.absolute(topic), read, recording, EVERY)

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

    def _take_coordinated(self, number: int, message: ModuleReferenceMessage) -> None:
        """Take the reference and the feed-forward of a module."""
        count = self._flight.vehicles[number].model.count
        self._put(number, topics.REFERENCE, message.stamp, reference_of(count, message))
        self._put(number, topics.COORDINATED, message.stamp, message.feed_forward_P.copy())

    def _take_health(self, number: int, message: HealthMessage) -> None:
        self._runs[-1].note_health(number, message.health)

    def _all_topics(self) -> set[tuple[int, str]]:
        """Vehicle and topic of all that is answered while time stands, again and again."""
        return {
            (number, topic)
            for number, expected in enumerate(expected_topics(self._flight))
            for topic in (topics.STATE, *expected)
        }

    def _note(self, number: int, topic: str) -> None:
        """End the pause once everything has arrived, and the standing state some times more."""
        if self._missing is None:
            return
        self._missing.discard((number, topic))
        self._repeats += self._is_all_there() and topic == topics.STATE
        if self._repeats >= REPEATS and self._pause.service_is_ready():
            self._pause.call_async(SetBool.Request(data=False))
            self._missing = None

    def _is_all_there(self) -> bool:
        """Whether all that answers a standing state has arrived; inertial units exist, and publish later."""
        sensors = self._sensors
        return not self._missing and all(
            sensors.topics[topic] == IMU and self.count_publishers(self.absolute(topic))
            for topic in sensors.missing
        )

    def _take(
        self, number: int, topic: str, value: Callable[[Any], object], message: Message
    ) -> None:
        self._put(number, topic, message.stamp, value(message))

    def _put(self, number: int, topic: str, stamp: int, value: object) -> None:
        """Take what goes with the state of a stamp [ns]."""
        self._note(number, topic)
        self._runs[-1].synchronizer.take(number, topic, stamp, value)

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
            try:
                metrics = live.score()
                if self._plot:
                    write_plots(RecordedRun(live.folder, metrics=metrics), FLIGHT_PLOTS)
            except IapError as error:
                self.get_logger().error(str(error))
            else:
                self.get_logger().info(f"{live.folder}: {metrics['outcome']}")


def main() -> int:
    """Run the node."""
    return run("recorder", lambda: [RecorderNode()])


if __name__ == "__main__":
    sys.exit(main())
