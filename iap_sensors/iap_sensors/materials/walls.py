# SPDX-License-Identifier: BSD-3-Clause
"""Walls: concrete, plaster, and a plastered facade with windows."""

import numpy as np

from iap_description.arrays import Array
from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import cells, grid, mix, spectral, srgb, step

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
