# SPDX-License-Identifier: BSD-3-Clause
"""Meshes that files and shapes give."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh

from iap_description.geometry.mesh_files import KINDS, read_mesh
from iap_description.geometry.shapes import Shape, Surface
from iap_description.geometry.solids import moments, prism
from iap_description.geometry.tessellation import mesh
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body_parts import BODY_LABEL, body_parts
from iap_description.vehicles.platform import load_platform
from iap_description.world.objects import Wall
from iap_description.world.scene_objects import OBJECT_LABEL, object_parts

PLACED = {"position": (1.0, -2.0, 0.5), "rpy_deg": (20.0, 30.0, 40.0)}
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
SHAPES = {
    "box": (Shape(shape="box", size=(1.0, 2.0, 3.0), **PLACED), 6.0, 1e-9),
    "cylinder": (Shape(shape="cylinder", radius=0.5, length=2.0, **PLACED), 0.5 * np.pi, 0.04),
    "sphere": (Shape(shape="sphere", radius=0.5, **PLACED), np.pi / 6.0, 0.08),
    "capsule": (Shape(shape="capsule", radius=0.5, length=2.0, **PLACED), np.pi * 2 / 3, 0.05),
    "hull": (prism(SQUARE, SQUARE + [0.0, 0.0, 2.0], (1.0,) * 4), 2.0, 1e-9),
}


def test_a_mesh_of_gigabytes_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.stl"
    path.write_text("solid cube\n")
    os.truncate(path, 3 << 30)
    with pytest.raises(ValueError, match=r"huge\.stl is longer than 256 MiB: give a coarser mesh"):
        read_mesh(str(path))


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


@pytest.mark.parametrize("kind", ["obj", "off"])
def test_a_byte_order_mark_hides_no_vertex(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"box.{kind}"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    text = path.read_text(encoding="utf-8")
    lines = [each for each in text.splitlines() if not each.startswith("#")]
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    assert len(read_mesh(str(path))[0]) == 8


def test_a_triangle_of_a_vertex_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = tmp_path / "box.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nf 1 2 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="triangle of a vertex that is not there"):
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


@pytest.mark.parametrize("kind", SHAPES)
def test_a_mesh_encloses_the_shape_and_looks_outwards(kind):
    shape, volume, lost = SHAPES[kind]
    vertices, normals, faces = mesh(shape)
    measured, first, _ = moments(vertices, faces)
    assert volume * (1.0 - lost) - 1e-12 <= measured <= volume * (1.0 + 1e-9)
    corners = vertices[faces]
    out = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ikj->ik", out, normals[faces]) > 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)
    if kind != "hull":
        np.testing.assert_allclose(first / measured, shape.position, atol=1e-9)


def test_a_body_is_seen_with_its_propellers():
    body = Assembly.of(load_platform("f450")).bodies[0]
    parts = body_parts(body, label=BODY_LABEL + 3)
    assert len(parts) == len({part.color for part in parts})
    veiled = [part for part in parts if part.color[3] < 1.0]
    assert veiled  # what the propellers sweep
    reach = np.abs(np.vstack([part.vertices for part in veiled])[:, :2]).max()
    rotor, disc = body.rotors[0].position[0], 0.127
    assert reach == pytest.approx(abs(rotor) + disc, rel=1e-3)
    assert {part.label for part in parts} == {BODY_LABEL + 3}
    assert sum(len(part.faces) for part in parts) < 2000


def test_an_object_is_seen_where_it_is_touched():
    wall = Wall(
        type="wall",
        position=(1.0, 2.0, 3.0),
        width=4.0,
        height=2.0,
        surface=Surface(friction=0.5, restitution=0.0),
        color=(0.2, 0.4, 0.6, 1.0),
    )
    (part,) = object_parts(wall)
    np.testing.assert_allclose(part.vertices.min(axis=0), [-0.1, -2.0, -1.0], atol=1e-6)
    np.testing.assert_allclose(part.vertices.max(axis=0), [0.0, 2.0, 1.0], atol=1e-6)
    assert part.color == wall.color
    assert part.label == OBJECT_LABEL
