# SPDX-License-Identifier: BSD-3-Clause
"""Effects of the lens against their equations."""

import numpy as np
import pytest
from effect_images import camera_with, light_of, numbers


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
