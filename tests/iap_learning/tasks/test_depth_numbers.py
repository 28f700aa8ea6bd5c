# SPDX-License-Identifier: BSD-3-Clause
"""A policy's numbers of a depth image: the nearest of what was measured."""

import numpy as np
import pytest

from iap_learning.tasks.depth_numbers import DepthImage, DepthNumbers

AWAY = [np.inf, -np.inf, np.nan]  # out of range, too near, failed


@pytest.mark.parametrize(("inverse", "numbers"), [(None, [0.2, 1.0]), (1.0, [0.5, 0.0])])
def test_pixels_without_a_depth_say_nothing_whatever_the_reason(inverse, numbers):
    image = DepthImage(preset="d455", settings={}, blocks=(2, 2), inverse=inverse)
    pixels = np.array([[[2.0, AWAY[0], AWAY[1], AWAY[2]], [AWAY[1], 3.0, *AWAY[:2]]]], np.float32)
    np.testing.assert_allclose(DepthNumbers(image, (2, 4), 10.0).of(pixels), [numbers])
