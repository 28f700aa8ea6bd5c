# SPDX-License-Identifier: BSD-3-Clause
"""Claddings: corrugated sheet in paint that rusts, bare steel with scratches, and nailed planks."""

import numpy as np

from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import blurred, grid, mix, spectral, srgb, step

SHEET_SIZE, WAVES = 1.6, 10  # of the square [m], and waves of the sheet along it
DEPTH = 0.018  # of a wave [m]
STEEL_SIZE = 1.2
PLANK_SIZE, PLANKS = 1.6, 10  # of the square [m], and planks along it
RING = 0.007  # from one ring of the wood to the next [m]


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
    return Matter(color, height, rough, 0.1 * rim, SHEET_SIZE, hollowness=0.5)


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


def planks(n: int, seed: int) -> Matter:
    """Nailed planks, weathered in places, on `n` pixels along the square's side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    v = y * PLANKS
    row, fv = np.floor(v).astype(int) % PLANKS, v % 1.0
    width = PLANK_SIZE / PLANKS
    grain, rings = np.zeros((n, n)), np.zeros((n, n))
    for k in range(PLANKS):
        here = slice(k * n // PLANKS, (k + 1) * n // PLANKS + 1)
        grain[here] = spectral(n, 1.6, seed + k, (2, 400), (0.18, 2.5))[here]
        bend = spectral(n, 3.0, seed + 50 + k, (1, 12), (0.4, 1.5))[here]
        along = (fv[here] * width + 0.012 * bend) / RING
        rings[here] = 0.5 + 0.5 * np.sin(2.0 * np.pi * along + 6.0 * bend)
    cut = ((x - rng.random(PLANKS)[row] + 0.5) % 1.0 - 0.5) * PLANK_SIZE
    gap = step(0.0038, 0.0016, np.minimum(fv, 1.0 - fv) * width)
    gap = np.maximum(gap, step(0.0032, 0.0012, np.abs(cut)))
    nails = np.zeros((n, n))
    for dx in (-0.02, 0.02):
        for at in (0.25, 0.75):
            nails = np.maximum(nails, step(0.0042, 0.0032, np.hypot(cut - dx, (fv - at) * width)))
    tint = np.exp(rng.normal(0.0, 0.16, PLANKS))[row] * np.exp(0.20 * grain)
    grey = np.clip(0.5 + spectral(n, 2.6, seed + 90, (1, 20), (1, 2)) / 3.0, 0.0, 1.0)
    color = mix(srgb(150, 116, 78), srgb(104, 76, 48), 0.75 * rings) * tint[..., None]
    color = mix(color, srgb(132, 126, 118) * np.exp(0.22 * grain)[..., None], 0.55 * grey)
    color = mix(mix(color, srgb(24, 20, 16), 0.9 * gap), srgb(86, 78, 74), nails)
    height = 0.0003 * grain - 0.0004 * rings - 0.006 * gap + 0.0006 * nails
    height += rng.normal(0.0, 0.0008, PLANKS)[row] - 0.0012 * (2.0 * fv - 1.0) ** 4
    rough = 0.72 + 0.08 * grain + 0.1 * grey - 0.3 * nails
    return Matter(color, height, rough, 0.7 * nails, PLANK_SIZE, hollowness=3.0)
