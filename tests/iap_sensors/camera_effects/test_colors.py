# SPDX-License-Identifier: BSD-3-Clause
"""Colours: the Bayer mosaic and white balance."""

import numpy as np
import pytest
from effect_images import SENSOR, camera_with, developed

EXACT = {**SENSOR, "full_well": 1e9, "bits": 16}


def colored(camera, color):
    shape = (camera.spec.height, camera.spec.width, 3)
    return developed(camera, np.broadcast_to(np.array(color, np.float32), shape).copy())


@pytest.mark.parametrize("demosaic", ["bilinear", "edge_aware"])
@pytest.mark.parametrize("pattern", ["RGGB", "BGGR", "GRBG", "GBRG"])
def test_an_even_colour_goes_through_a_mosaic(pattern, demosaic):
    bayer = {"pattern": pattern, "demosaic": demosaic}
    camera = camera_with({"sensor": EXACT, "bayer": bayer}, outputs=("rgb8",))
    image = colored(camera, [0.8, 0.4, 0.2])
    inner = image[4:-4, 4:-4].reshape(-1, 3)
    np.testing.assert_allclose(inner, np.tile([204, 102, 51], (len(inner), 1)), atol=1)


def test_a_mosaic_loses_detail_of_single_pixels():
    """A red point on a pixel of another colour is not seen at all."""
    camera = camera_with({"bayer": {}}, outputs=("rgb8",))
    light = np.zeros((120, 160, 3), np.float32)
    light[61, 81, 0] = 1.0  # a blue pixel of RGGB
    assert not developed(camera, light).any()


def test_gains_undo_what_filters_take():
    bayer = {"response": [0.5, 1.0, 0.4]}
    effects = {"sensor": EXACT, "bayer": bayer, "white_balance": {"gains": [2.0, 1.0, 2.5]}}
    camera = camera_with(effects, outputs=("rgb8",))
    assert np.abs(colored(camera, [0.3] * 3)[4:-4, 4:-4].astype(int) - 76).max() <= 1


def test_an_automatic_balance_makes_the_mean_grey():
    effects = {"sensor": {**EXACT, "black_level": 3000.0}, "white_balance": {"automatic": True}}
    camera = camera_with(effects, outputs=("rgb8",))
    light = np.random.default_rng(1).random((120, 160, 3)) * [0.6, 0.4, 0.2]
    means = developed(camera, light).reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(means, means[1], rtol=0.02)


def test_a_matrix_mixes_colours():
    matrix = [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.25, 0.75]]
    camera = camera_with({"white_balance": {"matrix": matrix}}, outputs=("rgb8",))
    color = colored(camera, [0.8, 0.4, 0.2])[60, 80]
    np.testing.assert_allclose(color / 255.0, [0.6, 0.4, 0.25], atol=0.003)


def test_grey_images_come_from_colours_where_an_effect_needs_them():
    camera = camera_with({"bayer": {}})
    image = colored(camera, [0.5] * 3)
    assert image.shape == (120, 160)
    assert np.abs(image[4:-4, 4:-4].astype(int) - 128).max() <= 1
