# SPDX-License-Identifier: BSD-3-Clause
"""Topics of one body's estimate: odometry, the path so far, and frames."""

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry, Path
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Header

from iap_description.arrays import Array
from iap_description.frames import MAP
from iap_description.math.relative import relative_pose
from iap_estimation.nodes.odometry_messages import put_estimate
from iap_estimation.virpo.messages import Estimate
from iap_io.ros.conversions import fill_pose, fill_transform, set_stamp, transform_message
from iap_io.ros.node import SuiteNode
from iap_io.wire.sample_views import OdometryMessage
from iap_io.wire.stamps import stamp_of_time

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # it comes with a ROS 2 installation, not with the wheels
    TFMessage = None

RELIABLE_QOS = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
PATH_POSES, PATH_STEP, PATH_PERIOD = 1000, 0.1, 1.0  # most, how far apart [m], how often sent [s]


class BodyTopics:
    """Odometry and path of one body.

    Args:
        node: that publishes.
        space: absolute name under which they are, such as ``/iap/drone_1/virpo``.
        frame: TF frame of the body.
    """

    def __init__(self, node: SuiteNode, space: str, frame: str) -> None:
        self._message = OdometryMessage.of(frame)
        self._odometry = node.create_publisher(Odometry, f"{space}/odometry", RELIABLE_QOS)
        self._paths = node.create_publisher(Path, f"{space}/path", 1)
        self._path = Path(header=Header(frame_id=MAP))
        self._path_t = -np.inf

    def reset(self) -> None:
        """Forget the path."""
        self._path.poses, self._path_t = [], -np.inf

    def publish(self, estimate: Estimate) -> None:
        """Publish an estimate."""
        put_estimate(self._message, estimate)
        self._odometry.publish(self._message.dump())
        self._lengthen(stamp_of_time(estimate.t), self._message.pose)
        if estimate.t >= self._path_t + PATH_PERIOD and self._paths.get_subscription_count():
            self._path_t = estimate.t
            set_stamp(self._path.header, stamp_of_time(estimate.t))
            self._paths.publish(self._path)

    def _lengthen(self, stamp: int, pose: Array) -> None:
        poses: list[PoseStamped] = self._path.poses
        if poses:
            last = poses[-1].pose.position
            if np.linalg.norm(pose[:3] - [last.x, last.y, last.z]) < PATH_STEP:
                return
        self._path.poses = poses[-PATH_POSES + 1 :]
        new = PoseStamped(header=Header(frame_id=MAP))
        set_stamp(new.header, stamp)
        fill_pose(new.pose, pose)
        self._path.poses.append(new)


class BodyFrames:
    """Frames of bodies that hang on the first one, and that on ``odom``, in /tf where tf2_msgs is installed.

    Args:
        node: that publishes.
        odom: frame in `map` that the first body hangs on.
        frames: of the bodies.
    """

    def __init__(self, node: SuiteNode, odom: str, frames: Sequence[str]) -> None:
        base = frames[0]
        self._transforms = [transform_message(MAP, odom), transform_message(odom, base)]
        self._transforms += [transform_message(base, each) for each in frames[1:]]
        self._publisher: Publisher | None = None
        if TFMessage is not None:
            self._publisher = node.create_publisher(TFMessage, node.absolute("tf"), 100)
        self._pose = np.zeros(7)

    @property
    def has_listeners(self) -> bool:
        """True if there are subscribers."""
        return self._publisher is not None and self._publisher.get_subscription_count() > 0

    def publish(self, stamp: int, odom: Array, rows: Array) -> None:
        """Publish the pose (7,) of ``odom`` in `map` and those of bodies, rows (bodies, 7+) in `map`."""
        publisher = self._publisher
        if publisher is None or not self.has_listeners:
            return
        fill_transform(self._transforms[0], stamp, odom)
        for transform, parent, row in zip(
            self._transforms[1:], [odom, *[rows[0]] * (len(rows) - 1)], rows, strict=True
        ):
            relative_pose(parent, row, self._pose)
            fill_transform(transform, stamp, self._pose)
        publisher.publish(TFMessage(transforms=self._transforms))
