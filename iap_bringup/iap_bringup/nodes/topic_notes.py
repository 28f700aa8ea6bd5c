# SPDX-License-Identifier: BSD-3-Clause
"""Notes of a flight of nodes by its topics: covariances of estimates, measured points, and events so far."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription

from iap_bringup.nodes.estimate_losses import EstimateLosses
from iap_bringup.nodes.modules_replay import ModulesReplay
from iap_bringup.nodes.plant_replay import LastValue, PlantReplay
from iap_bringup.viewing.events import Event, events_until
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.live_scene_notes import LiveHappenings
from iap_bringup.viewing.point_readings import CLOUD_PERIOD, PointReadings
from iap_description.arrays import Array
from iap_description.sensors.readings import Reading
from iap_description.signals import EstimateHealth
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_io.ros.node import SuiteNode
from iap_io.runs.topics import HEALTH, estimate_topic
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import HealthMessage, OdometryMessage
from iap_io.wire.stamps import stamp_of_time
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.runs.events_so_far import event_tree
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor

COVARIANCE_PERIOD = 0.2  # wall time between two covariances that are read of a body [s]


class TopicNotes:
    """Listens to estimators, lidars and depth cameras of a simulation's vehicles.

    Args:
        node: in the simulation's namespace.
        flight: that is shown.
        steps_at: gives one step of every vehicle at a stamp [ns]; none before the first state.
    """

    def __init__(self, node: SuiteNode, flight: Flight, steps_at: Callable[[int], Steps]) -> None:
        self._node, self._flight, self._meta = node, flight, flight.meta
        self._steps_at = steps_at
        self.forget()

    def forget(self) -> None:
        """Forget what was published."""
        self._points = PointReadings(self._flight)
        self._covariances: dict[str, Array] = {}
        self._due: dict[str, float] = {}  # wall time by topic [s]

    def listen(self) -> list[Subscription]:
        """Subscribe to all that is shown."""
        out = []
        for vehicle in self._meta.vehicles:
            if vehicle.is_estimated:
                out += self._listen_to_estimates(vehicle)
        decode = Decoder(self._points.sensors.values(), ("none",))
        for topic, kind in decode.types.items():
            read = partial(self._read_if_due, CLOUD_PERIOD, topic, partial(decode, topic))
            out.append(self._subscribe(kind, topic, read, self._take_reading))
        return out

    def _listen_to_estimates(self, vehicle: VehicleMeta) -> Iterator[Subscription]:
        """Topics of the positions' covariances; motion capture's filter says a deviation alone."""
        by_health = vehicle.state_source == CAPTURE_INERTIAL
        for body in vehicle.bodies:
            topic = f"{vehicle.name}/{HEALTH if by_health else estimate_topic(body)}"
            kind = HealthMessage if by_health else OdometryMessage
            read = MessageReader[Any](kind).read
            take = partial(self._take_covariance, f"{vehicle.name}/{body}")
            once = partial(self._read_if_due, COVARIANCE_PERIOD, topic, read)
            yield self._subscribe(kind.TYPE, topic, once, take)

    def _subscribe(self, kind: str, topic: str, read: Any, take: Any) -> Subscription:  # noqa: ANN401
        where = self._node.absolute(topic)
        return self._node.inputs.listen(kind, where, read, take, qos_profile_sensor_data)

    def _read_if_due(self, period: float, topic: str, read: Any, data: bytes) -> Any:  # noqa: ANN401
        """A message, if the last one of its topic was read some time ago [s]."""
        now = time.monotonic()
        if now < self._due.get(topic, 0.0):
            return None
        self._due[topic] = now + period
        return read(data)

    def _take_reading(self, reading: Reading | None) -> None:
        if reading is None:
            return
        steps = self._steps_at(stamp_of_time(reading.t))  # sensors take their time
        if steps:
            self._points.receive(reading, steps)

    def _take_covariance(self, body: str, message: OdometryMessage | HealthMessage | None) -> None:
        """Take the covariance (3, 3) of a body's position [m^2]; zeros stand for one that is not known."""
        if isinstance(message, HealthMessage):
            self._covariances[body] = message.health.deviation**2 * np.eye(3)
        elif message is not None and message.pose_covariance[:3, :3].any():
            self._covariances[body] = message.pose_covariance[:3, :3].copy()

    def covariances(self) -> dict[str, Array]:
        """(3, 3) of estimated positions [m^2], by VEHICLE/BODY."""
        return dict(self._covariances)

    def clouds(self, steps: Steps) -> dict[str, Array]:
        """(n, 3) measured points in `map` [m], by the topics of their sensors."""
        return dict(self._points.at(steps))


class TopicHappenings:
    """Follows what happens in a flight; begins anew where time does.

    Args:
        flight: by nodes.

    Raises:
        BadInput: nodes cannot coordinate its modules.
    """

    def __init__(self, flight: Flight) -> None:
        self._flight, self._meta = flight, flight.meta
        self.forget()

    def forget(self) -> None:
        """Forget what has happened."""
        flight, scenario = self._flight, self._flight.scenario
        self._t = 0.0
        self._seen, self._plant = LiveHappenings(flight), PlantReplay(scenario)
        self._modules = ModulesReplay(flight) if is_coordinated(scenario) else None
        self._task: TaskMonitor[ObservedPlant] | None = DockingMonitor.of(scenario)
        if self._modules is not None:
            self._task = ModulesMonitor(self._modules, flight.vehicles)
        self._losses = {
            flight.meta.vehicles[i].name: EstimateLosses(
                flight.meta.vehicles[i].state_source, spec
            )
            for i, spec in flight.failsafes.items()
        }

    @property
    def estimated(self) -> Sequence[str]:
        """Names of the vehicles whose estimators' health counts."""
        return list(self._losses)

    def note_health(self, vehicle: str, t: float, health: EstimateHealth) -> None:
        """Note what an estimator says of itself at a time [s]."""
        self._losses[vehicle].note(t, health)

    def events(
        self, steps: Steps, objects: Mapping[str, Array], last: LastValue
    ) -> Sequence[Event]:
        """Events up to an instant.

        Args:
            steps: of all vehicles.
            objects: states (13,) of the world's objects, by their names.
            last: returns the value of a vehicle's topic at that instant, or the last one before.
        """
        if steps[0].t < self._t:
            self.forget()
        self._t = steps[0].t
        self._plant.update(steps, last)
        if self._modules is not None:
            self._modules.update(steps, last)
        for i, step in enumerate(steps):
            self._seen.record(i, step)
        tasks = {} if self._task is None else {self._task.key: self._task.events(self._plant)}
        losses = {name: each.events for name, each in self._losses.items()}
        meta = self._meta
        return events_until(meta, self._seen.at(steps, objects, event_tree(meta, tasks, losses)))
