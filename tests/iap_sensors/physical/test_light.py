# SPDX-License-Identifier: BSD-3-Clause
"""Images in physical light against what light does: reflection, shadows, lamps, fog, and the same geometry as ever."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from small_scenes import ball, box, ground, rectangle, scene, shot, spec, turned, wall

from iap_description.assets.surface_images import SurfaceImages
from iap_description.errors import BadInput
from iap_description.scenes.library import load_scene
from iap_description.scenes.lighting import Lamp, LampFlicker, Lighting, Sun, TimeOfDay, Weather
from iap_sensors.cameras.make import make_renderer
from iap_sensors.physical.particles import Fallers

NO_BODIES = np.zeros((0, 7))
DOWN = turned(pitch=90.0)  # up in the image is x, left is y
NOON = Lighting(sun=Sun(elevation_deg=60.0, azimuth_deg=0.0), exposed_for=80000.0)
EVEN = 3141.5926  # illuminance under a luminance of 1 kcd/m^2 from everywhere [lx]


@pytest.fixture(scope="module")
def physical(opengl):  # skips where there is no EGL
    renderer = make_renderer("physical")
    yield renderer
    renderer.close()


@pytest.fixture(scope="module")
def white_sky(tmp_path_factory):
    """A file of a sky, and of the ground, whose luminance is 1 everywhere."""
    path = str(tmp_path_factory.mktemp("sky") / "white.hdr")
    cv2.imwrite(path, np.ones((32, 64, 3), np.float32))
    return path


def camera(**keys):
    return spec(**{"tone": "linear", "far": 100.0, **keys})


def lit(*parts, light=NOON, weather=None, time_of_day=None):
    return replace(scene(*parts), lighting=light, weather=weather, time_of_day=time_of_day)


def grey(reflectance):
    """A colour of a linear reflectance."""
    level = np.where(
        reflectance < 0.0031308, 12.92 * reflectance, 1.055 * reflectance ** (1 / 2.4) - 0.055
    )
    return (float(level),) * 3 + (1.0,)


def matte(part):
    return replace(part, material="matte")


def middle(image):
    return float(image[220:260, 300:340].mean())


def test_a_grey_chart_is_linear_within_two_per_cent(physical):
    reflectances = np.array([0.9, 0.45, 0.225, 0.1125, 0.05625])
    chart = [
        matte(replace(part, vertices=part.vertices + np.float32([0.0, 6.0 * k, 0.0])))
        for k, part in enumerate(wall(2.0, 2.9, color=grey(each)) for each in reflectances)
    ]
    light = Lighting(sun=Sun(elevation_deg=45.0, azimuth_deg=180.0), exposed_for=80000.0)
    physical.load(lit(*chart, light=light), [])
    # each patch is exposed to the same level, so that rounding to 8 bits does not count
    shots = [
        shot(camera(exposure=float(k)), (0.5, 6.0 * k, 0.0)) for k in range(len(reflectances))
    ]
    levels = [middle(frame.mono) for frame in physical.render(shots, NO_BODIES)]
    assert levels[0] > 100.0
    np.testing.assert_allclose(levels, levels[0], rtol=0.02)


@pytest.mark.parametrize("material", [None, "matte"])
def test_in_a_white_furnace_a_white_ball_cannot_be_seen(physical, white_sky, material):
    light = Lighting(sky=white_sky, exposed_for=EVEN)
    part = replace(ball("ball", (3.0, 0.0, 0.0), 1.0), material=material)
    physical.load(lit(part, light=light), [])
    frame = physical.render(
        [shot(camera(exposure=-1.0, outputs=["mono8", "segmentation"]))], NO_BODIES
    )[0]
    seen = frame.labels == 1
    assert seen.mean() > 0.1
    np.testing.assert_allclose(frame.mono[seen], 127.5, rtol=0.02)
    np.testing.assert_allclose(frame.mono[~seen], 127.5, rtol=0.02)


def test_sunlight_on_a_surface_goes_by_the_cosine_of_its_angle(physical):
    angles = np.deg2rad([0.0, 30.0, 60.0, 75.0])
    sun = Sun(elevation_deg=90.0, azimuth_deg=0.0)
    light = Lighting(sun=sun, sky_share=0.0, exposed_for=150000.0)
    physical.load(
        lit(*(_plate(4.0 * k, angle) for k, angle in enumerate(angles)), light=light), []
    )
    shots = [shot(camera(), (-0.0, 4.0 * k, 1.5), DOWN) for k in range(len(angles))]
    levels = np.array([middle(frame.mono) for frame in physical.render(shots, NO_BODIES)])
    assert levels[0] > 80.0
    np.testing.assert_allclose(levels, levels[0] * np.cos(angles), atol=1.5)


def _plate(y, angle):
    """A matte square about the x axis, turned from the ground by an angle."""
    v, u = np.array([0.0, np.cos(angle), np.sin(angle)]), np.array([1.0, 0.0, 0.0])
    corners = [y * np.array([0.0, 1.0, 0.0]) + a * u + b * v for a, b in SIGNS]
    return matte(rectangle("plate", 1.4 * np.array(corners) - 0.4 * y * np.array([0.0, 1.0, 0.0])))


SIGNS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def test_a_shadow_ends_where_geometry_says(physical):
    """Of a block 1 m to 3 m high and 1 m wide under a sun at 45 deg: from y = -0.5 - 3 to 0.5 - 1 on the ground."""
    light = Lighting(sun=Sun(elevation_deg=45.0, azimuth_deg=90.0), exposed_for=80000.0)
    block = box("block", (0.0, 0.0, 2.0), (0.5, 0.5, 1.0))
    physical.load(lit(matte(ground(20.0)), *block, light=light), [])
    at = (0.0, -3.0, 10.0)  # 32 pixels to a metre
    row = physical.render([shot(camera(), at, DOWN)], NO_BODIES)[0].mono[240].astype(float)
    y = -3.0 - (np.arange(640) - 319.5) / 32.0
    ground_ = (y < -1.2) & (y > -7.0)
    dark = row[ground_] < 0.5 * (row[ground_].min() + row[ground_].max())
    assert y[ground_][dark].min() == pytest.approx(-3.5, abs=0.07)


def test_a_body_takes_its_shadow_along(physical):
    light = Lighting(sun=Sun(elevation_deg=45.0, azimuth_deg=90.0), exposed_for=80000.0)
    physical.load(
        lit(matte(ground(20.0)), light=light), [box("body", (0.0, 0.0, 0.0), (0.5, 0.5, 0.1))]
    )
    at = shot(camera(), (0.0, 0.0, 10.0), DOWN)
    for x in (0.0, 2.0):
        pose = np.array([[x, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]])
        image = physical.render([at], pose)[0].mono
        row = 240 - round(32 * x)
        assert image[row, 320 + 64] < 0.5 * image[row, 320 - 96]


def test_a_lamp_lights_by_the_inverse_square_and_its_cone_ends(physical):
    night = Sun(elevation_deg=-30.0, azimuth_deg=0.0)
    levels = []
    for height in (2.0, 4.0):
        lamp = Lamp(
            position=(0.0, 0.0, height), flux=2000.0, direction=(0.0, 0.0, -1.0), cone_deg=90.0
        )
        light = Lighting(sun=night, lamps={"one": lamp}, exposed_for=1000.0)
        physical.load(lit(matte(ground(20.0)), light=light), [])
        image = physical.render([shot(camera(), (0.4, 0.0, 1.5), DOWN)], NO_BODIES)[0].mono
        levels.append(float(image[240:250, 315:325].mean()))
        intensity = 2000.0 / (2.0 * np.pi * (1.0 - np.cos(np.pi / 4)))
        way = np.hypot(height, 0.4)
        expected = 255.0 * intensity * height / way**3 / 1000.0
        assert levels[-1] == pytest.approx(expected, rel=0.04)
    wide = physical.render([shot(camera(exposure=3.0), (0.0, 0.0, 10.0), DOWN)], NO_BODIES)[0].mono
    assert wide[240, 320 + 32 * 3] > 20 and wide[240, 320 + 32 * 5] < 3  # the cone ends 4 m away


def test_a_screen_has_the_luminance_of_its_file_at_night_and_none_of_its_light_is_lost(physical):
    """Level 1 is a white surface under `exposed_for`, of luminance E / pi; half of the screen is half as bright."""
    image = np.full((64, 64, 3), 255, np.uint8)
    image[:32] = round(255 * 0.7354)  # sRGB of half the light
    screen = SurfaceImages(emission=image, luminance=(100.0, 100.0, 100.0), roughness=1.0)
    uv = np.float32([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    part = replace(wall(2.0, 1.5), material="screen")
    sun, far = (
        Sun(elevation_deg=-30.0, azimuth_deg=0.0),
        Lamp(position=(0.0, 0.0, 500.0), flux=1.0),
    )
    night = Lighting(sun=sun, lamps={"far": far}, exposed_for=1000.0)
    dark = replace(part, color=(0.0, 0.0, 0.0, 1.0), uv=uv[: len(part.vertices)])
    physical.load(replace(lit(dark, light=night), surfaces={"screen": screen}), [])
    seen = physical.render([shot(camera(), (0.5, 0.0, 0.0))], NO_BODIES)[0].mono
    levels = sorted(
        {round(float(seen[rows, 310:330].mean())) for rows in (slice(100, 120), slice(360, 380))}
    )
    expected = 255.0 * np.pi * 100.0 / 1000.0
    assert levels == pytest.approx([0.5 * expected, expected], rel=0.03)


def test_a_lamp_casts_shadows_to_all_sides(physical):
    night = Sun(elevation_deg=-30.0, azimuth_deg=0.0)
    lamp = Lamp(position=(0.0, 0.0, 2.0), flux=9000.0)
    light = Lighting(sun=night, lamps={"one": lamp}, exposed_for=100.0)
    blocks = [
        side
        for k, (x, y) in enumerate(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)))
        for side in box(f"block{k}", (x, y, 1.0), (0.2, 0.2, 0.2))
    ]
    physical.load(lit(matte(ground(20.0)), *blocks, light=light), [])
    image = physical.render([shot(camera(), (0.0, 0.0, 10.0), DOWN)], NO_BODIES)[0].mono
    for x, y in ((2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)):  # twice as far as the block
        dark = image[240 - round(32 * x), 320 - round(32 * y)]
        bright = image[240 - round(23 * (x + y)), 320 - round(23 * (y - x))]  # at 45 deg to it
        assert dark < 0.1 * bright


@pytest.mark.parametrize("direction", [None, (0.0, 0.0, -1.0)])
def test_a_body_casts_the_shadow_of_a_lamp_where_it_is(physical, direction):
    night = Sun(elevation_deg=-30.0, azimuth_deg=0.0)
    lamp = Lamp(position=(0.0, 0.0, 4.0), flux=9000.0, direction=direction, cone_deg=150.0)
    light = Lighting(sun=night, lamps={"one": lamp}, exposed_for=60.0)
    body = [box("body", (0.0, 0.0, 0.0), (0.3, 0.3, 0.1))]
    physical.load(lit(matte(ground(20.0)), light=light), [*body])
    at = shot(camera(), (0.0, 0.0, 10.0), DOWN)
    for x in (1.0, -1.0):
        pose = np.array([[x, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]])
        image = physical.render([at], pose)[0].mono
        # of a body at half the lamp's height the shadow is twice as far and twice as wide: 1.2 m
        shaded = image[240 - round(32 * (2.0 * x + 0.4 * np.sign(x))), 320]
        as_far = image[240 + round(32 * (2.0 * x + 0.4 * np.sign(x))), 320]
        assert shaded < 0.1 * as_far
        beside = image[240 - round(32 * 2.0 * x), 320 + round(32 * 1.2)]
        assert beside > 0.7 * as_far


def test_a_lamp_that_ripples_shows_none_of_it_in_a_whole_period(physical):
    night = Sun(elevation_deg=-30.0, azimuth_deg=0.0)
    flicker = LampFlicker(frequency=100.0, modulation=0.5)
    lamp = Lamp(position=(0.0, 0.0, 4.0), flux=9000.0, flicker=flicker)
    light = Lighting(sun=night, lamps={"one": lamp}, exposed_for=100.0)
    physical.load(lit(matte(ground(20.0)), light=light), [])

    def level(t, **keys):
        one = replace(shot(camera(**keys), (0.5, 0.0, 2.0), DOWN), t=t)
        return middle(physical.render([one], NO_BODIES)[0].mono)

    brightest, darkest = level(0.02), level(0.025)
    assert brightest / darkest == pytest.approx(3.0, rel=0.05)  # 1.5 to 0.5
    whole = {"blur": {"exposure_time": 0.01, "samples": 2}}
    assert level(0.02, **whole) == pytest.approx(level(0.023, **whole), rel=0.02)
    assert level(0.02, **whole) == pytest.approx(brightest / 1.5, rel=0.03)


@pytest.mark.slow
def test_a_sun_that_passes_lights_as_the_later_hour_does(physical):
    parts = [matte(ground(20.0)), *box("block", (2.0, 0.0, 0.5), (0.4, 0.4, 0.5))]
    light = Lighting(exposed_for=60000.0)
    at = shot(camera(), (0.0, 0.0, 10.0), DOWN)

    def image(t, **day):
        physical.load(lit(*parts, light=light, time_of_day=TimeOfDay(**day)), [])
        first = physical.render([at], NO_BODIES)[0].mono
        return first, physical.render([replace(at, t=t)], NO_BODIES)[0].mono

    start, end = image(20.0, hour=9.0, rate=900.0)  # five hours
    still, later = image(20.0, hour=14.0)
    np.testing.assert_array_equal(end, later)
    np.testing.assert_array_equal(still, later)
    assert np.abs(start.astype(int) - end).max() > 50  # the block's shadow has turned
    dark, night = image(20.0, hour=18.0, rate=1200.0)
    assert dark.mean() > 5.0 > night.mean()


@pytest.mark.slow
def test_dust_is_brown_and_leaves_two_per_cent_of_contrast_at_its_visibility(physical):
    weather = Weather(dust=1000.0, fog_height=1000.0)  # (56 / 1000)^0.8 km
    visibility = 1000.0 * 0.056**0.8
    levels = []
    for color in (grey(0.9), grey(0.02)):
        for distance in (1.0, 1.0 + 0.5 * visibility):
            part = matte(wall(distance, 120.0, color=color))
            physical.load(lit(part, weather=weather), [])
            at = shot(camera(outputs=["rgb8"], far=200.0, exposure=2.0), (0.0, 0.0, 1.0))
            image = physical.render([at], NO_BODIES)[0].rgb
            levels.append(image[220:260, 300:340].mean(axis=(0, 1)))
    near, far = levels[0] - levels[2], levels[1] - levels[3]
    np.testing.assert_allclose(far / near, np.exp(-3.912 * 0.5), atol=0.03)
    red, green, blue = levels[3]
    assert red > 1.1 * green > 1.2 * blue


@pytest.mark.slow
def test_fog_leaves_two_per_cent_of_contrast_at_its_visibility(physical):
    """Koschmieder: a black and a white wall differ by exp(-3.912 d / V), and by 2 % at d = V."""
    light, weather = NOON, Weather(visibility=40.0, fog_height=1000.0)
    gaps = []
    for distance in (1.0, 20.0, 40.0):
        levels = []
        for color in (grey(0.9), grey(0.02)):
            physical.load(
                lit(matte(wall(distance, 90.0, color=color)), light=light, weather=weather), []
            )
            image = physical.render([shot(camera(exposure=1.0), (0.0, 0.0, 1.0))], NO_BODIES)[
                0
            ].mono
            levels.append(middle(image))
        gaps.append(levels[0] - levels[1])
    assert gaps[0] > 60.0
    np.testing.assert_allclose(
        np.array(gaps[1:]) / gaps[0], np.exp(-3.912 * np.array([19.0, 39.0]) / 40.0), atol=0.02
    )


@pytest.mark.slow
def test_rain_falls_and_is_the_same_at_the_same_time(physical):
    light, camera_ = Lighting(exposed_for=20000.0), camera(exposure=1.0)
    changed = []
    for rain in (0.0, 5.0, 80.0):
        weather = Weather(clouds=1.0, rain=rain, wetness=1.0)
        physical.load(lit(matte(wall(4.0, color=grey(0.02))), light=light, weather=weather), [])
        at = [shot(camera_, (0.0, 0.0, 2.0), t=t) for t in (0.5, 0.7, 0.5)]
        one, later, again = (f.mono.astype(int) for f in physical.render(at, NO_BODIES))
        np.testing.assert_array_equal(one, again)
        changed.append(np.abs(one - later).mean())
    assert changed[0] == 0.0 and 0.0 < changed[1] < changed[2]


def test_drops_are_as_many_and_as_fast_as_in_nature():
    """Marshall and Palmer's rain holds its rate as water: the sum of volume times speed is R, but for small drops."""
    for rate in (10.0, 50.0):
        falling = Fallers.of(Weather(rain=rate))
        flux = (np.pi / 6.0 * falling.diameters**3 * falling.speeds).sum() / falling.box**3
        assert 0.3 * rate < 3.6e6 * flux < 1.1 * rate
    flakes = Fallers.of(Weather(snowfall=2.0))
    assert 0.003 < flakes.diameters.mean() < 0.012 and 0.8 < flakes.speeds.mean() < 1.6


