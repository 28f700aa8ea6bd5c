# SPDX-License-Identifier: BSD-3-Clause
"""Files of meshes with parts that make no sense are refused, and materials are read as they are."""

import json
import re
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh
from PIL import Image

from iap_description.assets import headers, matter
from iap_description.assets.asset import load_asset
from iap_description.assets.headers import emissive_strengths
from iap_description.assets.reduction import reduced
from iap_description.assets.surface_images import SurfaceImages

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\n"
STRENGTH = "KHR_materials_emissive_strength"


@pytest.fixture
def glb(tmp_path):
    """Writes a cube of one material, with changes to its JSON."""
    box = trimesh.creation.box()
    material = trimesh.visual.material.PBRMaterial(name="red", emissiveFactor=[1, 0, 0])
    box.visual = trimesh.visual.TextureVisuals(material=material)
    assert len(box.vertex_normals) == 8
    data = trimesh.Scene(box).export(file_type="glb", include_normals=True)
    (size,) = struct.unpack_from("<I", data, 12)
    tree, rest = json.loads(data[20 : 20 + size]), data[20 + size :]

    def write(change=None, node=None, **keys):
        tree["materials"][0].update(keys)
        tree["nodes"][-1].update(node or {})
        text = json.dumps(tree)
        if change:
            text = text.replace(*change)
        head = text.encode() + b" " * (-len(text) % 4)
        sizes = (2, 20 + len(head) + len(rest), len(head), 0x4E4F534A)
        path = tmp_path / "cube.glb"
        path.write_bytes(struct.pack("<IIIII", 0x46546C67, *sizes) + head + rest)
        return path

    return write


@pytest.mark.parametrize(
    "keys",
    [
        {"extensions": None},
        {"extensions": []},
        {"extensions": {STRENGTH: None}},
        {"extensions": {STRENGTH: {"emissiveStrength": "1"}}},
        {"extensions": {STRENGTH: {"emissiveStrength": -1.0}}},
        {"extensions": {STRENGTH: {"emissiveStrength": 1.1e9}}},
        {"name": ["red"]},
        {"name": 5},
    ],
)
def test_a_material_that_is_damaged_is_refused_by_its_file(keys, glb):
    path = glb(**keys)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        load_asset(path, 100)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400"])
def test_a_number_that_is_none_is_refused(number, glb):
    path = glb(("0.125", number), pbrMetallicRoughness={"roughnessFactor": 0.125})
    with pytest.raises(ValueError, match="is not a finite number"):
        load_asset(path, 100)


def test_factors_beyond_their_range_are_its_ends(glb):
    factors = {"roughnessFactor": 7.0, "metallicFactor": -2.0}
    (piece,) = load_asset(glb(pbrMetallicRoughness=factors), 100)
    surface = piece.matter.surface
    assert (surface.roughness, surface.metalness, surface.luminance) == (1.0, 0.0, (1.0, 0.0, 0.0))
    assert surface.emits and not SurfaceImages().emits
    (piece,) = load_asset(glb(pbrMetallicRoughness={"roughnessFactor": 0.25}), 100)
    surface = piece.matter.surface
    assert (surface.roughness, surface.metalness) == (0.25, 1.0)


def test_emission_is_multiplied_by_the_strength_of_its_name(glb):
    path = glb(extensions={STRENGTH: {"emissiveStrength": 2.5}})
    assert emissive_strengths(path) == {"red": 2.5}
    (piece,) = load_asset(path, 100)
    assert piece.matter.surface.luminance == (2.5, 0.0, 0.0)
    path = glb(name=None)
    assert emissive_strengths(path) == {"": 2.5}
    assert load_asset(path, 100)[0].matter.surface.luminance == (2.5, 0.0, 0.0)


def test_a_node_without_extent_has_no_normals(glb):
    (piece,) = load_asset(glb(), 100)
    np.testing.assert_allclose(np.linalg.norm(piece.normals, axis=1), 1.0)
    (piece,) = load_asset(glb(node={"scale": [1.0, 0.0, 1.0]}), 100)
    assert piece.normals is None


