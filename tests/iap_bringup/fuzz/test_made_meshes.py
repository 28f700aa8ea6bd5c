# SPDX-License-Identifier: BSD-3-Clause
"""Made meshes and worlds are closed, and lie where scenarios look for them."""

import yaml

from iap_bringup.fuzz import made_texts


def test_a_made_mesh_is_a_closed_body_in_both_formats(tmp_path):
    made_texts._write_meshes(tmp_path)
    lines = (tmp_path / "mesh.obj").read_text().splitlines()
    faces = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("f ")]
    edges = [(face[k], face[(k + 1) % 3]) for face in faces for k in range(3)]
    assert sorted(edges) == sorted((b, a) for a, b in edges) and len(faces) == 4
    stl = (tmp_path / "mesh.stl").read_text()
    assert stl.startswith("solid cube\n") and stl.endswith("endsolid cube\n")
    assert stl.count("outer loop") == stl.count("endfacet") == len(made_texts.CORNERS)
    assert stl.count("vertex ") == 3 * len(made_texts.CORNERS)


def test_a_made_world_has_two_meshes_apart_and_objects_of_presets(tmp_path):
    made_texts._write(tmp_path / "world.yaml", made_texts._world())
    tree = yaml.safe_load((tmp_path / "world.yaml").read_text())
    objects = tree["world"]["objects"]
    assert tree["extends"] == "hover" and objects["trees"] == {"preset": "trees"}
    assert objects["mesh"]["position"] == [3.0, 0.0, 1.0]
    assert objects["another"]["position"] == [-3.0, 0.0, 1.0]
    assert [objects[name]["file"] for name in ("mesh", "another")] == ["mesh.stl", "mesh.obj"]
    assert objects["mesh"]["surface"] == {"friction": 0.5, "restitution": 0.0}


def test_a_made_camera_is_small_and_light_is_for_renderers_that_have_it():
    plain, lit = (made_texts._images(name) for name in ("opengl", "physical"))
    camera = plain["sensors"]["cameras"]["left"]
    assert (camera["width"], camera["height"], camera["fx"], camera["cx"]) == (64, 48, 40.0, 31.5)
    assert set(plain["sensors"]) == {"cameras", "imu"} and plain["renderer"] == "opengl"
    assert lit["world"]["scene"] == "textured_walls" != plain["world"].get("scene")
    assert set(made_texts.LIGHT) <= set(lit["world"])
