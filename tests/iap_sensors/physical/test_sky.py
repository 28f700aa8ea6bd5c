# SPDX-License-Identifier: BSD-3-Clause
"""The sun's place, and how bright sun, sky, clouds, fog and lamps are."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.scenes.lighting import Lamp, Sun, TimeOfDay
from iap_description.world.world import World
from iap_sensors.cameras.make import make_renderer
from iap_sensors.physical.atmosphere import ClearSky
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.lamp_colors import color_of_temperature
from iap_sensors.physical.sky_image import LUMINANCE, directions, harmonics, illuminance, mirrored

HALF = directions(32, 64)[0][:16]  # above the horizon


def clear(elevation_deg, turbidity=2.2):
    return ClearSky(Sun(elevation_deg=elevation_deg, azimuth_deg=0.0).direction_W, turbidity)


def sky_of(elevation_deg, turbidity=2.2):
    image = np.zeros((32, 64, 3))
    image[:16] = clear(elevation_deg, turbidity).luminance(HALF.reshape(-1, 3)).reshape(16, 64, 3)
    return image


def test_the_sun_stands_where_astronomy_says():
    equinox = TimeOfDay(hour=12.0, latitude_deg=48.0, day=81.0).direction_W
    np.testing.assert_allclose(
        equinox, [0.0, -np.sin(np.deg2rad(48.0)), np.cos(np.deg2rad(48.0))], atol=1e-12
    )
    morning = TimeOfDay(hour=6.0, latitude_deg=20.0, day=81.0).direction_W
    np.testing.assert_allclose(morning, [1.0, 0.0, 0.0], atol=1e-12)
    polar = TimeOfDay(hour=0.0, latitude_deg=80.0, day=172.0).direction_W
    assert np.rad2deg(np.arcsin(polar[2])) == pytest.approx(13.45, abs=0.01)  # the midnight sun


@pytest.mark.slow
def test_haze_takes_from_the_sun_and_gives_to_the_sky():
    turbidities = (1.5, 2.0, 3.0, 5.0, 8.0)
    suns = [clear(40.0, each).sun_illuminance @ LUMINANCE for each in turbidities]
    skies = [illuminance(sky_of(40.0, each)) @ LUMINANCE for each in turbidities]
    assert (np.diff(suns) < 0.0).all() and (np.diff(skies) > 0.0).all()
    assert all(sun + sky < 128.0 for sun, sky in zip(suns, skies, strict=True))


def test_a_clear_day_has_the_illuminance_that_is_measured_outdoors():
    """About 100 klx from the sun and 10 to 25 klx from the sky (CIE 85; Kittler's clear skies)."""
    assert 85.0 < clear(60.0).sun_illuminance @ LUMINANCE < 110.0
    assert 10.0 < illuminance(sky_of(60.0)) @ LUMINANCE < 25.0
    blue = sky_of(60.0)[:4].mean(axis=(0, 1))
    assert blue[2] > 1.2 * blue[0]
    low = clear(3.0).sun_illuminance
    assert low[0] > 2.0 * low[1] > 4.0 * low[2]  # red
    assert 0.001 < illuminance(sky_of(-5.0)) @ LUMINANCE < 0.2  # civil twilight: 3 to 200 lx


def test_harmonics_give_the_illuminance_of_planes():
    d, sizes = directions(64, 128)
    image = (0.5 + 0.3 * d[..., 2:] + 0.2 * d[..., :1] * d[..., 1:2]) * np.ones(3)
    a = harmonics(image)
    for n in (np.array([0.0, 0.0, 1.0]), np.array([0.6, 0.8, 0.0]), np.array([0.48, 0.6, -0.64])):
        x, y, z = n
        b = [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y]
        direct = (image * (np.maximum(d @ n, 0.0) * sizes)[..., None]).sum(axis=(0, 1)) / np.pi
        np.testing.assert_allclose(np.array(b) @ a, direct, rtol=0.005)


def test_what_is_even_is_mirrored_evenly():
    for level in mirrored(np.full((64, 128, 3), 0.7)):
        np.testing.assert_allclose(level, 0.7, rtol=1e-6)


def test_clouds_and_fog_take_as_much_light_as_is_measured():
    """Overcast lets a quarter through (Kasten, Czeplak); fog of a depth d, 2 / (2 + 0.15 d) (Bohren)."""
    levels = {}
    for name, weather in (
        ("clear", None),
        ("overcast", {"clouds": 1.0}),
        ("fog", {"visibility": 60.0, "fog_height": 30.0}),
    ):
        world = World(light={"sun": {"elevation_deg": 50.0, "azimuth_deg": 90.0}}, weather=weather)
        levels[name] = Environment.of(world.surroundings()).daylight @ LUMINANCE
    assert levels["overcast"] / levels["clear"] == pytest.approx(0.25, rel=0.1)
    depth = 3.912 / 60.0 * 30.0 / np.log(2.0)
    assert levels["fog"] / levels["clear"] == pytest.approx(2.0 / (2.0 + 0.15 * depth), rel=0.1)


def test_colours_of_what_glows_are_those_of_black_bodies():
    warm, cold = color_of_temperature(2700.0), color_of_temperature(12000.0)
    assert warm @ LUMINANCE == pytest.approx(1.0) and cold @ LUMINANCE == pytest.approx(1.0)
    assert warm[0] > 3.0 * warm[2] and cold[2] > cold[0]
    white = color_of_temperature(6600.0)
    np.testing.assert_allclose(white, 1.0, atol=0.08)


def test_a_cone_holds_the_flux_of_its_lamp():
    cone = Lamp(position=(0, 0, 3), flux=1000.0, direction=(0, 0, -1), cone_deg=60.0)
    assert cone.intensity * 2.0 * np.pi * (1.0 - np.cos(np.pi / 6.0)) == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("tree", "fault"),
    [
        ({"weather": {"fogg": 1.0}}, "unknown key 'weather.fogg'"),
        (
            {"light": {"sun": {"elevation_deg": 95.0, "azimuth_deg": 0.0}}},
            "light.sun.elevation_deg",
        ),
        ({"light": {"lamps": {"a": {"position": [0, 0, 1], "flux": -1.0}}}}, "light.lamps.a.flux"),
        ({"time_of_day": {"hour": 25.0}}, "time_of_day.hour"),
        (
            {
                "time_of_day": {"hour": 9.0},
                "light": {"sun": {"elevation_deg": 5.0, "azimuth_deg": 0.0}},
            },
            "the sun has one place",
        ),
    ],
)
def test_what_is_no_light_is_named(tree, fault):
    with pytest.raises(BadInput, match=fault):
        validate(World, tree, source="test")


def test_there_is_a_renderer_of_this_name(opengl):
    make_renderer("physical").close()
