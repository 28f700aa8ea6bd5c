# SPDX-License-Identifier: BSD-3-Clause
from xml.etree import ElementTree

import numpy as np
import pytest
from refusals import refusal
from shapes import reach

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.aircraft import inertia_matrix
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import Load, row_of
from iap_description.vehicles.platform import (
    Platform,
    load_platform,
    platform_names,
    platform_tree,
)
from iap_description.vehicles.tool import Tool
from iap_description.vehicles.urdf import urdf_text

BALL = {"type": "sphere", "radius": 0.03}
PLATE = {"type": "plate", "size": [0.02, 0.2, 0.1]}
ROD = {
    "type": "rod",
    "length": 1.0,
    "radius": 0.03,
    "tip": BALL,
    "position": [0.0, 0.0, 0.0],
    "rpy_deg": [0.0, 0.0, 180.0],
}
TILTED = {**ROD, "mass": 0.5, "position": [-0.1, 0.05, -0.02], "rpy_deg": [30.0, 20.0, 170.0]}


def platform_with(tool, name="three_star", **changes):
    tree, source = platform_tree(name)
    return validate(Platform, {**tree, "tool": tool, **changes}, source=source)


def assembly_with(tool, name="three_star"):
    return Assembly.of(platform_with(tool, name))


def refused(**changes):
    line = refusal(platform_with, {**ROD, **changes})
    assert "tool" in line
    return line


def test_shipped_platforms_say_that_they_have_no_tool():
    for name in platform_names():
        assert platform_tree(name)[0]["tool"] is None
        assembly = Assembly.of(load_platform(name))
        assert assembly.tool_tip_P is None and "tool" not in assembly.bodies[0].mounts
        np.testing.assert_array_equal(assembly.p_FP_F, 0.0)


def test_a_platform_must_say_whether_it_has_a_tool():
    tree, source = platform_tree("three_star")
    del tree["tool"]
    with pytest.raises(BadInput, match="missing key 'tool'"):
        validate(Platform, tree, source=source)


def test_a_weightless_tool_changes_shapes_and_nothing_else():
    bare, tooled = Assembly.of(load_platform("three_star")), assembly_with(ROD)
    a, b = bare.bodies[0], tooled.bodies[0]
    assert b.mass == a.mass and b.visual[: len(a.visual)] == a.visual
    assert b.collision[: len(a.collision)] == a.collision
    np.testing.assert_array_equal(b.inertia, a.inertia)
    np.testing.assert_array_equal(tooled.inertia, bare.inertia)
    np.testing.assert_array_equal(tooled.p_PB_P, bare.p_PB_P)


def test_the_tip_is_the_rods_end_with_x_along_the_rod():
    assembly = assembly_with({**ROD, "position": [-0.1, 0.0, 0.05]})
    np.testing.assert_allclose(assembly.tool_tip_P, [-1.1, 0.0, 0.05], atol=1e-12)
    mount = assembly.bodies[0].mounts["tool"]
    np.testing.assert_allclose(mount.position, assembly.tool_tip_P, atol=1e-15)
    along = so3.matrix_from_euler(np.deg2rad(mount.rpy_deg))[:, 0]
    np.testing.assert_allclose(along, [-1.0, 0.0, 0.0], atol=1e-12)


def cylinder_points(tool):
    """A fine cloud (n, 3) that has the mass distribution of the tool's rod, in the file's frame."""
    s = (np.arange(40) + 0.5) / 40
    x, r, phi = np.meshgrid(
        tool.length * s, tool.radius * np.sqrt(s), 2.0 * np.pi * s, indexing="ij"
    )
    cloud = np.stack([x, r * np.cos(phi), r * np.sin(phi)], -1).reshape(-1, 3)
    return cloud @ tool.R_PT.T + tool.position


