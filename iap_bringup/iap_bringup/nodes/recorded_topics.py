# SPDX-License-Identifier: BSD-3-Clause
"""The topics of a recording: with the type of their messages, and the values that are kept of each.

A physics_node's pause ends once all that is recorded, and answers its standing state, has arrived.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from iap_bringup.nodes.modules_replay import EXPECTED, SHARED
from iap_bringup.nodes.recorded_values import (
    command_of,
    joint_states_of,
    joints_of,
    object_rows_of,
    phases_of,
    reference_of,
    target_of,
    task_of,
    wrench_of,
)
from iap_description.frames import MAP
from iap_io.recording.step_synchronizer import MEASURED_WRENCHES
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.runs import topics
from iap_io.wire.cdr import decoded
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage
from iap_io.wire.message import Message
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.module_views import (
    JointWrenchesMessage,
    ModuleJointsMessage,
    ModuleReferenceMessage,
)
from iap_io.wire.sample_views import ForceTaskMessage, LatchStateMessage, WrenchMessage
from iap_io.wire.stamps import SECOND
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.vehicles.vehicle import Vehicle

Value = Callable[[Any], object]
ANY_FRAME = ("", MAP)
REPEATS = 3  # of the standing state, 0.1 s apart, in which the other nodes find each other, too
QUIET_TIME = (
    10.0  # in which nodes start and nothing is said of those that are missing [s of wall time]
)


class RecordedTopic(NamedTuple):
    """A topic of the simulation whose messages are recorded.

    Attributes:
        number: of the vehicle; topics of no vehicle are the first one's.
        name: in the simulation's namespace.
        type: of its messages.
        read: a message out of its bytes.
        values: that are kept of a message, by the names under which they are recorded; of a value None nothing is.
        stamp: of a message [ns].
    """

    number: int
    name: str
    type: str
    read: Callable[[bytes], Any]
    values: Mapping[str, Value]
    stamp: Callable[[Any], int] = attrgetter("stamp")

    @classmethod
    def of(
        cls,
        number: int,
        name: str,
        kind: type[Message],
        values: Mapping[str, Value],
        frames: Sequence[str] = ANY_FRAME,
    ) -> "RecordedTopic":
        """A topic whose messages are views; headers may name some frames."""
        return cls(number, name, kind.TYPE, MessageReader(kind, frames).read, values)

    @classmethod
    def decoded(
        cls, number: int, name: str, type_name: str, values: Mapping[str, Value]
    ) -> "RecordedTopic":
        """A topic whose messages are decoded as a whole."""
        return cls(
            number, name, type_name, partial(decoded, msgtype=type_name), values, _header_stamp
        )


def _header_stamp(message: Any) -> int:  # noqa: ANN401 - a decoded message
    stamp = message.header.stamp
    return int(stamp.sec * SECOND + stamp.nanosec)


def vehicle_topics(flight: Flight, number: int) -> Iterator[RecordedTopic]:
    """Topics of a vehicle, states and health apart."""
    vehicle = flight.vehicles[number]
    count, name = vehicle.model.count, vehicle.name
    reference = partial(reference_of, count)
    kinds: list[tuple[str, type[Message], Value]] = [
        (topics.COMMAND, CommandMessage, partial(command_of, count))
    ]
    if is_coordinated(flight.scenario):
        values = {topics.REFERENCE: reference, topics.COORDINATED: _feed_forward_of}
        where = f"{name}/{topics.COORDINATED}"
        yield RecordedTopic.of(number, where, ModuleReferenceMessage, values)
        kinds.append((topics.WRENCHES[2], WrenchMessage, wrench_of))
    else:
        kinds.append((topics.REFERENCE, ReferenceMessage, reference))
    if vehicle.interaction is not None:
        kinds += [(topic, WrenchMessage, wrench_of) for topic in MEASURED_WRENCHES]
        kinds.append((topics.TASK, ForceTaskMessage, task_of))
        if vehicle.interaction.admittance is not None:
            kinds.append((topics.REVISED, ReferenceMessage, reference))
    frames = (*ANY_FRAME, frame(name, BASE_LINK))
    for topic, kind, value in kinds:
        yield RecordedTopic.of(number, f"{name}/{topic}", kind, {topic: value}, frames)
    if vehicle.arm is not None:
        joints = flight.meta.vehicles[number].arm_joints
        for topic, type_name, value in (
            (topics.JOINT_STATES, JointStateMessage.TYPE, partial(joints_of, joints)),
            (topics.JOINT_COMMAND, JointCommandMessage.TYPE, partial(target_of, joints)),
        ):
            yield RecordedTopic.decoded(number, f"{name}/{topic}", type_name, {topic: value})


def _feed_forward_of(message: ModuleReferenceMessage) -> object:
    return message.feed_forward_P.copy()


def shared_topics(flight: Flight) -> Iterator[RecordedTopic]:
    """Topics of latches, of the world's objects, and of the joints between modules."""
    scenario = flight.scenario
    if scenario.latches:
        phases = partial(phases_of, len(scenario.latches))
        yield RecordedTopic.of(0, "latches", LatchStateMessage, {topics.LATCHES: phases})
    if scenario.world.has_free_objects:
        rows = partial(object_rows_of, len(scenario.world.objects))
        values = {topics.WORLD_STATE: rows}
        yield RecordedTopic.of(0, topics.WORLD_STATE, StateMessage, values)
    if is_coordinated(scenario) and scenario.modules is not None:
        joints, wrenches = tuple(scenario.modules.joints), topics.JOINT_WRENCHES
        states = partial(joint_states_of, joints, len(scenario.vehicles))
        yield RecordedTopic.of(0, "joints", ModuleJointsMessage, {topics.JOINTS: states})
        borne = {wrenches: lambda message: message.borne(joints)}
        yield RecordedTopic.of(0, wrenches, JointWrenchesMessage, borne)


