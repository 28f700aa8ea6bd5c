# SPDX-License-Identifier: BSD-3-Clause
"""Heads of files of meshes: how many triangles they hold, which files they name, and what is none of its kind."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from iap_description.assets import headers
from iap_description.assets.asset import load_asset
from iap_description.assets.headers import BIN_CHUNK, GLB_MAGIC, JSON_CHUNK, check

MOST = 10**6
Tree = dict[str, Any]


def tree_of(**keys: Any) -> Tree:
    """A scene of a node with a mesh of seven triangles, and a child with four; a third node is in no scene."""
    tree: Tree = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": []}, {"nodes": [0]}],
        "scene": 1,
        "nodes": [{"mesh": 0, "children": [1]}, {"mesh": 1}, {"mesh": 1}],
        "meshes": [
            {"primitives": [{"indices": 0, "attributes": {}}]},
            {"primitives": [{"attributes": {"POSITION": 1}, "mode": 4},
                            {"attributes": {"POSITION": 0}, "mode": 1}]},
        ],
        "accessors": [{"count": 21}, {"count": 12}],
    }  # fmt: skip
    return {key: value for key, value in {**tree, **keys}.items() if value is not None}


def gltf(folder: Path, tree: Tree) -> Path:
    path = folder / "a.gltf"
    path.write_text(json.dumps(tree))
    return path


def glb(folder: Path, tree: Tree, binary: bytes = b"", **head: int) -> Path:
    """A binary file; `head` has other numbers than belong there."""
    text = json.dumps(tree).encode()
    numbers = {"magic": GLB_MAGIC, "version": 2, "kind": JSON_CHUNK, **head}
    first = struct.pack("<III", numbers["magic"], numbers["version"], 0)
    first += struct.pack("<II", len(text), numbers["kind"]) + text
    path = folder / "a.glb"
    path.write_bytes(first + struct.pack("<II", len(binary), BIN_CHUNK) + binary)
    return path


def refusal(path: Path, most: int = MOST) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        check(path, path.suffix[1:], most)
    return str(caught.value)


def test_strengths_of_emission_are_those_of_materials_by_name(tmp_path: Path) -> None:
    def named(*pairs: tuple[str, Any]) -> Path:
        extensions = [
            {"KHR_materials_emissive_strength": {"emissiveStrength": s}} for _, s in pairs
        ]
        materials = [
            {"name": name, "extensions": each}
            for (name, _), each in zip(pairs, extensions, strict=True)
        ]
        return gltf(tmp_path, tree_of(materials=[*materials, {"name": "wood"}]))

    assert headers.emissive_strengths(named(("lamp", 5), ("lamp", 5))) == {
        "lamp": 5.0,
        "wood": 1.0,
    }
    with pytest.raises(ValueError, match="two materials 'lamp' differ"):
        headers.emissive_strengths(named(("lamp", 5), ("lamp", 6)))
    for wrong in (-1.0, "much", None):
        with pytest.raises(ValueError, match="'lamp' has an emissiveStrength of"):
            headers.emissive_strengths(named(("lamp", wrong)))


def test_triangles_are_those_of_the_scene_with_all_below_its_nodes(tmp_path: Path) -> None:
    for path in (gltf(tmp_path, tree_of()), glb(tmp_path, tree_of())):
        check(path, path.suffix[1:], 11)
        assert "has 11 triangles, more than 10: give 'triangles'" in refusal(path, 10)
    without = gltf(tmp_path, tree_of(scenes=None, scene=None, nodes=[{"mesh": 0}, {"mesh": 1}]))
    assert "has 11 triangles" in refusal(without, 10)
    assert "has 4 triangles" in refusal(
        gltf(tmp_path, tree_of(scenes=[{"nodes": [2]}], scene=None)), 3
    )
    check(gltf(tmp_path, tree_of(scene=0)), "gltf", 0)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"magic": 7}, "is not a binary glTF file"),
        ({"kind": BIN_CHUNK}, "is not a binary glTF file"),
        ({"version": 1}, "is of glTF version 1: version 2 is supported"),
    ],
)
def test_a_binary_file_has_its_marks(tmp_path: Path, head: dict[str, int], words: str) -> None:
    path = glb(tmp_path, tree_of(), **head)
    assert words in refusal(path)
    path.write_bytes(path.read_bytes()[:19])
    assert "is cut short" in refusal(path)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"asset": None}, "it has no key 'asset'"),
        ({"asset": "2.0"}, "it has no key 'asset'"),
        ({"asset": {"version": "1.0"}}, "is not of glTF version 2"),
        ({"extensionsRequired": ["KHR_materials_ior", "KHR_draco"]}, "extension KHR_draco, which is not supported"),
        ({"nodes": [{"children": [1]}, {"children": [0]}]}, "node 0 of the glTF file is below itself"),
        ({"scenes": [{}, {"nodes": [9]}]}, "its JSON is damaged"),
        ({"accessors": []}, "its JSON is damaged"),
        ({"buffers": [{"uri": "no%20where.bin"}]}, "names a file that is not there:"),
        ({"images": [{"uri": "no.png"}]}, "names a file that is not there:"),
    ],
)  # fmt: skip
def test_what_is_damaged_or_not_supported_is_refused(
    tmp_path: Path, keys: Tree, words: str
) -> None:
    assert words in refusal(gltf(tmp_path, tree_of(**keys)))
    (tmp_path / "a.gltf").write_text("{")
    assert "is not a glTF file" in refusal(tmp_path / "a.gltf")


def test_images_are_looked_at_wherever_their_bytes_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(headers, "check_size", lambda data, name: seen.append((data, name)))
    (tmp_path / "of wood.png").write_bytes(b"file")
    (tmp_path / "more.bin").write_bytes(b"..outside")
    inside = "data:image/png;base64," + base64.b64encode(b"inside").decode()
    tree = tree_of(
        images=[{"uri": inside}, {"uri": "of%20wood.png"}, {"bufferView": 0}, {"bufferView": 1}],
        buffers=[{}, {"uri": "more.bin"}],
        bufferViews=[
            {"buffer": 0, "byteOffset": 3, "byteLength": 6},
            {"buffer": 1, "byteOffset": 2, "byteLength": 7},
        ],
        extensionsRequired=["EXT_texture_webp"],
    )
    path = glb(tmp_path, tree, b"...binary...")
    check(path, "glb", MOST)
    assert [data for data, _ in seen] == [b"inside", b"file", b"binary", b"outside"]
    assert seen[2][1] == f"2 of {path}"


def test_an_obj_needs_its_materials_and_their_images(tmp_path: Path) -> None:
    path, library = tmp_path / "a.obj", tmp_path / "of a.mtl"
    path.write_text("v 0 0 0\nmtllib of a.mtl\n")
    assert "names a file that is not there" in refusal(path) and "of a.mtl" in refusal(path)
    library.write_text("newmtl m\nKd 1 1 1\nmap_Kd -s 2 2 2 wood.png\nmap_Ks other.png\n")
    assert "wood.png" in refusal(path)
    (tmp_path / "wood.png").touch()
    check(path, "obj", MOST)


def test_ply_and_binary_stl_say_how_many_triangles_they_have(tmp_path: Path) -> None:
    ply, stl = tmp_path / "a.ply", tmp_path / "a.stl"
    ply.write_bytes(b"ply\nelement vertex 3\nelement face 12\nend_header\nelement face 99\n")
    stl.write_bytes(bytes(80) + struct.pack("<I", 12) + bytes(12 * 50))
    for path in (ply, stl):
        check(path, path.suffix[1:], 12)
        assert "has 12 triangles, more than 11" in refusal(path, 11)
    stl.write_bytes(b"solid a\n" + b" " * 100)  # text, which does not say it
    check(stl, "stl", 0)
    stl.write_bytes(b"solid")
    check(stl, "stl", 0)


def test_parts_that_do_not_fit_each_other_are_called_so(tmp_path: Path) -> None:
    mesh = {"primitives": [{"attributes": {"POSITION": 7}}]}
    path = gltf(tmp_path, {"asset": {"version": "2.0"}, "meshes": [mesh]})
    with pytest.raises(ValueError, match="its parts do not fit each other"):
        load_asset(path, MOST)
