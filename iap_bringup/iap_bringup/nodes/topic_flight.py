# SPDX-License-Identifier: BSD-3-Clause
"""A flight of nodes for the viewer: its newest instant out of topics, its time by services, its references by hand."""

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription

from iap_bringup.nodes.recorded_topics import RecordedTopic, shared_topics, vehicle_topics
from iap_bringup.nodes.topic_control import ServiceControl, TopicHand
from iap_bringup.nodes.topic_notes import TopicHappenings, TopicNotes
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.scene_notes import NO_NOTES, SceneNotes, couplings_of
from iap_bringup.viewing.source import reference_ways
from iap_description.arrays import Array
from iap_description.signals import Reference, Step
from iap_description.states import REF_FIXED, REF_P, REF_Q, Command, P, Q
from iap_description.vehicles.gripper import row_of
from iap_io.recording.step_synchronizer import StateSample, step_of
from iap_io.ros.node import SuiteNode
from iap_io.runs import topics
from iap_io.runs.run_meta import RunMeta
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import StateMessage
from iap_io.wire.sample_views import HealthMessage, PoseMessage
from iap_io.wire.stamps import SECOND
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.rig_spec import rig_spec

SHOW_PERIOD = 1.0 / 30.0  # wall time between two instants that are shown [s]
READ_TIME = 0.012  # before an instant is shown what goes with it is read: two control periods at 200 Hz [s]
SILENCE = 0.5  # of whole references, after which the one that is tracked is shown [s]
TRACKED_POSE = "reference/tracked/pose"
KEPT_STATES = 400  # of a vehicle, to which readings belong that come later


class VehicleTopics:
    """The newest of what is published of a vehicle.

    Args:
        node: that listens.
        flight: by nodes.
        number: of the vehicle.
    """

    def __init__(self, node: SuiteNode, flight: Flight, number: int) -> None:
        self._node, self._flight, self._number = node, flight, number
        self.name = flight.vehicles[number].name
        self._count = flight.vehicles[number].model.count
        self.forget()

    def forget(self) -> None:
        """Forget what was published."""
        self.state: StateSample | None = None
        self._states: deque[StateSample] = deque(maxlen=KEPT_STATES)
        self._last: dict[str, Any] = {}
        self._referred = -np.inf  # wall time of the last whole reference [s]

    def listen(
        self, on_state: Callable[[], None], is_due: Callable[[], bool]
    ) -> list[Subscription]:
        """Subscribe to all that is shown.

        Args:
            on_state: called after a state.
            is_due: whether the next state is shown; what goes with others is not read.
        """
        inputs, space = self._node.inputs, self._node.absolute(self.name)
        rotors = 4 * self._count
        bodies = 1 + len(self._flight.scenario.vehicles[self._number].platform.joints)

        def take_state(state: StateMessage) -> None:
            rest = (state.rows, state.rpm, state.tilt, row_of(state.arm_load))
            if self.state is not None and state.stamp < self.state.stamp:
                self.forget()
            self.state = StateSample.copied(state.stamp, state.sequence, *rest)
            self._states.append(self.state)
            on_state()

        def take_estimate(state: StateMessage) -> None:
            self._last[topics.ESTIMATED] = state.rows.copy()

        states = [(topics.STATE, take_state)]
        if self._flight.meta.vehicles[self._number].is_estimated:
            states.append((topics.ESTIMATED, take_estimate))
        out = [
            inputs.listen_to_states(
                f"{space}/{topic}", bodies, take, qos_profile_sensor_data, rotors=rotors
            )
            for topic, take in states
        ]
        tracked = RecordedTopic.of(
            self._number, f"{self.name}/{TRACKED_POSE}", PoseMessage, {TRACKED_POSE: _pose_of}
        )
        shared = [] if self._number else shared_topics(self._flight)
        for topic in (*vehicle_topics(self._flight, self._number), *shared, tracked):
            read = partial(_read_if_due, is_due, topic)
            where, take = self._node.absolute(topic.name), partial(self._take, topic)
            out.append(inputs.listen(topic.type, where, read, take, qos_profile_sensor_data))
        return out

    def _take(self, topic: RecordedTopic, message: Any) -> None:  # noqa: ANN401 - as the topic reads it
        """Take the values of a message; None was not due."""
        if message is None:
            return
        for name, value in topic.values.items():
            content = value(message)
            if content is None:  # it is of other joints, such as rotors
                continue
            if name == topics.REFERENCE:
                self._referred = time.monotonic()
            if name == TRACKED_POSE:
                self._take_tracked(content)
            else:
                self._last[name] = content

    def _take_tracked(self, pose: Any) -> None:  # noqa: ANN401 - (7,)
        """Take the pose that is tracked while nobody publishes whole references."""
        if time.monotonic() > self._referred + SILENCE:
            self._last[topics.REFERENCE] = self._at_rest(pose)

    def _at_rest(self, pose: Array) -> Reference:
        row = np.zeros(REF_FIXED + self._count)
        row[REF_P], row[REF_Q] = pose[P], pose[Q]
        return Reference(row)

    def last(self, name: str) -> Any:  # noqa: ANN401 - as the topic has it
        """The newest value of a topic; None before the first."""
        return self._last.get(name)

    def couplings(self, meta: RunMeta) -> dict[str, int]:
        """States of latches, and of joints between modules, which come with the first vehicle's topics."""
        phases, joints = (self._last.get(each) for each in (topics.LATCHES, topics.JOINTS))
        states = {} if phases is None else dict(zip(meta.latches, map(int, phases), strict=True))
        if joints is not None:
            states |= dict(zip(meta.joints, map(int, joints.states), strict=True))
        return states

    def objects(self, meta: RunMeta) -> dict[str, Array]:
        """States (13,) of the world's objects, by their names, which come with the first vehicle's topics."""
        rows = self._last.get(topics.WORLD_STATE)
        return {} if rows is None else dict(zip(meta.objects, rows, strict=True))

    def step(self, stamp: int | None = None) -> Step | None:
        """A state with the newest of what goes with it; without a reference this is the state itself.

        Args:
            stamp: of the state, the nearest of those that are kept [ns]; None: the newest.
        """
        if self.state is None:
            return None
        state = self.state
        if stamp is not None:
            state = min(self._states, key=lambda each: abs(each.stamp - stamp))
        last = {topics.COMMAND: Command.zeros(self._count), **self._last}
        last.setdefault(topics.REFERENCE, self._at_rest(state.x[0]))
        feels = self._flight.vehicles[self._number].interaction is not None
        return step_of(state, last, has_wrenches=feels)


