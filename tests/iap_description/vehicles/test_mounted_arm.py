# SPDX-License-Identifier: BSD-3-Clause
"""Arms on platforms: records, the platform's mass with its arm, and the URDF of both."""

import copy
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from refusals import refusal

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.arm import load_arm
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import composite
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.platform import Platform, load_platform, platform_tree
from iap_description.vehicles.serial_chain import tip_pose
from iap_description.vehicles.urdf import END_EFFECTOR, urdf_text

ROD = {"type": "rod", "length": 0.2, "radius": 0.01, "mass": 0.05, "tip": None}
ROD |= {"position": [0.0, 0.0, 0.0], "rpy_deg": [0.0, 0.0, 0.0]}


@pytest.fixture
def tree():
    return copy.deepcopy(platform_tree("f450_arm")[0])


def platform_with(tree, **arm):
    return validate(Platform, {**tree, "arm": {**tree["arm"], **arm}}, source="mine.yaml")


def numbers(text):
    return np.array([float(word) for word in text.split()])


def test_an_arms_mass_counts_with_the_platforms():
    bare, armed = (Assembly.of(load_platform(name)) for name in ("f450", "f450_arm"))
    assert armed.mass == pytest.approx(bare.mass + 0.37)
    arm = armed.arm
    body = bare.bodies[0]
    whole = composite(arm.chain, arm.bodies_with(body.mass, body.inertia), np.eye(3), np.zeros(3))
    np.testing.assert_allclose(armed.d_0, whole.p_PC_W, atol=1e-12)
    d = so3.hat(armed.d_0)
    np.testing.assert_allclose(armed.inertia, whole.inertia - armed.mass * d @ d, atol=1e-12)


def test_an_arm_stays_where_it_is_when_the_origin_of_P_moves():
    assembly = Assembly.of(load_platform("m100_arm"))
    by = np.array([0.02, -0.01, 0.03])
    moved = assembly.with_central_com(by)
    q = np.array([0.3, 0.8, -0.4])
    here, _ = tip_pose(assembly.arm.chain, np.zeros(3), np.eye(3), q)
    there, _ = tip_pose(moved.arm.chain, by, np.eye(3), q)
    np.testing.assert_allclose(there, here, atol=1e-12)


def test_a_tool_lengthens_the_arm_and_weighs_on_its_last_link():
    bare = load_arm("m100")
    armed = validate(type(bare), {**bare.model_dump(), "tool": ROD}, source="test")
    np.testing.assert_allclose(armed.end, [0.385, 0.0, 0.0])
    (*_, before), (*_, after) = (MountedArm(arm, np.zeros(3)).links for arm in (bare, armed))
    assert after.mass == pytest.approx(0.15)
    np.testing.assert_allclose(after.com, [(0.10 * 0.0925 + 0.05 * 0.285) / 0.15, 0.0, 0.0])
    apart = 0.285 - 0.0925
    across = before.inertia[2, 2] + 0.05 * (0.01**2 / 4.0 + 0.2**2 / 12.0)
    across += 0.10 * 0.05 / 0.15 * apart**2
    assert after.inertia[2, 2] == pytest.approx(across)


def urdf_pose(robot, angles, frame):
    """Pose of a link in base_link by the joints of a URDF."""
    joints = {joint.find("child").get("link"): joint for joint in robot.iter("joint")}
    p, R = np.zeros(3), np.eye(3)
    while frame in joints:
        joint = joints[frame]
        origin = joint.find("origin")
        turn = so3.matrix_from_euler(numbers(origin.get("rpy")))
        if joint.get("type") == "revolute":
            turn = turn @ so3.exp(
                angles[joint.get("name")] * numbers(joint.find("axis").get("xyz"))
            )
        p, R = numbers(origin.get("xyz")) + turn @ p, turn @ R
        frame = joint.find("parent").get("link")
    return p, R


