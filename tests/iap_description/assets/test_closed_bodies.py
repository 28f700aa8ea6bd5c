# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of files: their volumes and places, however they are written, and what is refused of them."""

import warnings

import numpy as np
import pytest
import trimesh
from asset_folders import BOX, box, ell, write_urdf

from iap_description.assets.closed_bodies import closed_bodies, whole_assets
from iap_description.errors import BadInput
from iap_description.geometry.solids import moments

KINDS = ("stl", "obj", "ply", "off", "glb", "gltf")


def written(folder, kind, mesh):
    path = folder / f"thing.{kind}"
    if kind == "gltf":
        for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(mesh)).items():
            (path if name == "model.gltf" else folder / name).write_bytes(data)
    else:
        mesh.export(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_is_one_convex_body_of_its_volume_in_every_kind_of_file(tmp_path, kind):
    (body,) = closed_bodies(written(tmp_path, kind, box()))
    assert body.is_convex
    assert moments(body.vertices, body.faces)[0] == pytest.approx(np.prod(BOX), rel=1e-6)
    expected = np.roll(BOX, 1) if kind in ("glb", "gltf") else BOX  # y of glTF is upwards
    np.testing.assert_allclose(np.ptp(body.vertices, axis=0), expected, atol=1e-6)


def test_a_body_that_is_not_convex_is_told_from_its_hull(tmp_path):
    (body,) = closed_bodies(written(tmp_path, "stl", ell()))
    assert not body.is_convex
    assert moments(body.vertices, body.faces)[0] == pytest.approx(0.75)
    assert moments(*body.hull)[0] == pytest.approx(0.875)


def test_a_mesh_of_two_boxes_is_two_bodies_and_faces_look_outwards_in_each(tmp_path):
    other = box((0.2, 0.2, 0.2)).apply_translation([2.0, 0.0, 0.0])
    other.invert()
    both = trimesh.util.concatenate([box(), other])
    found = closed_bodies(written(tmp_path, "ply", both))
    volumes = sorted(moments(body.vertices, body.faces)[0] for body in found)
    np.testing.assert_allclose(volumes, [0.008, 0.24], rtol=1e-6)


def test_links_of_a_urdf_file_are_where_its_joints_have_them_at_rest(tmp_path):
    """A box on a joint that is 1 m up and turned by a quarter about z."""
    path = tmp_path / "two.urdf"
    path.write_text(
        "<robot name='two'><link name='a'><collision><geometry><sphere radius='0.5'/></geometry></collision>"
        "</link><link name='b'><visual><geometry><box size='9 9 9'/></geometry></visual><collision>"
        "<origin xyz='0.3 0 0'/><geometry><box size='0.6 0.4 1.0'/></geometry></collision></link>"
        "<joint name='j' type='revolute'><origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/>"
        "<parent link='a'/><child link='b'/></joint></robot>"
    )
    ball, block = closed_bodies(path)
    assert moments(ball.vertices, ball.faces)[0] == pytest.approx(np.pi / 6.0, rel=0.03)
    np.testing.assert_allclose(block.vertices.min(axis=0), [-0.2, 0.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(block.vertices.max(axis=0), [0.2, 0.6, 1.5], atol=1e-12)


def test_meshes_of_a_urdf_file_are_scaled_and_are_no_assets_of_their_own(tmp_path):
    box().export(tmp_path / "part.obj")
    write_urdf(tmp_path / "whole.urdf", "<mesh filename='part.obj' scale='2 1 -1'/>")
    (body,) = closed_bodies(tmp_path / "whole.urdf")
    np.testing.assert_allclose(np.ptp(body.vertices, axis=0), [1.2, 0.4, 1.0], atol=1e-9)
    assert moments(body.vertices, body.faces)[0] > 0.0  # mirrored, and turned right side out
    assert list(whole_assets(tmp_path)) == ["whole.urdf"]


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    path = tmp_path / "part.stl"
    for name in ("part.stl", "by.urdf"):
        box().export(path)
        write_urdf(tmp_path / "by.urdf", "<mesh filename='part.stl'/>")
        before = closed_bodies(tmp_path / name)
        box((2.0, 2.0, 2.0)).export(path)
        (after,) = closed_bodies(tmp_path / name)
        assert np.ptp(before[0].vertices) < np.ptp(after.vertices) == pytest.approx(2.0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_mesh_is_refused_by_the_number_of_its_open_edges(tmp_path, kind):
    mesh = box()
    path = written(tmp_path, kind, trimesh.Trimesh(mesh.vertices, mesh.faces[1:], process=False))
    with pytest.raises(ValueError) as error:
        closed_bodies(path)
    assert str(error.value) == f"the mesh {path} is open: 3 edges have one face only"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<robot", "not valid XML: unclosed token: line 1, column 0"),
        ("<sdf/>", "its root is <sdf>, not <robot>"),
        ("<robot><link name='a'/></robot>", "no link has a shape"),
    ],
)
def test_a_damaged_urdf_file_is_refused_in_a_line(tmp_path, text, line):
    path = tmp_path / "a.urdf"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        closed_bodies(path)
    assert str(error.value) == f"{path}: {line}"


@pytest.mark.parametrize(
    ("shape", "line"),
    [
        ("<mesh filename='a.dae'/>", "{}/a.dae is of no known kind: choose glb, gltf, obj, ply, stl, off"),
        ("<box/>", "a box has no size"),
        ("<box size='1 -1 1'/>", "key 'size.1': Input should be greater than or equal to 0.00001 (got -1.0)"),
        ("<plane/>", "a shape has no box, cylinder, sphere, capsule or mesh"),
    ],
)  # fmt: skip
def test_a_shape_of_a_link_that_is_none_is_refused_in_a_line(tmp_path, shape, line):
    write_urdf(tmp_path / "a.urdf", shape)
    with pytest.raises(BadInput) as error:
        closed_bodies(tmp_path / "a.urdf")
    assert str(error.value) == f"{tmp_path}/a.urdf: link 'base': {line.format(tmp_path)}"


def test_places_in_textures_beyond_any_number_of_pixels_are_no_warning(tmp_path):
    """A text of PLY whose vertices have 1e300 as their places."""
    head = "ply\nformat ascii 1.0\nelement vertex 4\n"
    head += "".join(f"property double {name}\n" for name in ("x", "y", "z", "s", "t"))
    head += "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    rows = "".join(f"{x} {y} {z} 1e300 1e300\n" for x, y, z in corners)
    (tmp_path / "a.ply").write_text(f"{head}{rows}3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (body,) = closed_bodies(tmp_path / "a.ply")
    assert moments(body.vertices, body.faces)[0] == pytest.approx(1.0 / 6.0)
