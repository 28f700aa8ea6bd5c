# SPDX-License-Identifier: BSD-3-Clause
"""Parts of an imported vehicle stand where its file puts them, seen from its root."""

import importlib.util
import os

import numpy as np
import pytest
import trimesh

from iap_bringup.importing.kinds import read_vehicle
from iap_bringup.importing.platform_file import platform_of
from iap_bringup.importing.rotor_options import RotorOptions, rotor_set
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput

MAST = "0.1 0.2 0.3", "0 0 1.5707963267948966"  # of a link that is turned to the left
FOOT = "0.5 0 -0.1", "0 0 0"  # of a shape on the mast's link
FOOT_AT = 0.1, 0.7, 0.2  # the mast's x axis is the root's y axis

URDF = f"""<robot name='r'>
<link name='base'><inertial><mass value='1'/></inertial>
 <collision><geometry><box size='0.3 0.2 0.1'/></geometry></collision><collision/></link>
<link name='mast'><inertial><origin xyz='0.5 0 0'/><mass value='0.5'/>
  <inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial>
 <visual><geometry><sphere radius='9'/></geometry></visual>
 <collision><origin xyz='{FOOT[0]}'/><geometry><cylinder radius='0.02' length='0.4'/></geometry></collision>
 <collision><geometry><mesh filename='package://shapes/block.stl' scale='2 1 1'/></geometry></collision></link>
<joint name='j' type='revolute'><origin xyz='{MAST[0]}' rpy='{MAST[1]}'/>
 <parent link='base'/><child link='mast'/></joint>
</robot>"""
SDF = f"""<sdf version='1.9'><model name='r'>
<frame name='top' attached_to='base'><pose>0 0 0.3 0 0 0</pose></frame>
<link name='base'><inertial><mass>1</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>
 <collision name='a'><geometry><box><size>0.3 0.2 0.1</size></box></geometry></collision><collision name='b'/></link>
<link name='mast'><pose relative_to='top'>0.1 0.2 0 {MAST[1]}</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>0.5</mass>
  <inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz></inertia></inertial>
 <collision name='a'><pose>{FOOT[0]} {FOOT[1]}</pose>
  <geometry><cylinder><radius>0.02</radius><length>0.4</length></cylinder></geometry></collision>
 <collision name='b'><geometry><mesh>
  <uri>model://shapes/block.stl</uri><scale>2 1 1</scale></mesh></geometry></collision>
</link><joint name='j' type='revolute'><child>mast</child></joint></model></sdf>"""
MJCF = """<mujoco model='r'><compiler angle='radian'/><worldbody><geom type='plane' size='5 5 1'/>
<body name='base' pos='3 0 2' euler='0 0 0.7'><freejoint/>
<inertial pos='0 0 0' mass='1' diaginertia='1e-9 1e-9 1e-9'/><geom type='box' size='0.15 0.1 0.05'/>
<body name='mast' pos='0.1 0.2 0.3' euler='0 0 1.5707963267948966'><joint name='j' type='hinge'/>
<inertial pos='0.5 0 0' mass='0.5' diaginertia='1 2 2.5'/><geom type='sphere' size='9' contype='0' conaffinity='0'/>
<geom type='cylinder' size='0.02 0.2' pos='0.5 0 -0.1'/><geom type='box' size='0.2 0.1 0.1' pos='0.2 0.1 0.1'/></body>
</body></worldbody></mujoco>"""
FILES = {"r.urdf": URDF, "r.sdf": SDF, "r.xml": MJCF}
QUAD = ((0.2, -0.2), (-0.2, 0.2), (0.2, 0.2), (-0.2, -0.2))


def written(tmp_path, name, text):
    """A file in a folder of the model's name, with a mesh of 0.2 m along each axis from its origin on."""
    folder = tmp_path / "shapes"
    folder.mkdir(exist_ok=True)
    block = trimesh.creation.box((0.2, 0.2, 0.2))
    block.apply_translation((0.1, 0.1, 0.1))
    block.export(folder / "block.stl")
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def vehicle(tmp_path, name, text):
    if name.endswith(".xml") and importlib.util.find_spec("mujoco") is None:
        pytest.skip("MuJoCo is not installed")
    return read_vehicle(written(tmp_path, name, text), {})