@pytest.mark.parametrize("name", ["f450_arm", "m100_arm"])
def test_the_urdf_has_the_end_effector_where_the_chain_has_it(name):
    assembly = Assembly.of(load_platform(name))
    robot = ElementTree.fromstring(urdf_text(assembly, target="ros"))
    q = np.array([0.5, 1.1, -0.7])
    angles = dict(zip(("arm_q1", "arm_q2", "arm_q3"), q, strict=True))
    p, R = urdf_pose(robot, angles, END_EFFECTOR)
    p_PE, R_PE = tip_pose(assembly.arm.chain, np.zeros(3), np.eye(3), q)
    np.testing.assert_allclose(p, p_PE, atol=1e-12)
    np.testing.assert_allclose(R, R_PE, atol=1e-12)


def test_the_urdf_has_travel_speed_effort_and_friction_of_every_joint():
    arm = load_platform("m100_arm").arm
    robot = ElementTree.fromstring(urdf_text(Assembly.of(load_platform("m100_arm")), target="ros"))
    found = {joint.get("name"): joint for joint in robot.iter("joint")}
    for joint, motor in zip(arm.joints, arm.motors, strict=True):
        limit = found[f"arm_{joint.name}"].find("limit").attrib
        values = [float(limit[key]) for key in ("lower", "upper", "velocity", "effort")]
        assert values == [*joint.limits, joint.speed, motor.effort]
        assert float(found[f"arm_{joint.name}"].find("dynamics").get("damping")) == motor.viscous


def test_pinocchio_has_the_same_momentum_and_end_effector(tmp_path):
    pin = pytest.importorskip("pinocchio")
    assembly = Assembly.of(load_platform("m100_arm"))
    bare = replace(assembly, bodies=(replace(assembly.bodies[0], rotors=(), mounts={}),))
    model = pin.buildModelFromXML(urdf_text(bare, target="ros"), pin.JointModelFreeFlyer())
    data, q = model.createData(), np.array([0.5, 1.1, -0.7])
    pin.ccrba(model, data, np.array([0, 0, 0, 0, 0, 0, 1, *q]), np.zeros(9))
    body = assembly.bodies[0]
    arm = assembly.arm
    whole = composite(arm.chain, arm.bodies_with(body.mass, body.inertia), np.eye(3), q)
    np.testing.assert_allclose(data.com[0], whole.p_PC_W, atol=1e-9)
    np.testing.assert_allclose(data.Ig.inertia, whole.inertia, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"links": []}, "'links' and 'motors'"),
        ({"home": [0.0]}, "home"),
        ({"home": [0.0, 3.0, 0.0]}, "home.1"),
        ({"colour": "red"}, "arm.colour"),
    ],
)
def test_a_wrong_arm_is_refused_with_its_key(tree, change, words):
    line = refusal(platform_with, tree, **change)
    assert "mine.yaml" in line and words in line


def test_a_link_whose_inertia_no_mass_has_is_refused(tree):
    links = [{**tree["arm"]["links"][0], "inertia": [1e-5, 1e-5, 1e-3]}, *tree["arm"]["links"][1:]]
    with pytest.raises(BadInput, match=r"arm.links.0.*triangle inequality"):
        platform_with(tree, links=links)


def test_a_position_servo_needs_both_gains(tree):
    motors = [{**tree["arm"]["motors"][0], "velocity_gain": 0.0}, *tree["arm"]["motors"][1:]]
    with pytest.raises(BadInput, match=r"arm.motors.0.*velocity_gain"):
        platform_with(tree, motors=motors)


@pytest.mark.parametrize("arm", ["m101", "{extends: 3}"])
def test_an_arm_that_is_not_there_is_refused(tmp_path, arm):
    path = tmp_path / "mine.yaml"
    text = "name: mine\ndescription: d\naircraft: f450\ncenter: null\njoints: []\ntool: null\n"
    path.write_text(f"{text}ground_clearance: 0.12\narm: {arm}\n", encoding="utf-8")
    line = refusal(load_platform, str(path))
    assert "arm" in line