def expected_topics(flight: Flight) -> list[tuple[str, ...]]:
    """Topics of each vehicle's nodes without which a tick is not complete; those of no vehicle are the first one's."""
    expected = [_expected_of(vehicle) for vehicle in flight.vehicles]
    if is_coordinated(flight.scenario):
        expected = [(*names, *EXPECTED) for names in expected]
        expected[0] = (*expected[0], *SHARED)
    if flight.scenario.latches:
        expected[0] = (*expected[0], topics.LATCHES)
    if flight.scenario.world.has_free_objects:
        expected[0] = (*expected[0], topics.WORLD_STATE)
    return expected


def _expected_of(vehicle: Vehicle) -> tuple[str, ...]:
    interaction, joints = vehicle.interaction, _arm_topics(vehicle)
    if interaction is None:
        return topics.REFERENCE, topics.COMMAND, *joints
    revised = () if interaction.admittance is None else (topics.REVISED,)
    task = () if interaction.plan is None else (topics.TASK,)
    return (topics.REFERENCE, topics.COMMAND, *MEASURED_WRENCHES, *revised, *task, *joints)


def _arm_topics(vehicle: Vehicle) -> tuple[str, ...]:
    """Topics of a vehicle's arm that come with every state."""
    if vehicle.arm is None:
        return ()
    return topics.ARM_TOPICS[: 1 if vehicle.arm.is_given else 2]


class PauseEnd:
    """Waits for all that is recorded, and for the standing state some times more.

    Args:
        vehicles: names of the vehicles, by their numbers.
        missing: vehicle and topic of all that is answered while time stands, again and again.
        missing_sensors: topics of the sensors that are not there.
        resume: ends the pause, and returns whether it could.
    """

    def __init__(
        self,
        vehicles: Sequence[str],
        missing: set[tuple[int, str]],
        missing_sensors: Callable[[], Iterable[str]],
        resume: Callable[[], bool],
    ) -> None:
        self._vehicles, self._missing = vehicles, missing
        self._missing_sensors, self._resume = missing_sensors, resume
        self._repeats, self._is_over = 0, False
        self._begun = time.monotonic()

    @classmethod
    def of(
        cls,
        flight: Flight,
        missing_sensors: Callable[[], Iterable[str]],
        resume: Callable[[], bool],
    ) -> "PauseEnd":
        """The end of the pause before a flight."""
        missing = {
            (number, topic)
            for number, expected in enumerate(expected_topics(flight))
            for topic in (topics.STATE, *expected)
        }
        names = [vehicle.name for vehicle in flight.vehicles]
        return cls(names, missing, missing_sensors, resume)

    def note(self, number: int, topic: str) -> None:
        """Note a message of a vehicle's topic."""
        if self._is_over:
            return
        self._missing.discard((number, topic))
        if topic == topics.STATE and not self._missing and not any(self._missing_sensors()):
            self._repeats += 1
        if self._repeats >= REPEATS:
            self._is_over = self._resume()

    @property
    def obstacle(self) -> str:
        """A sentence on the topics without which the pause goes on; empty before it is long, and once it is over."""
        if self._is_over or time.monotonic() - self._begun < QUIET_TIME:
            return ""
        of_vehicles = {f"{self._vehicles[number]}/{topic}" for number, topic in self._missing}
        awaited = sorted({*of_vehicles, *self._missing_sensors()})
        return f"the flight waits until somebody publishes {', '.join(awaited)}" if awaited else ""