@pytest.mark.parametrize("name", FILES)
def test_a_turned_link_has_its_shapes_mass_and_inertia_where_its_joint_puts_them(tmp_path, name):
    base, mast = vehicle(tmp_path, name, FILES[name]).links
    (box,), (foot, block) = base.shapes, mast.shapes
    assert box["shape"] == "box"
    np.testing.assert_allclose([box["size"], box["position"]], [(0.3, 0.2, 0.1), (0, 0, 0)])
    assert (foot["shape"], foot["radius"], foot["length"]) == ("cylinder", 0.02, 0.4)
    np.testing.assert_allclose(foot["position"], FOOT_AT, atol=1e-9)
    np.testing.assert_allclose(foot["rpy_deg"], (0.0, 0.0, 90.0), atol=1e-5)
    np.testing.assert_allclose(block["size"], (0.4, 0.2, 0.2), rtol=1e-6)  # twice as long along x
    np.testing.assert_allclose(block["position"], (0.0, 0.4, 0.4), atol=1e-6)
    np.testing.assert_allclose(mast.center, (0.1, 0.7, 0.3), atol=1e-9)
    np.testing.assert_allclose(mast.inertia, np.diag((2.0, 1.0, 2.5)), atol=1e-9)
    assert (base.mass, mast.mass) == (1.0, 0.5)


@pytest.mark.parametrize("name", FILES)
def test_a_joint_that_the_platform_does_not_move_is_named(tmp_path, name):
    notes = vehicle(tmp_path, name, FILES[name]).notes
    assert len(notes) == 1
    assert notes[0].endswith(" j")


@pytest.mark.parametrize("name", ["r.urdf", "r.sdf"])
def test_a_mesh_of_a_kind_that_is_not_read_is_named_and_touches_nothing(tmp_path, name):
    found = vehicle(tmp_path, name, FILES[name].replace("block.stl", "block.wrl"))
    assert len(found.links[1].shapes) == 1
    assert any("block.wrl" in note for note in found.notes)


def test_a_link_of_sdf_without_inertia_has_sdfs_unit_one(tmp_path):
    text = "<sdf><model name='r'><link name='l'><inertial><mass>2</mass></inertial></link></model></sdf>"
    (link,) = vehicle(tmp_path, "r.sdf", text).links
    np.testing.assert_array_equal(link.inertia, np.eye(3))


def test_a_frame_of_sdf_on_a_joint_stands_on_the_joints_child(tmp_path):
    text = SDF.replace("relative_to='top'", "relative_to='tip'")
    text = text.replace(
        "<pose relative_to='tip'>0.1 0.2 0 ", "<pose relative_to='tip'>0.1 0.2 -0.7 "
    )
    more = (
        "<frame name='tip' attached_to='k'/><joint name='k' type='fixed'><pose>0 0 1 0 0 0</pose>"
        "<child>base</child></joint></model>"
    )
    mast = vehicle(tmp_path, "r.sdf", text.replace("</model>", more)).links[1]
    np.testing.assert_allclose(mast.center, (0.1, 0.7, 0.3), atol=1e-9)