def test_a_massive_rod_is_merged_as_a_cloud_of_points_would_be():
    platform = platform_with(TILTED)
    center, points = platform.center, cylinder_points(platform.tool)
    mass = center.mass + 0.5
    com = 0.5 * points.mean(axis=0) / mass
    inertia = inertia_matrix(center.inertia) - center.mass * so3.hat(com) @ so3.hat(com)
    inertia -= 0.5 * (so3.hat(points - com) @ so3.hat(points - com)).mean(axis=0)
    body = Assembly.of(platform).bodies[0]
    assert body.mass == pytest.approx(mass)
    np.testing.assert_allclose(Assembly.of(platform).p_FP_F, com, atol=1e-12)
    np.testing.assert_allclose(body.inertia, inertia, rtol=2e-3, atol=1e-4)


def test_positions_are_counted_from_the_com_of_centre_and_rod():
    bare, tooled = Assembly.of(load_platform("three_star")), assembly_with(TILTED)
    away = tooled.p_FP_F
    assert np.linalg.norm(away) > 0.1
    np.testing.assert_allclose(tooled.p_PB_P[1:], bare.p_PB_P[1:] - away)
    for a, b in zip(bare.bodies[0].collision, tooled.bodies[0].collision, strict=False):
        np.testing.assert_allclose(b.position, a.position - away)
    imu = np.array(bare.bodies[0].mounts["imu"].position)
    np.testing.assert_allclose(tooled.bodies[0].mounts["imu"].position, imu - away)


def test_the_whole_platforms_com_and_inertia_count_the_rod_once():
    bare, tooled = Assembly.of(load_platform("three_star")), assembly_with(TILTED)
    tool = validate(Tool, TILTED, source="tool")
    middle = tool.point(0.5 * tool.length)
    com_F = (bare.mass * bare.d_0 + 0.5 * middle) / (bare.mass + 0.5)
    np.testing.assert_allclose(tooled.d_0 + tooled.p_FP_F, com_F, atol=1e-12)
    about_F = bare.inertia + tool.inertia - 0.5 * so3.hat(middle) @ so3.hat(middle)
    d = so3.hat(tooled.d_0)
    about_com = tooled.inertia + tooled.mass * d @ d
    D = so3.hat(com_F)
    np.testing.assert_allclose(about_com, about_F + tooled.mass * D @ D, atol=1e-12)


def test_a_rod_with_a_ball_is_touched_as_a_capsule_that_ends_where_the_ball_does():
    assembly = assembly_with(ROD)
    capsule = assembly.bodies[0].collision[-1]
    assert capsule.shape == "capsule"
    middle = np.array(capsule.position)
    np.testing.assert_allclose(middle[0] - 0.5 * capsule.length, -1.0)
    seen = assembly.bodies[0].visual[-2:]
    assert [shape.shape for shape in seen] == ["cylinder", "sphere"]
    assert max(reach(shape, [-1.0, 0.0, 0.0]) for shape in seen) == pytest.approx(1.03)


@pytest.mark.parametrize("tip", [PLATE, None, {"type": "sphere", "radius": 0.02}])
def test_other_rods_are_touched_as_they_look(tip):
    assembly = assembly_with({**ROD, "tip": tip})
    body, bare = assembly.bodies[0], Assembly.of(load_platform("three_star")).bodies[0]
    touched = body.collision[len(bare.collision) :]
    assert touched == body.visual[len(bare.visual) :]
    furthest = max(reach(shape, [-1.0, 0.0, 0.0]) for shape in touched)
    assert furthest == pytest.approx(1.02 if tip and tip["type"] == "sphere" else 1.0)


def test_a_ball_bigger_than_the_rod_is_touched_too():
    body = assembly_with({**ROD, "tip": {"type": "sphere", "radius": 0.05}}).bodies[0]
    assert [shape.shape for shape in body.collision[-2:]] == ["capsule", "sphere"]


