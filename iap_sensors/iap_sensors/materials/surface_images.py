# SPDX-License-Identifier: BSD-3-Clause
"""Images of metal-rough surfaces that files bring, as a material's maps."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.assets.images import Pixels
from iap_description.assets.surface_images import SurfaceImages
from iap_description.math import srgb
from iap_description.process.extras import cv2
from iap_sensors.materials.matter import LARGEST_HALF, LARGEST_ROUGHNESS, LEAST_ROUGHNESS

FLAT = 0.5  # of a normal's part along the surface, as an image has it


def maps_of(images: SurfaceImages, pixels: int) -> NDArray[np.uint8]:
    """(pixels, pixels, 8) maps as `Matter.maps` has them."""
    levels = np.ones((pixels, pixels, 8))
    levels[..., 4:6] = FLAT
    if images.base is not None:
        levels[..., :3] = np.sqrt(srgb.decoded(_sized(images.base, pixels)))
    rough, metal = np.full((2, pixels, pixels), 1.0)
    if images.rough_metal is not None:
        rough, metal = np.moveaxis(_sized(images.rough_metal, pixels), -1, 0)
    levels[..., 3] = np.clip(images.roughness * rough, LEAST_ROUGHNESS, LARGEST_ROUGHNESS)
    levels[..., 7] = np.clip(images.metalness * metal, 0.0, 1.0)
    if images.normal is not None:
        levels[..., 4:6] = _sized(images.normal, pixels)[..., :2]
    if images.occlusion is not None:
        levels[..., 6] = _sized(images.occlusion, pixels)
    return np.round(255.0 * levels).astype(np.uint8)


def glow_of(images: SurfaceImages, pixels: int) -> NDArray[np.float16]:
    """(pixels, pixels, 3) luminance of what a surface emits [kcd/m^2]."""
    shares = 1.0 if images.emission is None else srgb.decoded(_sized(images.emission, pixels))
    luminance = np.minimum(1e-3 * np.array(images.luminance), LARGEST_HALF)
    return np.broadcast_to(shares * luminance, (pixels, pixels, 3)).astype(np.float16)


def _sized(image: Pixels, pixels: int) -> Array:
    """An image of 0..1 of this size."""
    smaller = cv2.resize(image, (pixels, pixels), interpolation=cv2.INTER_AREA)
    return np.asarray(smaller, dtype=np.float64) / 255.0
