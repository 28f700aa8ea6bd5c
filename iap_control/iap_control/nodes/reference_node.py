# SPDX-License-Identifier: BSD-3-Clause
"""Publishes the references of one platform's flight: for every state one, with the state's stamp.

Runs in the vehicle's namespace, which is `iap` unless it is remapped. Its services takeoff, land and go_to have the
fields of Crazyswarm2. They are of crazyflie_interfaces where that is installed, so that programs for Crazyswarm2 call
them, else of iap_msgs. Their answers are empty: what is refused is a warning in the log, and changes nothing. A
MultiDOFJointTrajectory on the topic `reference/trajectory` begins when it comes.
"""

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import MultiDOFJointTrajectory

from iap_control.allocation.model import mount_yaws
from iap_control.references.maneuvers import Maneuvers
from iap_control.references.motions import Motion, MotionOrReplay, Replay
from iap_control.references.player import Player
from iap_control.references.timeline import Leads, Timeline, flight_timeline
from iap_control.references.timeline_parts import MAX_DURATION
from iap_control.references.waypoints import TRAJECTORY, read_trajectory
from iap_description.arrays import Array
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import Record, validate
from iap_description.errors import BadInput
from iap_description.signals import NO_WRENCH
from iap_description.states import STATE_SIZE
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform
from iap_io.ros.node import EVERY, LATEST, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.trajectories.messages import Sample
from iap_io.wire.message_views import ReferenceMessage, StateMessage
from iap_io.wire.stamps import SECOND
from iap_msgs.msg import PlatformReference

try:
    from crazyflie_interfaces import srv
except ImportError:
    from iap_msgs import srv

STARTS = ("hover", "ground")
TOPIC = "reference/trajectory"  # of trajectories that are asked for
POINTS_KEPT = 1  # trajectories that wait to be read: the newest
Plan = Callable[[Any, Array], Timeline]  # of a request and the present reference's row (19,)


class _ReferenceParameters(Record):
    """The parameter `reference`."""

    reference: MotionOrReplay


class ReferenceNode(SuiteNode):
    """Plays the timeline of a motion or of a recorded command."""

    def __init__(
        self,
        name: str = "reference_node",
        *,
        namespace: str = "iap",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, namespace=namespace, of="vehicle", parameters=parameters)
        self.refuse_scenario("reference")
        platform = self.platform()
        self._player, maneuvers = make_player(self, platform)
        self._out = ReferenceMessage.of(platform.count)
        self._references = self.create_publisher(PlatformReference, "reference", EVERY)
        bodies = 1 + len(platform.joints)
        self.inputs.listen_to_states("state", bodies, self._on_state, LATEST)
        self._is_over, self._stamp = False, -1
        self._maneuvers = ManeuverServices(self, self._player, maneuvers)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _statuses(self) -> list[DiagnosticStatus]:
        return [self.inputs.status("playing", {"t": max(self._stamp, 0) / SECOND})]

    def _on_state(self, state: StateMessage) -> None:
        self._stamp = state.stamp
        t = state.stamp / SECOND
        row, level = self._player.reference(t, state.rows[0])
        self._out.put_head(state.stamp, state.sequence)
        self._out.put_row(row, level, NO_WRENCH)
        self._references.publish(self._out.dump())
        self._log_end(t)

    def _log_end(self, t: float) -> None:
        is_over = self._player.is_over(t)
        if is_over and not self._is_over:
            self.get_logger().info("the reference has ended; its last pose is held")
        self._is_over = is_over


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


def make_player(node: SuiteNode, platform: Platform) -> tuple[Player, Maneuvers]:
    """Declare what a platform's references are made of, and make them, and what plans maneuvers beside them.

    Raises:
        BadInput: one of the parameters cannot be used.
    """
    reference = _reference(node)
    what = "Rate at which states come [Hz]."
    dt = 1.0 / node.parameter("control_rate", 200.0, what, limits=(1.0, 1e4))
    yaw_deg = _numbers(node, "aircraft_yaw_deg", "Heading of each aircraft", platform.count)
    yaw = None if yaw_deg is None else np.deg2rad(yaw_deg)
    assembly = Assembly.of(platform)
    leads = _leads(node, platform.ground_clearance, assembly.mass)
    line = flight_timeline(reference, leads, dt)
    mounts = mount_yaws(assembly)
    line = line.placed(_offset(node), mounts, yaw)
    what = "Length [s]; 0: the reference's own."
    duration = node.parameter("duration", 0.0, what, limits=(0.0, MAX_DURATION))
    if duration:
        line = line.cut(duration)
    home = _numbers(node, "home", "State row where the flight starts", STATE_SIZE)
    node.get_logger().info(f"{reference.type}: {line.duration:.1f} s")
    what = "Whether the reference is played; else its first pose is held until a service asks for more."
    plays = node.parameter("play", True, what)
    player = Player(line, line.row(0) if home is None else home, plays=plays)
    return player, Maneuvers(leads, dt, mounts, yaw)


def _reference(node: SuiteNode) -> Motion | Replay:
    text = node.parameter("reference", "", "The motion or replay, as YAML.")
    if not text:
        raise BadInput("parameter reference: the YAML of a motion or replay is missing")
    tree = {"reference": parse_yaml(text, source="parameter reference")}
    reference = validate(_ReferenceParameters, tree, source="parameters").reference
    if isinstance(reference, Replay) and reference.wrench_topic is not None:
        raise BadInput(
            "parameter reference: recorded wrenches are flown by iap replay, not by nodes"
        )
    return reference


def _leads(node: SuiteNode, ground_clearance: float, mass: float) -> Leads:
    start = node.choice("start", STARTS, "Where the flight begins and ends: hover | ground.")
    what = "From rest at the first pose to the reference [s]."
    lead_in = node.parameter("lead_in", 3.0, what, limits=(0.0, MAX_DURATION))
    return Leads(lead_in, ground_clearance if start == "ground" else None, mass)


def _offset(node: SuiteNode) -> Array:
    offset = np.array(node.parameter("offset", [0.0, 0.0, 0.0], "Added to the reference [m]."))
    if offset.shape != (3,) or not np.isfinite(offset).all():
        raise BadInput(f"parameter offset: three numbers are expected (got {offset.tolist()})")
    return offset


def _numbers(node: SuiteNode, name: str, what: str, count: int) -> Array | None:
    """A list of numbers that may be left out, as YAML; ROS has no empty list of numbers.

    Raises:
        BadInput: it is none of `count` finite numbers.
    """
    text = node.parameter(name, "", f"{what}: {count} numbers as YAML; empty: the reference's.")
    if not text:
        return None
    numbers = parse_yaml(text, source=f"parameter {name}")
    is_list = isinstance(numbers, list) and all(isinstance(v, int | float) for v in numbers)
    if not is_list or len(numbers) != count or not np.isfinite(numbers).all():
        raise BadInput(f"parameter {name}: {count} numbers are expected (got {numbers})")
    return np.array(numbers, dtype=np.float64)


def _points(data: bytes) -> list[Sample]:
    try:
        message = deserialize_message(data, MultiDOFJointTrajectory)
    except RuntimeError as error:  # of the middleware
        raise BadInput(f"no {TRAJECTORY}: {error}") from error
    return read_trajectory(message)


def _seconds(duration: Duration) -> float:
    return float(duration.sec + 1e-9 * duration.nanosec)


main = program("reference_node", ReferenceNode)

if __name__ == "__main__":
    sys.exit(main())
