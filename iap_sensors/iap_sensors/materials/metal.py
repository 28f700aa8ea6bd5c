# SPDX-License-Identifier: BSD-3-Clause
"""Corrugated sheet in paint that rusts, and bare steel with scratches."""

import numpy as np

from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import blurred, grid, mix, spectral, srgb, step

SIZE, WAVES = 1.6, 10  # of the square [m], and waves of the sheet along it
DEPTH = 0.018  # of a wave [m]
STEEL_SIZE = 1.2


def corrugated(n: int, seed: int) -> Matter:
    """Painted sheet on `n` pixels along its side."""
    _, x = grid(n)
    big, middle = spectral(n, 2.8, seed, (1, 40)), spectral(n, 1.8, seed + 1, (6, 160))
    fine = spectral(n, 0.8, seed + 2, (60, 500))
    streaks = spectral(n, 2.4, seed + 3, (1, 80), (1.0, 0.12))
    wave = np.clip(1.6 * np.sin(2.0 * np.pi * WAVES * x), -1.0, 1.0)
    attack = 0.7 * big + 0.5 * middle + 0.5 * streaks
    rust = step(1.0, 1.7, attack)
    rim = step(0.6, 1.0, attack) * (1.0 - rust)
    height = blurred(0.5 * DEPTH * (1.0 + wave), 0.006 * n) + 0.0003 * rust * (1.0 + 0.5 * fine)
    paint = srgb(52, 98, 128) * np.exp(0.05 * big + 0.02 * fine)[..., None]
    paint = mix(paint, srgb(150, 150, 140), 0.25 * step(0.0, 2.0, streaks))
    browns = mix(srgb(126, 66, 34), srgb(74, 40, 28), np.clip(0.5 + middle / 4.0, 0.0, 1.0))
    color = mix(
        mix(paint, srgb(150, 120, 90), 0.5 * rim), browns * np.exp(0.2 * fine)[..., None], rust
    )
    rough = 0.38 + 0.07 * middle + 0.45 * rust + 0.1 * rim
    return Matter(color, height, rough, 0.1 * rim, SIZE, hollowness=0.5)


def steel(n: int, seed: int) -> Matter:
    """Bare steel on `n` pixels along its side."""
    middle, big = spectral(n, 1.8, seed, (4, 200)), spectral(n, 2.8, seed + 2, (1, 12))
    brushed = spectral(n, 0.4, seed + 1, (30, 500), (2.5, 0.05))
    scratched = step(2.2, 3.0, spectral(n, 0.6, seed + 3, (20, 500), (1.0, 0.03)))
    rust = step(1.5, 2.2, big + 0.5 * middle)
    color = srgb(172, 170, 166) * np.exp(0.03 * brushed + 0.04 * big)[..., None]
    color = mix(color, srgb(112, 62, 38) * np.exp(0.25 * middle)[..., None], rust)
    height = 0.00001 * brushed - 0.00004 * scratched + 0.0002 * rust * middle
    rough = 0.34 + 0.06 * big + 0.04 * brushed + 0.12 * scratched + 0.5 * rust
    return Matter(color, height, rough, 1.0 - rust, STEEL_SIZE)
