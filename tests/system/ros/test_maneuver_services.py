# SPDX-License-Identifier: BSD-3-Clause
"""A platform that is flown by the services takeoff, go_to and land, as programs for Crazyswarm2 call them."""

import json

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from builtin_interfaces.msg import Duration
from flying import scenario_of
from geometry_msgs.msg import Point, Transform, Vector3
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from iap_bringup.launching.node_parameters import reference_parameters, vehicle_nodes
from iap_control.nodes.reference_node import srv
from iap_description.math import so3
from iap_description.states import P, Q

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
FLIGHT = {
    "scenario": "hover",
    "platform": "f450",
    "assignments": ["start.mode=ground", "engine.name=pybullet"],
}
STANDING = 0.12  # height of an f450 on the ground [m]


class Client:
    """Calls the services, and looks at the newest state."""

    def __init__(self, probe):
        self.probe = probe

    def call(self, kind, name, **fields):
        request = kind.Request(duration=Duration(sec=2), **fields)
        self.probe.call(kind, f"/iap/{name}", request)

    @property
    def pose(self):
        row = self.probe.states["iap"][self.probe.newest["iap"]][0]
        yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(row[Q]))[2]
        return np.array([*row[P], yaw])

    def come_to(self, *pose):
        """Wait until the platform is at a place and heading [m], [rad]."""
        self.probe.wait(lambda: np.abs(self.pose - pose).max() < 0.02, f"being at {pose}")
        self.pass_time(1.0)  # until the way has ended, too

    def pass_time(self, seconds):
        t = 1e-9 * self.probe.newest["iap"] + seconds
        self.probe.wait_for_state("iap", t)

    def stands(self):
        texts = [values.get("landings", "{}") for _, _, values in self.probe.statuses.values()]
        records = [each for text in texts for each in json.loads(text or "{}").values()]
        return any(each["stands"] for each in records)


def trajectory(*places):
    """Through places with a heading of 90 deg, two seconds apart."""
    points = []
    for i, (x, y, z) in enumerate(places, start=1):
        pose = Transform(translation=Vector3(x=x, y=y, z=z))
        pose.rotation.z, pose.rotation.w = np.sqrt(0.5), np.sqrt(0.5)
        points.append(
            MultiDOFJointTrajectoryPoint(transforms=[pose], time_from_start=Duration(sec=2 * i))
        )
    return MultiDOFJointTrajectory(points=points)


def test_a_platform_takes_off_goes_and_lands_as_it_is_asked_to(start):
    nodes, probe = start
    scenario = scenario_of(
        "hover", "start.mode=ground", platform=FLIGHT["platform"], engine="pybullet"
    )
    (vehicle,) = scenario.vehicles
    probe.hear_states("iap")
    for node, parameters in vehicle_nodes(scenario, vehicle).items():
        nodes.start(node, parameters, namespace="/iap")
    waiting = {**reference_parameters(scenario, vehicle), "play": False, "group_mask": 2}
    reference = nodes.start("reference_node", waiting, namespace="/iap", package="iap_control")
    nodes.start("physics_node", {**FLIGHT, "pace": "lockstep"})
    client = Client(probe)

    probe.wait_for_state("iap", 2.0)
    np.testing.assert_allclose(client.pose, (0.0, 0.0, STANDING, 0.0), atol=0.01)

    client.call(srv.Takeoff, "takeoff", height=1.0)
    client.come_to(0.0, 0.0, 1.0, 0.0)

    client.call(srv.GoTo, "go_to", group_mask=1, goal=Point(x=5.0, z=1.0))  # of others
    client.call(srv.GoTo, "go_to", goal=Point(x=1.0, z=-1.0))  # below the ground
    client.pass_time(1.0)
    np.testing.assert_allclose(client.pose, (0.0, 0.0, 1.0, 0.0), atol=0.03)
    assert "go_to: refused: z = -1 m is below 0.12 m" in nodes.log(reference).read_text()

    client.call(srv.GoTo, "go_to", group_mask=2, goal=Point(x=0.5, y=-0.3, z=0.8))
    client.come_to(0.5, -0.3, 0.8, 0.0)
    client.call(srv.GoTo, "go_to", relative=True, goal=Point(x=-0.2), yaw=90.0)
    client.come_to(0.3, -0.3, 0.8, np.pi / 2)

    trajectories = probe.node.create_publisher(
        MultiDOFJointTrajectory, "/iap/reference/trajectory", 1
    )
    probe.wait(lambda: trajectories.get_subscription_count(), "a reader of trajectories")
    trajectories.publish(trajectory((0.0, 0.0, 1.0), (0.3, -0.3, 0.9)))
    client.come_to(0.3, -0.3, 0.9, np.pi / 2)

    client.call(srv.Land, "land", height=0.04)
    probe.wait(client.stands, "standing on the ground with its rotors ended")
    np.testing.assert_allclose(client.pose, (0.3, -0.3, STANDING, np.pi / 2), atol=0.03)

    client.call(srv.Takeoff, "takeoff", height=0.6)
    client.come_to(0.3, -0.3, 0.6, np.pi / 2)
