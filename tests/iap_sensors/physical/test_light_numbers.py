# SPDX-License-Identifier: BSD-3-Clause
"""Lamps, air, weather and exposure as numbers, against what geometry and the equations say."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from small_scenes import spec

from iap_description.errors import BadInput
from iap_description.scenes.lighting import Lamp, LampFlicker, Lighting, Sun, TimeOfDay, Weather
from iap_description.world.world import World
from iap_sensors.physical import atmosphere, environment, lamps, skies
from iap_sensors.physical.atmosphere import ClearSky
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.lamp_colors import color_of_temperature, lamp_colors
from iap_sensors.physical.particles import Fallers
from iap_sensors.physical.sky_image import LUMINANCE, directions, illuminance, mirrored
from iap_sensors.physical.tone import curve_of, gain_of

UP = np.array([0.0, 0.0, 1.0])

# lamps


def lamp(**keys: object) -> Lamp:
    return Lamp(**{"position": (1.0, 2.0, 3.0), "flux": 1000.0, **keys})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "way", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.3, -0.5, 0.2), (0.1, 0.1, 1.0)]
)
def test_a_square_of_shadows_has_its_axis_in_the_middle_and_its_cone_within(
    way: tuple[float, ...],
) -> None:
    one = lamp(direction=way, cone_deg=80.0)
    (clip,) = lamps._views(one)
    axis = one.axis_W
    assert axis is not None
    across = np.cross(axis, [0.31, 0.4, 0.87])
    across /= np.linalg.norm(across)

    def seen(point: np.ndarray) -> np.ndarray:
        x = clip @ [*point, 1.0]
        return np.asarray(x[:3] / x[3])

    np.testing.assert_allclose(seen(one.position + 5.0 * axis)[:2], 0.0, atol=1e-12)
    edge = seen(one.position + 5.0 * (axis + np.tan(np.radians(40.0)) * across))
    assert np.hypot(*edge[:2]) == pytest.approx(1.0 / lamps.WIDER)
    for distance, depth in ((0.1, -1.0), (100.0, 1.0)):
        assert seen(one.position + distance * axis)[2] == pytest.approx(depth)


def test_six_squares_see_all_sides_upright_and_without_mirrors() -> None:
    one = lamp()
    clips = list(lamps._views(one))
    assert len(clips) == 6
    for k, clip in enumerate(clips):
        axis = np.array([1.0, -1.0])[k % 2] * np.eye(3)[k // 2]
        x = clip @ [*(one.position + 4.0 * axis), 1.0]
        assert x[3] == pytest.approx(4.0)
        np.testing.assert_allclose(x[:2], 0.0, atol=1e-12)
        up = np.array(lamps.SIDES[k][1], float)
        above = clip @ [*(one.position + 4.0 * axis + up), 1.0]
        np.testing.assert_allclose(above[:2] / above[3], [0.0, 0.25 / lamps.WIDER], atol=1e-12)
        assert np.linalg.det(clip[:3, :3]) == pytest.approx(np.linalg.det(clips[0][:3, :3]))


def test_squares_lie_side_by_side_in_their_atlas() -> None:
    size = 8 * 512, 2 * 512
    corners = np.array([[-1.0, -1.0, -1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]).T
    for k, (column, row) in {0: (0, 0), 7: (7, 0), 8: (0, 1), 10: (2, 1)}.items():
        low, high = (lamps._in_atlas(k, size) @ corners).T[:, :3]
        np.testing.assert_allclose(low, [column / 8, row / 2, 0.0])
        np.testing.assert_allclose(high, [(column + 1) / 8, (row + 1) / 2, 1.0])
    assert lamps._axis(lamp()) == (0.0, 0.0, 0.0, -2.0)
    cone = lamps._axis(lamp(direction=(0.0, 3.0, 4.0), cone_deg=90.0))
    np.testing.assert_allclose(cone, [0.0, 0.6, 0.8, np.sqrt(0.5)])


@pytest.mark.parametrize(
    "keys",
    [
        {"modulation": 0.6, "phase_deg": 40.0},
        {"on_share": 0.3},
        {"on_share": 0.7, "modulation": 0.5},
    ],
)
def test_light_of_an_exposure_is_the_mean_over_it(keys) -> None:
    flicker = LampFlicker(frequency=7.0, **keys)
    for t, duration in ((0.0, 0.02), (0.31, 0.1), (-0.2, 0.5), (3.0, 1.0 / 7.0)):
        instants = t + duration * ((np.arange(4000) + 0.5) / 4000 - 0.5)
        mean = np.mean([flicker.mean_level(each, 0.0) for each in instants])
        assert flicker.mean_level(t, duration) == pytest.approx(mean, abs=1e-3)


def test_a_lamp_has_its_flux_over_the_sphere_in_its_colour() -> None:
    both = lamp_colors([lamp(temperature=6600.0), lamp(flux=500.0, temperature=2000.0)])
    np.testing.assert_allclose(both @ LUMINANCE, [1.0 / (4.0 * np.pi), 0.5 / (4.0 * np.pi)])
    assert lamp_colors([]).shape == (0, 3)
    for kelvin, x, y in (
        (2856.0, 0.4476, 0.4074),
        (6504.0, 0.3134, 0.3237),
        (12000.0, 0.2718, 0.2775),
    ):
        xyz = np.linalg.inv(
            [[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]]
        )
        xyz = xyz @ color_of_temperature(kelvin)  # chromaticities of black bodies in CIE 15
        np.testing.assert_allclose(xyz[:2] / xyz.sum(), [x, y], atol=0.004)


def test_a_lamp_lights_the_ground_by_height_over_the_cube_of_its_distance() -> None:
    points = np.array([[1.0, 2.0, 0.0], [5.0, 2.0, 0.0], [1.0, 2.0, 4.0]])
    wide = lamp(radius=1e-5)
    np.testing.assert_allclose(
        environment._lamp_on_ground(wide, points),
        wide.intensity * np.array([1.0 / 9.0, 3.0 / 125.0, 0.0]),
    )
    cone = lamp(radius=1e-5, direction=(0.0, 0.0, -1.0), cone_deg=100.0)
    np.testing.assert_allclose(
        environment._lamp_on_ground(cone, points), [cone.intensity / 9.0, 0.0, 0.0]
    )
    large = lamp(radius=4.0)
    assert environment._lamp_on_ground(large, points)[0] == pytest.approx(
        3.0 * large.intensity / 125.0
    )


def test_the_light_of_lamps_counts_where_they_shine() -> None:
    assert environment._lamplight([]) == 0.0
    high = lamp(position=(0.0, 0.0, 20.0), radius=1e-5, flux=4.0e6)
    x = np.hypot(*np.meshgrid(np.arange(-40.0, 40.0), np.arange(-40.0, 40.0)))
    each = high.intensity * 20.0 / (x**2 + 400.0) ** 1.5
    assert environment._lamplight([high]) == pytest.approx((each**2).sum() / each.sum() / 1000.0)
    elsewhere = lamp(position=(300.0, -200.0, 20.0), radius=1e-5, flux=4.0e6)
    assert environment._lamplight([elsewhere]) == pytest.approx(environment._lamplight([high]))


# air


def test_the_light_of_the_sun_overhead_has_passed_all_air_aerosol_and_ozone() -> None:
    """Vertical optical depths: scale height times what is left at the top, and half the base of ozone's triangle."""
    for turbidity in (2.0, 5.0):
        sky = ClearSky(UP, turbidity)
        air = atmosphere.RAYLEIGH * 8000.0 * (1.0 - np.exp(-100e3 / 8000.0))
        aerosol = (turbidity - 1.0) * atmosphere.RAYLEIGH[1] * 8000.0
        depth = air + aerosol + atmosphere.OZONE * 15e3
        np.testing.assert_allclose(-np.log(sky.sun_illuminance / 128.0), depth, rtol=0.04)
        scatter_r, scatter_m, extinction = sky._medium(np.array([0.0, 8000.0, 25e3, 32.5e3]))
        np.testing.assert_allclose(scatter_r[1], atmosphere.RAYLEIGH / np.e)
        np.testing.assert_allclose(scatter_m[0], 0.9 * aerosol / 1200.0)
        ozone = extinction - scatter_r - scatter_m / 0.9
        np.testing.assert_allclose(
            ozone / atmosphere.OZONE, [[0.0] * 3] * 2 + [[1.0] * 3, [0.5] * 3], atol=1e-9
        )


