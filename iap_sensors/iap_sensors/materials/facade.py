# SPDX-License-Identifier: BSD-3-Clause
"""A plastered wall with a window in each square of three metres; panes mirror."""

import numpy as np

from iap_description.arrays import Array
from iap_sensors.materials import plaster
from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import grid, mix, spectral, srgb, step

SIZE, WINDOWS = 6.0, 2  # of the square [m], and windows along it
HALF_WIDTH, HALF_HEIGHT = 0.60, 0.75  # of a window [m]
FRAME, REVEAL, SILL = (
    0.07,
    0.12,
    0.08,
)  # width of frames, depth of the opening, height of the sill [m]
EDGE = 0.01  # over which one becomes the other [m]


def make(n: int, seed: int) -> Matter:
    """The material on `n` pixels along its side."""
    wall = plaster.make(n, seed)
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    pitch = SIZE / WINDOWS
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
    return Matter(color, height, rough, 0.0 * rough, SIZE, hollowness=0.6)


def _inside(t: Array, half: float) -> Array:
    """1 (n, n) within a distance from the middle, 0 beyond."""
    return step(half + EDGE, half, np.abs(t))
