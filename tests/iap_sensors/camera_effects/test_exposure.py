# SPDX-License-Identifier: BSD-3-Clause
"""Automatic exposure against its equation."""

import numpy as np
import pytest
from effect_images import SENSOR, camera_with, developed, light_of

LINEAR = {**SENSOR, "full_well": 1e6, "bits": 16}  # no noise that counts


def exposures(automatic, luminances, **exposure):
    """Exposure times times gains of images of even light."""
    effects = {
        "sensor": LINEAR,
        "exposure": {"time": 1e-3, **exposure},
        "auto_exposure": {"time_min": 1e-6, "time_max": 10.0, "gain_max_db": 0.0, **automatic},
    }
    camera, products = camera_with(effects, rate=0.05), []
    for luminance in luminances:
        planned = camera._effects.plan()
        products.append(planned.time * planned.gain)
        developed(camera, light_of(camera, 1.0), luminance=luminance)
    return np.array(products)


@pytest.mark.parametrize(("delay", "speed"), [(0, 1.0), (0, 0.3), (1, 0.7), (3, 0.4)])
def test_exposure_follows_its_equation(delay, speed):
    """log x[k+1+d] = log x[k+d] + a (log m* - log m[k]), with m proportional to x."""
    # electrons of light 1 at 1000 cd/m^2 over 1 s, in wells
    x = exposures({"target": 0.4, "speed": speed, "delay": delay}, [1000.0] * 14)
    per_second = 0.6 * 50.34 * 36.0 * 1e3 * 0.555 * (100.0 / 683.0)
    per_second *= 0.25 * np.pi * 0.9 * 1000.0 / 4.0 / 1e6
    expected = [1e-3] * (1 + delay)
    for k in range(len(x) - 1 - delay):
        mean = min(per_second * expected[k], 1.0)
        expected.append(expected[-1] * (0.4 / mean) ** speed)
    np.testing.assert_allclose(x, expected[: len(x)], rtol=0.01)


def test_exposure_settles_where_the_mean_is_the_target():
    camera = camera_with(
        {"sensor": SENSOR, "exposure": {"time": 1e-4}, "auto_exposure": {"target": 0.3}}
    )
    for _ in range(30):
        image = developed(camera, light_of(camera, 1.0), luminance=300.0)
    assert image.mean() / 255.0 == pytest.approx(0.3, rel=0.02)


def test_gain_comes_where_exposure_time_ends():
    camera = camera_with(
        {
            "sensor": SENSOR,
            "exposure": {"time": 1e-3},
            "auto_exposure": {"time_max": 2e-3, "gain_max_db": 12.0, "delay": 0, "speed": 1.0},
        }
    )
    for _ in range(10):
        developed(camera, light_of(camera, 0.01), luminance=1.0)
    planned = camera._effects.plan()
    assert planned.time == pytest.approx(2e-3)
    assert planned.gain == pytest.approx(10.0 ** (12.0 / 20.0))
