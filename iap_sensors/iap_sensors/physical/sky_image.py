# SPDX-License-Identifier: BSD-3-Clause
"""Equirectangular images of luminance: what they sum to, and how rough surfaces mirror them.

Row 0 is straight up, the last one straight down; column 0 is at azimuth 180 deg, and azimuth falls with the column.
"""

from functools import cache

import numpy as np

from iap_description.arrays import Array
from iap_description.process.extras import cv2

MIRROR = (64, 128)  # rows and columns of what smooth surfaces mirror
LEVELS = 6  # of roughness, evenly from 0 to 1
SOURCE = (32, 64)  # size of an image that rough surfaces gather
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of the bands, ITU-R BT.709


@cache
def directions(rows: int, columns: int) -> tuple[Array, Array]:
    """Unit vectors (rows, columns, 3) of the pixels, and the solid angle (rows, columns) of each [sr]."""
    elevation = (0.5 - (np.arange(rows) + 0.5) / rows) * np.pi
    azimuth = (0.5 - (np.arange(columns) + 0.5) / columns) * 2.0 * np.pi
    level = np.cos(elevation)[:, None]
    d = np.stack(
        [
            level * np.cos(azimuth),
            level * np.sin(azimuth),
            np.sin(elevation)[:, None] * np.ones(columns),
        ],
        -1,
    )
    edges = np.sin((0.5 - np.arange(rows + 1) / rows) * np.pi)
    sizes = (edges[:-1] - edges[1:])[:, None] * (2.0 * np.pi / columns) * np.ones(columns)
    return d, sizes


def illuminance(image: Array) -> Array:
    """(3,) of an image (h, w, 3) on a plane that faces upwards."""
    d, sizes = directions(*image.shape[:2])
    return np.asarray(np.einsum("hwc,hw->c", image, sizes * np.maximum(d[..., 2], 0.0)))


def harmonics(image: Array) -> Array:
    """(9, 3) coefficients a_k of the illuminance over pi of planes by normal n, sum a_k b_k(n).

    The basis b is 1, y, z, x, xy, yz, 3 z^2 - 1, xz, x^2 - y^2 (Ramamoorthi, Hanrahan, "An Efficient Representation for
    Irradiance Environment Maps", SIGGRAPH 2001), with its norms and the cosine's factors in the coefficients.
    """
    d, sizes = directions(*image.shape[:2])
    norms = np.array([0.282095, *(0.488603,) * 3, *(1.092548,) * 2, 0.315392, 1.092548, 0.546274])
    factors = np.array([1.0, *(2.0 / 3.0,) * 3, *(0.25,) * 5])
    gathered = np.einsum("khw,hwc,hw->kc", _basis(d), image, sizes)
    return np.asarray(gathered * (norms**2 * factors)[:, None])


def _basis(d: Array) -> Array:
    x, y, z = np.moveaxis(d, -1, 0)
    return np.stack(
        [np.ones_like(x), y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y]
    )


def mirrored(image: Array) -> list[Array]:
    """Images that surfaces mirror, one for each of `LEVELS` of roughness, each half as large as the one before.

    The image is averaged over GGX's lobe around the mirrored direction (Karis, "Real Shading in Unreal Engine 4",
    SIGGRAPH 2013 course), with eye and normal along it.
    """
    smooth = _resized(image, MIRROR)
    d, sizes = directions(*SOURCE)
    source, weights = _resized(image, SOURCE).reshape(-1, 3), sizes.ravel()
    levels = [smooth]
    for k in range(1, LEVELS):
        shape = MIRROR[0] >> k, MIRROR[1] >> k
        out = directions(*shape)[0].reshape(-1, 3)
        cosine = out @ d.reshape(-1, 3).T
        alpha2 = (k / (LEVELS - 1)) ** 4
        half = 0.5 + 0.5 * cosine  # squared cosine of half the angle
        lobe = np.maximum(cosine, 0.0) * weights / (half * (alpha2 - 1.0) + 1.0) ** 2
        levels.append((lobe @ source / lobe.sum(axis=1, keepdims=True)).reshape(*shape, 3))
    return levels


def _resized(image: Array, shape: tuple[int, int]) -> Array:
    """The image in another size, each pixel the mean of what it covers."""
    size = shape[1], shape[0]
    smaller = image.shape[0] >= shape[0]
    how = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.asarray(image, np.float32), size, interpolation=how), float)
