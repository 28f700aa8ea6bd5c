# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches of nodes: asked for by messages, lost on their way, and shown to standard tools."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from geometry_msgs.msg import WrenchStamped
from probe import process_of, start_gathered
from rclpy.qos import QoSProfile, ReliabilityPolicy
from test_contact_in_lockstep import WALL
from visualization_msgs.msg import Marker, MarkerArray

from iap_bringup.launching.node_parameters import OBSERVER
from iap_io.ros.node import LATCHED
from iap_msgs.msg import ForceTask, PlatformReference
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
CONTROLLER, ADMITTANCE = "/iap/controller_node", "/iap/admittance_node"
IAP = "physics_node: iap"
SURFACE = "surface: {friction: 0.4, restitution: 0.0, stiffness: 2.0e+4, damping: 200.0}"
SWINGING = "motion: {type: sine, amplitude: [0.5, 0.0, 0.0], period: 2.0}"
OBJECTS = (
    f"world.objects={{wall: {{type: wall, position: [-3.0, 0.0, 2.0], width: 4.0, height: 4.0, {SURFACE}}}, "
    f"box: {{type: box, position: [0.0, 3.0, 1.0], size: [0.1, 0.1, 0.1], {SURFACE}, {SWINGING}}}}}"
)
EVERY = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)


def process(node):
    """The observer falls silent alone."""
    return OBSERVER if node.executable == OBSERVER else process_of(node)


def fly(simulation, assignments, pace="lockstep"):
    """Start the wall push with assignments; returns what is heard of wrenches and tasks."""
    nodes, probe = simulation
    scenario, _ = resolve("wall_push", Options(assignments=(*WALL, *assignments)))
    probe.hear_states("iap")
    felt = probe.hear(WrenchStamped, "/iap/wrench/filtered", EVERY)
    tasks = probe.hear(ForceTask, "/iap/wrench/task", EVERY)
    parameters = {"scenario": "wall_push", "assignments": [*WALL, *assignments]}
    start_gathered(nodes, scenario, parameters, process, pace=pace)
    probe.wait_for_state("iap", 0.5)
    return felt, tasks


def pushes(felt, least=4.0):
    return bool(felt) and felt[-1].wrench.force.x > least


def test_a_wrench_that_stays_away_switches_wrench_control_off_and_stops_nothing(start):
    nodes, probe = start
    felt, tasks = fly(start, ["control.wrench_source=estimated"], pace="realtime")
    probe.wait(lambda: pushes(felt), "the push")
    assert tasks[-1].mode == ForceTask.MODE_SELECTIVE
    nodes.processes[OBSERVER].send_signal(signal.SIGSTOP)
    try:
        probe.wait(lambda: probe.says(CONTROLLER, "no wrench on /iap/wrench/estimated"), "warning")
        assert probe.statuses[CONTROLLER][0] == b"\x01"
        probe.wait(lambda: tasks[-1].mode == ForceTask.MODE_NONE, "end of wrench control")
        began, taken = probe.newest["iap"], probe.value(IAP, "taken")
        probe.wait_for_state("iap", began / 1e9 + 1.0)
        probe.wait(lambda: probe.value(IAP, "taken") > taken + 20, "commands all the while")
    finally:
        nodes.processes[OBSERVER].send_signal(signal.SIGCONT)
    base = probe.states["iap"][probe.newest["iap"]][0]
    assert np.abs(base[:3] - [-1.94, 0.0, 2.0]).max() < 0.1
    probe.wait(lambda: tasks[-1].mode == ForceTask.MODE_SELECTIVE, "wrench control again")
    probe.wait(lambda: probe.says(CONTROLLER, "controlling"), "no warning any more")


