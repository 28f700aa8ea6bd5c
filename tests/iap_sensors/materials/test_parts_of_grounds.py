# SPDX-License-Identifier: BSD-3-Clause
"""Small parts that grounds are laid of, images that files bring, and where parts lie on their materials."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.assets.surface_images import SurfaceImages
from iap_sensors.materials import ground, walls
from iap_sensors.materials.matter import LARGEST_ROUGHNESS, LEAST_ROUGHNESS, Matter
from iap_sensors.materials.noise import cells, grid, mix, occlusion, slopes
from iap_sensors.materials.surface_images import glow_of, maps_of
from iap_sensors.physical import material_maps


def test_a_blade_has_its_length_and_bend_and_is_narrow_at_its_tip() -> None:
    at = np.array([3.0, 4.0])
    middle, side = ground._blade(at, 0.5, 0.4, 10.0, 2.0)
    assert middle.shape == side.shape == (6, 2)
    ways = np.diff(middle, axis=0)
    np.testing.assert_allclose(middle[0], at)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 2.0)
    np.testing.assert_allclose(np.arctan2(ways[:, 1], ways[:, 0]), 0.5 + 0.08 * np.arange(5))
    np.testing.assert_allclose(np.linalg.norm(side, axis=1), 2.0 * (1.0 - 0.17 * np.arange(6)))
    np.testing.assert_allclose(
        np.arctan2(side[:, 1], side[:, 0]), 0.5 + 0.08 * np.arange(6) + np.pi / 2
    )


def test_what_is_drawn_over_an_edge_goes_on_at_the_other_one() -> None:
    layers = np.zeros((20, 20), np.float32), np.zeros((20, 20, 3), np.float32)
    square = np.array([[-3.0, 5.0], [2.0, 5.0], [2.0, 9.0], [-3.0, 9.0]])
    ground._Sheet(layers).fill(square, 1.0, [2.0, 3.0, 4.0])
    drawn = layers[0] > 0.99
    assert np.flatnonzero(drawn.any(axis=0)).tolist() == [0, 1, 2, 17, 18, 19]
    assert np.flatnonzero(drawn.any(axis=1)).tolist() == [5, 6, 7, 8, 9]
    np.testing.assert_allclose(layers[1][7, 0], [2.0, 3.0, 4.0])
    again = np.zeros((20, 20), np.float32)
    ground._Sheet((again,)).fill(square[:, ::-1] + [0.0, 20.0], 1.0)
    np.testing.assert_array_equal(again > 0.99, drawn.T)


NUMBERS = {  # of 300 parts on 64 pixels: mean, and its hundredfold weighed by cos 0.7 k, of each layer
    "grass": ([0.054138, 0.040499, 0.015948, 3.377918, 0.82, 0.003205, 0.001481, 0.993319],
              [-0.123266, -0.09317, -0.040399, -12.44363, 0.039393, -0.240478, 0.010319, 0.066804]),
    "asphalt": ([0.057889, 0.057123, 0.057891, -1.124549, 0.85219],
                [0.036503, 0.034262, 0.03052, 0.074557, -0.046181]),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_a_ground_of_few_parts_looks_as_it_did(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground, "BLADES", 300)
    monkeypatch.setattr(ground, "STONES", 300)
    made: Matter = getattr(ground, name)(64, 5)
    layers = [*np.moveaxis(made.albedo, -1, 0), 1e3 * made.height, made.roughness]
    layers += [] if made.normals is None else list(np.moveaxis(made.normals, -1, 0))
    weights = np.cos(0.7 * np.arange(64 * 64)).reshape(64, 64)
    means, weighed = NUMBERS[name]
    np.testing.assert_allclose([each.mean() for each in layers], means, atol=2e-5)
    np.testing.assert_allclose(
        [100.0 * (each * weights).mean() for each in layers], weighed, atol=2e-3
    )
    assert not made.metalness.any()
    assert (made.size, made.hollowness) == {"grass": (1.6, 1.2), "asphalt": (1.5, 1.5)}[name]


def test_lines_and_insides_have_their_widths() -> None:
    t = np.array([0.0, 0.02, 0.5, 0.98, 1.0])
    np.testing.assert_allclose(
        walls._line(t, 0.02), [1.0, np.exp(-1.0), 0.0, np.exp(-1.0), 1.0], atol=1e-9
    )
    off = np.array([-0.6, -0.505, 0.0, 0.5, 0.505, 0.51])
    np.testing.assert_allclose(walls._inside(off, 0.5), [0.0, 0.5, 1.0, 1.0, 0.5, 0.0], atol=1e-9)


def test_the_nearest_of_the_points_in_cells_is_found_over_edges_too() -> None:
    y, x = grid(24)
    first, second, nearest = cells(y, x, 4, 3)
    points = np.random.default_rng(3).random((4, 4, 2)) * 0.8 + 0.1
    places = (points + np.stack(np.mgrid[0:4, 0:4], -1)).reshape(-1, 2)
    shifts = 4.0 * np.stack(np.mgrid[-1:2, -1:2], -1).reshape(-1, 1, 2)
    for i, j in ((0, 0), (23, 23), (0, 13), (7, 4)):
        d = np.linalg.norm(places + shifts - 4.0 * np.array([y[i, j], x[i, j]]), axis=-1).min(
            axis=0
        )
        assert nearest[i, j] == np.argmin(d)
        np.testing.assert_allclose([first[i, j], second[i, j]], np.sort(d)[:2])


def test_a_relief_has_normals_against_its_slopes_and_shade_in_its_hollows() -> None:
    y, x = grid(64)
    height = 0.02 * np.sin(2.0 * np.pi * x) + 0.01 * np.sin(4.0 * np.pi * y)
    normals = slopes(height, 2.0)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1.0)
    across = 0.02 * np.pi * np.cos(2.0 * np.pi * x)  # by x [m], which goes from 0 to 2
    down = 0.01 * 2.0 * np.pi * np.cos(4.0 * np.pi * y)
    np.testing.assert_allclose(normals[..., 0] / normals[..., 2], -across, atol=2e-4)
    np.testing.assert_allclose(normals[..., 1] / normals[..., 2], down, atol=6e-4)
    hole = np.zeros((64, 64))
    hole[30:34, 30:34] = -0.05
    shade = occlusion(hole, 2.0)
    assert shade.argmin() in [64 * i + j for i in range(30, 34) for j in range(30, 34)]
    assert (shade[:6, :6] > 0.99).all() and occlusion(hole, 2.0, 4.0).min() < shade.min() < 0.9
    np.testing.assert_allclose(
        mix(np.zeros(3), np.array([1.0, 2.0, 4.0]), np.array([[0.25]])), [[[0.25, 0.5, 1.0]]]
    )


def plain(level: int, *more: int) -> np.ndarray:
    return np.full((4, 4, *more), level, np.uint8)


def test_images_of_files_become_maps_with_their_factors() -> None:
    none = maps_of(SurfaceImages(), 2)
    assert none.shape == (2, 2, 8) and none.dtype == np.uint8
    assert none[0, 0].tolist() == [255, 255, 255, round(255 * LARGEST_ROUGHNESS), 128, 128, 255, 0]
    rough = np.stack([plain(51), plain(204)], -1)
    normal = np.stack([plain(100), plain(200), plain(255)], -1)
    images = SurfaceImages(
        base=plain(188, 3),
        rough_metal=rough,
        normal=normal,
        occlusion=plain(77),
        roughness=0.5,
        metalness=0.25,
    )
    maps = maps_of(images, 2)
    root = round(255.0 * np.sqrt(((188 / 255 + 0.055) / 1.055) ** 2.4))
    assert maps[1, 1].tolist() == [root] * 3 + [round(255 * 0.1), 100, 200, 77, 51]
    smooth = maps_of(SurfaceImages(roughness=0.0, metalness=3.0), 2)
    assert smooth[0, 0, 3] == round(255 * LEAST_ROUGHNESS) and smooth[0, 0, 7] == 255


def test_what_emits_has_its_luminance_where_its_image_is_white() -> None:
    glow = glow_of(SurfaceImages(luminance=(500.0, 1000.0, 1e9)), 2)
    assert glow.shape == (2, 2, 3) and glow.dtype == np.float16
    np.testing.assert_allclose(glow[0, 0].astype(float), [0.5, 1.0, 60000.0], rtol=1e-3)
    half = glow_of(SurfaceImages(luminance=(2000.0, 0.0, 0.0), emission=plain(188, 3)), 2)
    assert float(half[1, 1, 0]) == pytest.approx(
        2.0 * ((188 / 255 + 0.055) / 1.055) ** 2.4, rel=1e-3
    )


def part(**keys: Any) -> Any:
    usual = {
        "vertices": np.array([[0.0, 0, 0], [2, 0, 0], [2, 3, 0], [0, 3, 0]]), "faces": np.array([[0, 1, 2], [0, 2, 3]]),
        "uv": np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32), "metres": None, "material": "matte",
        "color": (0.5, 0.25, 1.0, 0.75), "normals": np.tile([0.0, 0.0, 1.0], (4, 1)),
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **keys})


def test_tangents_go_the_way_that_u_grows() -> None:
    uv = part().uv
    np.testing.assert_allclose(
        material_maps._tangents(part(), uv), np.tile([1.0, 0.0, 0.0], (4, 1))
    )
    np.testing.assert_allclose(
        material_maps._tangents(part(), uv[:, ::-1]), np.tile([0.0, 1.0, 0.0], (4, 1))
    )
    np.testing.assert_allclose(
        material_maps._tangents(part(), -uv), np.tile([-1.0, 0.0, 0.0], (4, 1))
    )
    flat = material_maps._tangents(part(), 0.0 * uv)
    np.testing.assert_allclose(flat, np.tile([1.0, 0.0, 0.0], (4, 1)))
    across = part(normals=np.tile([-1.0, 0.0, 0.0], (4, 1)))
    upright = material_maps._tangents(across, 0.0 * uv)
    np.testing.assert_allclose(upright, np.tile([0.0, 1.0, 0.0], (4, 1)))  # not along the normal
    slanted = material_maps._tangents(part(), uv @ np.array([[1.0, 0.0], [1.0, 1.0]], np.float32))
    np.testing.assert_allclose(slanted[0], [1.0, 0.0, 0.0], atol=1e-12)  # v is constant along x


def test_vertices_have_their_place_on_a_material_by_metres_or_by_the_file() -> None:
    each = material_maps._attributes(part(), ("", "matte"), 4.0)
    np.testing.assert_array_equal(each["uv"], part().uv)
    assert (each["layer"] == 1.0).all()
    tint = [((0.5 + 0.055) / 1.055) ** 2.4, ((0.25 + 0.055) / 1.055) ** 2.4, 1.0, 0.75]
    np.testing.assert_allclose(each["tint"][0], tint, rtol=1e-5)
    np.testing.assert_allclose(each["tangent"][2], [1.0, 0.0, 0.0])
    metres = part(metres=part().vertices[:, :2], material=None)
    by_size = material_maps._attributes(metres, ("", "matte"), 4.0)
    np.testing.assert_allclose(by_size["uv"], metres.metres / 4.0)
    assert (by_size["layer"] == 0.0).all()