def _read_if_due(is_due: Callable[[], bool], topic: RecordedTopic, data: bytes) -> Any:  # noqa: ANN401
    return topic.read(data) if is_due() else None


def _pose_of(message: PoseMessage) -> object:
    return message.pose.copy()


class TopicFlight:
    """A flight of nodes that is shown by its topics; it listens while somebody looks, and until it has heard a state.

    Args:
        node: in the simulation's namespace.
        flight: by nodes.

    Attributes:
        rig: vehicles, sensors and world.
        meta: of the flight.
        references: ways (n, 3) of the scenario's references [m].
        control: of its time.
        hand: on its references.
        disturber: nobody, since nodes take no wind and faults in flight.
    """

    disturber = None

    def __init__(self, node: SuiteNode, flight: Flight) -> None:
        self._node = node
        self.rig, self.meta = rig_spec(flight.scenario), flight.meta
        self.references = reference_ways(flight)
        self.couplings = couplings_of(flight.scenario)
        self._lock = threading.Lock()
        self._orders: list[Callable[[], None]] = []
        self._vehicles = [VehicleTopics(node, flight, i) for i in range(len(flight.vehicles))]
        self.control = ServiceControl(node, self._order)
        names = [each.name for each in self._vehicles]
        self.hand = TopicHand(node, names, self.steps, self._order)
        self._beside = TopicNotes(node, flight, self._steps_at)
        self._happenings = TopicHappenings(flight)
        self._subscriptions: list[Subscription] = []
        self._shown: Steps = []
        self._notes = NO_NOTES
        self._due = 0.0

    def steps(self) -> Steps:
        """One step of every vehicle at the newest instant that is shown; empty before the first."""
        with self._lock:
            return self._shown

    def notes(self) -> SceneNotes:
        """Additions to that instant: of latches, joints between modules, objects, estimators and sensors."""
        return self._notes

    def work(self, *, is_watched: bool) -> None:
        """Listen or not, and do what was ordered; called in the executor's thread, again and again."""
        listens = is_watched or not self._shown
        if listens and not self._subscriptions:
            self._listen()
        elif not listens and self._subscriptions:
            self._fall_silent()
        with self._lock:
            orders, self._orders = self._orders, []
        for order in orders:
            order()
        self.hand.publish()

    def _order(self, order: Callable[[], None]) -> None:
        with self._lock:
            self._orders.append(order)

    def _listen(self) -> None:
        def is_due() -> bool:
            return time.monotonic() >= self._due - READ_TIME

        for vehicle in self._vehicles:
            self._subscriptions += vehicle.listen(self._show, is_due)
        self._subscriptions += [
            *self._beside.listen(),
            *map(self._health_of, self._happenings.estimated),
        ]

    def _health_of(self, vehicle: str) -> Subscription:
        """Listen to what a vehicle's estimator says of itself."""

        def take(message: HealthMessage) -> None:
            self._happenings.note_health(vehicle, message.stamp / SECOND, message.health)

        where = self._node.absolute(f"{vehicle}/{topics.HEALTH}")
        read = MessageReader(HealthMessage).read
        return self._node.inputs.listen(
            HealthMessage.TYPE, where, read, take, qos_profile_sensor_data
        )

    def _fall_silent(self) -> None:
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())
        for vehicle in self._vehicles:
            vehicle.forget()
        self._beside.forget()

    def _steps_at(self, stamp: int | None = None) -> Steps:
        """One step of every vehicle at a stamp [ns], or at its newest state; empty until all have one."""
        ends = (each.step(stamp) for each in self._vehicles)
        steps = [step for step in ends if step is not None]
        return steps if len(steps) == len(self._vehicles) else []

    def _show(self) -> None:
        """Show an instant of which all states are there, if it is time to."""
        states = {None if each.state is None else each.state.stamp for each in self._vehicles}
        if time.monotonic() < self._due or len(states) > 1:
            return
        steps = self._steps_at()
        first, beside = self._vehicles[0], self._beside
        objects = first.objects(self.meta)
        notes = SceneNotes(
            first.couplings(self.meta),
            beside.covariances(),
            beside.clouds(steps),
            objects,
            self._happenings.events(steps, objects, lambda i, name: self._vehicles[i].last(name)),
        )
        with self._lock:
            self._shown, self._notes = steps, notes
        self._due = time.monotonic() + SHOW_PERIOD
