# SPDX-License-Identifier: BSD-3-Clause
"""Topics of physics_node for standard tools: odometry, TF, joints, markers, descriptions, and the world."""

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from iap_description.arrays import Array
from iap_description.frames import MAP
from iap_description.math import so3
from iap_description.math.relative import body_twist, joint_states, relative_pose
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.urdf import is_hinge, rotor_joint, tilt_joint, urdf_text
from iap_description.world.world import World
from iap_io.ros.conversions import (
    BASE_LINK,
    arrow_message,
    fill_joint_state,
    fill_odometry,
    fill_points,
    fill_pose,
    fill_transform,
    frame,
    joint_state_message,
    line_message,
    no_message,
    odometry_message,
    set_stamp,
    solid_message,
    transform_message,
)
from iap_io.ros.node import EVERY, LATCHED, SuiteNode
from iap_io.ros.served_topic import ServedTopic
from iap_io.ros.static_frames import TFMessage
from iap_io.runs.topics import WORLD_STATE, odometry_topic
from iap_io.runs.vehicle_meta import TRUTH
from iap_io.wire.message_views import StateMessage
from iap_io.wire.sample_views import OdometryMessage
from iap_msgs.msg import PlatformState
from iap_physics.engines.engine import Engine
from iap_physics.measured.state_noise import StateNoise
from iap_physics.nodes.markers import PathMarker, Rotors, Solid, contact_arrows, placed, solids
from iap_physics.plant.vehicle_spec import PlantVehicle

PATH_COLOR = (0.1, 0.4, 0.9, 0.8)
THRUST_COLOR = (0.9, 0.3, 0.1, 0.9)
CONTACT_COLOR = (0.9, 0.1, 0.6, 1.0)
ODOMETRY_QUEUE = 10


class OdometryAndFrames:
    """The pose of every body, as Odometry and in TF."""

    def __init__(self, node: SuiteNode, vehicle: PlantVehicle, assembly: Assembly) -> None:
        name, bodies = vehicle.name, [body.name for body in assembly.bodies]
        self._odometry = [odometry_message(name, body) for body in bodies]
        self._publishers = [
            ServedTopic(
                node.create_publisher(
                    Odometry, node.absolute(f"{name}/{odometry_topic(body)}"), ODOMETRY_QUEUE
                )
            )
            for body in bodies
        ]
        # Where the vehicle goes by an estimate, the estimate's frames have the plain names.
        shown = f"{name}/{TRUTH}" if vehicle.flies_on_estimate else name
        base = frame(shown, BASE_LINK)
        self._transforms = [transform_message(MAP, base)]
        self._transforms += [transform_message(base, frame(shown, body)) for body in bodies[1:]]
        self._frames: ServedTopic | None = None
        if TFMessage is not None:
            self._frames = ServedTopic(node.create_publisher(TFMessage, node.absolute("tf"), 100))
        self._pose = np.zeros(7)

    def publish(self, stamp: int, x: Array, *, again: bool) -> None:
        """Publish state rows (bodies, 13) at a stamp [ns], `again` for newcomers."""
        for publisher, odometry, row in zip(self._publishers, self._odometry, x, strict=True):
            if publisher.is_due(again=again):
                fill_odometry(odometry, stamp, row)
                publisher.publish(odometry)
        if self._frames is not None and self._frames.is_due(again=again):
            self._publish_frames(self._frames, stamp, x)

    def _publish_frames(self, publisher: ServedTopic, stamp: int, x: Array) -> None:
        fill_transform(self._transforms[0], stamp, x[0])
        for transform, row in zip(self._transforms[1:], x[1:], strict=True):
            relative_pose(x[0], row, self._pose)
            fill_transform(transform, stamp, self._pose)
        publisher.publish(TFMessage(transforms=self._transforms))