def test_a_vehicle_without_shapes_gets_a_body_between_discs_at_its_rotors(tmp_path):
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    text = f"<robot name='r'><link name='l'>{inertial}</link></robot>"
    found = vehicle(tmp_path, "r.urdf", text)
    options = RotorOptions([(x, y, 0.1) for x, y in QUAD], ("ccw", "ccw", "cw", "cw"), 9.0, 0.02)
    aircraft = platform_of(found, rotor_set(found, options, "r"), "r")["aircraft"]
    body, *discs = aircraft["collision"]
    assert body["position"] == [0.0, 0.0, 0.0]
    np.testing.assert_allclose([disc["position"] for disc in discs], [(*p, 0.1) for p in QUAD])
    assert 2.0 * discs[0]["radius"] < 0.4  # neighbours, 0.4 m apart, do not touch
    assert body["radius"] + discs[0]["radius"] < np.hypot(0.2, 0.2)
    assert 0.0 < discs[0]["length"] < body["length"] < 0.2
    radius = discs[0]["radius"]
    mounts = {name: each["position"] for name, each in aircraft["mounts"].items()}
    upper = [mounts[name][2] / radius for name in ("imu", "uwb", "lidar")]
    np.testing.assert_allclose(
        upper, [0.0, 0.5, 0.8], atol=1e-4
    )  # over the body, out of sight of each other
    cameras = np.array([mounts["left_camera"], mounts["right_camera"]]) / radius
    np.testing.assert_allclose(cameras, [[1.2, 0.4, 0.0], [1.2, -0.4, 0.0]], atol=1e-4)
    arms = [each for each in aircraft["visual"] if each["shape"] == "box"]
    for (x, y), arm in zip(QUAD, arms, strict=True):
        np.testing.assert_allclose(arm["position"][:2], [0.5 * x, 0.5 * y])
        assert arm["size"][0] == pytest.approx(np.hypot(x, y))
        assert np.deg2rad(arm["rpy_deg"][2]) == pytest.approx(np.arctan2(y, x))
        assert arm["position"][2] + arm["size"][2] == pytest.approx(0.1)  # below the propeller


@pytest.mark.parametrize("before", [None, "/opt/ros"])
def test_reading_xacro_leaves_the_search_path_of_packages_as_it_was(tmp_path, monkeypatch, before):
    if before is None:
        monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    else:
        monkeypatch.setenv("AMENT_PREFIX_PATH", before)
    assert len(vehicle(tmp_path, "r.urdf.xacro", URDF).links) == 2
    assert os.environ.get("AMENT_PREFIX_PATH") == before


def test_macros_in_a_urdf_are_expanded_whatever_its_name_is(tmp_path):
    opened = "<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'>"
    macro = "<xacro:property name='m' value='0.25'/>"
    text = URDF.replace("<robot name='r'>", opened + macro).replace(
        "value='0.5'", "value='${2 * m}'"
    )
    assert vehicle(tmp_path, "r.urdf", text).links[1].mass == 0.5


def test_a_model_of_mujoco_that_cannot_move_freely_is_refused(tmp_path):
    text = MJCF.replace("<freejoint/>", "")
    with pytest.raises(BadInput, match="freejoint"):
        vehicle(tmp_path, "r.xml", text)


@pytest.mark.parametrize(
    ("geom", "expected"),
    [
        ("type='sphere' size='0.1'", {"shape": "sphere", "radius": 0.1}),
        ("type='capsule' size='0.1 0.2'", {"shape": "capsule", "radius": 0.1, "length": 0.4}),
        ("type='ellipsoid' size='0.1 0.2 0.3'", {"shape": "box", "size": [0.2, 0.4, 0.6]}),
    ],
)
def test_geoms_of_mujoco_have_the_whole_lengths_of_their_kind(tmp_path, geom, expected):
    text = (
        "<mujoco><worldbody><body name='still'><geom size='1' mass='7'/></body>"
        f"<body name='b'><freejoint/><geom {geom} mass='1'/></body></worldbody></mujoco>"
    )
    (link,) = vehicle(tmp_path, "r.xml", text).links
    (shape,) = link.shapes
    for key, value in expected.items():
        assert shape[key] == (value if key == "shape" else pytest.approx(value))