def test_the_tools_surface_is_that_of_the_central_body():
    surface = {"friction": 0.9, "restitution": 0.0, "stiffness": 2000.0, "damping": 40.0}
    bodies = assembly_with({**ROD, "surface": surface}).bodies
    assert bodies[0].surface.stiffness == 2000.0
    assert {body.surface for body in bodies[1:]} == {None}
    assert assembly_with(ROD).bodies[0].surface is None


@pytest.mark.slow
def test_standard_urdf_has_the_frame_tool_and_no_capsule_and_pybullets_has_one():
    assembly = assembly_with(ROD)
    ros = ElementTree.fromstring(urdf_text(assembly, target="ros"))
    (joint,) = (j for j in ros.iter("joint") if j.find("child").get("link") == "tool")
    assert joint.get("type") == "fixed" and joint.find("parent").get("link") == "base_link"
    xyz = [float(word) for word in joint.find("origin").get("xyz").split()]
    np.testing.assert_allclose(xyz, assembly.tool_tip_P, atol=1e-12)
    assert not list(ros.iter("capsule"))
    spheres = [float(s.get("radius")) for s in ros.find("link").iter("sphere")]
    assert 0.03 in spheres
    (capsule,) = ElementTree.fromstring(urdf_text(assembly, target="bullet")).iter("capsule")
    assert float(capsule.get("radius")) == 0.03


def test_a_single_aircraft_carries_a_weightless_tool_only():
    assembly = assembly_with({**ROD, "rpy_deg": [0.0, 0.0, 0.0]}, "f450")
    np.testing.assert_allclose(assembly.tool_tip_P, [1.0, 0.0, 0.0])
    with pytest.raises(BadInput, match=r"'tool\.mass'"):
        platform_with(TILTED, "f450")


def test_generated_and_fixed_platforms_take_a_tool():
    assert assembly_with(ROD, "star_4").tool_tip_P is not None
    assert assembly_with(ROD, "three_star_fixed").tool_tip_P is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"length": 0.0}, "length"),
        ({"radius": -0.1}, "radius"),
        ({"mass": -1.0}, "mass"),
        ({"tip": {"type": "hook"}}, "hook"),
        ({"tip": {**PLATE, "size": [1.0, 0.1, 0.1]}}, "no thinner"),
        ({"type": "arm"}, "rod"),
        ({"surface": {"friction": -1.0, "restitution": 0.0}}, "friction"),
    ],
)
def test_a_tool_that_cannot_be_is_refused_in_one_line(changes, said):
    assert said in refused(**changes)


def test_shapes_of_triangles_are_for_the_world_only():
    tree, source = platform_tree("three_star")
    hull = {"shape": "hull", "vertices": [[0.0, 0.0, 0.0]], "faces": []}
    tree["center"] = {**tree["center"], "collision": [hull]}
    with pytest.raises(BadInput, match="for objects of the world"):
        validate(Platform, tree, source=source)


@pytest.mark.parametrize(
    ("mass", "inertia", "is_body"),
    [
        (0.5, (2e-3, 3e-3, 4e-3), True),
        (0.5, (0.0, 0.0, 0.0), True),  # a point
        (-0.5, (2e-3, 3e-3, 4e-3), False),
        (0.5, (-2e-3, 3e-3, 4e-3), False),
        (0.5, (2e-3, 3e-3, 6e-3), False),  # more than both others
    ],
)
def test_a_load_is_a_body_by_its_mass_and_principal_moments(mass, inertia, is_body):
    R = so3.matrix_from_quaternion(so3.quaternion_exp(np.array([0.3, -0.5, 0.2])))
    load = Load(mass, np.array([0.0, 0.0, 0.1]), R @ np.diag(inertia) @ R.T)
    assert load.is_body == is_body
    again = Load.of(row_of(load))
    assert again.mass == mass
    np.testing.assert_allclose(again.com, load.com)
    np.testing.assert_allclose(again.inertia, load.inertia, atol=1e-12)
    assert Load.of(row_of(None)) is None
