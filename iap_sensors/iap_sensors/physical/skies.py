# SPDX-License-Identifier: BSD-3-Clause
"""Sun and sky at the ground: clear, behind clouds, in fog and dust, or as a file has it."""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.assets.images import decoded
from iap_description.config.text_files import read_bytes
from iap_description.errors import BadInput
from iap_description.process.extras import cv2
from iap_description.scenes.lighting import Weather
from iap_description.scenes.scene import Scene
from iap_sensors.materials.noise import spectral
from iap_sensors.physical.atmosphere import GROUND_ALBEDO, ClearSky
from iap_sensors.physical.sky_image import LUMINANCE, directions, illuminance

COARSE, FINE = (32, 64), (256, 1024)  # sizes of the sky as it is computed, and as it is seen
LARGEST_SKY = 1 << 29  # bytes of an image's file
WIDEST = 8192  # pixels of a sky's image
_DECLARED = re.compile(  # sizes in the heads of Radiance's images and of portable float maps
    rb"#\?.{1,4096}?\n[-+][XY] (\d{1,9}) [-+][XY] (\d{1,9})\n|PF\s+(\d{1,9})\s+(\d{1,9})\s",
    re.DOTALL,
)
NIGHT_SKY = np.array([0.9, 0.95, 1.1]) * 2e-5  # luminance over a town [kcd/m^2]
CLOUD_TILE, CLOUD_SEED = 512, 3  # pixels and seed of the noise that clouds are made of
CLOUD_HEIGHT = 90.0  # pixels of noise that a cloud is high: larger makes smaller clouds
CLOUD_EDGE = 0.5  # of the noise's deviation, over which a cloud becomes thick
KOSCHMIEDER = 3.912  # contrast of 2 % is left after the visibility: ln 50
DUST_LAW = (
    56.0,
    0.8,
)  # mg/m^3 of dust that let one see 1 km, and power of visibility over concentration
DUST_ALBEDO = np.array([0.96, 0.94, 0.92])  # of grains, at 650, 550 and 450 nm
DUST_FORWARD = 0.7  # asymmetry of scattering by grains
FORWARD = 0.85  # asymmetry of scattering by fog's drops


@lru_cache(maxsize=4)
def clear_sky(sun_W: tuple[float, float, float], turbidity: float) -> tuple[Array, Array]:
    """The sun (3,) and the image (h, w, 3) of a clear sky, and of the ground below the horizon."""
    clear = ClearSky(np.array(sun_W), turbidity)
    d, _ = directions(*COARSE)
    top = COARSE[0] // 2
    upper = clear.luminance(d[:top].reshape(-1, 3)).reshape(top, COARSE[1], 3) + NIGHT_SKY
    d, _ = directions(*FINE)
    elevation = (0.5 - (np.arange(FINE[0] // 2) + 0.5) / FINE[0]) * np.pi
    column = cv2.resize(upper.astype(np.float32), (FINE[1], top), interpolation=cv2.INTER_CUBIC)
    at = (0.5 * np.pi - elevation) / np.pi * COARSE[0] - 0.5
    i = np.clip(at.astype(int), 0, top - 2)
    share = np.clip(at - i, 0.0, 1.5)[:, None, None]
    fine = np.maximum(column[i] * (1.0 - share) + column[i + 1] * share, NIGHT_SKY)
    image = np.zeros((*FINE, 3))
    image[: FINE[0] // 2] = fine
    lit = illuminance(image) + clear.sun_illuminance * max(float(clear.sun_W[2]), 0.0)
    image[FINE[0] // 2 :] = GROUND_ALBEDO * lit / np.pi
    return clear.sun_illuminance, image


def read_sky(path: str) -> Array:
    """An image of luminance (h, w, 3).

    Raises:
        BadInput: there is no such file, or it is no such image.
    """
    key = f"key 'world.light.sky': {path}"
    if not Path(path).is_file():
        raise BadInput(f"{key}: no such file")
    data = read_bytes(Path(path), LARGEST_SKY)
    declared = _DECLARED.match(data)
    if declared and max(int(each) for each in declared.groups() if each) > WIDEST:
        raise BadInput(f"{key}: is wider than {WIDEST} pixels: make it smaller")
    image = decoded(data, cv2.IMREAD_ANYDEPTH | cv2.IMREAD_COLOR)
    if image is None or image.dtype != np.float32:
        raise BadInput(f"{key}: no image of floating-point radiance, such as Radiance's .hdr")
    if not (np.isfinite(image).all() and image.min() >= 0.0):
        raise BadInput(f"{key}: has pixels that are negative or no numbers")
    if image.shape[1] != 2 * image.shape[0] or image.shape[0] < COARSE[0]:
        raise BadInput(
            f"{key}: an equirectangular image is twice as wide as high and has at least"
            f" {COARSE[0]} rows (got {image.shape[1]}x{image.shape[0]})"
        )
    return np.asarray(image[..., ::-1], dtype=float)


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
    noise = spectral(CLOUD_TILE, 3.2, CLOUD_SEED, (1.0, 200.0))
    z = np.maximum(d[..., 2], 0.03)
    u, v = (d[..., k] / z * CLOUD_HEIGHT for k in (0, 1))
    value = noise[v.astype(int) % CLOUD_TILE, u.astype(int) % CLOUD_TILE]
    middle = np.quantile(noise, 1.0 - cover) if cover < 1.0 else -10.0
    return np.asarray(np.clip(0.5 + (value - middle) / (2.0 * CLOUD_EDGE), 0.0, 1.0))


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
