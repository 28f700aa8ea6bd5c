# SPDX-License-Identifier: BSD-3-Clause
"""Message types that carry a pose, and its place in each of them.

Messages are rosbags' deserialised objects, with the attributes of the ROS definitions. A type's
`MessageParser` says in which axes its twist is expressed: `nav_msgs/Odometry` defines its twist in the
body (child) frame; the vectors of a MultiDOFJointTrajectory are in the frame of its header, as for
the pose; iap_msgs/PlatformReference has linear vectors in the world's axes and angular ones in the
platform's.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from iap_description.errors import BadInput, shown
from iap_description.math import so3
from iap_io.trajectories.conventions import Convention

Numbers = tuple[float, ...]
Fields = Any  # a message or a part of one, whose type rosbags makes at run time


class Sample(NamedTuple):
    """One pose and what came with it, as recorded."""

    p: Numbers
    q: Numbers
    v: Numbers | None = None
    w: Numbers | None = None
    a: Numbers | None = None
    alpha: Numbers | None = None
    later_ns: int = 0  # after the message's stamp [ns]


def stamp_ns(stamp: Fields) -> int:
    """A builtin_interfaces/Time in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def header_ns(message: Fields) -> int:
    """The stamp of a message's header [ns]."""
    return stamp_ns(message.header.stamp)


@dataclass(frozen=True)
class MessageParser:
    """Reader of one message type.

    Attributes:
        samples: a message's samples; raises BadInput with a text that the caller completes.
        linear_in_body: whether linear velocity is in body axes.
        angular_in_world: whether angular velocity and acceleration are in world axes.
        stamp: a message's own time [ns].
        has_attitude: whether it has one; else it is level.
        convention: axes that the type defines; None where names of frames and topics say them.
    """

    samples: Callable[[Any], Iterator[Sample]]
    linear_in_body: bool = False
    angular_in_world: bool = False
    stamp: Callable[[Any], int] = header_ns
    has_attitude: bool = True
    convention: Convention | None = None


@contextmanager
def fields_of(source: str) -> Iterator[None]:
    """Report a field that is read and that the bag's own definition of a type does not have.

    Raises:
        BadInput: names it.
    """
    try:
        yield
    except AttributeError as error:
        raise BadInput(
            f"{source}: its type has no field {shown(error.name)} in this bag, as of another release of its package:"
            " --topic names another topic, or convert it to messages of today"
        ) from error


def xyz(vector: Fields) -> Numbers:
    """A Point or Vector3."""
    return vector.x, vector.y, vector.z


def _sample(
    place: Fields, turn: Fields, twist: Fields = None, accel: Fields = None, later_ns: int = 0
) -> Sample:
    """A sample of a position, a quaternion, and what else comes with them."""
    q = turn.x, turn.y, turn.z, turn.w
    v, w = (None, None) if twist is None else (xyz(twist.linear), xyz(twist.angular))
    a, alpha = (None, None) if accel is None else (xyz(accel.linear), xyz(accel.angular))
    return Sample(xyz(place), q, v, w, a, alpha, later_ns)


def _pose_stamped(message: Fields) -> Iterator[Sample]:
    yield _sample(message.pose.position, message.pose.orientation)


def _transform_stamped(message: Fields) -> Iterator[Sample]:
    yield _sample(message.transform.translation, message.transform.rotation)


def _odometry(message: Fields) -> Iterator[Sample]:
    pose = message.pose.pose
    yield _sample(pose.position, pose.orientation, message.twist.twist)


def _pose_with_covariance(message: Fields) -> Iterator[Sample]:
    pose = message.pose.pose
    yield _sample(pose.position, pose.orientation)


def _point_stamped(message: Fields) -> Iterator[Sample]:
    yield Sample(xyz(message.point), (0.0, 0.0, 0.0, 1.0))


def _platform_reference(message: Fields) -> Iterator[Sample]:
    if message.level != 0:
        raise BadInput(
            f"level is {message.level}: not a pose reference (level 0), which a replay needs"
        )
    pose = message.pose
    yield _sample(pose.position, pose.orientation, message.twist, message.accel)