def test_aerosol_scatters_all_of_its_light_forwards_by_its_asymmetry() -> None:
    """Mean cosine of Cornette and Shanks' function: g 3 (4 + g^2) / (5 (2 + g^2))."""
    x, weights = np.polynomial.legendre.leggauss(200)
    phase = 2.0 * np.pi * weights * atmosphere._aerosol_phase(x)
    g = 0.8
    np.testing.assert_allclose(
        [phase.sum(), phase @ x], [1.0, g * 3.0 * (4.0 + g * g) / (5.0 * (2.0 + g * g))]
    )


def test_ways_through_the_air_are_those_of_spheres() -> None:
    np.testing.assert_allclose(
        atmosphere._distance(3.0, np.array([1.0, -1.0, 0.0]), 5.0), [2.0, 8.0, 4.0]
    )
    h, sun = atmosphere._along(
        atmosphere.EARTH_RADIUS + 5.0,
        np.array([[0.0, 0.0, 1.0]]),
        np.array([7.0]),
        np.array([0.6, 0.0, 0.8]),
    )
    np.testing.assert_allclose([h[0], sun[0]], [12.0, 0.8])


def test_rough_surfaces_mirror_a_lobe_of_ggx() -> None:
    sky = np.zeros((64, 128, 3))
    sky[:32] = 1.0
    levels = mirrored(sky)
    assert [each.shape for each in levels] == [(64 >> k, 128 >> k, 3) for k in range(6)]
    np.testing.assert_allclose(levels[0], sky)
    rough = levels[-1]  # (1 + cos)/2 to the power of 0: a cosine's lobe, as diffuse surfaces have
    z = directions(2, 4)[0][..., 2]
    np.testing.assert_allclose(rough[..., 0], 0.5 + 0.5 * z, atol=0.01)
    third = levels[3][0, 0, 0], levels[3][-1, 0, 0]
    assert third[0] > 0.93 and third[1] == pytest.approx(1.0 - third[0], abs=1e-6)