def test_a_wrench_asked_for_by_messages_acts_until_they_fall_silent(start):
    _, probe = start
    felt, tasks = fly(start, ["push=null"], pace="realtime")
    assert not tasks or tasks[-1].mode == ForceTask.MODE_NONE
    demands = probe.node.create_publisher(WrenchStamped, "/iap/wrench/reference", 10)
    demand = WrenchStamped()
    demand.header.frame_id = "map"
    demand.wrench.force.x = 5.0

    def ask() -> None:
        demands.publish(demand)

    def is_refused() -> bool:
        ask()
        return probe.says(CONTROLLER, "frame_id 'map' is not iap/base_link")

    probe.wait(is_refused, "refusal of the frame")
    assert probe.set_parameter(CONTROLLER, "wrench_axes", ["x", "z"]).successful
    refused = probe.set_parameter(CONTROLLER, "wrench_axes", ["forward"])
    assert not refused.successful and "'forward' is none of x" in refused.reason
    demand.header.frame_id = "iap/base_link"

    def is_felt() -> bool:
        ask()
        return pushes(felt)

    probe.wait(is_felt, "the push")
    assert tasks[-1].mode == ForceTask.MODE_SELECTIVE
    assert list(tasks[-1].axes) == [1, 0, 1, 0, 0, 0]
    probe.wait(lambda: tasks[-1].mode == ForceTask.MODE_NONE, "silence")
    assert tasks[-1].desired.force.x == 0.0


def boxes_along_x(world):
    """Places of the box in all arrays of markers that were heard [m]."""
    return [m.pose.position.x for array in world for m in array.markers if m.ns == "world/box"]


def test_contact_and_world_are_shown_and_messages_agree(start):
    _, probe = start
    felt, tasks = fly(start, [OBJECTS])
    raw = probe.hear(WrenchStamped, "/iap/wrench/raw", EVERY)
    estimated = probe.hear(WrenchStamped, "/iap/wrench/estimated", EVERY)
    contacts = probe.hear(MarkerArray, "/iap/contact_markers")
    world = probe.hear(MarkerArray, "/world/markers", LATCHED)
    probe.wait(lambda: pushes(felt) and len(contacts) > 3 and len(raw) > 3, "the push")
    probe.wait(lambda: pushes(estimated) and len(world) > 1 and tasks, "estimate, world, task")
    for message in (raw[-1], felt[-1], estimated[-1], tasks[-1]):
        assert message.header.frame_id == "iap/base_link"
    by_stamp = {(m.header.stamp.sec, m.header.stamp.nanosec): m for m in felt}
    stamped = {(m.header.stamp.sec, m.header.stamp.nanosec): m for m in tasks}
    # The newest of one topic may be ahead of the other.
    latest = max(by_stamp.keys() & stamped.keys())
    task, same = stamped[latest], by_stamp[latest]
    assert task.measured == same.wrench

    (arrow,) = [m for m in contacts[-1].markers if m.action == Marker.ADD]
    foot, head = arrow.points
    assert arrow.ns == "iap/contact"
    assert foot.x == pytest.approx(-3.0, abs=0.01)
    assert 0.1 < head.x - foot.x < 0.5  # 0.05 m for each of some 5 N, away from the wall

    shown = {marker.ns: marker for array in world for marker in array.markers}
    assert set(shown) == {"world/wall", "world/box"}
    assert shown["world/wall"].type == Marker.CUBE
    assert shown["world/wall"].pose.position.x == pytest.approx(-3.05)
    probe.wait(lambda: np.ptp(boxes_along_x(world)) > 0.1, "the box to move")


def test_an_admittance_yields_to_a_wall_until_it_is_switched_off(start):
    nodes, probe = start
    into_the_wall = (
        "reference.moves=[{seconds: 4.0, by: [-0.1, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]}]"
    )
    felt, _ = fly(start, ["control.wrench_mode=none", "control.admittance=true", into_the_wall])
    given, revised = (
        probe.hear(PlatformReference, f"/iap/{topic}", EVERY)
        for topic in ("reference", "reference/revised")
    )

    def yielded() -> float:
        return revised[-1].pose.position.x - given[-1].pose.position.x if given else 0.0

    probe.wait_for_state("iap", 4.5)
    probe.wait(lambda: pushes(felt, least=1.0) and yielded() > 0.02, "the command to yield")
    soft = felt[-1].wrench.force.x
    assert not probe.set_parameter(ADMITTANCE, "wrench_topic", "wrench/raw").successful
    assert probe.set_parameter(ADMITTANCE, "active", False).successful
    probe.wait(lambda: abs(yielded()) < 1e-6, "the command as it was given")
    probe.wait(lambda: pushes(felt, least=2.0 * soft), "a harder push")
