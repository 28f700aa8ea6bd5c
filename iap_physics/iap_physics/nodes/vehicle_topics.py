# SPDX-License-Identifier: BSD-3-Clause
"""The topics of one vehicle at the plant's side: states and wrenches out, commands in, and what is shown of it.

So are those of its arm: joint states out, commands to its motors in.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from iap_description.sensors.readings import InertialSamples
from iap_description.states import Mode, Q
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, LATEST, SuiteNode
from iap_io.runs.topics import ESTIMATED, JOINT_COMMAND, JOINT_STATES
from iap_io.wire.cdr import decoded
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage, trajectory_of
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, StateMessage
from iap_io.wire.sample_views import InertialMessage, WrenchMessage
from iap_io.wire.stamps import SECOND, stamp_of_time
from iap_msgs.msg import InertialSamples as InertialSamplesMessage
from iap_msgs.msg import PlatformCommand, PlatformState
from iap_physics.arm.arm_commands import JointTrajectory
from iap_physics.arm.gripper import known_load
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.nodes.displays import (
    ContactMarkers,
    MeasuredOdometry,
    OdometryAndFrames,
    RotorsAndMarkers,
)
from iap_physics.nodes.gripper_topics import GripperTopics
from iap_physics.plant.vehicle_spec import InertialUnitsSpec, PlantVehicle
from iap_physics.session.pushes import pushes
from iap_physics.session.session import Session

NO_ROTORS = np.zeros((0, 4))


class ArmTopics:
    """One vehicle's arm.

    Args:
        node: that publishes.
        session: the plant.
        number: of the vehicle in the session.
        name: of the vehicle.
        motors: of its arm.
        answered: called after a command came.
    """

    def __init__(
        self,
        node: SuiteNode,
        session: Session,
        number: int,
        name: str,
        motors: ArmMotors,
        answered: Callable[[], None],
    ) -> None:
        self._session, self._number, self._motors = session, number, motors
        self._answered, self._names = answered, motors.arm.record.joint_names
        self._in_step = session.spec.vehicles[number].joints_in_step
        self._message = JointStateMessage.of(self._names)
        states, commands = (
            node.absolute(f"{name}/{each}") for each in (JOINT_STATES, JOINT_COMMAND)
        )
        self._publisher = node.create_publisher(JointState, states, EVERY)
        kind = JointCommandMessage.TYPE
        read = partial(decoded, msgtype=kind)
        node.inputs.listen(kind, commands, read, self._on_command, LATEST)

    def publish(self, stamp: int) -> None:
        """Publish where the joints stand, at a stamp [ns]."""
        message, motors = self._message, self._motors
        message.put_head(stamp, 0)
        message.position[:], message.velocity[:], message.effort[:] = (
            motors.q,
            motors.v,
            motors.efforts,
        )
        self._publisher.publish(message.dump())

    def _on_command(self, content: Any) -> None:  # noqa: ANN401 - a decoded message
        """Let the motors go for a trajectory from its stamp on; without one from now on, and from where they are.

        Where every state is answered, a stamp of 0 is that of the first state, whose answer may come again late.
        """
        trajectory = trajectory_of(content, self._names)
        stamp = trajectory.stamp
        if not stamp and not self._in_step:
            stamp = stamp_of_time(self._session.t)
        t = stamp / SECOND + trajectory.t
        points = np.stack([trajectory.q, trajectory.v, trajectory.torque], axis=1)
        if trajectory.t[0] > 0.0:  # it begins where the joints are
            here = np.stack([self._motors.q, self._motors.v, self._motors.targets[2]])
            t, points = np.append(stamp / SECOND, t), np.concatenate([here[None], points])
        self._session.offer_arm(self._number, stamp / SECOND, JointTrajectory(t, points))
        self._answered()


class UnitTopic:
    """Ideal inertial samples of one vehicle, of which imu_node makes those of real units.

    Args:
        node: that publishes.
        name: of the vehicle.
        imu: the units.
        dt: of a physics step [s].
    """

    def __init__(self, node: SuiteNode, name: str, imu: InertialUnitsSpec, dt: float) -> None:
        frames = [mount.frame for mount in imu.mounts]
        self._bodies = [mount.body for mount in imu.mounts]
        self._make = partial(InertialMessage.of, frame(name, BASE_LINK), frames)
        self._messages: dict[int, InertialMessage] = {}  # by number of instants
        topic = node.absolute(f"{name}/inertial")
        self._publisher = node.create_publisher(InertialSamplesMessage, topic, EVERY)
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
        vehicle: its part of the plant.
        every: control periods between odometries, and between displays.
        answered: called after a command came.
    """

    def __init__(
        self,
        node: SuiteNode,
        session: Session,
        number: int,
        vehicle: PlantVehicle,
        every: tuple[int, int],
        answered: Callable[[], None],
    ) -> None:
        assembly, within = vehicle.assembly, node.absolute(vehicle.name)
        self.name = vehicle.name
        self._session, self._number, self._answered = session, number, answered
        self._every_odometry, self._every_display = every
        self._state = StateMessage.of(assembly, 4 * vehicle.platform.count)
        self._states = node.create_publisher(PlatformState, f"{within}/state", EVERY)
        self._publish_measurements(node, vehicle)
        imu = vehicle.imu
        self._units = None if imu is None else UnitTopic(node, self.name, imu, session.plant.dt)
        self._bodies = OdometryAndFrames(node, vehicle, assembly)
        self._motors = session.plant.arm(number)
        self._arm: ArmTopics | None = None
        if self._motors is not None:
            self._arm = ArmTopics(node, session, number, self.name, self._motors, answered)
        self._gripper: GripperTopics | None = None
        if session.gripper is not None and session.gripper[0].vehicle == number:
            gripper, _ = session.gripper
            self._gripper = GripperTopics(node, session, self.name, gripper, answered)
        self._look = RotorsAndMarkers(node, vehicle, assembly)
        self._listen(node, vehicle, len(assembly.bodies))

    def _publish_measurements(self, node: SuiteNode, vehicle: PlantVehicle) -> None:
        """Publish what is measured of the vehicle: its noisy state, and the contact wrench."""
        within = node.absolute(vehicle.name)
        self._measured: Publisher | None = None
        if vehicle.state_noise is not None:
            names = () if vehicle.assembly.arm is None else vehicle.assembly.arm.record.joint_names
            self._measured_state = StateMessage.of_names(["base_link"], arm=names)
            self._measured_odometry = MeasuredOdometry(node, self.name, vehicle.state_noise)
            topic = f"{within}/state/measured"
            self._measured = node.create_publisher(PlatformState, topic, EVERY)
        self._wrenches: tuple[Publisher, ...] = ()
        if self._session.sensors[self._number] is not None:
            self._wrench = WrenchMessage.of(frame(self.name, BASE_LINK))
            self._wrenches = tuple(
                node.create_publisher(WrenchStamped, f"{within}/wrench/{kind}", EVERY)
                for kind in ("raw", "filtered")
            )
            self._contacts = ContactMarkers(node, self.name)

    def _listen(self, node: SuiteNode, vehicle: PlantVehicle, bodies: int) -> None:
        """Take estimates and commands, and hand platform wrenches on."""
        within = node.absolute(vehicle.name)
        node.inputs.expect_one_publisher(node.resolve_topic_name(f"{within}/state"))
        if vehicle.flies_on_estimate:
            topic = f"{within}/{ESTIMATED}"
            node.inputs.listen_to_states(topic, bodies, self._on_estimate, LATEST)
        self.command_topic = f"{within}/command"
        self._node = node
        topic = f"{self.command_topic}/wrench"
        self._forwarded = node.create_publisher(PlatformCommand, topic, LATEST)
        command = MessageReader(CommandMessage).read
        node.inputs.listen(
            CommandMessage.TYPE, self.command_topic, command, self._on_command, LATEST
        )

    def reset(self) -> None:
        """Forget the path."""
        self._look.reset()

    def publish_state(self, stamp: int) -> None:
        """Publish the present state, and what is measured of it, at a stamp [ns]."""
        session, number = self._session, self._number
        self._publish_wrenches(stamp)
        x, rotors = session.plant.state(number)[0], session.plant.propulsion[number].rotors
        load = known_load(session.plant, number)
        if self._units is not None:
            self._units.publish(stamp, session.k, x, session.samples[number])
        self._state.put_head(stamp, session.k)
        self._state.put_rows(x, rotors.rpm[0], rotors.tilt[0])
        if self._motors is not None and self._arm is not None:
            self._arm.publish(stamp)
            if self._gripper is not None:
                self._gripper.publish(stamp)
            self._state.put_arm(self._motors.q, self._motors.v, load)
        self._states.publish(self._state.dump())
        if self._measured is not None:
            self._measured_state.put_head(stamp, session.k)
            self._measured_state.put_rows(session.measured[number][None], NO_ROTORS)
            if self._motors is not None:
                self._measured_state.put_arm(self._motors.q, self._motors.v, load)
            self._measured.publish(self._measured_state.dump())

    def _publish_wrenches(self, stamp: int) -> None:
        """Publish the wrenches, before the state: who acts on both has them when it comes."""
        sensor = self._session.sensors[self._number]
        if sensor is not None:
            for publisher, wrench_P in zip(
                self._wrenches, (sensor.raw_P, sensor.filtered_P), strict=True
            ):
                self._wrench.put_wrench(stamp, wrench_P)
                publisher.publish(self._wrench.dump())

    def publish_rest(self, stamp: int, *, again: bool) -> None:
        """Publish what is due of all that standard tools show; `again` for newcomers, to whom all of it is due."""
        session, number = self._session, self._number
        x = session.plant.state(number)[0]
        if again or session.k % self._every_odometry == 0:
            self._bodies.publish(stamp, x, again=again)
            if self._measured is not None:
                self._measured_odometry.publish(stamp, session.measured[number], again=again)
        if again or session.k % self._every_display == 0:
            rotors = session.plant.propulsion[number].rotors
            self._look.publish(stamp, session.t, x, rotors.rpm[0], rotors.tilt[0], again=again)
            if self._wrenches:
                self._contacts.publish(stamp, pushes(session.plant, number), again=again)

    def _on_estimate(self, estimate: StateMessage) -> None:
        """Let the autopilots go by the vehicle's own estimate."""
        self._session.set_estimate(self._number, estimate.stamp / SECOND, estimate.rows)

    def _on_command(self, command: CommandMessage) -> None:
        if command.mode == Mode.WRENCH:
            self._forward(command.dump())
            return
        self._session.offer(self._number, command.stamp / SECOND, command.get)
        self._answered()

    def _forward(self, data: bytes) -> None:
        """Hand a platform wrench on to the controller, which allocates it."""
        self._node.get_logger().warning(
            f"{self.command_topic}: a platform wrench is published on {self.command_topic}/wrench;"
            " it is handed on, which will end",
            throttle_duration_sec=5.0,
        )
        self._forwarded.publish(data)
