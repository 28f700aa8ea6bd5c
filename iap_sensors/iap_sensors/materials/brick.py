# SPDX-License-Identifier: BSD-3-Clause
"""Bricks in running bond with mortar, some chipped, some stained."""

import numpy as np

from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import grid, mix, spectral, srgb, step

SIZE, COLUMNS, ROWS = 2.08, 8, 26  # of the square [m], and bricks along it
JOINT, ROUND = 0.010, 0.006  # width of the mortar, and radius of a brick's corners [m]
CLAYS = (
    (152, 74, 54),
    (133, 62, 47),
    (168, 92, 66),
    (112, 54, 45),
    (160, 84, 58),
    (92, 50, 44),
    (178, 108, 78),
)


def make(n: int, seed: int) -> Matter:
    """The material on `n` pixels along its side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    sway = [0.0016 * spectral(n, 2.2, seed + k, (2, 60)) for k in (0, 1)]
    v = (y + sway[0]) * ROWS
    row = np.floor(v).astype(int) % ROWS
    u = (x + sway[1]) * COLUMNS + 0.5 * (row % 2)
    column = np.floor(u).astype(int) % COLUMNS
    fu, fv = u % 1.0, v % 1.0
    du = np.minimum(fu, 1.0 - fu) * SIZE / COLUMNS - 0.5 * JOINT
    dv = np.minimum(fv, 1.0 - fv) * SIZE / ROWS - 0.5 * JOINT
    dv += 0.5 * rng.normal(0.0, 0.0012, (ROWS, COLUMNS))[row, column]
    corner = np.hypot(np.maximum(ROUND - du, 0.0), np.maximum(ROUND - dv, 0.0))
    depth = ROUND - corner + 0.0012 * spectral(n, 1.5, seed + 2, (10, 200))
    chips = step(1.3, 2.0, spectral(n, 1.8, seed + 3, (8, 120))) * step(0.022, 0.004, depth)
    inside = step(-0.0010, 0.0022, depth) * (1.0 - 0.8 * chips)
    fine, middle = spectral(n, 1.1, seed + 4, (20, 400)), spectral(n, 2.2, seed + 5, (6, 80))
    pits = step(1.6, 2.6, spectral(n, 0.6, seed + 6, (60, 260)))
    tilt = rng.normal(0.0, 0.006, (ROWS, COLUMNS, 2))[row, column]
    face = rng.normal(0.0, 0.0010, (ROWS, COLUMNS))[row, column]
    face += (
        tilt[..., 0] * (fu - 0.5) * SIZE / COLUMNS
        + 0.00035 * fine
        + 0.0005 * middle
        - 0.0015 * pits
    )
    mortar = -0.006 + 0.0005 * spectral(n, 0.8, seed + 7, (60, 500))
    height = mortar * (1.0 - inside) + face * inside
    clays = np.array([srgb(*clay) for clay in CLAYS])
    pick = rng.choice(len(clays), (ROWS, COLUMNS), p=[0.26, 0.2, 0.18, 0.12, 0.12, 0.06, 0.06])
    shade = np.exp(rng.normal(0.0, 0.14, (ROWS, COLUMNS)))[row, column]
    burnt = step(0.6, 2.2, spectral(n, 2.4, seed + 9, (5, 90)))
    lime = step(0.9, 2.2, spectral(n, 2.6, seed + 10, (3, 60)))
    color = clays[pick[row, column]] * (shade * np.exp(0.10 * fine + 0.16 * middle))[..., None]
    color = mix(mix(color, srgb(60, 34, 30), 0.55 * burnt), srgb(196, 180, 164), 0.35 * lime)
    color = color * (1.0 - 0.5 * pits)[..., None]
    grain = np.exp(0.10 * spectral(n, 0.8, seed + 11, (40, 500)) + 0.16 * middle)
    albedo = mix(srgb(168, 160, 148) * grain[..., None], color, inside)
    rough = 0.86 + 0.05 * middle - 0.02 * fine + 0.08 * (1.0 - inside)
    return Matter(albedo, height, rough, np.zeros((n, n)), SIZE, hollowness=3.0)