def test_depth_and_labels_are_those_of_the_fast_renderer(physical, opengl):
    look = spec(far=100.0, outputs=["depth", "segmentation"])
    at = [shot(look, (-3.0, -2.0, 2.5), turned(yaw=yaw, pitch=5.0)) for yaw in (0.0, 130.0)]
    frames = []
    for renderer in (physical, opengl):
        renderer.load(load_scene("textured_walls"), [[ball("ball", (0.0, 0.0, 0.0), 0.4, n=12)]])
        frames.append(renderer.render(at, np.array([[2.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0]])))
    for one, other in zip(*frames, strict=True):
        np.testing.assert_array_equal(one.depth, other.depth)
        np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.slow
def test_images_are_the_same_from_load_to_load(physical):
    light = Lighting(sun=Sun(elevation_deg=20.0, azimuth_deg=200.0))
    dressed = replace(
        load_scene("foggy_arena"), lighting=light, weather=Weather(clouds=0.4, wetness=0.7)
    )
    at = [shot(spec(outputs=["rgb8"]), (-3.0, -2.0, 2.5))]
    images = []
    for _ in range(2):
        physical.load(dressed, [])
        images += [physical.render(at, NO_BODIES)[0].rgb for _ in range(2)]
    for each in images[1:]:
        np.testing.assert_array_equal(each, images[0])


