# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of one's own: files with meshes are seen, met by rays and touched where they are."""

import hashlib

import numpy as np
import pytest
import trimesh
from depths_by_both import cast, rendered
from own_scenes import FLOOR, GREEN, RED, damaged_glb, floor_gltf, scene_yaml
from PIL import Image
from small_scenes import shot, spec

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.scenes.library import load_scene
from iap_description.world.world import World
from iap_sensors.cameras.make import make_renderer
from iap_sensors.rays.lines import Lines

DIGESTS = {  # of all numbers of the scenes as they were drawn and touched when they were code
    "bright_arena": "12aebbe7fd92954e",
    "broad_station": "e189c62347c3658d",
    "building_cluster": "46493c881e9a5211",
    "foggy_arena": "c1cfcc15f8afa8be",
    "narrow_station": "b2fb1137a17abcab",
    "open_field": "60e406056b9cb78a",
    "textured_walls": "c814643b29252ac7",
}
BALL = {"type": "sphere", "radius": 0.5, "position": [3.0, 1.0, FLOOR + 0.5], "label": "ball"}
NOBODY = np.zeros((0, 13))


@pytest.fixture
def place(tmp_path):
    """A floor in glTF, a ball on it, and a building's wall; no ground."""
    floor_gltf(tmp_path / "floor.glb")
    wall = {"type": "box", "size": [0.2, 4.0, 3.0], "position": [5.0, 0.0, 2.0], "label": "wall"}
    mesh = {"type": "mesh", "file": "floor.glb", "label": "floor"}
    return str(scene_yaml(tmp_path, [mesh, BALL, wall]))


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_the_first_seven_scenes_are_what_they_were_bit_for_bit(name):
    scene, digest = load_scene(name), hashlib.sha256()
    for part in scene.parts:
        for array in (part.vertices, part.normals, part.uv, part.faces, part.metres):
            digest.update(np.ascontiguousarray(array).tobytes())
        facts = (part.name, part.texture, part.color, part.label, part.material)
        digest.update(repr(facts).encode())
    digest.update(repr([solid.model_dump() for solid in scene.solids]).encode())
    for key in sorted(scene.textures):
        digest.update(key.encode())
        digest.update(scene.textures[key].tobytes())
    rest = (scene.name, scene.light, scene.fog, scene.sky, dict(scene.labels))
    digest.update(repr(rest).encode())
    assert digest.hexdigest()[:16] == DIGESTS[name]


def test_rays_end_where_the_scene_is(place):
    lines = Lines(World(scene=place), [])
    starts = np.array([[-2.0, 1.0, 4.0], [3.0, 1.0, 4.0], [0.0, 0.0, 1.0], [20.0, 0.0, 4.0]])
    ends = starts + [[0.0, 0.0, -10.0], [0.0, 0.0, -10.0], [10.0, 0.0, 0.0], [0.0, 0.0, -10.0]]
    length = 10.0 * lines.cast(starts, ends, NOBODY, NOBODY, world_only=True)
    top = FLOOR + 1.0
    np.testing.assert_allclose(length, [4.0 - FLOOR, 4.0 - top, 4.9, 10.0], atol=5e-3)


def test_a_scene_without_ground_has_none(place, tmp_path):
    assert not World(scene=place).has_ground
    with_ground = scene_yaml(tmp_path, [{"type": "ground"}, BALL])
    assert World(scene=str(with_ground)).has_ground