class MeasuredOdometry:
    """Measured state of a vehicle's central body as Odometry, with the covariance of its white noise.

    Args:
        node: that publishes.
        vehicle: its name.
        noise: of its state.
    """

    def __init__(self, node: SuiteNode, vehicle: str, noise: StateNoise) -> None:
        self._message = OdometryMessage.of(frame(vehicle, BASE_LINK))
        place = noise.position**2 + noise.position_bias**2
        turn, rate = np.deg2rad(noise.attitude_deg) ** 2, np.deg2rad(noise.rate_deg) ** 2
        self._message.pose_covariance[:] = np.diag(np.repeat([place, turn], 3))
        self._message.twist_covariance[:] = np.diag(np.repeat([noise.velocity**2, rate], 3))
        topic = node.absolute(f"{vehicle}/{odometry_topic(BASE_LINK)}/measured")
        self._publisher = ServedTopic(node.create_publisher(Odometry, topic, ODOMETRY_QUEUE))

    def publish(self, stamp: int, row: Array, *, again: bool) -> None:
        """Publish a measured row (13,) at a stamp [ns], `again` for newcomers."""
        if self._publisher.is_due(again=again):
            self._message.put_head(stamp, 0)
            self._message.pose[:] = row[:7]
            body_twist(row, self._message.twist_B)
            self._publisher.publish(self._message.dump())


class ContactMarkers:
    """An arrow for every contact point of the vehicle of a name."""

    def __init__(self, node: SuiteNode, name: str) -> None:
        self._namespace, self._shown = f"{name}/contact", 0
        topic = node.absolute(f"{name}/contact_markers")
        self._markers = ServedTopic(node.create_publisher(MarkerArray, topic, 10))

    def publish(self, stamp: int, pushes: Array, *, again: bool) -> None:
        """Publish contacts (n, 2, 3), points [m] and forces [N] in the world, at a stamp [ns].

        Those of before are published `again` for newcomers.
        """
        if not self._markers.is_due(again=again):
            return
        feet_and_heads = contact_arrows(pushes)
        count = len(feet_and_heads)
        arrows = [arrow_message(self._namespace, i, CONTACT_COLOR) for i in range(count)]
        for arrow, points in zip(arrows, feet_and_heads, strict=True):
            fill_points(arrow, stamp, points)
        gone = [no_message(self._namespace, i) for i in range(count, self._shown)]
        self._shown = count
        self._markers.publish(MarkerArray(markers=[*arrows, *gone]))


class WorldTopics:
    """The objects of the world: markers, and where one of them moves also a state, for sensors that look at them.

    Every array of markers is the whole world: a reader that keeps one message, and one that comes late, lack nothing.
    """

    TOPIC = "world/markers"

    def __init__(self, node: SuiteNode, world: World, engine: Engine) -> None:
        self._engine = engine
        self._moving: list[tuple[int, Solid, Marker]] = []
        self._markers, rows = [], engine.object_states()
        for k, (name, item) in enumerate(world.objects.items()):
            for number, solid in enumerate(solids(item.visual())):
                fixed = (solid.kind, solid.scale, solid.corners, solid.color)
                marker = solid_message(f"world/{name}", number, *fixed)
                fill_pose(marker.pose, placed(solid, rows[k]))
                self._markers.append(marker)
                if item.moves:
                    self._moving.append((k, solid, marker))
        self._publisher = node.create_publisher(MarkerArray, node.absolute(self.TOPIC), LATCHED)
        self._publisher.publish(MarkerArray(markers=self._markers))
        self._states: Publisher | None = None
        if any(item.moves for item in world.objects.values()):
            self._state = StateMessage.of_names(list(world.objects))
            topic = node.absolute(WORLD_STATE)
            self._states = node.create_publisher(PlatformState, topic, EVERY)

    def publish_state(self, stamp: int, k: int) -> None:
        """Publish the present state at a stamp [ns], number k, if anything moves."""
        if self._states is not None:
            self._state.put_head(stamp, k)
            self._state.put_rows(self._engine.object_states(), np.zeros(0))
            self._states.publish(self._state.dump())

    def publish_markers(self, stamp: int) -> None:
        """Publish where everything is at a stamp [ns], if anything moves."""
        if not self._moving:
            return
        rows = self._engine.object_states()
        for k, solid, marker in self._moving:
            set_stamp(marker.header, stamp)
            fill_pose(marker.pose, placed(solid, rows[k]))
        self._publisher.publish(MarkerArray(markers=self._markers))