def test_nodes_without_a_mesh_have_the_triangles_of_those_below():
    mesh = {
        "primitives": [
            {"attributes": {"POSITION": 1}, "indices": 0},
            {"attributes": {"POSITION": 1}},
        ]
    }
    lines = {"attributes": {"POSITION": 1}, "mode": 1}
    tree = {
        "nodes": [{"children": [1, 2]}, {"mesh": 0}, {"mesh": 0, "children": [3]}, {"mesh": 1}],
        "meshes": [mesh, {"primitives": [lines]}],
        "accessors": [{"count": 36}, {"count": 9}],
    }
    assert [headers._triangles(tree, k, ()) for k in range(4)] == [30, 15, 15, 0]
    assert headers._roots({"nodes": tree["nodes"]}) == [0, 1, 2, 3]
    assert headers._roots({"scenes": [{"nodes": [3]}, {"nodes": [1]}, {}]}) == [3]
    assert headers._roots({"scenes": [{"nodes": [3]}, {"nodes": [1]}], "scene": 1}) == [1]
    tree["nodes"][3]["children"] = [0]
    with pytest.raises(ValueError, match="node 0 of the glTF file is below itself"):
        headers._triangles(tree, 0, ())


def test_an_obj_may_name_no_file_of_materials(tmp_path):
    path = tmp_path / "a.obj"
    for line in ("mtllib \n", "mtllib    \n", ""):
        path.write_text(line + OBJ)
        (piece,) = load_asset(path, 1)
        assert piece.faces.tolist() == [[0, 1, 2]]
    path.write_text("mtllib  b.mtl\n" + OBJ)
    with pytest.raises(ValueError, match=r"names a file that is not there: .*/b.mtl$"):
        load_asset(path, 1)
    (tmp_path / "b.mtl").write_text("newmtl m\nmap_Kd\nMAP_KD -s 1 1 1 c.png\nother d.png\n")
    with pytest.raises(ValueError, match=r"names a file that is not there: .*/c.png$"):
        load_asset(path, 1)


