# SPDX-License-Identifier: BSD-3-Clause
"""Extinction and colour of dust, gains in decibels, exposure times and luminance."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.scenes.lighting import Weather
from iap_sensors.camera_effects.exposure import check_time, gain_of
from iap_sensors.physical.skies import dust_density, dust_reflectance
from iap_sensors.physical.sky_image import LUMINANCE


@pytest.mark.parametrize(("dust", "visibility"), [(56.0, 1000.0), (56.0 * 2.0**1.25, 500.0)])
def test_dust_leaves_two_percent_of_contrast_at_its_visibility(dust, visibility):
    assert np.exp(-dust_density(Weather(dust=dust)) * visibility) == pytest.approx(0.02, rel=1e-3)
    assert dust_density(Weather()) == 0.0


def test_a_thousand_milligrams_leave_a_hundred_metres():
    density = dust_density(Weather(dust=1000.0))
    assert np.log(50.0) / density == pytest.approx(100.0, rel=0.02)


def test_thick_dust_is_brown_by_van_de_hulsts_law():
    found = dust_reflectance()
    assert found[0] > found[1] > found[2] > 0.3
    w, g = 0.96, 0.7  # at 650 nm
    s = np.sqrt((1.0 - w) / (1.0 - g * w))
    assert found[0] == pytest.approx((1.0 - s) * (1.0 - 0.139 * s) / (1.0 + 1.17 * s))


def test_a_gain_of_twenty_decibels_is_ten():
    assert [gain_of(each) for each in (0.0, 20.0, -20.0)] == pytest.approx([1.0, 10.0, 0.1])


def test_an_exposure_is_no_longer_than_an_image():
    camera: Any = SimpleNamespace(rate=20.0)
    check_time(0.05, camera, "effects.exposure.time")
    said = r"^key 'effects\.exposure\.time': 0\.051 s is longer than an image at 20\.0 Hz$"
    with pytest.raises(ValueError, match=said):
        check_time(0.051, camera, "effects.exposure.time")


def test_white_has_a_luminance_of_one_by_bt_709():
    assert LUMINANCE.sum() == pytest.approx(1.0) and LUMINANCE[1] == pytest.approx(0.7152)
    assert LUMINANCE[0] / LUMINANCE[2] == pytest.approx(0.2126 / 0.0722)
