# SPDX-License-Identifier: BSD-3-Clause
"""Elements of URDF: where links, shapes and joints are, and what each reader is given."""

from xml.etree.ElementTree import Element, tostring

import numpy as np
import pytest

from iap_description.geometry.shapes import Shape
from iap_description.vehicles import urdf_elements as elements

CAPSULE = Shape(shape="capsule", radius=0.1, length=0.4, position=(1.0, 2.0, 3.0))
GLASS = Shape(shape="sphere", radius=0.2, color=(0.0, 0.5, 1.0, 0.3))
BOX = Shape(shape="box", size=(1.0, 2.0, 3.0), rpy_deg=(180.0, 0.0, 90.0))


def written(parent):
    return tostring(parent, encoding="unicode")


def test_a_link_has_mass_com_and_the_upper_half_of_its_inertia():
    robot = Element("robot")
    link = elements.add_link(
        robot, "arm", 2.5, np.array([[1, 2, 3], [2, 4, 5], [3, 5, 6.0]]), (0.1, 0, 0)
    )
    assert link in list(robot) and link.get("name") == "arm"
    assert written(link.find("inertial")) == (
        '<inertial><origin rpy="0 0 0" xyz="0.1 0 0" /><mass value="2.5" />'
        '<inertia ixx="1.0" ixy="2.0" ixz="3.0" iyy="4.0" iyz="5.0" izz="6.0" /></inertial>'
    )


def test_a_joint_places_the_child_in_the_parent_and_a_frame_is_a_link_that_is_fixed():
    robot = Element("robot")
    elements.add_joint(
        robot, "hinge", "revolute", links=("a", "b"), position=(1, 2, 3), rpy=(0, 0, 1)
    )
    elements.add_frame(robot, "a", "camera", (0.5, 0, 0))
    assert written(robot) == (
        '<robot><joint name="hinge" type="revolute"><origin rpy="0 0 1" xyz="1 2 3" />'
        '<parent link="a" /><child link="b" /></joint><link name="camera" />'
        '<joint name="camera_joint" type="fixed"><origin rpy="0.0 0.0 0.0" xyz="0.5 0 0" />'
        '<parent link="a" /><child link="camera" /></joint></robot>'
    )


@pytest.mark.parametrize(("target", "seen"), [("ros", 3), ("bullet", 2)])
def test_what_is_seen_through_is_left_out_where_no_transparency_is_known(target, seen):
    link = Element("link")
    elements.add_visuals(link, [CAPSULE, GLASS, BOX], target, (0.5, 0.0, 0.0))
    assert len(link) == seen
    places = [each.find("origin").get("xyz") for each in link]
    assert places[0] == "1.5 2.0 3.0" and places[-1] == "0.5 0.0 0.0"
    turn = [float(each) for each in link[-1].find("origin").get("rpy").split()]
    assert turn == pytest.approx([np.pi, 0.0, np.pi / 2])
    kinds = [each.find("geometry")[0] for each in link]
    assert kinds[0].tag == ("cylinder" if target == "ros" else "capsule")  # URDF knows no capsules
    assert kinds[0].attrib == {"radius": "0.1", "length": "0.4"}
    assert kinds[-1].attrib == {"size": "1.0 2.0 3.0"}
    if target == "ros":
        material = link[1].find("material")
        assert material.get("name") == "rgba_0.0_0.5_1.0_0.3"
        assert material.find("color").get("rgba") == "0.0 0.5 1.0 0.3"


def test_hulls_are_touched_by_other_means():
    hull = Shape(
        shape="hull",
        vertices=((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
        faces=((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    )
    link = Element("link")
    elements.add_collisions(link, [hull, BOX], "bullet", (0.0, 0.0, 0.0))
    assert [each.find("geometry")[0].tag for each in link] == ["box"]


@pytest.mark.parametrize(("target", "begin"), [("ros", "package://"), ("bullet", "/")])
def test_a_mesh_of_a_package_is_a_path_where_no_packages_are_known(target, begin):
    mesh = "package://iap_description/meshes/none.stl"
    link = Element("link")
    elements.add_collisions(link, [Shape(shape="mesh", mesh=mesh)], target, (0, 0, 0))
    name = link[0].find("geometry")[0].get("filename")
    assert name.startswith(begin) and name.endswith("meshes/none.stl")