def test_more_triangles_than_are_taken_are_refused_in_any_kind(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text(OBJ + "f 3//1 2//1 1//1\n")
    assert len(load_asset(path, 2)[0].faces) == 2
    with pytest.raises(ValueError, match="has 2 triangles, more than 1"):
        load_asset(path, 1)
    path.write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    with pytest.raises(ValueError, match="a.obj"):
        load_asset(path, 1)


def test_a_colour_is_of_bytes_or_of_shares_and_grey_where_nothing_is_said():
    assert matter._rgba(None) == (0.7, 0.7, 0.7, 1.0)
    assert matter._rgba(np.array([255, 51, 0, 102], np.uint8)) == (1.0, 0.2, 0.0, 0.4)
    assert matter._rgba([0.5, -1.0, 2.0]) == (0.5, 0.0, 1.0, 1.0)
    r, g, b, a = matter._rgba([0.2140411, 0.0, 1.0, 0.25], linear=True)
    assert (r, g, b, a) == pytest.approx((0.5, 0.0, 1.0, 0.25), abs=1e-6)
    assert matter._emission(None, 3.0) == (0.0, 0.0, 0.0)
    assert matter._emission([0.5, -1.0, 2.0], 3.0) == (1.5, 0.0, 6.0)


def test_matter_of_an_obj_has_its_image_or_its_colour_and_no_light():
    visual = SimpleNamespace(material=SimpleNamespace(name=None, image=None, diffuse=[255, 0, 51]))
    made = matter.matter_of(SimpleNamespace(visual=visual))
    assert made.color == (1.0, 0.0, 0.2, 1.0)
    assert (made.name, made.two_sided) == ("", False)
    assert (made.surface.roughness, made.surface.base, made.surface.metalness) == (0.8, None, 0.0)
    visual.material.name, visual.material.image = "brick", Image.new("L", (4, 2), 7)
    made = matter.matter_of(SimpleNamespace(visual=visual))
    assert (made.name, made.color, made.surface.roughness) == ("brick", (1.0, 1.0, 1.0, 1.0), 0.8)
    np.testing.assert_array_equal(made.surface.base, np.full((2, 4, 3), 7))
    bare = matter.matter_of(
        SimpleNamespace(visual=SimpleNamespace(main_color=np.array([0, 51, 255, 255], np.uint8)))
    )
    assert (bare.name, bare.color, bare.two_sided) == ("", (0.0, 0.2, 1.0, 1.0), False)
    assert bare.surface.roughness == 0.8 and bare.surface.base is None


def test_images_of_metal_and_roughness_lie_in_green_and_blue_and_occlusion_in_red():
    names = ("baseColorTexture", "emissiveTexture", "normalTexture")
    images = {name: Image.new("RGB", (1, 1), (k, 0, 0)) for k, name in enumerate(names)}
    material = trimesh.visual.material.PBRMaterial(
        name="m",
        baseColorFactor=[255, 255, 255, 51],
        metallicRoughnessTexture=Image.new("RGB", (2, 1), (1, 2, 3)),
        occlusionTexture=Image.new("RGB", (1, 2), (4, 5, 6)),
        doubleSided=True,
        alphaMode="MASK",
        **images,
    )
    made = matter._metal_rough(material, 1.0)
    surface = made.surface
    assert made.color == pytest.approx((1.0, 1.0, 1.0, 1.0))
    assert made.two_sided
    assert surface.rough_metal.tolist() == [[[2, 3], [2, 3]]]
    assert surface.occlusion.tolist() == [[4], [4]]
    assert [each[0, 0, 0] for each in (surface.base, surface.emission, surface.normal)] == [
        0,
        1,
        2,
    ]
    material.alphaMode = "BLEND"
    assert matter._metal_rough(material, 1.0).color == pytest.approx((1.0, 1.0, 1.0, 0.2))
    bare = matter._metal_rough(trimesh.visual.material.PBRMaterial(), 1.0)
    assert (bare.name, bare.color, bare.two_sided) == ("", (1.0, 1.0, 1.0, 1.0), False)
    assert bare.surface.luminance == (0.0, 0.0, 0.0)
    of_light = matter.of_luminance(matter._metal_rough(material, 1.0), 3.0).surface
    assert of_light.luminance == (0.0, 0.0, 0.0) and of_light.base is not None
    plain = matter.without_images(made)
    assert plain.surface.base is plain.surface.occlusion is plain.surface.rough_metal is None
    assert (plain.surface.roughness, plain.surface.metalness, plain.two_sided) == (1.0, 1.0, True)


def test_a_surface_is_reduced_where_it_stands_and_to_the_most_that_fits():
    n = 17
    u, v = np.meshgrid(np.arange(n) / (n - 1), np.arange(n) / (n - 1), indexing="ij")
    points = np.stack([u.ravel(), v.ravel(), 0.0 * u.ravel()], -1)
    at = np.arange(n * n).reshape(n, n)
    a, b, c, d = at[:-1, :-1].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel(), at[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    kept, same = reduced(points, faces, len(faces))
    assert kept.tolist() == list(range(n * n)) and same is faces
    first, fewer = reduced(points, faces, len(faces) - 1)
    assert 100 <= len(fewer) < len(faces)
    for shift in (0.0, -40.0, 900.0):
        moved, again = reduced(points + shift, faces, len(faces) - 1)
        assert len(again) == len(fewer) and len(moved) == len(first)
    _, least = reduced(points, faces, 1)
    assert len(least) == 2  # between the four cells of the coarsest grid


def test_a_texture_coordinate_of_one_number_is_refused_with_its_part(tmp_path):
    path = tmp_path / "flat.obj"
    text = OBJ.replace("//1", "/1/1").replace("vn", "vt 0 1\nvn")
    path.write_text(text)
    assert load_asset(path, 100)[0].uv.tolist() == [[0.0, 1.0]] * 3
    path.write_text(text.replace("vt 0 1", "vt 0"))
    with pytest.raises(ValueError, match=r"flat\.obj: part .* that is not two numbers within"):
        load_asset(path, 100)
