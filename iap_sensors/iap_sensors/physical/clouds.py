# SPDX-License-Identifier: BSD-3-Clause
"""Clouds: how much light they let through, and what they look like."""

import numpy as np

from iap_description.arrays import Array
from iap_sensors.materials.noise import spectral
from iap_sensors.physical.sky_image import LUMINANCE, directions, illuminance

TILE, SEED = 512, 3  # pixels and seed of the noise that clouds are made of
HEIGHT = 90.0  # pixels of noise that a cloud is high: larger makes smaller clouds
EDGE = 0.5  # of the noise's deviation, over which a cloud becomes thick


def clouded(sun: Array, sky: Array, sun_W: Array, cover: float) -> tuple[Array, Array]:
    """The sun (3,) and the sky (h, w, 3) behind clouds that cover a share of the sky.

    Behind a cover N all light is 1 - 0.75 N^3.4 of that of a clear sky (Kasten, Czeplak, Solar Energy 24, 1980). Of the
    sun's own light, 1 - N^2 of that stays direct, as in their share of diffuse light. Clouds brighten towards the
    zenith as (1 + 2 sin h) / 3 (Moon, Spencer 1942, the CIE's overcast sky).
    """
    if cover == 0.0:
        return sun, sky
    up = max(float(sun_W[2]), 0.0)
    total = (sun * up + illuminance(sky)) * (1.0 - 0.75 * cover**3.4)
    direct = sun * (1.0 - 0.75 * cover**3.4) * (1.0 - cover**2)
    d, _ = directions(*sky.shape[:2])
    thick = _thickness(d, cover)[..., None]
    above = d[..., 2:] > 0.0
    white = np.full(3, float(total @ LUMINANCE)) * 0.75 + 0.25 * total
    shape = np.where(above, thick * (1.0 + 2.0 * np.maximum(d[..., 2:], 0.0)) / 3.0, 0.0)
    left = np.where(above, sky * (1.0 - thick), 0.0)
    missing = np.maximum(total - direct * up - illuminance(left), 0.05 * total)
    share = illuminance(shape * np.ones(3))
    level = missing.mean() * white / white.mean() / np.maximum(share, 1e-9)
    lower = sky * (1.0 - 0.75 * cover**3.4)
    return direct, np.where(above, left + shape * level, lower)


def _thickness(d: Array, cover: float) -> Array:
    """Opacity (h, w) of clouds towards directions (h, w, 3): noise on a plane above, a share of which is cloud."""
    noise = spectral(TILE, 3.2, SEED, (1.0, 200.0))
    z = np.maximum(d[..., 2], 0.03)
    u, v = (d[..., k] / z * HEIGHT for k in (0, 1))
    value = noise[v.astype(int) % TILE, u.astype(int) % TILE]
    middle = np.quantile(noise, 1.0 - cover) if cover < 1.0 else -10.0
    return np.asarray(np.clip(0.5 + (value - middle) / (2.0 * EDGE), 0.0, 1.0))
