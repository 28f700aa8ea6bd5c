# SPDX-License-Identifier: BSD-3-Clause
"""Walls and claddings.

Walls are of concrete, of plaster, or a plastered facade with windows. Claddings are corrugated sheet in paint that
rusts, bare steel with scratches, or nailed planks.
"""

import numpy as np

from iap_description.arrays import Array
from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import blurred, cells, grid, mix, spectral, srgb, step

CONCRETE_SIZE = 3.0  # of the square [m]
PLASTER_SIZE = 2.4  # of the square [m]
FACADE_SIZE, WINDOWS = 6.0, 2  # of the square [m], and windows along it
HALF_WIDTH, HALF_HEIGHT = 0.60, 0.75  # of a window [m]
FRAME, REVEAL, SILL = (
    0.07,
    0.12,
    0.08,
)  # width of frames, depth of the opening, height of the sill [m]
EDGE = 0.01  # over which one becomes the other [m]
SHEET_SIZE, WAVES = 1.6, 10  # of the square [m], and waves of the sheet along it
DEPTH = 0.018  # of a wave [m]
STEEL_SIZE = 1.2  # of the square [m]
PLANK_SIZE, PLANKS = 1.6, 10  # of the square [m], and planks along it
RING = 0.007  # from one ring of the wood to the next [m]


def concrete(n: int, seed: int) -> Matter:
    """Concrete as cast, on `n` pixels along the square's side: seams of the formwork, tie holes, pores, stains."""
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
    return Matter(color, height, rough, np.zeros((n, n)), CONCRETE_SIZE)


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


def plaster(n: int, seed: int) -> Matter:
    """Rough plaster with streaks below, and patches where paint has come off, on `n` pixels along the square's side."""
    y, x = grid(n)
    distance, _, _ = cells(y, x, 80, seed)
    middle, big = spectral(n, 1.6, seed + 1, (8, 300)), spectral(n, 3.0, seed + 2, (1, 12))
    streaks = step(0.5, 2.2, spectral(n, 2.4, seed + 3, (1, 60), (1.0, 0.15)))
    flaked = step(1.9, 2.1, big + 0.25 * spectral(n, 2.2, seed + 4, (6, 60)))
    height = 0.0018 * step(0.9, 0.1, distance) + 0.0006 * middle + 0.001 * big - 0.004 * flaked
    color = srgb(206, 196, 176) * np.exp(0.06 * big + 0.03 * middle)[..., None]
    color = mix(color, srgb(120, 110, 94), 0.45 * streaks)
    color = mix(color, srgb(150, 138, 124) * np.exp(0.15 * middle)[..., None], flaked)
    return Matter(color, height, 0.88 + 0.03 * middle, np.zeros((n, n)), PLASTER_SIZE)


def facade(n: int, seed: int) -> Matter:
    """A plastered wall with a window in each three metres, on `n` pixels along the square's side; panes mirror."""
    wall = plaster(n, seed)
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    pitch = FACADE_SIZE / WINDOWS
    row, column = (y * WINDOWS).astype(int), (x * WINDOWS).astype(int)
    across, up = (x * WINDOWS % 1.0 - 0.5) * pitch, (0.5 - y * WINDOWS % 1.0) * pitch
    opening = _inside(across, HALF_WIDTH) * _inside(up, HALF_HEIGHT)
    bars = np.minimum(np.abs(across), HALF_WIDTH - np.abs(across))
    bars = np.minimum(bars, np.minimum(np.abs(up - 0.25), HALF_HEIGHT - np.abs(up)))
    frame = opening * step(FRAME + EDGE, FRAME, bars)
    pane = opening - frame
    sill = _inside(across, HALF_WIDTH + 0.1) * _inside(up + HALF_HEIGHT + 0.5 * SILL, 0.5 * SILL)
    blind = rng.uniform(-1.0, 1.0, (WINDOWS, WINDOWS))[row, column]
    closed = pane * step(blind - 0.01, blind + 0.01, up)
    slats = 0.85 + 0.15 * np.cos(2.0 * np.pi * up / 0.06)
    tilt = rng.normal(0.0, 0.004, (WINDOWS, WINDOWS, 2))[row, column]
    height = wall.height * 2.0 * (1.0 - opening) - REVEAL * opening + 0.04 * frame + 0.03 * sill
    height = height + pane * (tilt[..., 0] * across + tilt[..., 1] * up)
    color = mix(wall.albedo, srgb(214, 208, 196), frame)
    color = mix(color, srgb(46, 54, 60), pane)
    color = mix(color, srgb(186, 178, 160) * slats[..., None], closed)
    color = mix(color, srgb(120, 116, 110), sill)
    rough = wall.roughness * (1.0 - opening) + 0.45 * frame + 0.08 * pane + 0.3 * closed
    rough += 0.003 * pane * spectral(n, 2.0, seed + 9)
    return Matter(color, height, rough, 0.0 * rough, FACADE_SIZE, hollowness=0.6)


def _inside(t: Array, half: float) -> Array:
    """1 (n, n) within a distance from the middle, 0 beyond."""
    return step(half + EDGE, half, np.abs(t))


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
