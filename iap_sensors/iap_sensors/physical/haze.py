# SPDX-License-Identifier: BSD-3-Clause
"""Fog and dust in the air: their extinction, the light that they let through, and their own."""

import numpy as np

from iap_description.arrays import Array
from iap_description.scenes.lighting import Weather
from iap_description.scenes.scene import Scene
from iap_sensors.physical.sky_image import directions, illuminance

KOSCHMIEDER = 3.912  # contrast of 2 % is left after the visibility: ln 50
DUST_LAW = (
    56.0,
    0.8,
)  # mg/m^3 of dust that let one see 1 km, and power of visibility over concentration
DUST_ALBEDO = np.array([0.96, 0.94, 0.92])  # of grains, at 650, 550 and 450 nm
DUST_FORWARD = 0.7  # asymmetry of scattering by grains
FORWARD = 0.85  # asymmetry of scattering by fog's drops


def fog_density(scene: Scene, weather: Weather) -> float:
    """Extinction at the ground [1/m]: Koschmieder's ln 50 over the visibility, or the scene's own."""
    if weather.visibility is not None:
        return KOSCHMIEDER / weather.visibility
    return 0.0 if scene.fog is None else scene.fog.density


def dust_density(weather: Weather) -> float:
    """Extinction by dust at the ground [1/m].

    A concentration C = 56 V^-1.25 [mg/m^3] leaves a visibility V [km] (Chepil, Woodruff, American Journal of Science
    255, 1957).
    """
    if weather.dust == 0.0:
        return 0.0
    at_1_km, power = DUST_LAW
    return KOSCHMIEDER / (1000.0 * (at_1_km / weather.dust) ** power)


def dust_reflectance() -> Array:
    """(3,) share of light that thick dust gives back: grains absorb blue light most.

    Of a thick medium of single-scattering albedo w and asymmetry g, with s^2 = (1 - w) / (1 - g w), it is
    (1 - s) (1 - 0.139 s) / (1 + 1.17 s) (van de Hulst, Multiple Light Scattering, 1980). Albedos are of desert dust
    (Dubovik et al., Journal of the Atmospheric Sciences 59, 2002).
    """
    s = np.sqrt((1.0 - DUST_ALBEDO) / (1.0 - DUST_FORWARD * DUST_ALBEDO))
    return np.asarray((1.0 - s) * (1.0 - 0.139 * s) / (1.0 + 1.17 * s))


def in_fog(sun: Array, sun_W: Array, sky: Array, depth: float) -> tuple[Array, Array]:
    """The sun (3,) below fog of a vertical optical depth, and the luminance (3,) of thick fog.

    Fog lets T = 2 / (2 + (1 - g) depth) of all light through (Bohren, American Journal of Physics 55, 1987). What comes
    neither straight from the sun nor from the sky between the drops is the fog's own light.
    """
    up = max(float(sun_W[2]), 0.0)
    total = sun * up + illuminance(sky)
    if depth == 0.0:
        return sun, total / np.pi
    through = 2.0 / (2.0 + (1.0 - FORWARD) * depth)
    direct = sun * np.exp(-depth / max(up, 0.01))
    d, sizes = directions(*sky.shape[:2])
    cosine = np.maximum(d[..., 2], 0.0)
    clear = np.exp(-depth / np.maximum(d[..., 2], 0.01))
    between = np.einsum("hwc,hw->c", sky, sizes * cosine * clear)
    gap = float(np.sum(sizes * cosine * (1.0 - clear)))
    return direct, np.maximum(through * total - direct * up - between, 0.0) / gap