def _trajectory(message: Fields) -> Iterator[Sample]:
    for point in message.points:
        if len(point.transforms) != 1:
            raise BadInput(
                f"a point has {len(point.transforms)} transforms; one is expected, the platform's"
            )
        pose, later = point.transforms[0], point.time_from_start
        twist = point.velocities[0] if len(point.velocities) else None
        accel = point.accelerations[0] if len(point.accelerations) else None
        later_ns = later.sec * 1_000_000_000 + later.nanosec
        yield _sample(pose.translation, pose.rotation, twist, accel, later_ns)


def _vehicle_odometry(message: Fields) -> Iterator[Sample]:
    """PX4's estimate: NED, or x and y elsewhere (FRD); quaternions w first; NaN is what it does not know."""
    frames = {1: "NED", 2: "FRD"}
    if message.pose_frame not in frames:
        raise BadInput(f"pose_frame is {message.pose_frame}: neither NED (1) nor FRD (2)")
    w, x, y, z = map(float, message.q)
    q = np.array([x, y, z, w])
    v = np.array(message.velocity, dtype=float)
    if message.velocity_frame == _BODY_FRD:
        v = so3.rotate(q, v)
    elif message.velocity_frame != message.pose_frame:
        v = np.full(3, math.nan)
    known = tuple(map(float, v)), tuple(map(float, message.angular_velocity))
    linear, angular = (each if all(map(math.isfinite, each)) else None for each in known)
    yield Sample(tuple(map(float, message.position)), tuple(q.tolist()), linear, angular)


_BODY_FRD = 3  # of velocity_frame


POINT_STAMPED = "geometry_msgs/msg/PointStamped"
READINGS: Mapping[str, MessageParser] = {
    "iap_msgs/msg/PlatformReference": MessageParser(_platform_reference),
    "geometry_msgs/msg/PoseStamped": MessageParser(_pose_stamped),
    "nav_msgs/msg/Odometry": MessageParser(_odometry, linear_in_body=True),
    "geometry_msgs/msg/TransformStamped": MessageParser(_transform_stamped),
    "trajectory_msgs/msg/MultiDOFJointTrajectory": MessageParser(
        _trajectory, angular_in_world=True
    ),
    "geometry_msgs/msg/PoseWithCovarianceStamped": MessageParser(_pose_with_covariance),
    "px4_msgs/msg/VehicleOdometry": MessageParser(
        _vehicle_odometry,
        stamp=lambda message: 1000 * int(message.timestamp_sample or message.timestamp),
        convention="ned",
    ),
    POINT_STAMPED: MessageParser(_point_stamped, has_attitude=False),
}
# Types whose messages hold the poses of several times or bodies, each with a header.
TRANSFORMS = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
PATH = "nav_msgs/msg/Path"


class BodyList(NamedTuple):
    """A type whose messages have a header and a list of bodies.

    Attributes:
        bodies: its field of them.
        name: the field of a body's name; empty where its place in the list, from 0, is all there is.
        pose: the field of a body's pose; empty where the body is one.
    """

    bodies: str = "poses"
    name: str = ""
    pose: str = ""

    def read(self, message: Fields) -> Iterator[tuple[str, Numbers]]:
        """Names of a message's bodies, with their positions and quaternions in one."""
        for place, body in enumerate(getattr(message, self.bodies)):
            pose = getattr(body, self.pose) if self.pose else body
            name = str(getattr(body, self.name)) if self.name else str(place)
            p, q = pose.position, pose.orientation
            yield name, (*xyz(p), q.x, q.y, q.z, q.w)


_RIGID_BODIES = BodyList("rigidbodies", "rigid_body_name", "pose")
BODY_LISTS: Mapping[str, BodyList] = {
    "geometry_msgs/msg/PoseArray": BodyList(),
    "mocap_msgs/msg/RigidBodies": _RIGID_BODIES,
    "mocap4r2_msgs/msg/RigidBodies": _RIGID_BODIES,
    "motion_capture_tracking_interfaces/msg/NamedPoseArray": BodyList("poses", "name", "pose"),
}
# The original simulator's: one topic for the position, one for Euler angles.
POINT = "geometry_msgs/msg/Point"
