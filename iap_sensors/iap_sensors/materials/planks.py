# SPDX-License-Identifier: BSD-3-Clause
"""Nailed planks, weathered in places."""

import numpy as np

from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import grid, mix, spectral, srgb, step

SIZE, PLANKS = 1.6, 10  # of the square [m], and planks along it
RING = 0.007  # from one ring of the wood to the next [m]


def make(n: int, seed: int) -> Matter:
    """The material on `n` pixels along its side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    v = y * PLANKS
    row, fv = np.floor(v).astype(int) % PLANKS, v % 1.0
    width = SIZE / PLANKS
    grain, rings = np.zeros((n, n)), np.zeros((n, n))
    for k in range(PLANKS):
        here = slice(k * n // PLANKS, (k + 1) * n // PLANKS + 1)
        grain[here] = spectral(n, 1.6, seed + k, (2, 400), (0.18, 2.5))[here]
        bend = spectral(n, 3.0, seed + 50 + k, (1, 12), (0.4, 1.5))[here]
        along = (fv[here] * width + 0.012 * bend) / RING
        rings[here] = 0.5 + 0.5 * np.sin(2.0 * np.pi * along + 6.0 * bend)
    cut = ((x - rng.random(PLANKS)[row] + 0.5) % 1.0 - 0.5) * SIZE
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
    return Matter(color, height, rough, 0.7 * nails, SIZE, hollowness=3.0)
