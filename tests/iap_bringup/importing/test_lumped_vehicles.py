# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles of other programs: links that are lumped, poses, numbers of texts, shapes, and Gazebo's motor models."""

from pathlib import Path
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
import trimesh

from iap_bringup.importing.link_shapes import (
    LinkMesh,
    contact_shape,
    mesh_box,
    motor_models,
)
from iap_bringup.importing.object_file import object_of
from iap_bringup.importing.vehicle_model import (
    LinkModel,
    VehicleModel,
    turned_inertia,
)
from iap_description.assets.link_geometry import primitive
from iap_description.assets.poses import ORIGIN, Pose, numbers, rounded
from iap_description.errors import BadInput
from iap_description.math import euler

R = euler.matrix_from_rpy(np.array([0.3, -0.5, 0.8]))


def link(mass, center, moments):
    return LinkModel("a", mass, np.array(center, float), np.diag(np.array(moments, float)))


def test_links_are_lumped_by_steiner_s_theorem():
    """Two balls of 1 and 3 kg, 0.4 m apart along x: m1 m2 / (m1 + m2) d^2 = 0.12 kg m^2 across."""
    both = VehicleModel(
        "v", [link(1.0, (0.0, 0.1, 0.0), [0.01] * 3), link(3.0, (0.4, 0.1, 0.0), [0.02] * 3)], []
    )
    mass, center, inertia = both.lumped("f", physical=False)
    assert mass == 4.0
    np.testing.assert_allclose(center, [0.3, 0.1, 0.0])
    np.testing.assert_allclose(inertia, np.diag([0.03, 0.15, 0.15]), atol=1e-12)


@pytest.mark.parametrize("mass", [0.0, -1.0, np.inf, np.nan])
def test_links_without_a_mass_are_refused(mass):
    with pytest.raises(BadInput, match="f: its links have no mass"):
        VehicleModel("v", [link(mass, (0, 0, 0), [1, 1, 1])], []).lumped("f", physical=False)


def test_moments_that_no_body_has_are_refused_or_the_sum_is_taken_for_the_largest():
    odd = VehicleModel("v", [link(1.0, (0, 0, 0), [0.02, 0.045, 0.02])], [])
    with pytest.raises(BadInput, match=r"0.02 \+ 0.02 < 0.045 kg m\^2: --make-physical takes"):
        odd.lumped("f", physical=False)
    np.testing.assert_allclose(
        odd.lumped("f", physical=True)[2], np.diag([0.02, 0.04, 0.02]), atol=1e-12
    )
    sound = VehicleModel("v", [link(1.0, (0, 0, 0), [0.02, 0.039, 0.02])], [])
    np.testing.assert_allclose(sound.lumped("f", physical=True)[2], np.diag([0.02, 0.039, 0.02]))


def test_moments_are_turned_from_their_own_axes():
    J = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]])
    np.testing.assert_allclose(turned_inertia([1.0, 2.0, 3.0, 0.1, 0.2, 0.3], R), R @ J @ R.T)


def test_poses_are_chained_and_their_keys_are_rounded():
    first = Pose.of("1 2 3", "0.3 -0.5 0.8", "f")
    np.testing.assert_allclose(first.R, R)
    second = first @ Pose(np.array([0.0, 1.0, 0.0]), R.T)
    np.testing.assert_allclose(second.p, [1.0, 2.0, 3.0] + R[:, 1])
    np.testing.assert_allclose(second.R, np.eye(3), atol=1e-12)
    assert (
        Pose.of(None, None, "f").keys
        == ORIGIN.keys
        == {"position": [0.0] * 3, "rpy_deg": [0.0] * 3}
    )
    assert Pose.of("0 0 0", "0 0 1.5707963267948966", "f").keys["rpy_deg"] == [0.0, 0.0, 90.0]
    assert [str(each) for each in rounded(np.array([-0.0, 1.0 + 1e-15]))] == ["0.0", "1.0"]


@pytest.mark.parametrize(
    "text", ["1 2", "1 2 3 4", "1 2 x", "1 2 nan", "1 2 inf", "1 2 1e300", ""]
)
def test_texts_of_numbers_have_so_many(text):
    assert numbers(" 1 -2.5\t3e-1 ", 3, "f").tolist() == [1.0, -2.5, 0.3]
    with pytest.raises(BadInput, match="f: 3 numbers are expected"):
        numbers(text, 3, "f")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('<g><box size="1 2 3"/></g>', {"shape": "box", "size": [1.0, 2.0, 3.0]}),
        ("<g><box><size>1 2 3</size></box></g>", {"shape": "box", "size": [1.0, 2.0, 3.0]}),
        ('<g><cylinder radius="0.1" length="2"/></g>', {"shape": "cylinder", "radius": 0.1, "length": 2.0}),
        ("<g><capsule><radius>1</radius><length>2</length></capsule></g>",
         {"shape": "capsule", "radius": 1.0, "length": 2.0}),
        ('<g><sphere radius="0.1"/></g>', {"shape": "sphere", "radius": 0.1}),
        ("<g><plane/></g>", None),
    ],
)  # fmt: skip
def test_primitives_are_read_from_attributes_of_urdf_and_elements_of_sdf(text, tree):
    assert primitive(fromstring(text), "f") == tree


