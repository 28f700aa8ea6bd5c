# SPDX-License-Identifier: BSD-3-Clause
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from shapes import lowest, segment_distance
from various_platforms import platform_of, various

from iap_bringup.cli.main import main
from iap_description.geometry.mesh_files import PACKAGE
from iap_description.geometry.shapes import Shape
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.aircraft import Mount
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import DATA, load_platform, platform_names
from iap_description.vehicles.urdf import (
    mount_frame,
    optical_frame,
    rotor_joint,
    urdf_text,
)
from iap_description.world.world import World
from iap_physics.engines.joints import joined_rows
from iap_physics.engines.pybullet.engine import PyBulletEngine

PLATFORMS = [*platform_names(), "star_2", "star_12", "line_2", "line_6", "three_star_fixed"]
PLATFORMS_BY_TIME = [
    name
    if name in ("three_star", "two_line", "f450")
    else pytest.param(name, marks=pytest.mark.slow)
    for name in PLATFORMS
]
RVIZ = Path(__file__).parents[3] / "iap_bringup" / "rviz"
LOADS = """
import sys, pybullet
pybullet.connect(pybullet.DIRECT)
pybullet.setPhysicsEngineParameter(enableFileCaching=0)
for path in sys.argv[1:]:
    body = pybullet.loadURDF(path, flags=pybullet.URDF_USE_INERTIA_FROM_FILE)
    for link in range(-1, pybullet.getNumJoints(body)):
        mass, inertia = (pybullet.getDynamicsInfo(body, link)[k] for k in (0, 2))
        between = link >= 0 and sum(
            pybullet.getJointInfo(body, k)[16] == link for k in range(pybullet.getNumJoints(body))
        )  # a link without mass stands between the axes of a universal joint
        is_body = mass > 0 and min(inertia) > 0
        assert is_body or (between == 1 and mass == max(inertia) == 0), (path, link, mass, inertia)
    pybullet.stepSimulation()
    pybullet.removeBody(body)
"""


def assembly_of(name):
    return Assembly.of(load_platform(name))


def text_of(name, target):
    return urdf_text(assembly_of(name), target=target)


def tree_of(name, target):
    return ElementTree.fromstring(text_of(name, target))


def numbers(text):
    return np.array([float(word) for word in text.split()])


def check_structure(robot):
    """One root, every link reached once, every joint between links that exist."""
    links = [link.get("name") for link in robot.iter("link")]
    joints = list(robot.iter("joint"))
    names = [joint.get("name") for joint in joints]
    children = [joint.find("child").get("link") for joint in joints]
    parents = [joint.find("parent").get("link") for joint in joints]
    assert len(set(links)) == len(links) and len(set(names)) == len(names)
    assert len(set(children)) == len(children)
    assert set(children) | set(parents) <= set(links)
    roots = set(links) - set(children)
    assert roots == {"base_link"}
    reached, above = {"base_link"}, dict(zip(children, parents, strict=True))
    for child in children:
        way = [child]
        while way[-1] not in reached:
            way.append(above[way[-1]])
            assert len(way) <= len(links), f"a loop at {child}"
        reached |= set(way)
    assert reached == set(links)


def check_inertias(robot):
    for inertial in robot.iter("inertial"):
        at = inertial.find("inertia").attrib
        ixx, iyy, izz, ixy, ixz, iyz = (
            float(at[key]) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        )
        a, b, c = np.linalg.eigvalsh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        if (
            float(inertial.find("mass").get("value")) == 0.0
        ):  # between the axes of a universal joint
            assert (a, b, c) == (0.0, 0.0, 0.0)
            continue
        assert a > 0.0 and a + b >= c * (1.0 - 1e-9)
        assert float(inertial.find("mass").get("value")) > 0.0


@pytest.mark.parametrize("target", ["bullet", "ros"])
@pytest.mark.parametrize("name", PLATFORMS_BY_TIME)
def test_every_platform_gives_a_tree_of_links_with_physical_inertias(name, target):
    robot = tree_of(name, target)
    check_structure(robot)
    check_inertias(robot)
    masses = [float(mass.get("value")) for mass in robot.iter("mass")]
    assert sum(masses) == pytest.approx(assembly_of(name).mass, rel=1e-12)


