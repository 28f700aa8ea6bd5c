# SPDX-License-Identifier: BSD-3-Clause
"""Between ROS message objects and arrays: the only place that knows both.

Functions that ``fill`` write into a message that is kept and published again; rows are those of
`iap_description.states`. What goes at 200 Hz (state, reference, command, wrenches) goes as bytes, see
`iap_io.wire.message_views`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import (
    Accel,
    Point,
    Pose,
    Quaternion,
    TransformStamped,
    Twist,
    Vector3,
)
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker

from iap_description.arrays import Array
from iap_description.frames import MAP
from iap_description.math.relative import body_twist
from iap_description.states import P, Q
from iap_io.wire.stamps import SECOND

BASE_LINK = "base_link"
_SOLIDS = {
    "box": Marker.CUBE,
    "cylinder": Marker.CYLINDER,
    "sphere": Marker.SPHERE,
    "triangles": Marker.TRIANGLE_LIST,
}
ANCHOR_COLOR, ANCHOR_SIZE = (0.95, 0.75, 0.1, 0.9), 0.2  # rgba, [m]
_twist = np.zeros(6)


def stamp_message(stamp: int) -> Time:
    """A stamp [ns] as a message."""
    return Time(sec=stamp // SECOND, nanosec=stamp % SECOND)


def set_stamp(header: Header, stamp: int) -> None:
    """Set the stamp [ns] of a header."""
    header.stamp.sec, header.stamp.nanosec = divmod(stamp, SECOND)


def frame(vehicle: str, body: str) -> str:
    """TF frame of a vehicle's body."""
    return f"{vehicle}/{body}"


def fill_pose(pose: Pose, row: Array) -> None:
    """Fill a pose from a row (7+): position [m] and quaternion xyzw."""
    _fill_vector(pose.position, row[P])
    _fill_quaternion(pose.orientation, row[Q])


def fill_twist(twist: Twist | Accel, rates: Array) -> None:
    """Fill a twist or an acceleration from [linear; angular] (6+)."""
    _fill_vector(twist.linear, rates)
    _fill_vector(twist.angular, rates[3:])


def odometry_message(vehicle: str, body: str) -> Odometry:
    """An Odometry of a body, to be filled."""
    return Odometry(header=Header(frame_id=MAP), child_frame_id=frame(vehicle, body))


def fill_odometry(odometry: Odometry, stamp: int, row: Array) -> None:
    """Fill from a state row (13,); the twist is in the child frame, as Odometry has it."""
    set_stamp(odometry.header, stamp)
    fill_pose(odometry.pose.pose, row)
    body_twist(row, _twist)
    fill_twist(odometry.twist.twist, _twist)


def transform_message(parent: str, child: str) -> TransformStamped:
    """A transform between two frames, to be filled."""
    return TransformStamped(header=Header(frame_id=parent), child_frame_id=child)


def fill_transform(transform: TransformStamped, stamp: int, pose: Array) -> None:
    """Fill from the child's pose (7+) in the parent."""
    set_stamp(transform.header, stamp)
    _fill_vector(transform.transform.translation, pose[P])
    _fill_quaternion(transform.transform.rotation, pose[Q])


def joint_state_message(names: Sequence[str]) -> JointState:
    """A JointState of these joints, to be filled."""
    zeros = [0.0] * len(names)
    return JointState(name=list(names), position=zeros, velocity=zeros)


def fill_joint_state(message: JointState, stamp: int, position: Array, velocity: Array) -> None:
    """Fill positions [rad] and velocities [rad/s]."""
    set_stamp(message.header, stamp)
    message.position, message.velocity = position.ravel().tolist(), velocity.ravel().tolist()


def arrow_message(namespace: str, number: int, color: Sequence[float]) -> Marker:
    """An arrow between two points in the world, to be filled."""
    marker = _marker(namespace, number, Marker.ARROW, color)
    marker.scale = Vector3(x=0.025, y=0.06, z=0.08)  # shaft, head [m]
    marker.points = [Point(), Point()]
    return marker


def solid_message(
    namespace: str, number: int, kind: str, scale: Array, corners: Array, color: Sequence[float]
) -> Marker:
    """A box, cylinder, sphere, or triangles (n, 3), in the world; its pose is to be filled."""
    marker = _marker(namespace, number, _SOLIDS[kind], color)
    _fill_vector(marker.scale, scale)
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in corners.tolist()]
    return marker


def no_message(namespace: str, number: int) -> Marker:
    """A message that removes a marker."""
    return Marker(header=Header(frame_id=MAP), ns=namespace, id=number, action=Marker.DELETE)


def line_message(namespace: str, number: int, color: Sequence[float]) -> Marker:
    """A line through points in the world, to be filled."""
    marker = _marker(namespace, number, Marker.LINE_STRIP, color)
    marker.scale.x = 0.02  # width [m]
    return marker


def anchor_messages(
    namespace: str, first: int, name: str, position: Sequence[float]
) -> list[Marker]:
    """A ball at a position (3,) [m] and its name above it, with the numbers `first` and the next."""
    ball = _marker(namespace, first, Marker.SPHERE, ANCHOR_COLOR)
    _fill_vector(ball.scale, np.full(3, ANCHOR_SIZE))
    text = _marker(namespace, first + 1, Marker.TEXT_VIEW_FACING, (*ANCHOR_COLOR[:3], 1.0))
    text.scale.z, text.text = 2.0 * ANCHOR_SIZE, name  # height of a letter [m]
    for marker, above in ((ball, 0.0), (text, 2.0 * ANCHOR_SIZE)):
        _fill_vector(marker.pose.position, np.add(position, [0.0, 0.0, above]))
    return [ball, text]


def fill_points(marker: Marker, stamp: int, points: Array) -> None:
    """Fill the points (n, 3) of a marker; there may be more or fewer than before."""
    set_stamp(marker.header, stamp)
    have = len(marker.points)
    marker.points = [*marker.points[: len(points)], *(Point() for _ in range(len(points) - have))]
    for point, values in zip(marker.points, points.tolist(), strict=True):
        point.x, point.y, point.z = values


def warning_or(doing: str, *reasons: str) -> tuple[bytes, str]:
    """Level and text of a status: a warning of every reason that there is, none hiding another, or what is done."""
    wrong = "; ".join(filter(None, reasons))
    return (DiagnosticStatus.WARN, wrong) if wrong else (DiagnosticStatus.OK, doing)


def status_message(
    name: str, level: bytes, text: str, values: Mapping[str, object], *, hardware: str = ""
) -> DiagnosticStatus:
    """A diagnostic status of some hardware, such as a vehicle; numbers are shortened to four digits."""
    shown = {k: f"{v:.4g}" if isinstance(v, float) else str(v) for k, v in values.items()}
    pairs = [KeyValue(key=key, value=value) for key, value in shown.items()]
    status = DiagnosticStatus(level=level, name=name, message=text, values=pairs)
    status.hardware_id = hardware
    return status


def _marker(namespace: str, number: int, kind: int, color: Sequence[float]) -> Marker:
    r, g, b, a = color
    marker = Marker(header=Header(frame_id=MAP), ns=namespace, id=number, type=kind)
    marker.action, marker.color = Marker.ADD, ColorRGBA(r=r, g=g, b=b, a=a)
    marker.pose.orientation.w = 1.0
    return marker


def _fill_vector(out: Point | Vector3, values: Array) -> None:
    out.x, out.y, out.z = float(values[0]), float(values[1]), float(values[2])


def _fill_quaternion(out: Quaternion, values: Array) -> None:
    out.x, out.y, out.z, out.w = (float(value) for value in values)
