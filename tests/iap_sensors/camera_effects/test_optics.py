# SPDX-License-Identifier: BSD-3-Clause
"""Effects of the lens against their equations."""

import numpy as np
import pytest
from effect_images import camera_with, light_of, numbers

from iap_sensors.camera_effects.effect import CameraImage, Exposure
from iap_sensors.cameras.renderer import Frame


def test_a_thin_lens_loses_the_fourth_power_of_the_cosine():
    camera = camera_with({"vignetting": {}})
    image = numbers(camera, light_of(camera, 0.9))
    tangents = np.hypot(79.5, 59.5) / 80.0
    assert image[0, 0] / image[60, 80] == pytest.approx((1.0 + tangents**2) ** -2, abs=0.01)


def test_a_measured_falloff_counts_from_the_axis_to_the_corner():
    camera = camera_with({"vignetting": {"natural": False, "polynomial": [-0.5, 0.2, 0.0]}})
    image = numbers(camera, light_of(camera, 0.8))
    half = (40.0**2 + 0.5**2) / (79.5**2 + 59.5**2)
    assert image[0, 0] / 0.8 == pytest.approx(0.7, abs=0.01)
    assert image[60, 119] / 0.8 == pytest.approx(1.0 - 0.5 * half + 0.2 * half**2, abs=0.01)


def spread_of(image):
    """Share, centroid and variance along columns of what is bright."""
    image = image.astype(float)
    v, u = np.indices(image.shape)
    total = image.sum()
    mean = np.array([(image * u).sum(), (image * v).sum()]) / total
    return total, mean, ((image * (u - mean[0]) ** 2).sum() / total)


def light_behind(effects, light):
    """Light (h, w) or (h, w, 3) as the optics leave it."""
    camera = camera_with(effects, outputs=("rgb8",) if light.ndim == 3 else ("mono8",))
    (effect,) = (
        e
        for spec in camera.spec.effects.specs.values()
        for e in spec.effects(camera.spec.geometry)
    )
    image = CameraImage(light.astype(np.float32), None, 0.0, Exposure(), None, np.uint64(1))
    effect.apply(image)
    return image.light


def test_red_and_blue_are_drawn_in_their_sizes():
    light = np.zeros((120, 160, 3))
    light[20:23, 130:133] = 1.0
    out = light_behind(
        {"chromatic_aberration": {"red": [0.02, 0.01], "blue": [-0.01, 0.0]}}, light
    )
    center, corner = np.array([79.5, 59.5]), np.hypot(79.5, 59.5)
    for channel, (a, b) in ((0, (0.02, 0.01)), (1, (0.0, 0.0)), (2, (-0.01, 0.0))):
        off = np.array([131.0, 21.0]) - center
        r = np.linalg.norm(off) / corner
        _, mean, _ = spread_of(out[..., channel])
        np.testing.assert_allclose(mean, center + off * (1.0 + a + b * r * r), atol=0.1)


def test_glare_keeps_all_light_and_spreads_its_share():
    light = np.zeros((120, 160))
    light[56:64, 76:84] = 10.0
    out = light_behind({"glare": {"share": 0.1, "levels": 3}}, light)
    assert out.sum() == pytest.approx(light.sum(), rel=0.02)
    assert (
        0.9 <= out[56:64, 76:84].sum() / light.sum() < 0.95
    )  # the finest kernel is 8 pixels wide
    even = light_behind({"glare": {"share": 0.3}}, np.full((120, 160), 0.5))
    np.testing.assert_allclose(even, 0.5, rtol=1e-3)


def test_a_ghost_is_mirrored_about_the_axis():
    light = np.zeros((120, 160))
    light[28:32, 108:112] = 100.0
    flare = {"ghosts": [-0.5], "share": 0.1, "threshold": 0.0, "blur": 4.0}
    ghost = light_behind({"lens_flare": flare}, light) - light
    total, mean, _ = spread_of(ghost)
    np.testing.assert_allclose(mean, [79.5 - 0.5 * 30.0, 59.5 + 0.5 * 30.0], atol=0.5)
    assert total == pytest.approx(0.1 * light.sum(), rel=0.1)