# a scene's light


def light_of(**keys: object) -> Environment:
    return Environment.of(World(**keys).surroundings())  # type: ignore[arg-type]


SUN = {"elevation_deg": 50.0, "azimuth_deg": 90.0}


def test_the_sun_is_where_it_is_given_or_where_the_time_of_day_says() -> None:
    np.testing.assert_allclose(light_of(light={"sun": SUN}).sun_W, Sun(**SUN).direction_W)
    time = TimeOfDay(hour=9.0)
    np.testing.assert_allclose(light_of(time_of_day={"hour": 9.0}).sun_W, time.direction_W)
    scene = World().surroundings()
    default = np.array(scene.light.direction_W)
    np.testing.assert_allclose(Environment.of(scene).sun_W, default / np.linalg.norm(default))


def test_a_share_of_the_sky_and_the_exposure_that_is_asked_for() -> None:
    whole = light_of(light={"sun": SUN})
    half = light_of(light={"sun": SUN, "sky_share": 0.5, "exposed_for": 25_000.0})
    np.testing.assert_allclose(half.sky, 0.5 * whole.sky)
    np.testing.assert_allclose(half.sun, whole.sun)
    assert half.exposed_for == 25.0


@pytest.mark.parametrize(
    ("weather", "density", "height"),
    [
        ({"visibility": 100.0}, np.log(50.0) / 100.0, 30.0),
        ({"visibility": 400.0, "fog_height": 12.0}, np.log(50.0) / 400.0, 12.0),
        ({}, 0.0, 30.0),
    ],
)
def test_fog_has_the_density_of_its_visibility(
    weather: dict, density: float, height: float
) -> None:
    fog = light_of(light={"sun": SUN}, weather=weather)
    assert fog.fog_density == pytest.approx(density, rel=1e-4)
    assert fog.fog_height == height