def test_its_image_and_its_labels_are_where_they_belong(place, opengl):
    scene = load_scene(place)
    camera = spec(outputs=("rgb8", "segmentation"))
    opengl.load(scene, [])
    down = np.array(
        [0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)]
    )  # a camera along -z, its upper edge along x
    (frame,) = opengl.render([shot(camera, (0.0, 0.0, 3.0), down)], np.zeros((0, 7)))
    rows, column = frame.rgb.shape[0], frame.rgb.shape[1] // 2
    ahead, behind = (
        frame.rgb[rows // 4, column].astype(float),
        frame.rgb[3 * rows // 4, column].astype(float),
    )
    for seen, painted in ((ahead, GREEN), (behind, RED)):
        share = seen / np.array(painted)  # as bright as the light makes it, of the same colour
        np.testing.assert_allclose(share / share.mean(), 1.0, atol=0.12)
    names = {name: number for number, name in scene.labels.items()}
    assert frame.labels[3 * rows // 4, column] == names["floor"]


def test_depth_of_both_renderers_and_of_rays_agree(place, opengl):  # noqa: ARG001 - skips without OpenGL
    depth, labels = rendered(place)
    by_rays, labels_by_rays = cast(place)
    both = np.isfinite(depth) & np.isfinite(by_rays)
    assert both.mean() > 0.2
    off = np.abs(depth[both] / by_rays[both] - 1.0) > 0.01
    assert off.mean() < 1e-3
    assert (labels == labels_by_rays).mean() > 0.999
    renderer = make_renderer("physical")
    renderer.load(load_scene(place), [])
    camera = spec(outputs=("depth",))
    eye = shot(camera, (-3.0, 0.0, 2.0))
    (physical,) = renderer.render([eye], np.zeros((0, 7)))
    renderer.close()
    opengl.load(load_scene(place), [])
    np.testing.assert_array_equal(physical.depth, opengl.render([eye], np.zeros((0, 7)))[0].depth)


def test_scenes_of_scenes_stand_where_they_are_put(tmp_path):
    inner = tmp_path / "inner.yaml"
    inner.write_text(
        "parts: [{type: sphere, radius: 1, position: [1, 0, 2], label: ball}]", encoding="utf-8"
    )
    outer = {"type": "scene", "file": "inner.yaml", "at": [[0, 0], [10, 0, 5, 90]]}
    scene = load_scene(str(scene_yaml(tmp_path, [outer])))
    middles = [
        0.5 * (part.vertices.min(axis=0) + part.vertices.max(axis=0)) for part in scene.parts
    ]
    np.testing.assert_allclose(middles, [[1.0, 0.0, 2.0], [10.0, 1.0, 7.0]], atol=1e-3)


def test_a_height_map_is_as_high_as_its_image(tmp_path):
    levels = np.zeros((3, 3), np.uint8)
    levels[0, 2] = 255  # the first row is at the largest y
    Image.fromarray(levels).save(tmp_path / "hills.png")
    part = {"type": "height_map", "file": "hills.png", "size": [4, 4], "height": 3.0}
    (hills,) = load_scene(str(scene_yaml(tmp_path, [part]))).parts
    np.testing.assert_allclose(hills.vertices[np.argmax(hills.vertices[:, 2])], [2.0, 2.0, 3.0])


def test_hulls_and_fewer_triangles_are_had_on_request(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=4)
    two = trimesh.util.concatenate([ball, ball.copy().apply_translation([3.0, 0.0, 0.0])])
    two.export(tmp_path / "two.ply")
    keys = {"type": "mesh", "file": "two.ply", "label": "ball"}
    scene = load_scene(str(scene_yaml(tmp_path, [{**keys, "contact": "hulls"}])))
    assert [solid.shape for solid in scene.solids] == ["hull", "hull"]
    coarse = scene_yaml(tmp_path, [{**keys, "triangles": 1000, "contact": "none"}])
    fewer = load_scene(str(coarse))
    assert not fewer.solids
    assert 200 < sum(len(part.faces) for part in fewer.parts) <= 2000
    radii = np.linalg.norm(
        fewer.parts[0].vertices - np.round(fewer.parts[0].vertices / 3.0) * [3.0, 0.0, 0.0], axis=1
    )
    assert np.abs(radii - 1.0).max() < 0.2


def _draco(tree):
    tree["extensionsRequired"] = ["KHR_draco_mesh_compression"]


def _ring(tree):
    tree["nodes"][0]["children"] = [0]
    tree["scenes"] = [{"nodes": [0]}]


def _flat(tree):
    for node in tree["nodes"]:
        node.pop("matrix", None)
        node["scale"] = [0.0, 0.0, 0.0]


def _endless(tree):
    _flat(tree)
    tree["nodes"][0]["scale"] = [1e300, 1.0, 1.0]


def test_damaged_gltf_files_are_refused_with_file_and_part(tmp_path):
    for change, words in (
        (_draco, "KHR_draco_mesh_compression"),
        (_ring, "below itself"),
        (_flat, "has no triangle with an area"),
        (_endless, "has a vertex that is not within"),
    ):
        damaged_glb(tmp_path / "bad.glb", change)
        path = scene_yaml(tmp_path, [{"type": "mesh", "file": "bad.glb", "scale": 1.0}])
        with pytest.raises(
            BadInput, match=rf"place.yaml.*parts.0.*bad.glb.*{words}|node.*{words}"
        ):
            load_scene(str(path))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"type": "mesh", "file": "gone.glb"}, "part 'mesh'.*no file .*gone.glb"),
        (
            {"type": "box", "size": [1, 1, 1], "colour": 3},
            "unknown key 'parts.0.colour'",
        ),
        ({"type": "box", "size": [1, 1, 1], "texture": "gone.png"}, "no file .*gone.png"),
        (
            {"type": "mesh", "file": "tiny.stl"},
            "0.003 m large.*give 'scale' to its part in a scene's file",
        ),
        (
            {"type": "mesh", "file": "tiny.stl", "scale": 1e6, "labels": {"x": "wall"}},
            "no node, mesh or material 'x'",
        ),
        (
            {"type": "mesh", "file": "sheet.ply", "scale": 1.0, "contact": "hulls"},
            "'contact'.*open.*surface",
        ),
        (
            {"type": "mesh", "file": "stained.ply", "scale": 1.0},
            "texture coordinate .*within 1e",
        ),
        ({"type": "mesh", "file": "many.ply"}, "10000000 triangles.*'triangles'"),
        ({"type": "plane", "size": [1, 1], "texture": "wide.png"}, "20000 x 1 pixels.*16384"),
        ({"type": "scene", "file": "place.yaml"}, "part of each other"),
        ({"type": "scene", "file": "moon"}, "no such file"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(tmp_path, part, words):
    trimesh.creation.box((0.003, 0.003, 0.003)).export(tmp_path / "tiny.stl")
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).export(tmp_path / "sheet.ply")
    stained = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    stained.visual = trimesh.visual.TextureVisuals(uv=[[0.0, 0.0], [1e80, 0.0], [0.0, 1.0]])
    stained.export(tmp_path / "stained.ply")
    header = "ply\nformat ascii 1.0\nelement vertex 3\nelement face 10000000\nend_header\n"
    (tmp_path / "many.ply").write_text(header, encoding="utf-8")
    Image.new("L", (20000, 1)).save(tmp_path / "wide.png")
    path = str(scene_yaml(tmp_path, [part]))
    with pytest.raises(BadInput, match=words) as error:
        load_scene(validate(World, {"scene": path}, source="test").scene)
    assert "\n" not in str(error.value)


def test_a_picture_is_lit_by_eight_lamps_at_most():
    lamp = {"position": [0.0, 0.0, 3.0], "flux": 900.0}
    lamps = {name: lamp for name in "abcdefgh"}
    assert len(validate(World, {"light": {"lamps": lamps}}, source="test").light.lamps) == 8
    with pytest.raises(BadInput, match="lamps"):
        validate(World, {"light": {"lamps": {**lamps, "i": lamp}}}, source="test")


def test_a_scene_brings_its_own_light_which_a_world_replaces(tmp_path):
    lamp = {"position": [0.0, 0.0, 3.0], "flux": 900.0}
    night = {"light": {"lamps": {"bulb": lamp}}, "time_of_day": {"hour": 1.0}}
    path = str(scene_yaml(tmp_path, [{"type": "ground"}], **night))
    own = World(scene=path).surroundings()
    assert own.is_lit_by_file
    assert own.time_of_day.hour == 1.0
    dusk = validate(
        World, {"scene": path, "time_of_day": {"hour": 20.0}}, source="test"
    ).surroundings()
    assert dusk.time_of_day.hour == 20.0
    assert "bulb" in dusk.lighting.lamps
    assert not dusk.is_lit_by_file
