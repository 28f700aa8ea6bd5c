# SPDX-License-Identifier: BSD-3-Clause
"""From an image of light to levels, on the CPU, by the equations of ``data/shaders``."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.math import so3, srgb
from iap_description.process.extras import cv2
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.cameras.view import PinholeView
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.lamp_colors import lamp_colors
from iap_sensors.physical.sky_image import LUMINANCE
from iap_sensors.physical.tone import BRIGHTEST, DEFAULT_CURVE, GLARE_LEVELS, GLARE_SHARE

Light = NDArray[np.float32]
SUN_DISC = 6.8e-5  # solid angle [sr]
SUN_RIM = 0.9999890  # cosine at its radius
LN2 = float(np.log(2.0))


def in_air(
    light: Light,
    view: PinholeView,
    pose: tuple[Array, Array],
    depth: Array,
    environment: Environment,
) -> Light:
    """Light with the sun's disc and bodies of lamps in it, behind fog.

    Args:
        light: (h, w, 3) luminance [kcd/m^2].
        view: the camera's pinhole.
        pose: p_WC_W (3,) [m] and q_WC (4,) of the camera.
        depth: (h, w) of each pixel along the view [m], infinite where it is the sky.
        environment: of the scene.
    """
    p_WC_W = pose[0]
    ways_W, lengths = _rays(view, pose[1])
    out, distance = light.copy(), depth * lengths
    far = np.isinf(distance)
    disc = far & (ways_W @ environment.sun_W > SUN_RIM)
    out[disc] += (environment.sun / SUN_DISC).astype(np.float32)
    if environment.fog_density > 0.0:
        through = _through_fog(distance, ways_W[..., 2], p_WC_W[2], environment)[..., None]
        has_surface = ~far[..., None]  # the sky has its fog already
        out = np.where(has_surface, environment.fog * (1.0 - through) + out * through, out)
    for lamp, color in zip(environment.lamps, lamp_colors(environment.lamps), strict=True):
        to_lamp = np.asarray(lamp.position) - p_WC_W
        along = ways_W @ to_lamp
        off2 = to_lamp @ to_lamp - along**2
        there = (along > 0.0) & (off2 < lamp.radius**2) & (along < distance)
        out[there] = (color / (np.pi * lamp.radius**2)).astype(np.float32)
    return out.astype(np.float32)


def _rays(view: PinholeView, q_WC: Array) -> tuple[Array, Array]:
    """Unit vectors (h, w, 3) in `map` through the middles of pixels, and their lengths (h, w) at a depth of 1."""
    v, u = np.mgrid[0 : view.height, 0 : view.width]
    x, y = (u - view.K[0, 2]) / view.K[0, 0], (v - view.K[1, 2]) / view.K[1, 1]
    ways = np.stack([x, y, np.ones_like(x)], -1)
    lengths = np.linalg.norm(ways, axis=-1)
    return (ways / lengths[..., None]) @ so3.matrix_from_quaternion(q_WC).T, lengths


def _through_fog(distance: Array, rise: Array, height: float, environment: Environment) -> Array:
    """Share of light that fog lets through: extinction b 2^(-k z) integrated along a ray, see ``common.glsl``."""
    b, k = environment.fog_density, 1.0 / environment.fog_height
    way = np.where(np.isinf(distance), 0.0, distance)
    t = k * way * rise
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(np.abs(t) > 1e-3, (1.0 - np.exp2(-t)) / (t * LN2), 1.0 - 0.5 * LN2 * t)
    return np.asarray(np.exp(-b * np.exp2(-k * max(height, 0.0)) * mean * way))


def levels_of(
    light: Light, spec: CameraSpec, view: PinholeView, gain: float
) -> NDArray[np.float32]:
    """Levels in 0..1 of light (h, w, 3), in three bands, or of luminance alone for a grey camera.

    Args:
        light: luminance [kcd/m^2].
        spec: of the camera.
        view: its pinhole.
        gain: from luminance to levels.
    """
    level = np.minimum(light * np.float32(gain), BRIGHTEST)
    if "rgb8" not in spec.outputs:
        level = (level @ LUMINANCE.astype(np.float32))[..., None]
    level += GLARE_SHARE * (_glare(level) - level)
    v, u = np.mgrid[0 : view.height, 0 : view.width]
    x, y = (u - view.K[0, 2]) / view.K[0, 0], (v - view.K[1, 2]) / view.K[1, 1]
    loss = 1.0 - spec.vignetting / view.corner * (x * x + y * y)
    level = level * loss[..., None].astype(np.float32)
    curve = spec.tone or DEFAULT_CURVE
    if curve == "filmic":  # Narkowicz' fit of ACES, 2016
        level = level * (2.51 * level + 0.03) / (level * (2.43 * level + 0.59) + 0.14)
    level = np.clip(level, 0.0, 1.0)
    if curve != "linear":
        level = srgb.encoded(level)
    return np.asarray(level, np.float32)


def _glare(level: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light that the lens spreads: images of several sizes, each a quarter its own and the rest of coarser ones."""
    height, width = level.shape[:2]
    sizes = [(max(width >> k, 1), max(height >> k, 1)) for k in range(2, GLARE_LEVELS + 2)]
    shrunk, image = [], level
    for size in sizes:
        smaller = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        image = np.asarray(smaller, np.float32).reshape(*size[::-1], -1)
        shrunk.append(image)
    for finer in reversed(shrunk[:-1]):
        ring = cv2.resize(image, finer.shape[1::-1], interpolation=cv2.INTER_LINEAR)
        image = 0.25 * finer + 0.75 * ring.reshape(finer.shape)
    spread = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(spread, np.float32).reshape(level.shape)
