# SPDX-License-Identifier: BSD-3-Clause
"""The topics of one vehicle at the plant's side: states and wrenches out, commands in, and what is shown of it."""

from collections.abc import Callable
from functools import partial

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher

from iap_description.errors import BadInput
from iap_description.sensors.inertial_samples import InertialSamples
from iap_description.states import Q
from iap_description.vehicles.assembly import Assembly
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, LATEST
from iap_io.runs.run_meta import TRUTH
from iap_io.runs.topics import ESTIMATED
from iap_io.wire.message_views import SECOND, CommandMessage, MessageReader, StateMessage
from iap_io.wire.sample_views import InertialMessage, WrenchMessage
from iap_msgs.msg import InertialSamples as InertialSamplesMessage
from iap_msgs.msg import PlatformCommand, PlatformState
from iap_physics.nodes.displays import ContactMarkers, OdometryAndFrames, RotorsAndMarkers
from iap_physics.session import Session
from iap_sensors.mounted.inertial_units import InertialUnits
from iap_simulation.scenario.vehicle_spec import VehicleSpec

NO_ROTORS = np.zeros((0, 4))


class UnitTopic:
    """Ideal inertial samples of one vehicle, of which imu_node makes those of real units.

    Args:
        node: that publishes.
        name: of the vehicle.
        units: whose ideal samples.
        dt: of a physics step [s].
    """

    def __init__(self, node: Node, name: str, units: InertialUnits, dt: float) -> None:
        frames = [unit.mount.source.frame for unit in units.units]
        self._bodies = [unit.mount.body for unit in units.units]
        self._make = partial(InertialMessage.of, frame(name, BASE_LINK), frames)
        self._messages: dict[int, InertialMessage] = {}  # by number of instants
        self._publisher = node.create_publisher(InertialSamplesMessage, f"/{name}/inertial", EVERY)
        self._dt = dt

    def publish(self, stamp: int, k: int, x: np.ndarray, samples: InertialSamples) -> None:
        """Publish what has come with state k, rows (bodies, 13), at a stamp [ns]; no samples are published, too."""
        count = len(samples.ticks)
        if count not in self._messages:
            self._messages[count] = self._make(count)
        message = self._messages[count]
        message.put_head(stamp, k)
        stamps = np.rint(samples.ticks * self._dt * SECOND).astype(np.int64)
        message.put_samples(x[self._bodies, Q], stamps, samples.w_WS_S, samples.f_S)
        self._publisher.publish(message.dump())


class VehicleTopics:
    """One vehicle of a session.

    Args:
        node: that publishes.
        session: the plant.
        number: of the vehicle in the session.
        vehicle: its part of the scenario.
        every: control periods between odometries, and between displays.
        units: its inertial units; None where it has none.
        answered: called after a command came, with the fault if it was refused.
    """

    def __init__(
        self,
        node: Node,
        session: Session,
        number: int,
        vehicle: VehicleSpec,
        every: tuple[int, int],
        units: InertialUnits | None,
        answered: Callable[[int, BadInput | None], None],
    ) -> None:
        assembly = Assembly.of(vehicle.platform, vehicle.name)
        self.name = vehicle.name
        self._session, self._number, self._answered = session, number, answered
        self._every_odometry, self._every_display = every
        self._inlet = MessageReader(CommandMessage)
        self._state = StateMessage.of(assembly, 4 * vehicle.platform.count)
        self._states = node.create_publisher(PlatformState, f"/{self.name}/state", LATEST)
        self._measured: Publisher | None = None
        if any(vehicle.state_noise.model_dump().values()):
            self._measured_state = StateMessage.of_base()
            topic = f"/{self.name}/state/measured"
            self._measured = node.create_publisher(PlatformState, topic, LATEST)
        self._felt: tuple[Publisher, ...] = ()
        if session.sensor(number) is not None:
            self._wrench = WrenchMessage.of(frame(self.name, BASE_LINK))
            self._felt = tuple(
                node.create_publisher(WrenchStamped, f"/{self.name}/wrench/{kind}", LATEST)
                for kind in ("raw", "filtered")
            )
            self._contacts = ContactMarkers(node, self.name)
        self._units = (
            None if units is None else UnitTopic(node, self.name, units, session.plant.dt)
        )
        self._bodies = OdometryAndFrames(node, vehicle, assembly)
        self._beliefs = MessageReader(StateMessage)
        if vehicle.control.state_source != TRUTH:
            node.create_subscription(
                PlatformState, f"/{self.name}/{ESTIMATED}", self._on_belief, LATEST, raw=True
            )
        self._look = RotorsAndMarkers(node, vehicle, assembly)
        self.command_topic = f"/{self.name}/command"
        node.create_subscription(
            PlatformCommand, self.command_topic, self._on_command, LATEST, raw=True
        )

    def reset(self) -> None:
        """Forget the path."""
        self._look.reset()

    def publish_state(self, stamp: int) -> None:
        """Publish the present state, and what is felt and measured of it, at a stamp [ns]."""
        session, number = self._session, self._number
        self._publish_felt(stamp)
        if self._units is not None:
            x = session.plant.state(number)[0]
            self._units.publish(stamp, session.k, x, session.samples[number])
        x, rpm = session.plant.state(number)[0], session.plant.drives[number].rpm[0]
        self._state.put_head(stamp, session.k)
        self._state.put_rows(x, rpm)
        self._states.publish(self._state.dump())
        if self._measured is not None:
            self._measured_state.put_head(stamp, session.k)
            self._measured_state.put_rows(session.measured[number][None], NO_ROTORS)
            self._measured.publish(self._measured_state.dump())

    def _publish_felt(self, stamp: int) -> None:
        """Publish the wrenches, before the state: who acts on both has them when it comes."""
        sensor = self._session.sensor(self._number)
        if sensor is not None:
            for publisher, wrench_P in zip(
                self._felt, (sensor.raw_P, sensor.filtered_P), strict=True
            ):
                self._wrench.put_wrench(stamp, wrench_P)
                publisher.publish(self._wrench.dump())

    def publish_rest(self, stamp: int) -> None:
        """Publish what is due of all that standard tools show."""
        session, number = self._session, self._number
        x = session.plant.state(number)[0]
        if session.k % self._every_odometry == 0:
            self._bodies.publish(stamp, x)
        if session.k % self._every_display == 0:
            self._look.publish(stamp, session.t, x, session.plant.drives[number].rpm[0])
            if self._felt:
                self._contacts.publish(stamp, session.pushes(number))

    def _on_belief(self, data: bytes) -> None:
        """Let the autopilots go by what the vehicle believes."""
        try:
            belief = self._beliefs.read(data)
            if belief.rows.shape != self._session.plant.state(self._number)[0].shape:
                raise BadInput(f"/{self.name}/{ESTIMATED}: {len(belief.rows)} bodies")
        except BadInput as error:
            self._answered(self._number, error)
            return
        self._session.believe(self._number, belief.stamp / SECOND, belief.rows)

    def _on_command(self, data: bytes) -> None:
        fault = None
        try:
            command = self._inlet.read(data)
            self._session.offer(self._number, command.stamp / SECOND, command.get)
        except BadInput as error:
            fault = error
        self._answered(self._number, fault)
