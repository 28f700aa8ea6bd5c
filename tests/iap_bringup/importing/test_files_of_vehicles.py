# SPDX-License-Identifier: BSD-3-Clause
"""Names, frames, packages and shapes in files of vehicles: which ones are meant, and which are not there."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from iap_bringup.importing.mjcf_file import read_mjcf
from iap_bringup.importing.sdf_file import read_sdf
from iap_bringup.importing.urdf_file import read_urdf
from iap_description.errors import BadInput

INERTIA = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"


def in_folder(tmp_path, name, text):
    """A file in the folder `quad`, with a mesh of 0.2 by 0.4 by 0.6 m from its origin on."""
    folder = tmp_path / "quad"
    folder.mkdir(exist_ok=True)
    block = trimesh.creation.box((0.2, 0.4, 0.6))
    block.apply_translation((0.1, 0.2, 0.3))
    block.export(folder / "block.stl")
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    "name", ["block.stl", "file://{folder}/block.stl", "package://quad/block.stl"]
)
def test_meshes_of_urdf_are_found_beside_it_by_their_whole_path_and_by_their_package(
    tmp_path, name
):
    mesh = f"<mesh filename='{name.format(folder=tmp_path / 'quad')}'/>"
    link = f"<link name='a'>{INERTIA}<collision><geometry>{mesh}</geometry></collision></link>"
    path = in_folder(tmp_path, "q.urdf", f"<robot name='q'>{link}</robot>")
    (shape,) = read_urdf(path, {}).links[0].shapes
    np.testing.assert_allclose(shape["size"], [0.2, 0.4, 0.6])
    np.testing.assert_allclose(shape["position"], [0.1, 0.2, 0.3])


def test_xacro_finds_the_folders_above_a_file_as_packages(tmp_path):
    opened = "<robot name='q' xmlns:xacro='http://ros.org/wiki/xacro'>"
    in_folder(tmp_path, "part.xacro", f"{opened}<link name='a'>{INERTIA}</link></robot>")
    includes = "<xacro:include filename='$(find quad)/part.xacro'/></robot>"
    path = in_folder(tmp_path, "q.urdf.xacro", opened + includes)
    assert [link.name for link in read_urdf(path, {}).links] == ["a"]


def test_only_joints_that_could_move_are_said_to_stay_at_rest(tmp_path):
    links = "".join(f"<link name='{name}'>{INERTIA}</link>" for name in "abcd")
    kinds = zip("bcd", ("fixed", "continuous", "revolute"), strict=True)
    joints = "".join(
        f"<joint name='j{c}' type='{kind}'><parent link='a'/><child link='{c}'/></joint>"
        for c, kind in kinds
    )
    path = in_folder(tmp_path, "q.urdf", f"<robot name='q'>{links}{joints}</robot>")
    assert read_urdf(path, {}).notes == ["joints that stay at rest: jd"]


def sdf(tmp_path, content):
    text = f"<sdf version='1.9'><model name='q'>{content}</model></sdf>"
    return in_folder(tmp_path, "model.sdf", text)


def test_rotors_and_fixed_joints_of_sdf_are_not_said_to_stay_at_rest(tmp_path):
    kinds = (("rotor_0_joint", "revolute"), ("leg", "fixed"), ("gimbal", "revolute"))
    joints = "".join(f"<joint name='{name}' type='{kind}'/>" for name, kind in kinds)
    assert read_sdf(sdf(tmp_path, joints), {}).notes == ["joints that stay at rest: gimbal"]


POSES = """
<link name='a'><pose>1 0 0 0 0 0</pose></link>
<link name='b'><pose relative_to='a'>0 2 0 0 0 0</pose></link>
<link name='c'><pose relative_to='__model__'>0 0 3 0 0 0</pose></link>
<link name='d'><pose relative_to='j'>0 0 5 0 0 0</pose></link>
<link name='e'><pose relative_to='f'>0 0 5 0 0 0</pose></link>
<link name='g'><pose relative_to='k'>0 0 5 0 0 0</pose></link>
<joint name='j' type='fixed'><pose>0 0 4 0 0 0</pose><child> b </child></joint>
<joint name='k' type='fixed'><pose relative_to='c'>0 0 4 0 0 0</pose><child>b</child></joint>
<frame name='f' attached_to='c'><pose relative_to='b'>0 0 1 0 0 0</pose></frame>
"""


def test_poses_of_sdf_are_given_in_links_joints_frames_or_the_model(tmp_path):
    links = read_sdf(sdf(tmp_path, POSES), {}).links
    places = {link.name: link.center.tolist() for link in links}
    assert places == {
        "a": [1.0, 0.0, 0.0],
        "b": [1.0, 2.0, 0.0],
        "c": [0.0, 0.0, 3.0],
        "d": [1.0, 2.0, 9.0],  # a joint stands in its child, unless it names another frame
        "e": [1.0, 2.0, 6.0],  # what is named comes before what a frame is attached to
        "g": [0.0, 0.0, 12.0],
    }


@pytest.mark.parametrize(
    ("a", "said"),
    [("b", "frames are given in each other: a -> b -> a"), ("x", "there is no frame 'x'")],
)
def test_frames_of_sdf_lead_to_the_model(tmp_path, a, said):
    pose = "<link name='{}'><pose relative_to='{}'>0 0 1 0 0 0</pose></link>"
    path = sdf(tmp_path, pose.format("a", a) + pose.format("b", "a"))
    with pytest.raises(BadInput, match=f"^{path}: {said}$"):
        read_sdf(path, {})


BODIES = """<mujoco><asset><mesh name='m' file='block.stl'/></asset><worldbody>
<body pos='0 0 1'><freejoint/><geom type='ellipsoid' size='0.1 0.2 0.3' contype='0' conaffinity='1'/>
 <geom type='box' size='1 1 1' contype='0' conaffinity='0'/><geom type='sphere' size='0.1' contype='1' conaffinity='0'/>
 <geom type='mesh' mesh='m' pos='1 0 0'/>
 <body><joint name='arm' type='hinge'/><geom type='sphere' size='0.1'/></body></body>
<body name='ball'><joint name='other' type='hinge'/><geom type='sphere' size='0.1'/></body>
</worldbody></mujoco>"""


def mjcf(tmp_path: Path):
    pytest.importorskip("mujoco")
    return read_mjcf(in_folder(tmp_path, "hexa.xml", BODIES), {})


def test_a_body_of_mujoco_without_a_name_is_called_as_its_file_and_has_its_own_joints(tmp_path):
    found = mjcf(tmp_path)
    assert found.name == "hexa"
    assert found.notes == ["joints that stay at rest: arm"]
    assert len(found.links) == 2


def test_geoms_of_mujoco_that_touch_anything_are_shapes_others_are_not(tmp_path):
    ellipsoid, ball, mesh = mjcf(tmp_path).links[0].shapes
    np.testing.assert_allclose(ellipsoid["size"], [0.2, 0.4, 0.6])
    assert ball["shape"] == "sphere"
    np.testing.assert_allclose(sorted(mesh["size"]), [0.2, 0.4, 0.6], atol=1e-6)
    np.testing.assert_allclose(mesh["position"], [1.1, 0.2, 0.3], atol=1e-6)


def test_what_is_no_vehicle_is_refused_before_mujoco_reads_it(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "none.xml"
    with pytest.raises(BadInput, match=f"^{path}: "):
        read_mjcf(path, {})
