# SPDX-License-Identifier: BSD-3-Clause
"""Parts of light by numbers: constants, squares of lamps, skies in other sizes, grids of openness, and smooth edges."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.scenes.lighting import Lamp, Weather
from iap_sensors.physical import (
    lamp_colors,
    lamps,
    openness,
    scene_textures,
    sky_image,
    smooth_edges,
)
from iap_sensors.physical.particles import Fallers
from iap_sensors.physical.programs import with_constants

# programs


def test_constants_stand_in_a_shader_with_every_digit_and_other_variables_stay() -> None:
    tenth = np.float32(0.1)
    source = "uniform vec2 a, b[N];  // two\nuniform float c;\nuniform mat4 d;\nin vec2 e;"
    given = {"a": (tenth, -1e-9), "b": [(1, 2), (3, 4)], "d": np.arange(16).reshape(4, 4)}
    a, c, d, e = with_constants(source, given).splitlines()
    assert (c, e) == ("uniform float c;", "in vec2 e;")
    pair, array = a.removesuffix(";  // two").split("; ")
    kind, numbers = pair.removesuffix(")").split("(")
    assert kind == "const vec2 a = vec2"
    assert [np.float32(each) for each in numbers.split(", ")] == [tenth, np.float32(-1e-9)]
    assert array == "const vec2 b[N] = vec2[N](vec2(1.0, 2.0), vec2(3.0, 4.0))"
    assert d.startswith("const mat4 d = mat4(0.0, 4.0, 8.0, 12.0, 1.0, ")  # column by column


# lamps


def test_a_square_of_bodies_is_as_wide_as_they_are_seen() -> None:
    spheres = np.array(
        [[4.0, -1.0, 0.0, 0.5], [4.0, 1.0, 0.0, 0.5]]
    )  # within 1.5 m of their middle
    clip = lamps._towards((0.0, 0.0, 0.0), spheres)
    middle = clip @ [4.0, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(middle[:2], 0.0, atol=1e-12)
    slope = np.tan(np.arcsin(1.5 / 4.0))
    edge = clip @ [1.0, slope, 0.0, 1.0]
    assert abs(edge[0] / edge[3]) == pytest.approx(1.0 / lamps.WIDER)
    wide = lamps._towards((3.9, 0.0, 0.0), spheres)  # among them: as wide as one square can be
    s = lamps.MAX_SINE
    edge = wide @ [3.9 + 1.0, s / np.sqrt(1.0 - s * s), 0.0, 1.0]
    assert abs(edge[0] / edge[3]) == pytest.approx(1.0 / lamps.WIDER)
    within = lamps._towards((4.0, 0.0, 0.0), spheres)  # then it looks down
    assert (within @ [4.0, 0.0, -2.0, 1.0])[3] == pytest.approx(2.0)


def test_upwards_is_z_or_y_where_a_way_is_steep() -> None:
    for z, up in ((0.89, [0.0, 0.0, 1.0]), (-0.89, [0.0, 0.0, 1.0]), (0.91, [0.0, 1.0, 0.0])):
        assert lamps._up_of(np.array([np.sqrt(1.0 - z * z), 0.0, z])).tolist() == up
    assert lamps._up_of(np.array([0.0, 0.0, -1.0])).tolist() == [0.0, 1.0, 0.0]


def test_levels_of_lamps_are_means_over_a_part_of_the_exposure() -> None:
    asked: list[Any] = []
    flicker: Any = SimpleNamespace(
        mean_level=lambda t, duration: asked.append((t, duration)) or 0.4
    )
    shot: Any = SimpleNamespace(t=2.0, exposure=SimpleNamespace(time=0.02, samples=4))
    levels = lamp_colors.lamp_levels(
        [SimpleNamespace(flicker=None), SimpleNamespace(flicker=flicker)], shot
    )  # type: ignore[list-item]
    assert levels.tolist() == [1.0, 0.4] and asked == [(2.0, pytest.approx(0.005))]


def test_a_lamp_s_axis_has_the_cosine_of_its_edge() -> None:
    one = Lamp(position=(0.0, 0.0, 1.0), flux=10.0, direction=(0.0, 0.0, -2.0), cone_deg=120.0)
    np.testing.assert_allclose(lamps._axis(one), (0.0, 0.0, -1.0, 0.5), atol=1e-12)


# skies


def test_a_sky_in_another_size_has_the_mean_of_what_each_pixel_covers() -> None:
    image = np.arange(8.0 * 16 * 3).reshape(8, 16, 3)
    small = sky_image._resized(image, (4, 8))
    assert small.shape == (4, 8, 3)
    np.testing.assert_allclose(small[1, 2], image[2:4, 4:6].mean(axis=(0, 1)), rtol=1e-6)
    large = sky_image._resized(image, (16, 32))
    assert large.shape == (16, 32, 3) and large.min() >= 0.0
    np.testing.assert_allclose(large[8, 9], image[4, 4] - 0.25 * 48.0 + 0.25 * 3.0, rtol=1e-6)
    np.testing.assert_allclose(sky_image._resized(image, (8, 16)), image)


def test_directions_have_their_solid_angles_and_go_down_and_back_by_azimuth() -> None:
    d, sizes = sky_image.directions(6, 12)
    np.testing.assert_allclose(np.linalg.norm(d, axis=-1), 1.0)
    assert sizes.sum() == pytest.approx(4.0 * np.pi)
    np.testing.assert_allclose(sizes[0, 0], (1.0 - np.sin(np.radians(60.0))) * np.radians(30.0))
    elevation, azimuth = np.radians(75.0), np.radians(165.0)
    first = [
        np.cos(elevation) * np.cos(azimuth),
        np.cos(elevation) * np.sin(azimuth),
        np.sin(elevation),
    ]
    np.testing.assert_allclose(d[0, 0], first)
    assert d[0, 0, 1] > 0.0 > d[0, -1, 1] and d[5, 0, 2] < 0.0


def test_the_basis_of_harmonics_is_that_of_ramamoorthi_and_hanrahan() -> None:
    x, y, z = 0.36, 0.48, 0.8
    basis = sky_image._basis(np.array([x, y, z]))
    expected = [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y]
    np.testing.assert_allclose(basis, expected)


def test_light_of_an_even_sky_is_pi_on_the_ground() -> None:
    np.testing.assert_allclose(sky_image.illuminance(np.full((64, 128, 3), [1.0, 2.0, 4.0])),
                               np.pi * np.array([1.0, 2.0, 4.0]), rtol=1e-3)  # fmt: skip


# openness


def test_middles_of_cells_count_along_x_first() -> None:
    points = openness._points(np.array([10.0, 20.0, 30.0]), 2.0, np.array([2, 3, 4]))
    assert points.shape == (24, 3)
    np.testing.assert_allclose(
        points[[0, 1, 4, 12]], [[11, 21, 31], [13, 21, 31], [11, 23, 31], [11, 21, 33]]
    )


def test_even_directions_have_no_mean_and_as_many_of_each_height() -> None:
    ways = openness._even_directions(400)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 1.0)
    np.testing.assert_allclose(ways.mean(axis=0), 0.0, atol=2e-3)
    np.testing.assert_allclose(np.diff(ways[:, 2]), -2.0 / 400)
    np.testing.assert_allclose(3.0 * ways.T @ ways / 400, np.eye(3), atol=0.02)


def test_luminance_towards_directions_is_the_mean_of_the_sky_around_them() -> None:
    d, _ = sky_image.directions(32, 64)
    image = np.where(d[..., 2:] > 0.0, [1.0, 1.0, 1.0], [0.2, 0.2, 0.2])
    ways = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    np.testing.assert_allclose(openness._luminance_towards(image, ways), [1.0, 0.2])
    red = np.zeros((32, 64, 3))
    red[..., 0] = 1.0
    np.testing.assert_allclose(openness._luminance_towards(red, ways), 0.2126, rtol=1e-6)


def test_light_of_planes_is_that_of_the_sky_by_their_normals() -> None:
    even = openness._lit(np.ones((32, 64, 3)))
    np.testing.assert_allclose(even, [1.0, 0.0, 0.0, 0.0], atol=1e-3)
    d, _ = sky_image.directions(64, 128)
    sloped = openness._lit(1.0 + d[..., 2:] * np.ones(3))  # 1 + (2/3) n_z
    np.testing.assert_allclose(sloped, [1.0, 0.0, 0.0, 2.0 / 3.0], atol=1e-3)


def test_points_within_solids_have_the_mean_of_their_neighbours() -> None:
    shape = np.array([1, 1, 5])
    values = np.zeros((5, 4))
    values[0], values[4] = [1.0, 2.0, 3.0, 4.0], [9.0, 9.0, 9.0, 9.0]
    inside = np.array([False, True, True, True, False])
    filled = openness._filled(values, inside, shape).reshape(5, 4)
    np.testing.assert_allclose(filled[[0, 1, 3, 4]], [values[0], values[0], values[4], values[4]])
    np.testing.assert_allclose(filled[2], 0.5 * (values[0] + values[4]))
    deep = np.array([False, True, True, True, True])
    np.testing.assert_allclose(openness._filled(values, deep, shape).reshape(5, 4)[3:], 0.0)


def test_shares_of_light_are_those_of_the_nearest_cell_by_the_normal() -> None:
    values = np.zeros((1, 2, 3, 4))
    values[0, 1, 2] = [0.3, 0.1, 0.0, 0.2]
    made = openness.Openness(
        np.array([1.0, 1.0, 0.0]), 2.0, values, np.array([0.6, 0.0, 0.0, 0.4])
    )
    up, across = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    at = np.array([[5.5, 3.5, 1.0]] * 2 + [[99.0, 99.0, 99.0], [1.5, 1.5, 0.5]])
    shares = made.at(at, np.stack([up, across, up, up]))
    np.testing.assert_allclose(shares, [0.5 / 1.0, 0.4 / 0.6, 0.5, 0.0])


def test_albedos_of_faces_are_means_of_their_materials_with_their_tints() -> None:
    stack = np.zeros((2, 2, 2, 8), np.uint8)
    stack[1, ..., :3] = 255
    stack[1, 0, ..., :3] = 51  # a root: 0.04
    attributes = np.zeros(6, [("layer", "f4"), ("tint", "f4", 4)])
    attributes["layer"][3:] = 1.0
    attributes["tint"] = [0.5, 0.5, 0.5, 9.0]
    geometry: Any = SimpleNamespace(faces=np.array([[0, 1, 2], [3, 4, 5]]))
    maps: Any = SimpleNamespace(stack=stack, attributes=attributes)
    np.testing.assert_allclose(openness._albedos(geometry, maps), [0.0, 0.5 * 0.52], rtol=1e-5)


# edges


def edge(low: int, high: int, *, slope: float = 0.3) -> np.ndarray:
    """An edge of two levels that rises slowly, so that its steps are far apart."""
    y, x = np.mgrid[0:40, 0:40]
    return np.where(y > 20 + slope * (x - 20), high, low).astype(np.uint8)


def test_edges_are_smoothed_along_themselves_and_even_parts_and_margins_stay() -> None:
    image = edge(40, 200)
    out = smooth_edges.smoothed(image)
    changed = out != image
    assert changed.any() and not changed[:5].any() and not changed[:, :5].any()
    assert not changed[-5:].any() and not changed[:, -5:].any()
    assert out.min() == 40 and out.max() == 200
    y, x = np.mgrid[0:40, 0:40]
    assert np.abs(y - 20 - 0.3 * (x - 20))[changed].max() < 2.5
    steps = np.abs(np.diff(out[:, 8:-8].astype(int), axis=0)).max()
    assert steps < 160
    colors = smooth_edges.smoothed(np.repeat(image[..., None], 3, axis=-1))
    assert (colors[..., 0] == colors[..., 1]).all() and (colors[..., 0] != image).any()
    faint = edge(60, 69)
    np.testing.assert_array_equal(smooth_edges.smoothed(faint), faint)
    bright = edge(200, 224)  # an eighth of 224 is 28
    np.testing.assert_array_equal(smooth_edges.smoothed(bright), bright)
    assert (smooth_edges.smoothed(edge(60, 71)) != edge(60, 71)).any()
    for width in (1, 2, 10):  # all of it is margin
        narrow = np.repeat(np.arange(20, dtype=np.uint8)[:, None] * 12, width, axis=1)
        np.testing.assert_array_equal(smooth_edges.smoothed(narrow), narrow)


def test_light_is_smoothed_where_its_root_has_an_edge() -> None:
    light = np.where(edge(0, 1) > 0, 0.64, 0.04).astype(np.float32)
    out = smooth_edges.smoothed_light(light)
    assert out.dtype == np.float32 and (out != light).any()
    assert 0.04 - 1e-6 <= out.min() and out.max() <= 0.64 + 1e-6
    root = np.empty((1, 2), np.uint8)
    light = np.array([[[0.25, 0.0, 0.5], [4.0, 4.0, 4.0]]], np.float32)
    smooth_edges._root(smooth_edges._mean(light)[0], root[0])
    assert root.tolist() == [[128, 255]]
    grey = smooth_edges._brightness(np.array([[[255, 255, 255], [100, 50, 200]]], np.uint8))
    assert grey.tolist() == [[255, (77 * 100 + 150 * 50 + 29 * 200) >> 8]]


# what falls


@pytest.mark.parametrize(("rain", "snow"), [(5.0, 0.0), (0.0, 2.0)])
def test_what_falls_is_as_large_and_fast_as_its_laws_say(rain: float, snow: float) -> None:
    falling = Fallers.of(Weather(rain=rain, snowfall=snow))
    if rain:
        mm = 1e3 * falling.diameters
        assert mm.min() >= 1.6
        assert mm.mean() == pytest.approx(1.6 + 1.0 / (4.1 * rain**-0.21), rel=0.05)
        np.testing.assert_allclose(falling.speeds, 9.65 - 10.3 * np.exp(-0.6 * mm))
    else:
        mm = 1e3 * falling.diameters / 3.5
        assert mm.min() >= 0.9 - 1e-9
        assert mm.mean() == pytest.approx(0.9 + 1.0 / (2.55 * snow**-0.48), rel=0.05)
        assert 1.2 * 0.7 <= falling.speeds.min() and falling.speeds.max() <= 1.2 * 1.3


def test_light_beyond_numbers_of_16_bits_is_the_largest_of_them() -> None:
    halves = np.frombuffer(scene_textures._half_floats(np.array([[0.5, 1e9]])), np.float16)
    assert halves.tolist() == [0.5, 60_000.0]
