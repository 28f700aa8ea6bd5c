# SPDX-License-Identifier: BSD-3-Clause
"""Concrete as it was cast: seams of the formwork, tie holes, pores, stains that run down, hair cracks."""

import numpy as np

from iap_description.arrays import Array
from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import cells, grid, mix, spectral, srgb, step

SIZE = 3.0  # of the square [m]


def make(n: int, seed: int) -> Matter:
    """The material on `n` pixels along its side."""
    y, x = grid(n)
    base, fine = spectral(n, 2.9, seed, (1, 200)), spectral(n, 0.8, seed + 1, (60, 500))
    middle = spectral(n, 1.8, seed + 2, (8, 120))
    pores = _pores(y, x, seed + 3)
    seam = np.clip(
        _line((2.0 * y + 0.0016 * middle) % 1.0, 0.008)
        + _line((x + 0.0006 * middle) % 1.0, 0.0018),
        0.0,
        1.0,
    )
    ties = np.zeros((n, n))
    for row in (0.25, 0.75):
        for column in (0.25, 0.75):
            ties = np.maximum(ties, step(0.0095, 0.0075, np.hypot(x - column, y - row)))
    crack = np.exp(-((spectral(n, 3.2, seed + 6, (1, 24)) + 0.05 * middle) ** 2) / 0.012**2)
    crack *= step(0.5, 1.4, spectral(n, 3.0, seed + 7, (1, 6)))
    height = 0.0009 * base + 0.00012 * fine + 0.0004 * middle - 0.004 * pores
    height += 0.0003 * np.floor(2.0 * y) - 0.004 * seam - 0.018 * ties - 0.0015 * crack
    stain = step(0.2, 2.0, spectral(n, 2.6, seed + 4, (1, 40), (1.0, 0.25)))
    pale = step(1.0, 2.2, spectral(n, 2.4, seed + 5, (2, 60)))
    color = srgb(158, 155, 148) * np.exp(0.10 * base + 0.045 * fine + 0.07 * middle)[..., None]
    color = mix(mix(color, srgb(98, 92, 84), 0.55 * stain), srgb(190, 186, 178), 0.3 * pale)
    color = mix(color, srgb(60, 56, 52), 0.7 * crack)
    color = color * (1.0 - 0.5 * pores - 0.45 * seam - 0.6 * ties)[..., None]
    rough = 0.80 - 0.06 * base + 0.05 * fine + 0.06 * stain
    return Matter(color, height, rough, np.zeros((n, n)), SIZE)


def _line(t: Array, width: float) -> Array:
    """A line at t = 0 and 1, of a width in parts of the side."""
    return np.asarray(np.exp(-((np.minimum(t, 1.0 - t) / width) ** 2)))


def _pores(y: Array, x: Array, seed: int) -> Array:
    """Share (n, n) of pores: one in every second cell, most of them small."""
    rng, count = np.random.default_rng(seed), 30
    distance, _, nearest = cells(y, x, count, seed)
    radii = 0.036 + 0.105 * rng.random(count * count) ** 3
    open_ = rng.random(count * count) < 0.55
    return step(0.0, 0.036, radii[nearest] - distance) * open_[nearest]