def test_fog_lets_light_through_by_its_depth() -> None:
    """Direct light falls by exp(-depth / sin h), all of it to 2 / (2 + 0.15 depth)."""
    sun_W, sky = np.array([0.6, 0.0, 0.8]), np.full((32, 64, 3), 0.3)
    sun = np.array([90.0, 80.0, 70.0])
    clear, thin = skies.in_fog(sun, sun_W, sky, 0.0)
    np.testing.assert_array_equal(clear, sun)
    np.testing.assert_allclose(thin, (0.8 * sun + illuminance(sky)) / np.pi)
    direct, fog = skies.in_fog(sun, sun_W, sky, 3.0)
    np.testing.assert_allclose(direct, sun * np.exp(-3.0 / 0.8))
    scene = light_of(light={"sun": SUN})
    foggy = replace(
        scene,
        sun_W=sun_W,
        sun=direct,
        sky=sky,
        fog=fog,
        fog_density=3.0 * np.log(2.0),
        fog_height=1.0,
    )
    np.testing.assert_allclose(
        foggy.daylight, 2.0 / 2.45 * (0.8 * sun + illuminance(sky)), rtol=1e-6
    )


def test_clouds_darken_by_kastens_power_and_leave_the_sun_by_their_share() -> None:
    sun, sky, sun_W = np.full(3, 100.0), np.full((32, 64, 3), 3.0), np.array([0.0, 0.6, 0.8])
    for cover in (0.3, 0.7):
        through = 1.0 - 0.75 * cover**3.4
        direct, clouded = skies.clouded(sun, sky, sun_W, cover)
        np.testing.assert_allclose(direct, sun * through * (1.0 - cover**2))
        total = 0.8 * direct + illuminance(clouded)
        np.testing.assert_allclose(total, through * (80.0 + illuminance(sky)), rtol=1e-6)
        np.testing.assert_allclose(clouded[16:], sky[16:] * through)
    same_sun, same_sky = skies.clouded(sun, sky, sun_W, 0.0)
    assert same_sun is sun and same_sky is sky
    d = directions(32, 64)[0]
    overcast = skies.clouded(sun, sky, sun_W, 1.0)[1][:16, 0, 1]
    np.testing.assert_allclose(
        overcast / overcast[0], (1.0 + 2.0 * d[:16, 0, 2]) / (1.0 + 2.0 * d[0, 0, 2])
    )


@pytest.mark.parametrize("cover", [0.2, 0.5, 0.8])
def test_a_share_of_the_sky_is_cloud(cover: float) -> None:
    """Half as thick as it can be, or thicker; on the plane above, where its noise repeats."""
    y, x = np.mgrid[0:512, 0:512] + 0.5
    d = np.stack([x, y, np.full(x.shape, 90.0)], -1)
    thick = skies._thickness(d / np.linalg.norm(d, axis=-1, keepdims=True), cover)
    assert (thick > 0.5).mean() == pytest.approx(cover, abs=0.01)
    assert thick.min() == 0.0 and thick.max() == 1.0
    edge = (thick > 0.0) & (thick < 1.0)
    assert edge.mean() == pytest.approx({0.2: 0.26, 0.5: 0.38, 0.8: 0.26}[cover], abs=0.08)


def test_rain_of_four_millimetres_an_hour_wets_everything() -> None:
    scene = light_of(light={"sun": SUN})
    for rain, wetness, expected in (
        (1.0, 0.0, 0.25),
        (8.0, 0.0, 1.0),
        (1.0, 0.6, 0.6),
        (0.0, 0.0, 0.0),
    ):
        assert replace(
            scene, weather=Weather(rain=rain, wetness=wetness)
        ).wetness == pytest.approx(expected)


def test_dusk_stays_darker_than_day_by_its_key() -> None:
    """1.03 - 2 / (2 + log10(L + 1)) over that of 60 klx, of ground that reflects a fifth, to the power of 0.6."""
    assert environment._key(60.0) == environment._key(200.0) == 1.0

    def key(klx: float) -> float:
        return float(1.03 - 2.0 / (2.0 + np.log10(1000.0 * 0.2 * klx / np.pi + 1.0)))

    for klx in (0.01, 1.0, 30.0):
        assert environment._key(klx) == pytest.approx((key(klx) / key(60.0)) ** 0.6)


def test_night_without_a_lamp_is_refused_with_what_lights_it() -> None:
    with pytest.raises(
        BadInput, match=r"has no light: the sun is \d+ deg below the horizon.*world.light.lamps"
    ):
        light_of(light={"sun": {"elevation_deg": -40.0, "azimuth_deg": 0.0}, "sky_share": 0.0})
    lit = light_of(
        light={
            "sun": {"elevation_deg": -40.0, "azimuth_deg": 0.0},
            "lamps": {"a": {"position": [0, 0, 3], "flux": 900.0}},
        }
    )
    assert len(lit.lamps) == 1 and 0.0 < lit.exposed_for < 5.0


