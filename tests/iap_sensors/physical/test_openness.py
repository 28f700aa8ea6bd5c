# SPDX-License-Identifier: BSD-3-Clause
"""Openness of places to the sky, against what one knows of walls and roofs, and what is seen of it."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from small_scenes import box, ground, scene, shot, spec, turned

from iap_description.scenes.lighting import Lighting, Sun, Weather
from iap_sensors.cameras.geometry import Geometry
from iap_sensors.cameras.make import make_renderer
from iap_sensors.physical import openness
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.material_maps import MaterialMaps
from iap_sensors.physical.openness import Openness

UP = np.array([[0.0, 0.0, 1.0]])


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture(scope="module")
def even(tmp_path_factory):
    """Light that is 1 from everywhere."""
    path = str(tmp_path_factory.mktemp("sky") / "even.hdr")
    cv2.imwrite(path, np.ones((32, 64, 3), np.float32))
    return Lighting(sky=path, exposed_for=1000.0)


def of(light, *parts):
    dressed = replace(scene(*parts), lighting=light)
    geometry, maps = Geometry.of(dressed, []), MaterialMaps(parts, {})
    standing = np.array([each.name != "ground" for each in parts])
    return Openness.of(geometry, maps, standing, Environment.of(dressed))


def black(parts):
    return [replace(each, color=(0.0, 0.0, 0.0, 1.0)) for each in parts]


def test_an_open_field_has_none(even):
    assert of(even, ground()) is None


def test_half_the_sky_is_left_at_the_foot_of_a_high_black_wall_and_all_before_a_white_one(even):
    at, wall = np.array([[1.0, 0.0, 0.1]]), box("wall", (0.0, 0.0, 20.0), (0.5, 60.0, 20.0))
    assert of(even, ground(), *black(wall)).at(at, UP) == pytest.approx(0.5, abs=0.1)
    assert of(even, ground(), *wall).at(at, UP) == pytest.approx(1.0, abs=0.1)


def test_below_a_wide_roof_it_is_dark_and_on_it_bright(even):
    roof = of(even, *black([ground(), *box("roof", (0.0, 0.0, 3.0), (8.0, 8.0, 0.2))]))
    below, above = (roof.at(np.array([[0.0, 0.0, z]]), UP) for z in (0.5, 3.7))
    assert below < 0.25
    assert above > 0.95


@pytest.mark.parametrize("order", [1, -1])
def test_places_above_an_open_floor_with_two_sides_are_in_no_solid(even, order):
    floor = ground(20.0)
    back = replace(floor, normals=-floor.normals, faces=floor.faces[:, ::-1])
    post = box("post", (8.0, 0.0, 3.0), (0.1, 0.1, 3.0))
    made = of(even, *[floor, back][::order], *black(post))
    assert made.at(np.array([[0.0, 0.0, 1.0]]), UP) == pytest.approx(1.0, abs=0.05)


def test_the_sun_on_the_ground_lights_what_looks_down():
    light = Lighting(sun=Sun(elevation_deg=60.0, azimuth_deg=0.0), sky_share=0.001)
    post = box("post", (0.0, 0.0, 3.0), (0.3, 0.3, 3.0))
    made = of(light, ground(), *black(post))
    down, up = (made.at(np.array([[0.0, 2.0, 4.0]]), sign * UP) for sign in (-1.0, 1.0))
    assert down > 3.0 * up


def test_it_is_the_same_when_it_is_made_again_and_when_it_is_read(even, monkeypatch):
    parts = ground(), *box("block", (0.0, 0.0, 1.0), (1.0, 1.0, 1.0))
    first = of(even, *parts)
    with monkeypatch.context() as patched:
        patched.setattr(openness, "_cast", None)  # it is read from the cache
        np.testing.assert_array_equal(of(even, *parts).values, first.values)
    for path in openness._folder().glob("*.npy"):
        path.write_bytes(b"cut short")
    np.testing.assert_array_equal(of(even, *parts).values, first.values)


def test_a_corner_between_black_walls_is_darker_than_the_field_under_an_overcast_sky(opengl):
    light = Lighting(exposed_for=20000.0)
    matte = replace(ground(20.0), material="matte")
    sides = black(
        [*box("a", (2.0, 0.0, 2.0), (0.2, 4.0, 2.0)), *box("b", (0.0, 2.0, 2.0), (4.0, 0.2, 2.0))]
    )
    dressed = replace(scene(matte, *sides), lighting=light, weather=Weather(clouds=1.0))
    camera = spec(tone="linear", far=100.0, exposure=-1.0)
    renderer = make_renderer("physical")
    renderer.load(dressed, [])
    at = [shot(camera, (x, x, 1.2), turned(pitch=90.0)) for x in (1.4, -8.0)]
    corner, field = (
        f.mono[200:280, 280:360].mean() for f in renderer.render(at, np.zeros((0, 7)))
    )
    renderer.close()
    assert corner < 0.75 * field
