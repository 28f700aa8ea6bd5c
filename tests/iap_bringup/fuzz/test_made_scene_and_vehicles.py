# SPDX-License-Identifier: BSD-3-Clause
"""The made scene is read as a scene with all kinds of parts, and made vehicles say one vehicle in three languages."""

import json
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest
import trimesh
import yaml

from iap_bringup.fuzz import made_models
from iap_description.assets.closed_bodies import closed_bodies, whole_assets
from iap_description.assets.kinds import ASSET_KINDS


def test_made_assets_are_closed_bodies_in_files_of_every_kind(tmp_path):
    made_models.write_assets(tmp_path)
    files = whole_assets(tmp_path / "assets")
    assert {each.suffix.removeprefix(".") for each in files.values()} == set(ASSET_KINDS)
    counts = {name: len(closed_bodies(path)) for name, path in files.items()}
    assert counts.pop("post.urdf") == 2 and set(counts.values()) == {1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("made")
    made_models.write_scene(home)
    return home / "scene"


def test_a_made_scene_has_a_file_of_each_kind_and_no_other(folder):
    names = {each.name for each in folder.iterdir()}
    assert names >= {
        "wall.png", "hills.png", "hills.npy", "sky.hdr", "truck.glb", "truck.gltf", "block.obj", "block.ply",
        "other.yaml", "scene.yaml",
    }  # fmt: skip
    assert {name.rpartition(".")[2] for name in names} <= {
        "png", "npy", "hdr", "glb", "gltf", "obj", "ply", "yaml", "bin", "mtl",
    }  # fmt: skip


def test_images_of_a_made_scene_are_square_and_heights_are_the_walls_first_colour(folder):
    wall = cv2.imread(str(folder / "wall.png"), cv2.IMREAD_UNCHANGED)
    hills = cv2.imread(str(folder / "hills.png"), cv2.IMREAD_UNCHANGED)
    assert wall.shape == (16, 16, 3) and hills.shape == (16, 16)
    np.testing.assert_array_equal(hills, wall[..., 0])
    heights = np.load(folder / "hills.npy")
    np.testing.assert_allclose(heights, hills / 255.0)
    assert heights.std() > 0.2 and heights.max() < 1.0
    sky = cv2.imread(str(folder / "sky.hdr"), cv2.IMREAD_UNCHANGED)
    assert sky.shape == (64, 128, 3) and np.ptp(sky) == 0.0
    assert sky.mean() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("name", ["truck.glb", "truck.gltf", "block.obj", "block.ply"])
def test_a_made_mesh_is_a_box_of_one_by_two_by_one(folder, name):
    mesh = trimesh.load(folder / name, force="mesh")
    np.testing.assert_allclose(sorted(mesh.extents), [1.0, 1.0, 2.0])
    assert len(mesh.faces) == 12


def test_a_made_gltf_names_the_files_that_lie_beside_it(folder):
    tree = json.loads((folder / "truck.gltf").read_text())
    for buffer in tree["buffers"]:
        assert (folder / buffer["uri"]).stat().st_size == buffer["byteLength"]
    assert not (folder / "model.gltf").exists()


def test_parts_of_a_made_scene_stand_apart(folder):
    parts = yaml.safe_load((folder / "scene.yaml").read_text())["parts"]
    assert [each["type"] for each in parts] == [
        "ground", *["mesh"] * 4, "box", "sphere", "height_map", "height_map", "scene",
    ]  # fmt: skip
    assert [each["position"] for each in parts[1:5]] == [
        [x, -8.0, 0.0] for x in (5.0, 9.0, 13.0, 17.0)
    ]
    assert [each["file"] for each in parts[7:9]] == ["hills.png", "hills.npy"]
    assert [each["position"][0] for each in parts[7:]] == [-30.0, -50.0, 40.0]
    assert (parts[0]["texture"], parts[0]["reach"], parts[6]["label"]) == (
        "wall.png",
        40.0,
        "ball",
    )
    assert parts[5]["at"] == [[8.0, 6.0, 1.0]]
    other = yaml.safe_load((folder / "other.yaml").read_text())["parts"]
    assert [each["at"] for each in other] == [[[9.0, 6.0, 1.0]]]


def test_made_vehicles_have_four_rotors_at_their_places_in_each_language(tmp_path):
    made_models.write_vehicles(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {
        f"vehicle.{suffix}" for suffix in ("urdf", "sdf", "xml")
    }
    places = [(0.2, -0.2, 0.05), (-0.2, 0.2, 0.05), (0.2, 0.2, 0.05), (-0.2, -0.2, 0.05)]
    urdf, sdf, mjcf = (
        ElementTree.parse(tmp_path / f"vehicle.{each}").getroot()
        for each in ("urdf", "sdf", "xml")
    )
    numbers = lambda text: tuple(map(float, text.split()))  # noqa: E731
    assert [numbers(each.get("xyz")) for each in urdf.iter("origin")] == places
    assert [numbers(each.text)[:3] for each in sdf.iter("pose")] == places
    assert [numbers(each.get("pos")) for each in mjcf.iter("site")] == places
    spins = ["ccw", "ccw", "cw", "cw"]
    for root in (urdf, sdf):
        assert [each.text for each in root.iter("turningDirection")] == spins
        assert {each.text for each in root.iter("momentConstant")} == {"0.016"}
        assert [each.text for each in root.iter("linkName")] == [f"rotor_{k}" for k in range(4)]
    torques = [numbers(each.get("gear"))[5] for each in mjcf.iter("motor")]
    assert torques == [-0.016, -0.016, 0.016, 0.016]
    assert {each.get("ctrlrange") for each in mjcf.iter("motor")} == {"0 6.48"}  # 8e-6 * 900^2
