# SPDX-License-Identifier: BSD-3-Clause
"""A platform that is flown by requests: services takeoff, land, go_to with the fields of Crazyswarm2, and trajectories.

They are of crazyflie_interfaces where that is installed, so that programs for Crazyswarm2 call them, else of iap_msgs.
Their answers are empty: what is refused is a warning in the log, and changes nothing. A MultiDOFJointTrajectory on
the topic `reference/trajectory` begins when it comes.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import MultiDOFJointTrajectory

from iap_control.references.maneuvers import Maneuvers
from iap_control.references.player import Player
from iap_control.references.timeline import Timeline
from iap_control.references.waypoints import TRAJECTORY, read_trajectory
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode
from iap_io.trajectories.messages import Sample

try:
    from crazyflie_interfaces import srv
except ImportError:
    from iap_msgs import srv

TOPIC = "reference/trajectory"
POINTS_KEPT = 1  # trajectories that wait to be read: the newest
Plan = Callable[[Any, Array], Timeline]  # of a request and the present reference's row (19,)


class ManeuverServices:
    """Offers the services in the node's namespace.

    Args:
        node: whose they are.
        player: of its reference.
        maneuvers: plans what is asked for.
    """

    def __init__(self, node: SuiteNode, player: Player, maneuvers: Maneuvers) -> None:
        self._node, self._player, self._maneuvers = node, player, maneuvers
        what = (
            "Groups of which the vehicle is, one a bit; requests for no group mean all vehicles."
        )
        node.inputs.listen(TRAJECTORY, TOPIC, _points, self._follow, POINTS_KEPT)
        self._groups = node.parameter("group_mask", 0, what, limits=(0, 255))
        if not hasattr(srv, "Takeoff"):
            text = (
                "no services takeoff, land, go_to: iap_msgs is older than this node, build it anew"
            )
            node.get_logger().warning(text)
            return
        self._offer(srv.Takeoff, "takeoff", self._takeoff)
        self._offer(srv.Land, "land", self._land)
        self._offer(srv.GoTo, "go_to", self._go_to)

    def _offer(self, kind: type, name: str, plan: Plan) -> None:
        def serve(request: Any, response: Any) -> Any:  # noqa: ANN401 - of either package
            self._begin(name, request, plan)
            return response

        self._node.create_service(kind, name, serve)

    def _begin(self, name: str, request: Any, plan: Plan) -> None:  # noqa: ANN401
        """Begin what a request asks for, or say why not."""
        if request.group_mask and not request.group_mask & self._groups:
            return
        log = self._node.get_logger()
        try:
            self._player.begin(lambda now: plan(request, now))
        except BadInput as error:
            log.warning(f"{name}: refused: {error}")
        else:
            log.info(f"{name}: begins")

    def _follow(self, points: list[Sample]) -> None:
        """Begin a trajectory. Raises BadInput where it cannot be flown."""
        self._player.begin(lambda now: self._maneuvers.follow(now, points), blends=True)
        self._node.get_logger().info(f"{TOPIC}: {len(points)} points begin")

    def _takeoff(self, request: Any, now: Array) -> Timeline:  # noqa: ANN401
        return self._maneuvers.take_off(now, request.height, _seconds(request.duration))

    def _land(self, request: Any, now: Array) -> Timeline:  # noqa: ANN401
        return self._maneuvers.land(now, request.height, _seconds(request.duration))

    def _go_to(self, request: Any, now: Array) -> Timeline:  # noqa: ANN401
        goal = np.array([request.goal.x, request.goal.y, request.goal.z])
        yaw, duration = math.radians(request.yaw), _seconds(request.duration)
        return self._maneuvers.go_to(now, goal, yaw, duration, relative=request.relative)


def _points(data: bytes) -> list[Sample]:
    try:
        message = deserialize_message(data, MultiDOFJointTrajectory)
    except RuntimeError as error:  # of the middleware
        raise BadInput(f"no {TRAJECTORY}: {error}") from error
    return read_trajectory(message)


def _seconds(duration: Duration) -> float:
    return float(duration.sec + 1e-9 * duration.nanosec)
