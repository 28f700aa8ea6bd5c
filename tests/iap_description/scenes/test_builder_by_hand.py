# SPDX-License-Identifier: BSD-3-Clause
"""Parts and solids of scenes, put together by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.assets.surface_images import SurfaceImages
from iap_description.geometry.shapes import Shape
from iap_description.scenes.builder import (
    GREY,
    WHITE,
    Builder,
    Finish,
    TexturedMesh,
)

HALF = np.sqrt(0.5)
SQUARE = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]])


def sheet(faces=((0, 2, 3),), metres=None):
    up = np.tile([0.0, 0.0, 1.0], (4, 1))
    return TexturedMesh((SQUARE, up, np.array(faces)), SQUARE[:, :2] / 4.0, metres)


def test_vertices_that_no_face_has_are_left_out():
    made = Builder()
    made.add(Finish("a", "box", "bricks"), sheet(metres=SQUARE[:, :2]))
    (part,) = made.parts
    assert part.vertices.tolist() == SQUARE[[0, 2, 3]].tolist() and part.faces.tolist() == [
        [0, 1, 2]
    ]
    assert part.uv.tolist() == (SQUARE[[0, 2, 3], :2] / 4.0).tolist()
    assert part.metres.tolist() == SQUARE[[0, 2, 3], :2].tolist()
    assert (part.name, part.label, part.texture, part.material) == ("a", 5, "bricks", "brick")
    assert part.color == WHITE
    assert part.vertices.dtype == part.uv.dtype == part.normals.dtype == np.float32


def test_a_part_has_its_own_material_and_colour_before_all_others():
    made = Builder()
    red, blue = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
    made.add(Finish("a", "box", "bricks", "gold", red), sheet())
    made.add(Finish("a", "box", None, None, red), sheet(), blue)
    first, second = made.parts
    assert (first.material, first.color, first.metres) == ("gold", red, None)
    assert (second.material or None, second.color) == (None, blue)


@pytest.mark.parametrize("texture", [None, "bricks"])
def test_a_solid_on_the_ground_shows_five_sides_and_is_touched_where_it_shall(texture):
    made = Builder()
    box = Shape(shape="box", size=(1.0, 2.0, 4.0), position=(0.0, 0.0, 2.0))
    finish = Finish("a", "box", texture, tile=2.0)
    made.solid(finish, box, np.array([0.0, 0.0, 2.0]), np.eye(3), touched=True)
    made.solid(finish, box, np.zeros(3), np.eye(3), touched=False)
    assert made.solids == [box]
    part, other = made.parts
    assert len(part.faces) == 10 and part.color == (GREY if texture is None else WHITE)
    np.testing.assert_allclose(part.metres, 2.0 * part.uv, atol=1e-6)
    side = part.normals[:, 0] > 0.9
    assert sorted(set(part.metres[side].ravel().tolist())) == [-2.0, -1.0, 1.0, 2.0]
    np.testing.assert_allclose(other.metres[side, 1] - part.metres[side, 1], 2.0, atol=1e-6)


def test_a_seed_shifts_textures_and_tints_lightly():
    parts = []
    for seed in (1, 1, 2):
        made = Builder(seed)
        box = Shape(shape="box", size=(1.0, 1.0, 1.0), position=(0.0, 0.0, 5.0))
        made.solid(Finish("a", "box"), box, np.zeros(3), np.eye(3), touched=False)
        parts.append(made.parts[0])
    np.testing.assert_array_equal(parts[0].uv, parts[1].uv)
    assert parts[0].color == parts[1].color != parts[2].color
    assert (parts[0].uv != parts[2].uv).any() and len(parts[0].faces) == 12
    for part in parts:
        assert part.color[3] == 1.0 and all(0.88 * 0.93 <= each <= 1.0 for each in part.color[:3])


def test_a_scene_in_a_scene_is_moved_but_for_its_ground():
    other = Builder()
    for label in ("tree", "bush"):
        other.label(label)
    other.ground(None, None, 1.0, 1)
    box = Shape(shape="box", size=(1.0, 2.0, 4.0), position=(1.0, 0.0, 0.0))
    other.add(Finish("a", "bush", "leaf"), sheet())
    image, surface = np.zeros((2, 2, 3), np.uint8), SurfaceImages(roughness=0.3)
    inner = SimpleNamespace(
        parts=tuple(other.parts),
        solids=(box,),
        labels=other.labels(),
        textures={"leaf": image},
        surfaces={"leaf": surface},
    )
    made = Builder(images={"own": image}, surfaces={"own": surface})
    made.label("oak")
    made.take(inner, np.array([10.0, 0.0, 1.0]), np.array([0.0, 0.0, HALF, HALF]))
    ground, part = made.parts
    assert (
        set(made.images) == set(made.surfaces) == {"own", "leaf"}
        and made.surfaces["leaf"] is surface
    )
    np.testing.assert_array_equal(ground.vertices, other.parts[0].vertices)
    assert (ground.label, part.label, made.labels()[8]) == (1, 8, "bush")
    expected = [[10.0, 0.0, 1.0], [8.0, 2.0, 1.0], [8.0, 0.0, 1.0]]
    np.testing.assert_allclose(part.vertices, expected, atol=1e-6)
    np.testing.assert_allclose(part.normals, [[0.0, 0.0, 1.0]] * 3, atol=1e-6)
    (solid,) = made.solids
    assert solid.position == pytest.approx((10.0, 1.0, 1.0)) and solid.rpy_deg == pytest.approx(
        (0.0, 0.0, 90.0)
    )
    assert made.textures()["leaf"] is image and list(made.textures()) == ["leaf"]
