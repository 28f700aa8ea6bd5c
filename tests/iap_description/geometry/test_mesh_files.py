# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files that are none are refused with the reason."""

import struct
from pathlib import Path

import pytest
import trimesh

from iap_description.geometry.mesh_files import KINDS, read_mesh


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_is_a_box_in_every_format(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"box.{kind}"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    vertices, faces = read_mesh(str(path))
    assert (len(vertices), len(faces)) == (8, 12)


@pytest.mark.parametrize(("kind", "mark"), [("off", "OFF"), ("obj", "# "), ("stl", "solid ")])
def test_text_that_is_not_utf_8_is_said_so(kind: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / f"box.{kind}"
    path.write_bytes(f"{mark}K\xf6rper\n".encode("latin-1") + b"0 0 0\n")
    with pytest.raises(ValueError) as refused:
        read_mesh(str(path))
    assert "charset" not in str(refused.value)


def test_the_reason_is_the_text(tmp_path: Path) -> None:
    path = tmp_path / "box.off"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    path.write_bytes(b"OFF\n# \xe4\n" + path.read_bytes()[4:])
    with pytest.raises(ValueError, match="its text is not UTF-8"):
        read_mesh(str(path))


def test_other_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "box.glb"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    with pytest.raises(ValueError, match="choose stl, obj, ply, off"):
        read_mesh(str(path))


@pytest.mark.parametrize("number", ["nan", "inf", "1e300"])
def test_a_vertex_is_somewhere(number: str, tmp_path: Path) -> None:
    path = tmp_path / "box.obj"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    text = path.read_text()
    first = next(line for line in text.splitlines() if line.startswith("v "))
    path.write_text(text.replace(first, f"v {number} 0.0 0.0", 1))
    with pytest.raises(ValueError, match="box.obj"):
        read_mesh(str(path))


def test_a_line_that_is_cut_short_is_no_vertex(tmp_path: Path) -> None:
    path = tmp_path / "box.obj"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    lines = path.read_text().splitlines()
    fifth = [i for i, line in enumerate(lines) if line.startswith("v ")][4]
    lines[fifth] = "v 0.5\n" + lines[fifth - 1]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"box\.obj"):
        read_mesh(str(path))


def test_a_triangle_has_vertices(tmp_path: Path) -> None:
    path = tmp_path / "box.ply"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    path.write_bytes(path.read_bytes()[:-4] + struct.pack("<i", 67108870))
    with pytest.raises(ValueError, match="a triangle of a vertex that is not there"):
        read_mesh(str(path))


def test_a_name_that_no_file_can_have_is_no_mesh() -> None:
    with pytest.raises(ValueError, match="there is no file"):
        read_mesh("n" * 300 + ".stl")