@pytest.mark.parametrize(
    ("shape", "value", "reason"),
    [
        ((31, 62), 1.0, "at least 32 rows"),
        ((32, 63), 1.0, "twice as wide as high"),
        ((32, 64), -1e-3, "negative or no numbers"),
        ((32, 64), np.inf, "negative or no numbers"),
        ((32, 64), 1.0, None),
    ],
)
def test_a_file_is_a_sky_if_it_is_an_equirectangular_image_of_luminance(
    shape: tuple[int, int], value: float, reason: str | None, tmp_path
) -> None:
    path = str(tmp_path / "sky.exr.tiff")
    image = np.full((*shape, 3), (0.25, 0.5, 1.0), np.float32)
    image[3, 4, 0] *= value
    cv2.imwrite(path, image)
    if reason is None:
        np.testing.assert_allclose(skies.read_sky(path)[0, 0], [1.0, 0.5, 0.25])  # red first
        sky = light_of(light={"sky": path, "sky_scale": 3.0})
        np.testing.assert_allclose(sky.sky[5, 6], [3.0, 1.5, 0.75])
        assert not sky.sun.any()
        return
    with pytest.raises(BadInput, match=f"world.light.sky.*{reason}"):
        skies.read_sky(path)


def test_a_sky_that_says_it_is_endless_is_refused_before_it_is_read(tmp_path) -> None:
    for name, head in (
        ("sky.hdr", "#?RADIANCE\n\n-Y 50000 +X 100000\n"),
        ("sky.pfm", "PF\n9000 1\n-1\n"),
    ):
        (tmp_path / name).write_text(head)
        with pytest.raises(BadInput, match=f"{name}: is wider than 8192 pixels"):
            skies.read_sky(str(tmp_path / name))


# rain, snow and levels


def test_drops_and_flakes_have_the_numbers_and_sizes_of_their_rates() -> None:
    """N(D) = n exp(-slope D) from the least diameter on: n / slope exp(-slope least) in a cubic metre."""
    for weather, n, slope, least, factor in (
        (Weather(rain=10.0), 8000.0, 4.1 * 10.0**-0.21, 1.6, 1.0),
        (Weather(snowfall=0.3), 3800.0 * 0.3**-0.87, 2.55 * 0.3**-0.48, 0.9, 3.5),
    ):
        falling = Fallers.of(weather)
        assert falling.box == pytest.approx(6.0)
        count = 216.0 * n / slope * np.exp(-slope * least)
        assert len(falling.diameters) == round(count)
        melted = 1e3 * falling.diameters / factor
        assert melted.min() > least
        assert melted.mean() == pytest.approx(least + 1.0 / slope, rel=4.0 / np.sqrt(count))
        if factor == 1.0:
            np.testing.assert_allclose(falling.speeds, 9.65 - 10.3 * np.exp(-0.6 * melted))
        else:
            assert 0.84 <= falling.speeds.min() < 0.9 and 1.5 < falling.speeds.max() <= 1.56
    assert len(Fallers.of(Weather()).diameters) == 0


def test_more_drops_than_can_be_drawn_make_the_box_smaller() -> None:
    falling = Fallers.of(Weather(rain=150.0, snowfall=20.0))
    assert falling.box < 6.0
    assert len(falling.diameters) == pytest.approx(16000, abs=2)


def test_an_exposure_of_one_stop_doubles_levels_and_white_is_at_one() -> None:
    linear, filmic = spec(tone="linear", exposure=0.0), spec(exposure=0.0)
    assert gain_of(linear, 50.0) == pytest.approx(np.pi / 50.0)
    assert gain_of(filmic, 50.0) == pytest.approx(0.8 * np.pi / 50.0)
    assert gain_of(spec(tone="linear", exposure=1.0), 50.0) == pytest.approx(2.0 * np.pi / 50.0)
    assert (curve_of(linear), curve_of(filmic)) == ("linear", "filmic")
    assert Lighting().sky_share == 1.0