@pytest.mark.parametrize(
    ("text", "said"),
    [('<g><cylinder radius="1"/></g>', "f: a cylinder has no length"), ("<g><box/></g>", "f: a box has no size"),
     ('<g><sphere radius="x"/></g>', "f: 1 numbers are expected")],
)  # fmt: skip
def test_a_primitive_without_its_sizes_is_refused(text, said):
    with pytest.raises(BadInput, match=said):
        primitive(fromstring(text), "f")


def test_a_mesh_is_touched_as_the_box_around_it(tmp_path):
    path = tmp_path / "part.stl"
    box = trimesh.creation.box((0.2, 0.4, 0.6))
    box.apply_translation([1.0, 0.0, 0.0])
    box.export(path)
    pose = Pose(np.array([0.0, 0.0, 5.0]), np.eye(3))
    notes: list[str] = []

    def mesh_of(element):
        return LinkMesh("part.stl", Path(element.get("filename")), "2 1 1")

    found = contact_shape(
        fromstring(f'<g><mesh filename="{path}"/></g>'), pose, mesh_of, "f", notes
    )
    assert found["shape"] == "box" and found["rpy_deg"] == [0.0] * 3
    np.testing.assert_allclose(found["size"], [0.4, 0.4, 0.6], atol=1e-6)
    np.testing.assert_allclose(found["position"], [2.0, 0.0, 5.0], atol=1e-6)
    assert mesh_box(tmp_path / "part.step", "1 1 1", pose, "f") is None
    gone = fromstring('<g><mesh filename="part.step"/></g>')
    assert contact_shape(gone, pose, mesh_of, "f", notes) is None and notes == [
        "no contact by part.stl"
    ]
    assert contact_shape(None, pose, mesh_of, "f", notes) is None
    assert contact_shape(fromstring("<g/>"), pose, mesh_of, "f", notes) is None
    sphere = contact_shape(fromstring('<g><sphere radius="1"/></g>'), pose, mesh_of, "f", notes)
    assert sphere == {"shape": "sphere", "radius": 1.0, **pose.keys}


PLUGIN = """<r><plugin><linkName> q::rotor_0 </linkName><motorConstant>8e-6</motorConstant>{}</plugin>
<plugin><linkName>other</linkName></plugin><plugin><motorConstant>1</motorConstant></plugin></r>"""
WHOLE = """<turningDirection> cw </turningDirection><maxRotVelocity>1100</maxRotVelocity>
<momentConstant>0.06</momentConstant><timeConstantUp>0.0125</timeConstantUp><timeConstantDown>0.025</timeConstantDown>"""


def test_a_motor_model_is_a_rotor_along_its_link_s_z_axis():
    pose = Pose(np.array([1.0, 2.0, 3.0]), R)
    (rotor,) = motor_models(fromstring(PLUGIN.format(WHOLE)), {"q::rotor_0": pose}, "f")
    np.testing.assert_array_equal(rotor.position, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(rotor.direction, R[:, 2])
    assert (rotor.spin, rotor.thrust_coefficient, rotor.speed_max) == ("cw", 8e-6, 1100.0)
    assert (rotor.torque_ratio, rotor.time_constants) == (0.06, (0.0125, 0.025))
    one = WHOLE.replace("timeConstantDown", "x").replace("turningDirection", "y")
    (bare,) = motor_models(fromstring(PLUGIN.format(one)), {"q::rotor_0": pose}, "f")
    assert bare.time_constants is None and bare.spin is None
    with pytest.raises(
        BadInput, match="f: a motor model is of link 'q::rotor_0', which is not there"
    ):
        list(motor_models(fromstring(PLUGIN.format("")), {}, "f"))


def test_an_object_has_the_mass_of_its_density_in_metres(tmp_path):
    path = tmp_path / "box.stl"
    trimesh.creation.box((100.0, 200.0, 300.0)).export(path)  # in millimetres
    made = object_of(path, 500.0, 1e-3, tmp_path)
    assert made.mass == pytest.approx(3.0) and made.tree["mass"] == made.mass
    np.testing.assert_allclose(
        np.diag(made.inertia), [3.0 / 12.0 * x for x in (0.13, 0.10, 0.05)], rtol=1e-6
    )
    assert (made.tree["type"], made.tree["scale"], made.tree["file"]) == ("mesh", 1e-3, str(path))
    opened = trimesh.creation.box((1.0, 1.0, 1.0))
    opened.update_faces(np.arange(12) > 0)
    opened.export(path)
    with pytest.raises(BadInput, match="box.stl: a mass needs a closed mesh"):
        object_of(path, 500.0, 1.0, tmp_path)
