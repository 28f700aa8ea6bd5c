# SPDX-License-Identifier: BSD-3-Clause
"""Files and keys of things in a world that cannot be meant, refused in words that say what to do."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.assets.asset import load_asset
from iap_description.assets.contact import hull_of
from iap_description.config.json_files import parse_json
from iap_description.config.text_files import check_yaml_path
from iap_description.errors import BadInput
from iap_description.geometry.mesh_files import read_mesh
from iap_description.scenes.builder import Builder
from iap_description.vehicles.rotor import Rotor
from iap_description.world.objects import Mesh

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def obj(path: Path, corners=CORNERS, faces=FACES) -> str:
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_mesh_that_is_flat_encloses_no_volume(tmp_path):
    vertices, faces = read_mesh(obj(tmp_path / "solid.obj"))
    assert vertices.shape == (4, 3) and len(faces) == 4
    flat = obj(tmp_path / "flat.obj", np.vstack([CORNERS[:3], [[1.0, 1.0, 0.0]]]))
    with pytest.raises(ValueError, match=f"^the mesh {flat} encloses no volume$"):
        read_mesh(flat)


def test_a_file_of_another_suffix_is_no_mesh(tmp_path):
    path = tmp_path / "mesh.xyz"
    path.write_text("0 0 0\n")
    with pytest.raises(ValueError, match="is of no known kind of mesh: choose "):
        read_mesh(str(path))
    with pytest.raises(ValueError, match="is of no known kind of mesh: choose "):
        load_asset(path, 100)
    with pytest.raises(ValueError, match="^there is no file "):
        load_asset(tmp_path / "none.obj", 100)


def test_what_is_flat_has_no_hull_and_a_solid_has_that_of_its_corners():
    made = hull_of(np.vstack([CORNERS, [[0.2, 0.2, 0.2]]]))
    assert len(made.vertices) == 4
    with pytest.raises(ValueError, match="^it is flat, and has no hull: take 'contact: surface'$"):
        hull_of(CORNERS[:3])


def test_a_free_mesh_is_touched_as_its_hull(tmp_path):
    keys = {"type": "mesh", "file": obj(tmp_path / "solid.obj"), "position": (0.0, 0.0, 1.0)}
    surface = {"surface": {"friction": 0.5, "restitution": 0.1}}
    assert Mesh.model_validate({**keys, **surface, "mass": 1.0}).mass == 1.0
    assert Mesh.model_validate({**keys, **surface, "concave": True}).concave
    with pytest.raises(
        ValueError, match="'concave': a free body is touched as a convex hull only"
    ):
        Mesh.model_validate({**keys, **surface, "mass": 1.0, "concave": True})
    with pytest.raises(ValueError, match="key 'file': "):
        Mesh.model_validate({**keys, **surface, "file": str(tmp_path / "none.obj")})


def test_a_mesh_has_its_scale(tmp_path):
    keys = {"type": "mesh", "file": obj(tmp_path / "solid.obj"), "position": (0.0, 0.0, 1.0)}
    surface = {"surface": {"friction": 0.5, "restitution": 0.1}}
    (piece,) = Mesh.model_validate({**keys, **surface, "scale": 0.5}).pieces()
    np.testing.assert_allclose(np.ptp(np.array(piece.vertices), axis=0), 0.5)


def test_a_scene_has_49_labels():
    builder = object.__new__(Builder)
    builder._labels = {}
    assert [builder.label(f"l{k}") for k in range(49)] == list(range(1, 50))
    assert builder.label("l7") == 8
    with pytest.raises(BadInput, match="key 'label': more is one more than 49 labels of a scene"):
        builder.label("more")


def test_a_rotor_pushes_into_a_direction():
    keys = {"position": (0.1, 0.1, 0.0), "spin": "cw"}
    assert Rotor.model_validate({**keys, "direction": (0.0, 0.0, 2e-6)})
    with pytest.raises(ValueError, match=r"key 'direction': \[0\.0, 0\.0, 0\.0\] is none"):
        Rotor.model_validate({**keys, "direction": (0.0, 0.0, 0.0)})


@pytest.mark.parametrize("text", ["{", "[1,]", '{"a": 1} x'])
def test_a_text_that_is_no_json_says_why(text):
    with pytest.raises(BadInput, match="^answer: not JSON: "):
        parse_json(text, source="answer")
    assert parse_json('{"a": [1, 2.5]}', source="answer") == {"a": [1, 2.5]}


def test_a_yaml_file_that_is_not_there_is_no_name(tmp_path):
    for name in ("none.yaml", str(tmp_path / "none.yml")):
        with pytest.raises(BadInput, match="no such file$"):
            check_yaml_path(name)
    check_yaml_path("hover")  # a name
    check_yaml_path(str(tmp_path / "none"))
    (tmp_path / "there").write_text("a: 1\n")
    with pytest.raises(BadInput, match="not a YAML file"):
        check_yaml_path(str(tmp_path / "there"))
