# SPDX-License-Identifier: BSD-3-Clause
"""Effects of the lens against their equations."""

import numpy as np
import pytest
from effect_images import camera_with, light_of, numbers

from iap_sensors.camera_effects.effect import CameraImage, Exposure


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
