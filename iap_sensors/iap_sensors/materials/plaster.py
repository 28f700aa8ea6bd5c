# SPDX-License-Identifier: BSD-3-Clause
"""Rough plaster with streaks below, and patches where paint has come off."""

import numpy as np

from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import cells, grid, mix, spectral, srgb, step

SIZE = 2.4  # of the square [m]


def make(n: int, seed: int) -> Matter:
    """The material on `n` pixels along its side."""
    y, x = grid(n)
    distance, _, _ = cells(y, x, 80, seed)
    middle, big = spectral(n, 1.6, seed + 1, (8, 300)), spectral(n, 3.0, seed + 2, (1, 12))
    streaks = step(0.5, 2.2, spectral(n, 2.4, seed + 3, (1, 60), (1.0, 0.15)))
    flaked = step(1.9, 2.1, big + 0.25 * spectral(n, 2.2, seed + 4, (6, 60)))
    height = 0.0018 * step(0.9, 0.1, distance) + 0.0006 * middle + 0.001 * big - 0.004 * flaked
    color = srgb(206, 196, 176) * np.exp(0.06 * big + 0.03 * middle)[..., None]
    color = mix(color, srgb(120, 110, 94), 0.45 * streaks)
    color = mix(color, srgb(150, 138, 124) * np.exp(0.15 * middle)[..., None], flaked)
    return Matter(color, height, 0.88 + 0.03 * middle, np.zeros((n, n)), SIZE)