def test_four_samples_a_pixel_show_edges_that_are_smoother(physical):
    half = matte(rectangle("half", [[4, 0, -9], [4, -9, -9], [4, -9, 9], [4, 2.25, 9]]))
    physical.load(lit(half, light=Lighting(exposed_for=80000.0)), [])
    shots = [shot(camera(antialiasing=n)) for n in (1, 4)]
    for frame in physical.render(shots, NO_BODIES):
        row = frame.mono[100].astype(int)
        assert np.abs(np.diff(row)).max() < 0.8 * (row.max() - row.min())


def test_a_scene_without_light_says_so_in_one_line(physical):
    night = replace(load_scene("open_field"), time_of_day=TimeOfDay(hour=0.0))
    with pytest.raises(BadInput, match=r"world.light.*no light.*below the horizon.*lamps"):
        physical.load(night, [])


@pytest.mark.parametrize(
    ("name", "pixels", "reason"),
    [
        ("none.hdr", None, "no such file"),
        ("levels.png", np.zeros((32, 64, 3), np.uint8), "floating-point"),
        ("square.hdr", np.ones((64, 64, 3), np.float32), "twice as wide"),
        ("small.hdr", np.ones((8, 16, 3), np.float32), "32 rows"),
    ],
)
def test_a_file_that_is_no_sky_is_named(physical, tmp_path, name, pixels, reason):
    path = str(tmp_path / name)
    if pixels is not None:
        cv2.imwrite(path, pixels)
    with pytest.raises(BadInput, match=f"world.light.sky.*{name}.*{reason}"):
        physical.load(lit(wall(), light=Lighting(sky=path)), [])


def test_renderers_without_physical_light_refuse_it(opengl):
    with pytest.raises(BadInput, match=r"world.light.*'opengl'.*renderer: physical"):
        opengl.load(lit(wall()), [])
    opengl.load(scene(wall()), [])
    with pytest.raises(BadInput, match=r"'tone'.*'opengl'.*renderer: physical"):
        opengl.render([shot(camera())], NO_BODIES)


def test_a_material_that_does_not_exist_is_named(physical):
    said = "part 'wall' of the scene: key 'material': no material 'cheese'"
    with pytest.raises(BadInput, match=said):
        physical.load(lit(replace(wall(), material="cheese")), [])
