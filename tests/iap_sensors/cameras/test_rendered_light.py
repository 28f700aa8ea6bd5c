# SPDX-License-Identifier: BSD-3-Clause
"""Brightness of images: light, shadows, fog, exposure, lens, motion and noise."""

import cv2
import numpy as np
import pytest
from small_scenes import Fog, Light, Sky, box, grain, ground, scene, shot, spec, turned, wall

from iap_description.math.random_streams import stream
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.opengl import OpenGLRenderer

NO_BODIES = np.zeros((0, 7))
GREY = (0.5, 0.5, 0.5, 1.0)
SUN = Light(direction_W=(0.0, 1.0, 1.0), strength=0.6, ambient=0.3)
DOWN = turned(pitch=90.0)  # up in the image is x, left is y


def one(renderer, camera, *parts, at=None, **keys):
    renderer.load(scene(*parts, **keys), [])
    return renderer.render([shot(camera) if at is None else at], NO_BODIES)[0]


def checks(size=256):
    """Black and white halves."""
    image = np.zeros((size, size, 3), np.uint8)
    image[:, size // 2 :] = 255
    return image


def test_a_surface_is_as_bright_as_its_colour_times_the_light(opengl):
    light = Light(direction_W=(-3.0, 0.0, 4.0), strength=0.5, ambient=0.2)
    image = one(opengl, spec(), wall(color=(0.8, 0.8, 0.8, 1.0)), light=light).mono
    np.testing.assert_allclose(image, 255.0 * 0.8 * (0.2 + 0.5 * 0.6), atol=1.0)


def test_grey_levels_are_those_of_the_colours(opengl):
    camera = spec(outputs=["mono8", "rgb8"])
    parts = [wall(color=(0.9, 0.3, 0.1, 1.0), texture="grain", tiles=20.0)]
    both = one(opengl, camera, *parts, textures={"grain": grain()})
    alone = one(opengl, spec(), *parts, textures={"grain": grain()})
    np.testing.assert_array_equal(both.mono, cv2.cvtColor(both.rgb, cv2.COLOR_RGB2GRAY))
    assert np.abs(both.mono.astype(int) - alone.mono).max() <= 1
    middle = both.rgb[100:380, 100:540].reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(middle / middle[0], [1.0, 1 / 3, 1 / 9], rtol=0.03)


def test_textures_stand_upright(opengl):
    """u grows along the first side of a part, v upwards along the last."""
    corner = np.zeros((64, 64, 3), np.uint8)
    corner[:32, :32] = 255  # upper left
    image = one(opengl, spec(), wall(5.0, 4.0, texture="corner"), textures={"corner": corner}).mono
    assert image[239 - 100, 319 - 100] == 255
    assert image[239 + 100, 319 - 100] == image[239 - 100, 319 + 100] == 0


def test_what_stands_in_the_light_casts_a_shadow(opengl):
    camera = spec(far=50.0)
    at = shot(camera, (0.0, 0.0, 10.0), DOWN)
    block = box("block", (0.0, 0.0, 2.0), (0.5, 0.5, 0.5), color=GREY)
    image = one(opengl, camera, ground(20.0, color=GREY), *block, at=at, light=SUN).mono
    in_shadow, in_light = (
        image[240, 320 + 64],
        image[240, 320 - 64],
    )  # at y = -2 m, where the light ends, and 2 m
    assert in_light == pytest.approx(127.5 * (1.15 * 0.3 + 0.6 * np.sqrt(0.5)), abs=1.0)
    assert in_shadow == pytest.approx(127.5 * 1.15 * 0.3, abs=1.0)


def test_a_body_takes_its_shadow_along(opengl):
    camera = spec(far=50.0)
    at = shot(camera, (0.0, 0.0, 10.0), DOWN)
    opengl.load(
        scene(ground(20.0, color=GREY), light=SUN),
        [box("body", (0.0, 0.0, 0.0), (0.5, 0.5, 0.1), color=GREY)],
    )
    for x in (0.0, 2.0):
        image = opengl.render([at], np.array([[x, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]]))[0].mono
        row = 240 - round(32 * x)
        assert image[row, 320 + 64] == pytest.approx(127.5 * 1.15 * 0.3, abs=1.0)
        assert image[row, 320 - 64] > 90


def test_ground_in_the_light_is_even(opengl):
    """A surface does not cast shadows on itself."""
    low = Light(direction_W=(0.0, 1.0, 0.2), strength=0.8, ambient=0.2)
    block = box("block", (30.0, 30.0, 2.0), (0.5, 0.5, 2.0), color=GREY)
    camera = spec(far=50.0)
    at = shot(camera, (0.0, 0.0, 5.0), DOWN)
    slab = box("slab", (0.0, 0.0, 0.2), (8.0, 8.0, 0.2), color=GREY)
    image = one(opengl, camera, ground(40.0, color=GREY), *block, *slab, at=at, light=low).mono
    assert np.ptp(image.astype(int)) <= 1


def test_fog_takes_contrast_with_distance(opengl):
    fog = Fog(density=0.1, color=(0.6, 0.6, 0.6))
    for distance in (2.0, 10.0, 20.0):
        stripes = wall(distance, distance, texture="checks")
        keys = {"textures": {"checks": checks()}, "fog": fog}
        row = one(opengl, spec(), stripes, **keys).mono[240].astype(float)
        contrast = row[300] - row[340]
        assert abs(contrast) == pytest.approx(255.0 * np.exp(-0.1 * distance), abs=2.0)


def test_sky_is_lighter_at_the_horizon_and_covers_what_is_left(opengl):
    sky = Sky(zenith=(0.0, 0.0, 1.0), horizon=(1.0, 1.0, 1.0))
    camera = spec(outputs=["rgb8"])
    image = one(opengl, camera, sky=sky, at=shot(camera, q_WS=turned(roll=180.0))).rgb
    assert (image[:230] == 255).all()  # upside down: what is below the horizon
    assert np.all(np.diff(image[245:, 320, 0].astype(int)) <= 0)
    assert image[479, 320, 0] < 60


def test_one_sees_through_what_is_not_opaque(opengl):
    camera = spec(outputs=["mono8", "depth"])
    opengl.load(scene(wall(8.0, 40.0)), [[wall(0.0, 1.0, color=(0.0, 0.0, 0.0, 0.25))]])
    frame = opengl.render([shot(camera)], np.array([[4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]))[0]
    assert frame.mono[240, 320] == pytest.approx(255 * 0.75, abs=1.0)
    assert frame.depth[240, 320] == pytest.approx(8.0)


@pytest.mark.parametrize("ev", [-1.0, 1.0])
def test_exposure_doubles_grey_levels_per_step(opengl, ev):
    image = one(opengl, spec(exposure=ev), wall(color=(0.3, 0.3, 0.3, 1.0))).mono
    np.testing.assert_allclose(image, 0.3 * 255.0 * 2.0**ev, atol=1.0)


@pytest.mark.parametrize("distortion", [(0.0,) * 5, (-0.2, 0.03, 0.0, 0.0, 0.0)])
def test_vignetting_takes_its_share_in_the_corners(opengl, distortion):
    camera = spec(vignetting=0.4, distortion=distortion)
    image = one(opengl, camera, wall(5.0, 100.0)).mono
    assert image[240, 320] == pytest.approx(255, abs=1)
    for corner in (image[0, 0], image[0, -1], image[-1, 0], image[-1, -1]):
        assert corner == pytest.approx(255 * 0.6, abs=2.0)


def test_motion_smears_an_edge_over_the_way_that_it_goes(opengl):
    v, exposure, distance = 4.0, 0.02, 5.0
    blurred = spec(blur={"exposure_time": exposure, "samples": 16})
    opengl.load(scene(wall(distance, 4.0, texture="checks"), textures={"checks": checks()}), [])
    moving = shot(blurred, v_WC_W=np.array([0.0, v, 0.0]))
    sharp, smeared = opengl.render([shot(spec()), moving], NO_BODIES)
    row = smeared.mono[240, 220:420].astype(float)
    length = np.sum((row > 5) & (row < 250))
    assert length == pytest.approx(v * exposure * 320.0 / distance, abs=2.0)
    edge = np.interp(127.5, row[80:120], np.arange(300, 340))
    assert edge == pytest.approx(319.5, abs=0.6)  # the stamp is the middle of the exposure
    assert np.sum((sharp.mono[240, 220:420] > 5) & (sharp.mono[240, 220:420] < 250)) <= 2


def test_turning_blurs_too_and_standing_still_does_not(opengl):
    w, exposure = 2.0, 0.02
    blurred = spec(blur={"exposure_time": exposure, "samples": 16})
    opengl.load(scene(wall(5.0, 4.0, texture="checks"), textures={"checks": checks()}), [])
    turning = shot(blurred, w_WC_W=np.array([0.0, 0.0, w]))
    smeared, still = opengl.render([turning, shot(blurred)], NO_BODIES)
    row = smeared.mono[240, 220:420].astype(float)
    assert np.sum((row > 5) & (row < 250)) == pytest.approx(w * exposure * 320.0, abs=2.0)
    sharp = opengl.render([shot(spec())], NO_BODIES)[0]
    np.testing.assert_array_equal(still.mono, sharp.mono)


def test_antialiasing_softens_edges_of_surfaces(opengl):
    at = {"q_WS": turned(roll=10.0)}
    levels = []
    for samples in (1, 4):
        camera = spec(antialiasing=samples)
        black = Sky(zenith=(0.0, 0.0, 0.0), horizon=(0.0, 0.0, 0.0))
        image = one(opengl, camera, wall(5.0, 1.0), at=shot(camera, **at), sky=black).mono
        levels.append(len(np.unique(image)))
    assert levels == [2, 5]


def test_noise_has_its_deviation_and_no_bias(opengl):
    camera = Camera(spec(noise=3.0, outputs=["mono8", "rgb8"]), stream(1, "camera"))
    opengl.load(scene(wall(color=GREY)), [])
    at = camera.shot((np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])))
    clean = opengl.render([at], NO_BODIES)[0].mono.astype(float)
    noisy = camera.develop(opengl.render([at], NO_BODIES)[0])
    for noise in (noisy.mono - clean, noisy.rgb[..., 1] - clean):
        assert noise.mean() == pytest.approx(0.0, abs=0.03)
        assert noise.std() == pytest.approx(np.hypot(3.0, np.sqrt(1 / 12)), rel=0.01)
        for step in (1, 640):  # neither to the right nor below
            flat = noise.ravel()
            assert abs(np.corrcoef(flat[step:], flat[:-step])[0, 1]) < 0.01


