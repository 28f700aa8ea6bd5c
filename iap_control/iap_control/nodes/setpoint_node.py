# SPDX-License-Identifier: BSD-3-Clause
"""Takes set-points as an autopilot does: px4_msgs or mavros_msgs in, `command` or `reference` out, one for each state.

Runs in the vehicle's namespace, which is `iap` unless it is remapped. Attitudes and rates of aircraft become commands.
Points of a trajectory become references, which controller_node answers.

Without signs of life of the outside controller for `loss_time` it is lost, as in PX4. A trajectory then rests where the
platform is, and in place of commands nothing comes, so that physics_node levels out and holds.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from iap_control.nodes.setpoint_thrusts import declared_thrusts
from iap_control.offboard.aircraft_setpoint import AircraftSetpoint, Classes, MotionSetpoint
from iap_control.offboard.kinds import KINDS, make_reader
from iap_control.offboard.motion_reference import MotionReference
from iap_control.offboard.setpoint_input import Inlet, SetpointInput, SetpointReader
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.mounts import space
from iap_description.signals import NO_WRENCH
from iap_description.states import Command, Level
from iap_description.vehicles.assembly import Assembly
from iap_io.ros.message_classes import message_class
from iap_io.ros.node import EVERY, LATEST, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.stamps import SECOND
from iap_msgs.msg import PlatformCommand, PlatformReference

# Autopilots hear their set-points so: a reliable subscription would not hear those who publish at best effort.
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
WHOLE = "the platform"


class SetpointSource(NamedTuple):
    """Set-points of one aircraft, or of the platform as a whole.

    Attributes:
        name: for the user.
        takes: the kinds of set-points that are flown.
        refusal: of others.
        input: what has come.
        body: number of the state row that is its motion.
        reader: of its messages, which has those of its motion, too.
        publishers: of these, by topic.
    """

    name: str
    takes: tuple[type, ...]
    refusal: str
    input: SetpointInput
    body: int
    reader: SetpointReader
    publishers: Mapping[str, Publisher]


class SetpointNode(SuiteNode):
    """The set-points of outside controllers as commands and references of one platform.

    Args:
        namespace: of the vehicle.
        make: makes the reader of one aircraft's messages, of a kind.
    """

    def __init__(
        self,
        namespace: str = "iap",
        make: Callable[[str, Classes], SetpointReader] = make_reader,
    ) -> None:
        super().__init__("setpoint_node", namespace=namespace, of="vehicle")
        platform = self.platform()
        what = "Messages of the set-points: of px4_msgs or of mavros_msgs."
        kind = self.choice("autopilot", tuple(KINDS), what)
        what = (
            "Time without signs of life after which set-points are lost, PX4's COM_OF_LOSS_T [s]."
        )
        self._loss_time = self.parameter("loss_time", 1.0, what, limits=(0.01, 60.0))
        assembly = Assembly.of(platform, self.vehicle)
        self._thrusts = declared_thrusts(self, platform, assembly)
        self._command = Command.zeros(platform.count)
        self._motion, self._t, self._passed = MotionReference(platform.count), 0.0, 0
        self._is_followed = False  # whether a trajectory is, or was when it was lost
        self._rest: Array | None = None  # reference of a trajectory that was lost
        self._obstacle = ""
        self._make_sources(assembly, lambda: make(kind, message_class))
        self._out = CommandMessage.of(platform.count), ReferenceMessage.of(platform.count)
        self._commands = self.create_publisher(PlatformCommand, "command", EVERY)
        self._references = self.create_publisher(PlatformReference, "reference", EVERY)
        what = "Topic of the state that is answered: state, or state/estimated."
        topic = self.parameter("state_topic", "state", what)
        bodies = (1, 1 + len(platform.joints))
        self.inputs.listen_to_states(topic, bodies, self._on_state, LATEST)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _make_sources(self, assembly: Assembly, make: Callable[[], SetpointReader]) -> None:
        """Subscribe to the set-points of every aircraft, and of the platform as a whole."""
        own, every = (AircraftSetpoint,), (AircraftSetpoint, MotionSetpoint)
        aircraft = list(assembly.aircraft)
        if len(aircraft) == 1:
            self._aircraft = [self._source(assembly, aircraft[0], WHOLE, every, "", make())]
            self._whole = self._aircraft[0]
            return
        refusal = f"a trajectory is flown by {WHOLE} as a whole, on topics of its own namespace"
        self._aircraft = [
            self._source(assembly, body, f"aircraft {k}", own, refusal, make())
            for k, body in enumerate(aircraft, start=1)
        ]
        refusal = f"{WHOLE} takes trajectories, and each aircraft attitudes or rates in its own namespace"
        self._whole = self._source(assembly, 0, WHOLE, (MotionSetpoint,), refusal, make())

    def _source(
        self,
        assembly: Assembly,
        body: int,
        name: str,
        takes: tuple[type, ...],
        refusal: str,
        reader: SetpointReader,
    ) -> SetpointSource:
        namespace = space(assembly, body)
        publishers = {
            topic: self.create_publisher(
                type(message), self.absolute(f"{namespace}/{topic}"), LATEST
            )
            for topic, message in reader.outlets
        }
        taken = SetpointInput(reader, self._loss_time)
        source = SetpointSource(name, takes, refusal, taken, body, reader, publishers)
        for inlet in reader.inlets:
            topic = self.absolute(f"{namespace}/{inlet.topic}")
            read = partial(_message, kind=inlet.msgtype)
            take = partial(self._on_setpoint, source, inlet)
            self.inputs.listen(inlet.msgtype, topic, read, take, BEST_EFFORT)
        return source

    def _on_setpoint(self, source: SetpointSource, inlet: Inlet, message: Any) -> None:  # noqa: ANN401
        setpoint = source.input.take(inlet, message, self._t)
        if setpoint is not None and not isinstance(setpoint, source.takes):
            raise BadInput(source.refusal)

    def _on_state(self, state: StateMessage) -> None:
        """Answer a state with what is in force."""
        t, was_stuck = state.stamp / SECOND, bool(self._obstacle)
        if t < self._t:  # the simulation has begun anew
            self._motion.reset()
        self._t = t
        self._tell(state)
        motion, ready = self._whole.input.at(t), self._ready(t)
        if isinstance(motion, MotionSetpoint):
            self._obstacle, self._rest, self._is_followed = "", None, True
            self._refer(state, self._motion.row(motion, t, state.rows[0]))
        elif self._whole.input.is_lost and self._is_followed and not ready:
            self._obstacle = f"{self._lost([self._whole])}: it rests where it was"
            if self._rest is None:
                self._rest = self._motion.at_rest(state.rows[0]).copy()
            self._refer(state, self._rest)
        else:
            self._rest, self._is_followed, self._obstacle = None, False, self._unfit(ready)
            if not self._obstacle and len(ready) == len(self._aircraft):
                self._order(state, ready)
        if self._obstacle and not was_stuck:
            self.get_logger().warning(self._obstacle)

    def _tell(self, state: StateMessage) -> None:
        """Publish the motion of all whose rows are there, as the autopilots would."""
        now = self.get_clock().now().nanoseconds
        for source in {id(each): each for each in (*self._aircraft, self._whole)}.values():
            if source.body < len(state.rows):
                for topic, message in source.reader.motion(state.rows[source.body], now):
                    source.publishers[topic].publish(message)

    def _ready(self, t: float) -> list[AircraftSetpoint]:
        """The set-points in force of the aircraft that have one."""
        setpoints = [source.input.at(t) for source in self._aircraft]
        return [each for each in setpoints if isinstance(each, AircraftSetpoint)]

    def _order(self, state: StateMessage, ready: list[AircraftSetpoint]) -> None:
        """Publish the command of all aircraft."""
        self._command.mode = ready[0].mode
        for number, setpoint in enumerate(ready):
            setpoint.put(self._command, number, self._thrusts[number])
        message = self._out[0]
        message.put_head(state.stamp, state.sequence)
        message.put(self._command)
        self._commands.publish(message.dump())
        self._passed += 1

    def _unfit(self, ready: list[AircraftSetpoint]) -> str:
        """Why no command comes of set-points that have come; empty where one does, or none has come."""
        lost = [source for source in self._aircraft if source.input.is_lost]
        if lost:
            return f"{self._lost(lost)}: nothing is commanded"
        if len({each.mode for each in ready}) > 1:
            return "some aircraft have attitudes and others rates: a command has one mode for all"
        return ""

    def _lost(self, sources: list[SetpointSource]) -> str:
        names = ", ".join(source.name for source in sources)
        return f"no signs of life for {self._loss_time:g} s, the set-points of {names} are lost"

    def _refer(self, state: StateMessage, row: Array) -> None:
        message = self._out[1]
        message.put_head(state.stamp, state.sequence)
        message.put_row(row, Level.POSE, NO_WRENCH)
        self._references.publish(message.dump())
        self._passed += 1

    def _statuses(self) -> list[DiagnosticStatus]:
        values = {"t": self._t, "passed on": self._passed}
        doing = "passing set-points on" if self._passed else "waiting for set-points"
        return [self.inputs.status(doing, values, self._obstacle)]


def _message(data: bytes, kind: str) -> Any:  # noqa: ANN401 - of the autopilot's package
    try:
        return deserialize_message(data, message_class(kind))
    except RuntimeError as error:  # of the middleware
        raise BadInput(f"no {kind}: {error}") from error


main = program("setpoint_node", SetpointNode)

if __name__ == "__main__":
    sys.exit(main())