class Hinges:
    """Angles of the joints between bodies that standard URDF knows as hinges.

    Attributes:
        names: of the joints.
        angle: (n,) about their axes from where the children are at rest [rad].
        rate: (n,) [rad/s].
    """

    def __init__(self, assembly: Assembly) -> None:
        joints = [each for each in assembly.joints if is_hinge(each)]
        self.names = [each.name for each in joints]
        ends = [(each.parent, each.child) for each in joints]
        self._ends = np.array(ends, np.int64).reshape(-1, 2)
        self._axes = np.array([each.axes[0] for each in joints]).reshape(-1, 3)
        self._rest = np.array([each.q_PJ for each in joints]).reshape(-1, 4)
        self._q, self._w = np.zeros((len(joints), 4)), np.zeros((len(joints), 3))
        self.angle, self.rate = np.zeros(len(joints)), np.zeros(len(joints))

    def read(self, x: Array) -> None:
        """Read the angles off state rows (bodies, 13): q_PB = q_PJ exp(axis angle / 2)."""
        joint_states(x, self._ends, self._q, self._w)
        turn = so3.multiply(so3.conjugate(self._rest), self._q)
        half = np.arctan2(np.sum(turn[:, :3] * self._axes, axis=1), turn[:, 3])
        self.angle[:] = np.remainder(2.0 * half + np.pi, 2.0 * np.pi) - np.pi
        self.rate[:] = np.sum(self._w * self._axes, axis=1)


class RotorsAndMarkers:
    """Hinges, turning rotors, thrust arrows, the path flown, and the URDF that goes with them."""

    def __init__(self, node: SuiteNode, vehicle: PlantVehicle, assembly: Assembly) -> None:
        name = vehicle.name
        self._rotors, self._trace = Rotors(assembly, vehicle.platform.fleet), PathMarker()
        bodies = [assembly.bodies[i] for i in assembly.aircraft]
        rotors = [(each.name, k + 1) for each in bodies for k in range(len(each.rotors))]
        names = [rotor_joint(*rotor) for rotor in rotors]
        if self._rotors.tilts:
            names += [tilt_joint(*rotor) for rotor in rotors]
        self._hinges = Hinges(assembly)
        self._joints = joint_state_message([*self._hinges.names, *names])
        within = node.absolute(name)
        joint_states = node.create_publisher(JointState, f"{within}/joint_states", 10)
        self._joint_states = ServedTopic(joint_states)
        arrows = [arrow_message(f"{name}/thrust", i, THRUST_COLOR) for i in range(len(bodies))]
        self._array = MarkerArray(markers=[*arrows, line_message(f"{name}/path", 0, PATH_COLOR)])
        markers = node.create_publisher(MarkerArray, f"{within}/markers", 10)
        self._markers = ServedTopic(markers)
        self._t = 0.0
        description = node.create_publisher(String, f"{within}/robot_description", LATCHED)
        description.publish(String(data=urdf_text(assembly, target="ros")))

    def reset(self) -> None:
        """Forget the path."""
        self._trace.reset()
        self._t = 0.0

    def publish(
        self, stamp: int, t: float, x: Array, rpm: Array, tilt: Array, *, again: bool
    ) -> None:
        """Publish state rows (bodies, 13), rotor speeds [rpm] and tilts [rad] (N, 4) at time `t` [s].

        A stamp [ns] that was published before is published `again` for newcomers.
        """
        self._rotors.turn(rpm, tilt, t - self._t)
        self._t = t
        self._trace.add(x[0, :3])
        if self._joint_states.is_due(again=again):
            self._hinges.read(x)
            hinges = (self._hinges.angle, self._hinges.rate)
            rows = zip(hinges, self._rotors.joints, strict=True)
            values = [np.concatenate([mine, turning.ravel()]) for mine, turning in rows]
            fill_joint_state(self._joints, stamp, *values)
            self._joint_states.publish(self._joints)
        if self._markers.is_due(again=again):
            *arrows, path = self._array.markers
            for arrow, points in zip(arrows, self._rotors.thrust_arrows(x, rpm), strict=True):
                fill_points(arrow, stamp, points)
            fill_points(path, stamp, self._trace.points)
            self._markers.publish(self._array)