def test_equal_seeds_give_equal_noise_and_every_image_its_own(opengl):
    opengl.load(scene(wall(color=GREY)), [])
    place = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])

    def images(seed, count=2):
        camera = Camera(spec(noise=3.0), stream(seed, "camera"))
        shots = [camera.shot(place)] * count
        return [camera.develop(frame).mono for frame in opengl.render(shots, NO_BODIES)]

    first, second = images(1)
    np.testing.assert_array_equal([first, second], images(1))
    assert np.mean(first == second) < 0.5
    assert np.mean(first == images(2)[0]) < 0.5


def test_two_renderers_make_equal_images(opengl):
    parts = [ground(texture="grain", tiles=30.0), *box("b", (5.0, 1.0, 1.0), (1.0, 1.0, 1.0))]
    keys = {"textures": {"grain": grain()}, "light": SUN, "fog": Fog(0.02, (0.5, 0.5, 0.5))}
    other = OpenGLRenderer()
    at = shot(spec(outputs=["rgb8", "depth"]), (0.0, 0.0, 2.0))
    frames = []
    for renderer in (opengl, other):
        renderer.load(scene(*parts, **keys), [])
    for renderer in (opengl, other, opengl):  # in turns: each finds its own context
        frames.append(renderer.render([at], NO_BODIES)[0])
    other.close()
    for frame in frames[1:]:
        np.testing.assert_array_equal(frame.rgb, frames[0].rgb)
        np.testing.assert_array_equal(frame.depth, frames[0].depth)
