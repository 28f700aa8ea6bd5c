# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of textures stay what they are from version to version: flights by cameras in scenes depend on them."""

import numpy as np
import pytest

from iap_description.scenes.textures import MAKERS, make_texture

# Means of red, green and blue; deviation; mean steps down and across; and lever arms across and down, in hundredths.
MEASURES = {
    "bricks": (155.66, 115.46, 98.52, 52.07, 10.7, 6.35, 215.45, -166.11),
    "concrete": (126.91, 127.37, 122.63, 47.24, 5.24, 5.22, 249.82, 368.1),
    "container": (126.6, 127.45, 126.34, 47.66, 4.95, 13.92, -8.39, -49.22),
    "crates": (146.57, 122.51, 91.84, 52.19, 6.73, 3.43, -284.21, 187.06),
    "facade": (130.01, 126.92, 119.09, 48.17, 7.24, 4.4, -133.81, 77.49),
    "field": (127.2, 132.15, 94.38, 49.76, 27.65, 27.73, -393.87, 35.99),
    "mosaic": (127.34, 126.69, 126.81, 49.14, 10.76, 10.6, 103.55, 26.87),
    "paving": (128.19, 126.67, 123.31, 47.64, 7.44, 7.5, 142.38, -21.96),
    "posters": (127.85, 127.35, 122.11, 49.04, 4.61, 6.12, -137.58, 112.42),
    "tiles": (121.79, 128.87, 128.16, 50.07, 8.58, 8.84, -162.63, -342.1),
}


def test_every_texture_is_measured():
    assert list(MEASURES) == list(MAKERS)


@pytest.mark.parametrize("name", MEASURES)
def test_a_texture_has_its_colours_contrast_and_places(name):
    image = make_texture(name).astype(float)
    ramp, grey = np.linspace(-1.0, 1.0, len(image)), image.mean(axis=2)
    steps = [np.abs(np.diff(image, axis=axis)).mean() for axis in (0, 1)]
    levers = [100.0 * (grey * ramp).mean(), 100.0 * (grey * ramp[:, None]).mean()]
    found = [*image.mean(axis=(0, 1)), image.std(), *steps, *levers]
    np.testing.assert_allclose(found[:6], MEASURES[name][:6], atol=0.01)
    np.testing.assert_allclose(found[6:], MEASURES[name][6:], atol=0.2)
