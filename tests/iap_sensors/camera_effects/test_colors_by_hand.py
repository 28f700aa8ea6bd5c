# SPDX-License-Identifier: BSD-3-Clause
"""Colours of images by hand: mosaics, how they are made up again, white balance, and the black level."""

import cv2
import numpy as np
import pytest

from iap_description.config.record import validate
from iap_sensors.camera_effects.effect import CameraGeometry, CameraImage, Exposure
from iap_sensors.camera_effects.table import CameraEffects

SHAPE = (8, 12)
CAMERA = CameraGeometry(12, 8, (9.0, 9.0), (5.5, 3.5), 20.0, 3, ("rgb8",), lambda uv: uv)


def effects_of(name, **keys):
    effects = validate(CameraEffects, {name: keys}, source="test")
    return getattr(effects, name).effects(CAMERA)


def image_of(light, black=0.0):
    light = np.ascontiguousarray(np.broadcast_to(light, (*SHAPE, 3)), np.float32)
    image = CameraImage(light.copy(), None, 0.0, Exposure(), None, np.uint64(3))
    image.black = black
    return image


@pytest.mark.parametrize("level", [0.0, 0.3, 1.0, 1.7])
@pytest.mark.parametrize("pattern", ["RGGB", "BGGR", "GRBG", "GBRG"])
def test_an_even_grey_is_as_grey_behind_a_mosaic_and_what_is_brighter_than_white_is_white(
    level, pattern
):
    image = image_of(level)
    for effect in effects_of("bayer", pattern=pattern):
        effect.apply(image)
    assert image.light.shape == (*SHAPE, 3) and image.light.dtype == np.float32
    np.testing.assert_allclose(image.light, min(level, 1.0), atol=1e-5)


def test_pixels_of_a_mosaic_see_their_own_colour_with_its_response():
    image = image_of([0.2, 0.4, 0.8])
    mosaic, _ = effects_of("bayer", pattern="GRBG", response=(0.5, 1.0, 0.25))
    mosaic.apply(image)
    expected = [[0.4, 0.1], [0.2, 0.4]]
    np.testing.assert_allclose(image.light, np.tile(expected, (4, 6)), rtol=1e-6)


@pytest.mark.parametrize(
    ("demosaic", "code"),
    [("bilinear", "COLOR_BayerRGGB2RGB"), ("edge_aware", "COLOR_BayerRGGB2RGB_EA")],
)
def test_colours_are_made_up_as_the_key_says(demosaic, code):
    raw = np.random.default_rng(1).random(SHAPE).astype(np.float32)
    image = image_of(0.0)
    image.light = raw
    effects_of("bayer", demosaic=demosaic)[1].apply(image)
    numbers = np.floor(raw * 65535.0 + 0.5).astype(np.uint16)
    expected = cv2.cvtColor(numbers, getattr(cv2, code)) / 65535.0
    np.testing.assert_allclose(image.light, expected, atol=2e-5)


@pytest.mark.parametrize("automatic", [False, True])
def test_a_balance_takes_black_away_and_multiplies_and_makes_the_mean_as_grey_as_its_green(
    automatic,
):
    image = image_of([0.2, 0.4, 0.1], black=0.05)
    (balance,) = effects_of("white_balance", gains=(2.0, 1.5, 3.0), automatic=automatic)
    balance.apply(image)
    green = 0.35 * 1.5 / 0.95
    expected = [green] * 3 if automatic else [0.15 * 2.0 / 0.95, green, 0.05 * 3.0 / 0.95]
    np.testing.assert_allclose(image.light, np.broadcast_to(expected, (*SHAPE, 3)), rtol=1e-5)
    assert image.black == 0.0


def test_a_balance_mixes_colours_by_the_rows_of_its_matrix():
    image = image_of([0.1, 0.2, 0.4])
    matrix = ((1.0, 2.0, 3.0), (0.0, 0.5, 1.0), (-1.0, 0.0, 2.0))
    effects_of("white_balance", matrix=matrix)[0].apply(image)
    np.testing.assert_allclose(image.light[7, 11], [1.7, 0.5, 0.7], rtol=1e-5)


@pytest.mark.parametrize(("bits", "largest"), [(8, 255.0), (10, 1023.0)])
def test_no_light_is_the_black_level_over_the_largest_number(bits, largest):
    keys = {"pixel_size": 3e-6, "full_well": 1e4, "bits": bits, "black_level": 64.0}
    (sensor,) = effects_of("sensor", **keys)
    sensor.reset(np.random.default_rng(0))
    image = image_of(0.0)
    sensor.apply(image)
    assert image.black == 64.0 / largest
    np.testing.assert_allclose(image.light, 64.0 / largest, rtol=1e-6)
