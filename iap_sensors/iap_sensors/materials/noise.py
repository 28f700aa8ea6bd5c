# SPDX-License-Identifier: BSD-3-Clause
"""Noise and shapes on a square that repeats, out of which materials are made."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math.srgb import decoded
from iap_description.process.extras import cv2


def spectral(
    n: int,
    slope: float,
    seed: int,
    band: tuple[float, float] = (1.0, np.inf),
    scale: tuple[float, float] = (1.0, 1.0),
) -> Array:
    """(n, n) Gaussian noise of mean 0 and deviation 1 that repeats.

    Args:
        n: side [pixels].
        slope: power falls with frequency f as f^-slope.
        seed: of the generator.
        band: least and largest frequency that it has [1/side].
        scale: factors on frequencies along rows and columns; a small one stretches the noise across them.
    """
    white = np.random.default_rng(seed).standard_normal((n, n))
    rows = np.fft.fftfreq(n)[:, None] * n * scale[0]
    columns = np.fft.rfftfreq(n)[None] * n * scale[1]
    f = np.hypot(rows, columns)
    kept = (f >= band[0]) & (f <= band[1])
    gain = np.zeros_like(f)
    gain[kept] = f[kept] ** (-0.5 * slope)
    out = np.fft.irfft2(np.fft.rfft2(white) * gain, s=(n, n))
    return np.asarray((out - out.mean()) / out.std())


def step(low: float, high: float, x: Array) -> Array:
    """Hermite's smooth step from 0 at `low` to 1 at `high`, which may be below `low`."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def mix(one: Array, other: Array, share: Array) -> Array:
    """Colours (..., 3) mixed by a share (h, w) of the other."""
    t = np.asarray(share)[..., None]
    return np.asarray(one * (1.0 - t) + other * t)


def srgb(red: float, green: float, blue: float) -> Array:
    """(3,) linear reflectance of a colour of 0..255 as screens show it."""
    return np.asarray(decoded(np.array([red, green, blue]) / 255.0))


def grid(n: int) -> tuple[Array, Array]:
    """Rows and columns (n, n) of pixels in 0..1."""
    y, x = np.mgrid[0:n, 0:n] / n
    return y, x


def cells(y: Array, x: Array, count: int, seed: int) -> tuple[Array, Array, Integers]:
    """Cellular noise (Worley, SIGGRAPH 1996): one point in each of `count` x `count` cells.

    Args:
        y: (h, w) rows in 0..1, which repeat.
        x: columns.
        count: cells along a side.
        seed: of the points.

    Returns:
        distance to the nearest point and to the second nearest one [cells], and the number of the nearest.
    """
    points = np.random.default_rng(seed).random((count, count, 2)) * 0.8 + 0.1
    v, u = (y % 1.0) * count, (x % 1.0) * count
    row, column = v.astype(int), u.astype(int)
    first, second = np.full(y.shape, np.inf), np.full(y.shape, np.inf)
    nearest = np.zeros(y.shape, int)
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            i, j = (row + di) % count, (column + dj) % count
            d = np.hypot(
                row + di + points[i, j, 0] - v,
                column + dj + points[i, j, 1] - u,
            )
            closer = d < first
            second = np.where(closer, first, np.minimum(second, d))
            nearest = np.where(closer, i * count + j, nearest)
            first = np.where(closer, d, first)
    return first, second, nearest


def blurred(image: Array, sigma: float) -> Array:
    """An image (n, n) that repeats under a Gaussian of some pixels."""
    n = len(image)
    edge = min(int(3.0 * sigma) + 1, n)
    wide = np.pad(image, edge, mode="wrap")
    return np.asarray(cv2.GaussianBlur(wide, (0, 0), sigma)[edge : edge + n, edge : edge + n])


def occlusion(height: Array, size: float, strength: float = 2.0) -> Array:
    """Share (n, n) of the light from all around that reaches each point of a relief (n, n) over a square [m].

    It is estimated by how deep a point lies below the mean of its neighbourhood, at three sizes.
    """
    pixel, share = size / len(height), np.ones_like(height)
    for sigma in (2.0, 6.0, 16.0):
        below = np.maximum(blurred(height, sigma) - height, 0.0)
        share = share / (1.0 + strength * below / (sigma * pixel))
    return np.asarray(share)


def slopes(height: Array, size: float) -> Array:
    """(n, n, 3) unit normals of a relief (n, n) that repeats over a square [m]: along columns, up the rows, and out."""
    pixel = size / len(height)
    across = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) / (2.0 * pixel)
    down = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) / (2.0 * pixel)
    n = np.stack([-across, down, np.ones_like(height)], -1)
    return np.asarray(n / np.linalg.norm(n, axis=-1, keepdims=True))
