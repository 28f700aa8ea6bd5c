# SPDX-License-Identifier: BSD-3-Clause
"""Colours of lamps, which glow as black bodies do, and their light over time."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array
from iap_description.scenes.lighting import Lamp
from iap_sensors.cameras.renderer import Shot
from iap_sensors.physical.sky_image import LUMINANCE

SECOND_RADIATION = 1.438777e-2  # h c / k [m K]
XYZ_TO_RGB = np.array(  # of ITU-R BT.709 with white D65
    [[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]]
)
LOBES = (  # of x, y and z: height, middle, inverse widths below and above it [nm]
    ((0.362, 442.0, 0.0624, 0.0374), (1.056, 599.8, 0.0264, 0.0323), (-0.065, 501.1, 0.0490, 0.0382)),
    ((0.821, 568.8, 0.0213, 0.0247), (0.286, 530.9, 0.0613, 0.0322)),
    ((1.217, 437.0, 0.0845, 0.0278), (0.681, 459.0, 0.0385, 0.0725)),
)  # fmt: skip


def lamp_colors(lamps: Sequence[Lamp]) -> Array:
    """(n, 3) luminous intensity of lamps in the three bands [kcd]."""
    rows = [lamp.intensity / 1000.0 * color_of_temperature(lamp.temperature) for lamp in lamps]
    return np.array(rows).reshape(-1, 3)


def lamp_levels(lamps: Sequence[Lamp], shot: Shot) -> Array:
    """(n,) mean shares of lamps' light over one of the instants that an exposure is drawn at."""
    duration = shot.exposure.time / shot.exposure.samples
    flickers = (lamp.flicker for lamp in lamps)
    return np.array(
        [1.0 if each is None else each.mean_level(shot.t, duration) for each in flickers]
    )


def color_of_temperature(kelvin: float) -> Array:
    """(3,) linear colour of luminance 1 of a black body.

    Planck's law under the CIE 1931 observer, as Wyman, Sloan and Shirley fit it ("Simple Analytic Approximations to
    the CIE XYZ Color Matching Functions", Journal of Computer Graphics Techniques 2(2), 2013).
    """
    nm = np.arange(380.0, 781.0, 5.0)
    radiance = (nm * 1e-9) ** -5 / np.expm1(SECOND_RADIATION / (nm * 1e-9 * kelvin))
    xyz = np.array([(radiance * _observer(nm, lobes)).sum() for lobes in LOBES])
    rgb = np.maximum(XYZ_TO_RGB @ (xyz / xyz[1]), 0.0)
    return np.asarray(rgb / (rgb @ LUMINANCE))


def _observer(nm: Array, lobes: tuple[tuple[float, float, float, float], ...]) -> Array:
    total = np.zeros_like(nm)
    for height, middle, below, above in lobes:
        t = (nm - middle) * np.where(nm < middle, below, above)
        total += height * np.exp(-0.5 * t * t)
    return total