def test_rotors_of_mujoco_push_along_their_sites_and_turn_against_their_drag(tmp_path):
    motor = "<motor site='s' ctrlrange='0 3' gear='0 0 2 0 0 {}'/>"
    text = (
        "<mujoco><compiler angle='radian'/><worldbody><site name='w'/><body name='b' pos='0 0 1'><freejoint/>"
        "<geom type='sphere' size='0.1' mass='1'/>"
        "<site name='s' pos='0.3 0 0' euler='1.5707963267948966 0 0'/></body></worldbody><actuator>"
        f"{motor.format(-0.1)}{motor.format(0.1)}<motor site='s' gear='0 0 1 0 0 0'/>"
        "<motor site='w' ctrlrange='0 3' gear='0 0 2 0 0 0.1'/></actuator></mujoco>"
    )
    rotors = vehicle(tmp_path, "r.xml", text).rotors
    assert [rotor.spin for rotor in rotors] == ["ccw", "cw"]
    for rotor in rotors:
        assert (rotor.thrust_max, rotor.torque_ratio) == pytest.approx((6.0, 0.05))
        np.testing.assert_allclose(rotor.position, (0.3, 0.0, 0.0), atol=1e-9)
        np.testing.assert_allclose(rotor.direction, (0.0, -1.0, 0.0), atol=1e-9)


def test_rotors_of_gym_pybullet_drones_lift_the_weight_times_their_ratio(tmp_path):
    links = "".join(
        f"<link name='prop{k}_link'><inertial><origin xyz='{x} {y} 0'/><mass value='0'/></inertial></link>"
        f"<joint name='j{k}' type='fixed'><parent link='base'/><child link='prop{k}_link'/></joint>"
        for k, (x, y) in enumerate(QUAD)
    )
    text = (
        "<robot name='r'><properties kf='3e-10' km='8e-12' thrust2weight='2.25'/>"
        f"<link name='base'><inertial><mass value='0.4'/></inertial></link>{links}</robot>"
    )
    rotors = vehicle(tmp_path, "r.urdf", text).rotors
    np.testing.assert_allclose([rotor.position[:2] for rotor in rotors], QUAD)
    for rotor in rotors:
        thrust = rotor.thrust_coefficient * rotor.speed_max**2
        assert thrust == pytest.approx(2.25 * 0.4 * GRAVITY / 4.0)
        assert rotor.torque_ratio == pytest.approx(8e-12 / 3e-10)
    rpm = rotors[0].speed_max * 60.0 / (2.0 * np.pi)
    assert rotors[0].speed_max ** 2 * rotors[0].thrust_coefficient == pytest.approx(3e-10 * rpm**2)


@pytest.mark.parametrize(
    ("shape", "lowest"),
    [
        ("<box size='0.3 0.2 0.1'/>", 0.05),
        ("<sphere radius='0.07'/>", 0.07),
        ("<cylinder radius='0.5' length='0.3'/>", 0.15),
    ],
)
def test_a_platform_stands_on_the_lowest_point_of_its_shapes(tmp_path, shape, lowest):
    """The links' common CoM is 0.1 m over the shape's middle."""
    text = (
        "<robot name='r'><link name='base'><inertial><origin xyz='0 0 0.2'/><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><link name='l'><inertial><mass value='1'/></inertial>"
        f"<collision><geometry>{shape}</geometry></collision></link>"
        "<joint name='j' type='fixed'><parent link='base'/><child link='l'/></joint></robot>"
    )
    options = RotorOptions(
        rotors=[(x, y, 0.3) for x, y in QUAD],
        spins=("ccw", "ccw", "cw", "cw"),
        thrust_max=9.0,
        torque_ratio=0.02,
    )
    found = vehicle(tmp_path, "r.urdf", text)
    tree = platform_of(found, rotor_set(found, options, "r"), "r")
    assert tree["ground_clearance"] == pytest.approx(0.1 + lowest)
    aircraft = tree["aircraft"]
    assert aircraft["mass"] == 2.0
    assert aircraft["mounts"]["imu"]["position"] == [0.0, 0.0, -0.1]  # at the root's origin
    np.testing.assert_allclose(
        [r["position"] for r in aircraft["rotors"]], [(*p, 0.2) for p in QUAD]
    )
    radius = aircraft["propeller"][1]["radius"]
    assert 0.0 < 2.0 * radius < 0.4  # discs of neighbours, 0.4 m apart, do not touch