def test_a_ghost_of_a_point_is_as_wide_as_it_is_high():
    """Its blur is in pixels of the image, whatever the size at which it is computed."""
    light = np.zeros((120, 160))
    light[58:62, 78:82] = 100.0
    flare = {"ghosts": [-0.8], "share": 0.1, "threshold": 0.0, "blur": 6.0}
    ghost = light_behind({"lens_flare": flare}, light) - light
    across, along = spread_of(ghost)[2], spread_of(ghost.T)[2]
    assert across == pytest.approx(along, rel=0.1)
    assert 30.0 < across < 60.0  # 6 pixels squared, and the point's own size


@pytest.mark.parametrize("depth", [1.0, 1.5, 3.0, 8.0, np.inf])
def test_a_point_out_of_focus_is_a_disc_of_its_circle_of_confusion(depth):
    """c = A f |Z - Z_f| / (Z (Z_f - f)), and a disc has the variance c^2 / 16."""
    f, n, focus = 0.012, 2.0, 2.0
    diameter = (
        f / n * 80.0 / (focus - f) * (1.0 if np.isinf(depth) else abs(depth - focus) / depth)
    )
    diameter *= 12.0  # of a camera of twelve times the focal length
    light = np.zeros((120, 160))
    light[60, 80] = 1.0
    effects = {"depth_of_field": {"focal_length": f, "f_number": n, "focus": focus}}
    camera = camera_with(effects, fx=960.0, fy=960.0)
    (effect,) = camera.spec.effects.depth_of_field.effects(camera.spec.geometry)
    flat = np.full((120, 160), depth, np.float32)
    image = CameraImage(light.astype(np.float32), flat, 0.0, Exposure(), None, np.uint64(1))
    effect.apply(image)
    total, mean, variance = spread_of(image.light)
    assert total == pytest.approx(1.0, rel=1e-4)
    np.testing.assert_allclose(mean, [80.0, 60.0], atol=1e-3)
    assert variance == pytest.approx(diameter**2 / 16.0, rel=0.02)


def test_what_is_in_focus_stays_sharp():
    light = np.random.default_rng(2).random((120, 160)).astype(np.float32)
    camera = camera_with({"depth_of_field": {"focus": 2.0}})
    depth = np.full((120, 160), 2.0, np.float32)
    image = camera.develop(Frame(light=light.copy(), depth=depth)).mono
    assert np.abs(image - 255.0 * light).max() <= 0.51


def test_a_drop_shows_the_scene_upside_down():
    light = np.tile(np.linspace(0.0, 1.0, 120)[:, None], (1, 160))  # dark above, bright below
    camera = camera_with({"lens_drops": {"count": 1, "radius": 12.0, "wideness": 3.0}})
    (effect,) = camera.spec.effects.lens_drops.effects(camera.spec.geometry)
    effect.reset(np.random.default_rng(5))
    (u, v, radius) = effect.drops(0.0)[0]
    image = CameraImage(light.astype(np.float32), None, 0.0, Exposure(), None, np.uint64(1))
    effect.apply(image)
    rows, columns = np.indices(light.shape)
    inside = (rows - v) ** 2 + (columns - u) ** 2 < radius**2
    np.testing.assert_array_equal(image.light[~inside], light.astype(np.float32)[~inside])
    core = (rows - v) ** 2 + (columns - u) ** 2 < 0.5 * radius**2
    slope = np.polyfit(rows[core] - v, image.light[core], 1)[0]
    assert slope < -1.0 / 119.0  # turned by 180 degrees, and steeper


def test_drops_stay_for_their_lives():
    effects = {"lens_drops": {"count": 50, "lifetime": 10.0}}
    camera = camera_with(effects)
    (effect,) = camera.spec.effects.lens_drops.effects(camera.spec.geometry)
    effect.reset(np.random.default_rng(5))
    now, soon, late = (effect.drops(t) for t in (0.0, 1.0, 11.0))
    assert 30 <= np.sum(now[:, 0] == soon[:, 0]) < 50
    assert not np.any(now[:, 0] == late[:, 0])