@pytest.mark.slow
def test_pybullet_loads_every_platform_without_a_word(tmp_path):
    paths = []
    for name in PLATFORMS:
        paths.append(tmp_path / f"{name}.urdf")
        paths[-1].write_text(text_of(name, "bullet"), encoding="utf-8")
    command = [sys.executable, "-c", LOADS, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = (done.stdout + done.stderr).splitlines()
    assert [line for line in said if line and not line.startswith("pybullet build time")] == []


@pytest.mark.skipif(not shutil.which("check_urdf"), reason="check_urdf is not installed")
@pytest.mark.parametrize("name", PLATFORMS)
def test_check_urdf_accepts_the_standard_form(name, tmp_path):
    path = tmp_path / "iap.urdf"
    path.write_text(text_of(name, "ros"), encoding="utf-8")
    done = subprocess.run(["check_urdf", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Successfully Parsed" in done.stdout
    assert done.stderr == ""


def test_bullet_form_has_one_link_per_body_and_spherical_joints():
    robot = tree_of("three_star", "bullet")
    assert [link.get("name") for link in robot.iter("link")] == [
        "base_link",
        "drone_1",
        "drone_2",
        "drone_3",
    ]
    joints = list(robot.iter("joint"))
    assert {joint.get("type") for joint in joints} == {"spherical"}
    assert all(joint.find("axis") is not None for joint in joints)


def test_fixed_links_are_fixed_in_both_forms():
    for target in ("bullet", "ros"):
        robot = tree_of("three_star_fixed", target)
        types = {j.get("name"): j.get("type") for j in robot.iter("joint")}
        assert {types[f"joint_{i}"] for i in (1, 2, 3)} == {"fixed"}


def test_ros_form_has_floating_aircraft_turning_rotors_and_fixed_mounts():
    robot = tree_of("three_star", "ros")
    joints = {joint.get("name"): joint for joint in robot.iter("joint")}
    assert joints["joint_2"].get("type") == "floating"
    rotor = joints[rotor_joint("drone_2", 4)]
    assert rotor.get("type") == "continuous" and rotor.find("axis").get("xyz") == "0 0 1"
    aircraft = load_platform("three_star").aircraft
    np.testing.assert_array_equal(
        numbers(rotor.find("origin").get("xyz")), aircraft.rotors[3].position
    )
    mount = joints["drone_2_left_camera_joint"]
    assert mount.get("type") == "fixed" and mount.find("parent").get("link") == "drone_2"
    assert mount.find("child").get("link") == mount_frame("drone_2", "left_camera")
    np.testing.assert_array_equal(
        numbers(mount.find("origin").get("xyz")), aircraft.mounts["left_camera"].position
    )


def test_optical_frame_looks_along_z_with_x_to_the_right():
    robot = tree_of("f450", "ros")
    frame = optical_frame("base_link", "left_camera")
    (joint,) = (j for j in robot.iter("joint") if j.find("child").get("link") == frame)
    R = so3.matrix_from_euler(numbers(joint.find("origin").get("rpy")))
    np.testing.assert_allclose(R @ [0, 0, 1], [1, 0, 0], atol=1e-12)  # ahead
    np.testing.assert_allclose(R @ [1, 0, 0], [0, -1, 0], atol=1e-12)  # right
    np.testing.assert_allclose(R @ [0, 1, 0], [0, 0, -1], atol=1e-12)  # down
    optical = [link.get("name") for link in robot.iter("link") if "optical" in link.get("name")]
    assert len(optical) == 2


def test_joints_sit_and_point_as_the_assembly_says():
    robot = tree_of("three_star", "ros")
    for joint in assembly_of("three_star").joints:
        (origin,) = (j.find("origin") for j in robot.iter("joint") if j.get("name") == joint.name)
        np.testing.assert_allclose(numbers(origin.get("xyz")), joint.p_PJ_P, atol=1e-15)
        R = so3.matrix_from_euler(numbers(origin.get("rpy")))
        np.testing.assert_allclose(R, so3.matrix_from_quaternion(joint.q_PJ), atol=1e-12)


def test_an_off_diagonal_inertia_reaches_the_urdf():
    base = assembly_of("f450")
    J = np.array([[0.02, 0.001, 0.002], [0.001, 0.03, -0.003], [0.002, -0.003, 0.04]])
    body = replace(base.bodies[0], inertia=J)
    robot = ElementTree.fromstring(urdf_text(replace(base, bodies=(body,)), target="bullet"))
    at = robot.find("link/inertial/inertia").attrib
    assert (float(at["ixy"]), float(at["ixz"]), float(at["iyz"])) == (0.001, 0.002, -0.003)


def test_meshes_are_a_package_uri_for_ros_and_a_file_for_pybullet():
    base = assembly_of("f450")
    mesh = Shape(shape="mesh", mesh=f"{PACKAGE}meshes/hull.obj")
    assembly = replace(base, bodies=(replace(base.bodies[0], visual=(mesh,), rotors=()),))
    assert f'"{PACKAGE}meshes/hull.obj"' in urdf_text(assembly, target="ros")
    assert f'"{DATA}/meshes/hull.obj"' in urdf_text(assembly, target="bullet")


def test_a_tilted_mount_is_tilted_in_the_urdf():
    base = assembly_of("f450")
    mounts = {"lidar": Mount(position=(0.1, 0.0, 0.2), rpy_deg=(0.0, 30.0, 90.0))}
    body = replace(base.bodies[0], mounts=mounts)
    robot = ElementTree.fromstring(urdf_text(replace(base, bodies=(body,)), target="ros"))
    (joint,) = (j for j in robot.iter("joint") if j.get("name") == "base_link_lidar_joint")
    rpy = np.rad2deg(numbers(joint.find("origin").get("rpy")))
    np.testing.assert_allclose(rpy, [0.0, 30.0, 90.0])


def test_names_carry_neither_the_vehicle_nor_a_path_of_this_machine():
    text = urdf_text(Assembly.of(load_platform("three_star"), "left_one"), target="ros")
    assert "left_one" not in text and str(DATA) not in text


def test_pybullet_gets_only_opaque_shapes():
    colors = [numbers(c.get("rgba")) for c in tree_of("f450", "bullet").iter("color")]
    assert {color[3] for color in colors} == {1.0}
    colors = [numbers(c.get("rgba")) for c in tree_of("f450", "ros").iter("color")]
    assert min(color[3] for color in colors) < 1.0


def test_command_prints_the_urdf_and_refuses_an_unknown_platform_in_one_line(capsys):
    assert main(["urdf", "two_line"]) == 0
    assert capsys.readouterr().out == text_of("two_line", "ros")
    assert main(["urdf", "nine_star"]) == 2
    out, complaint = capsys.readouterr()
    assert out == "" and len(complaint.splitlines()) == 1 and "'nine_star'" in complaint


@pytest.mark.parametrize("name", PLATFORMS)
def test_feet_touch_the_ground_at_ground_clearance_and_nothing_else_does(name):
    platform = load_platform(name)
    center, *aircraft = Assembly.of(platform).bodies
    assert lowest(center.collision) == pytest.approx(-platform.ground_clearance, abs=1e-9)
    assert lowest(center.visual) == pytest.approx(-platform.ground_clearance, abs=1e-9)
    for joint, body in zip(platform.joints, aircraft, strict=True):
        assert platform.ground_clearance + joint.position[2] + lowest(body.visual) > 0.1


@pytest.mark.parametrize("name", PLATFORMS)
def test_tubes_reach_every_joint_and_pass_between_the_propellers(name):
    assembly = assembly_of(name)
    radius = max(
        shape.radius for body in assembly.bodies for shape in body.propeller if shape.radius
    )
    tubes = [s for s in assembly.bodies[0].collision if s.shape == "cylinder" and s.length > 0.01]
    ends = []
    for tube in tubes:
        axis = so3.matrix_from_euler(np.deg2rad(tube.rpy_deg))[:, 2]
        half = 0.5 * tube.length * axis
        ends.append((np.array(tube.position) - half, np.array(tube.position) + half, tube.radius))
    plates = [s for s in assembly.bodies[0].visual if s.shape == "cylinder" and s.length < 0.01]
    plate = max(
        (s.radius for s in plates if s.radius and s.rpy_deg == (0.0, 0.0, 0.0)), default=0.0
    )
    for joint in assembly.joints:
        flat = joint.p_PJ_P[:2]
        assert np.linalg.norm(flat) <= plate + 1e-9 or any(
            np.allclose(b[:2], flat, atol=1e-9) for _, b, _ in ends
        )
        rotors = [
            joint.p_PJ_P + so3.rotate(joint.q_PJ, np.array(rotor.position))
            for rotor in assembly.bodies[joint.child].rotors
        ]
        for a, b, r in ends:
            if abs(a[2] - b[2]) < 1e-9:  # level: a tube of the frame or a skid
                above = [p for p in rotors if p[2] - a[2] < 0.15]
                gaps = [segment_distance(p[:2], a[:2], b[:2]) - radius - r for p in above]
                assert min(gaps, default=1.0) > 0.0


@pytest.mark.parametrize("name", ["three_star", "three_square", "star_2", "star_12", "line_12"])
def test_propellers_of_neighbours_do_not_meet(name):
    assembly = assembly_of(name)
    blades = assembly.bodies[1].propeller
    diameter = 2.0 * max(shape.radius for shape in blades if shape.radius)
    hubs = [
        joint.p_PJ_P + so3.rotate(joint.q_PJ, np.array(rotor.position))
        for joint in assembly.joints
        for rotor in assembly.bodies[joint.child].rotors
    ]
    for i, a in enumerate(hubs):
        for b in hubs[:i]:
            assert np.linalg.norm(a - b) > diameter


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*platform_names(), "star_2", "star_5", "line_2", "line_4", "three_star_fixed"],
)
def test_platform_stands_on_the_ground_while_its_aircraft_keep_level(name):
    platform = load_platform(name)
    assembly = Assembly.of(platform)
    engine = PyBulletEngine()
    engine.load(World(), [assembly])
    base = np.zeros(13)
    base[2], base[6] = platform.ground_clearance, 1.0
    start = joined_rows(assembly, base)
    engine.reset(start[None])
    wrenches = np.zeros((1, len(assembly.bodies), 6))
    dt = 0.0005 if name in ("m100_gripper", "three_star_pen") else 0.001  # its servos need 2 kHz
    for _ in range(round(1.5 / dt)):
        x = engine.state()[0]
        error = so3.quaternion_log(so3.multiply(x[1:, Q], so3.conjugate(start[1:, Q])))
        wrenches[0, 1:, 3:] = -2.0 * error - 0.3 * x[1:, W]
        engine.apply(wrenches)
        engine.step(dt)
    x = engine.state()[0]
    still = [0, *(joint.child for joint in assembly.joints if joint.stiffness == 0.0)]
    assert np.abs(x[still, P] - start[still, P]).max() < 0.003  # springs give way: test_springs.py
    assert np.rad2deg(2.0 * np.arccos(min(1.0, abs(x[0, Q] @ start[0, Q])))) < 0.3
    assert np.abs(x[:, V]).max() < 0.01
    forces = [c.force_W for c in engine.contacts()]
    assert {max(c.body_a, c.body_b) for c in engine.contacts()} == {0}
    weight = assembly.mass * World().gravity
    assert abs(sum(f[2] for f in forces)) == pytest.approx(weight, rel=0.05)
    engine.close()


def test_aircraft_tilted_by_38_degrees_touch_nothing_of_their_own_platform():
    assembly = assembly_of("three_star")
    engine = PyBulletEngine()
    engine.load(World(), [assembly])
    for azimuth in np.deg2rad(np.arange(0.0, 360.0, 45.0)):
        tilt = so3.quaternion_exp(
            np.deg2rad(38.0) * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        )
        q_WB = np.stack([so3.multiply(tilt, joint.q_PJ) for joint in assembly.joints])
        base = np.zeros(13)
        base[2], base[6] = 3.0, 1.0
        engine.reset(joined_rows(assembly, base, q_WB=q_WB)[None])
        engine.step(0.001)
        assert engine.contacts() == []
    engine.close()


def test_rviz_shows_the_model_in_the_vehicles_namespace():
    text = (RVIZ / "iap.rviz").read_text(encoding="utf-8")
    manager = yaml.safe_load(text)["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "map"
    (model,) = (d for d in manager["Displays"] if d["Class"].endswith("RobotModel"))
    assert model["TF Prefix"] == "iap"
    assert model["Description Topic"]["Value"] == "/iap/robot_description"
    assert model["Description Topic"]["Durability Policy"] == "Transient Local"


def test_travel_friction_and_lever_of_joints_are_in_the_urdf():
    resisting = {"viscous": 0.01, "coulomb": 0.02}
    tree = various(limit_deg=40.0, friction=resisting, offset=[0.0, 0.0, -0.02])
    assembly = Assembly.of(platform_of(tree))
    ros = ElementTree.fromstring(urdf_text(assembly, target="ros"))
    joint = next(each for each in ros.iter("joint") if each.get("name") == "joint_1")
    assert float(joint.find("limit").get("upper")) == pytest.approx(np.deg2rad(40.0))
    assert joint.find("dynamics").attrib == {"damping": "0.01", "friction": "0.02"}
    place = np.fromstring(joint.find("origin").get("xyz"), sep=" ")
    np.testing.assert_allclose(
        place, [0.48, 0.0, 0.09]
    )  # the link's frame is at the aircraft's CoM
    bullet = ElementTree.fromstring(urdf_text(assembly, target="bullet"))
    link = next(each for each in bullet.iter("link") if each.get("name") == "drone_1")
    com = np.fromstring(link.find("inertial/origin").get("xyz"), sep=" ")
    np.testing.assert_allclose(com, [0.0, 0.0, 0.02])  # and in PyBullet's at its joint
    joint = next(each for each in bullet.iter("joint") if each.get("name") == "joint_1")
    assert joint.find("limit") is None and joint.find("dynamics") is None
