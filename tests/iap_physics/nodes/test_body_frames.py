# SPDX-License-Identifier: BSD-3-Clause
"""Frames and joint states of a vehicle: every frame has one parent and one publisher, and URDF and states agree."""

from collections import Counter
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from commanding import session_of
from flying import scenario_of

from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform, platform_names
from iap_description.vehicles.urdf import attachments_urdf, urdf_text
from iap_io.sensor_messages.static_transforms import hinges_of, mounts_of
from iap_io.wire.cdr import decoded
from iap_physics.measured.state_noise import StateNoise
from iap_physics.nodes.displays import Hinges, MeasuredOdometry

pytestmark = pytest.mark.ros
HINGED = ["three_star_hinge", "three_star_mixed", "morphing"]
ARMED = ["m100_gripper", "three_star_arm", "beetle_drogue"]


def children(robot, kinds):
    """Links that joints of some kinds hold."""
    joints = [each for each in robot.iter("joint") if each.get("type") in kinds]
    return [each.find("child").get("link") for each in joints]


@pytest.mark.parametrize(
    "name",
    [
        name if name in (*ARMED, *HINGED) else pytest.param(name, marks=pytest.mark.slow)
        for name in platform_names()
    ],
)
def test_every_link_of_a_vehicle_has_one_publisher_of_its_frame(name):
    assembly = Assembly.of(load_platform(name), "iap")
    bodies = [body.name for body in assembly.bodies]
    hinges = [each.frame.removeprefix("iap/") for each in hinges_of(assembly)]
    given = ElementTree.fromstring(attachments_urdf(assembly))
    by_state_publisher = children(given, {"fixed", "continuous", "revolute", "prismatic"})
    assert set(children(given, {"floating"})) == set(bodies[1:])
    robot = ElementTree.fromstring(urdf_text(assembly, target="ros"))
    links = Counter(link.get("name") for link in robot.iter("link"))
    assert Counter([*bodies, *hinges, *by_state_publisher]) == links
    mounts = [each.frame.removeprefix("iap/") for each in mounts_of(assembly)]
    assert set(mounts) <= set(by_state_publisher)  # which publishes them where it is installed
    assert max(Counter([*bodies, *hinges, *mounts]).values()) == 1


def pose_in_base(robot, link, angles):
    """Place and attitude of a link in the base's frame by the URDF alone, of joints at some angles."""
    p, R = np.zeros(3), np.eye(3)
    above = {each.find("child").get("link"): each for each in robot.iter("joint")}
    while link in above:
        joint = above[link]
        origin, turn = joint.find("origin"), np.eye(3)
        xyz, rpy = (np.array(origin.get(key).split(), dtype=float) for key in ("xyz", "rpy"))
        if joint.get("name") in angles:
            axis = np.array(joint.find("axis").get("xyz").split(), dtype=float)
            turn = so3.exp(axis * angles[joint.get("name")])
        outer = so3.matrix_from_euler(rpy) @ turn
        p, R = xyz + outer @ p, outer @ R
        link = joint.find("parent").get("link")
    return p, R


def moved(assembly, angles, rates, q_WP, w_W):
    """State rows of a platform at the origin whose hinges stand at some angles."""
    rows = np.zeros((len(assembly.bodies), 13))
    rows[0, Q], rows[0, 10:] = q_WP, w_W
    for joint in assembly.joints:
        axis = joint.axes[0] if joint.name in angles else np.zeros(3)
        turn = so3.quaternion_exp(axis * angles.get(joint.name, 0.0))
        q_PB, row = so3.multiply(joint.q_PJ, turn), rows[joint.child]
        row[P] = so3.rotate(q_WP, joint.p_PJ_P - so3.rotate(q_PB, joint.p_CJ_C))
        row[Q] = so3.multiply(q_WP, q_PB)
        row[10:] = w_W + so3.rotate(row[Q], axis) * rates.get(joint.name, 0.0)
    return rows


@pytest.mark.parametrize("name", HINGED)
def test_a_urdf_moved_by_joint_states_has_the_bodies_where_they_are(name):
    assembly = Assembly.of(load_platform(name), "iap")
    hinges, rng = Hinges(assembly), np.random.default_rng(3)
    angles, rates = ({each: rng.uniform(-1.0, 1.0) for each in hinges.names} for _ in range(2))
    q_WP = so3.quaternion_exp(rng.normal(size=3))
    rows = moved(assembly, angles, rates, q_WP, rng.normal(size=3))
    hinges.read(rows)
    assert dict(zip(hinges.names, hinges.angle, strict=True)) == pytest.approx(angles)
    assert dict(zip(hinges.names, hinges.rate, strict=True)) == pytest.approx(rates)
    robot = ElementTree.fromstring(urdf_text(assembly, target="ros"))
    turning = {j.get("name") for j in robot.iter("joint") if j.get("type") != "fixed"}
    assert {each.name for each in assembly.joints if len(each.axes) == 1} == set(angles) <= turning
    for body, row in zip(assembly.bodies, rows, strict=True):
        p, R = pose_in_base(robot, body.name, angles)
        np.testing.assert_allclose(so3.rotate(q_WP, p), row[P], atol=1e-9)
        R_WB = so3.matrix_from_quaternion(q_WP) @ R
        np.testing.assert_allclose(R_WB, so3.matrix_from_quaternion(row[Q]), atol=1e-9)


def test_measured_odometry_states_how_far_it_is_off():
    noise = StateNoise(position=0.02, attitude_deg=1.0, velocity=0.05, rate_deg=2.0)
    session = session_of(scenario_of("hover", f"state_noise={noise.model_dump_json()}"))
    published = []
    node = SimpleNamespace(
        absolute=lambda name: f"/{name}",
        create_publisher=lambda _, topic, qos: SimpleNamespace(
            publish=published.append, get_subscription_count=lambda: 1
        ),
    )
    odometry, truth = MeasuredOdometry(node, "iap", noise), []
    for k in range(400):
        odometry.publish(k, session.measured[0], again=False)
        truth.append(session.plant.state(0)[0, 0].copy())
        session.offer(0, session.t, lambda _: None)
        session.advance()
    rows = [decoded(data, "nav_msgs/msg/Odometry") for data in published]
    p = [[getattr(r.pose.pose.position, a) for a in "xyz"] for r in rows]
    w = [[getattr(r.twist.twist.angular, a) for a in "xyz"] for r in rows]
    off = np.array(p) - np.array(truth)[:, :3]
    assert off.std() ** 2 == pytest.approx(rows[0].pose.covariance[0], rel=0.1)
    q = np.array(truth)[:, 3:7]
    turning = np.array(w) - so3.rotate(so3.conjugate(q), np.array(truth)[:, 10:])
    assert turning.std() ** 2 == pytest.approx(rows[0].twist.covariance[21], rel=0.15)
