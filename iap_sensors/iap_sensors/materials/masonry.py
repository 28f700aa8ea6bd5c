# SPDX-License-Identifier: BSD-3-Clause
"""Stones that are set side by side: bricks, cobbles, slabs of a pavement, and glazed tiles."""

import numpy as np

from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import cells, grid, mix, spectral, srgb, step

BRICK_SIZE, COLUMNS, ROWS = 2.08, 8, 26  # of the square [m], and bricks along it
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
COBBLE_SIZE, COBBLES = 1.6, 13  # of the square [m], and stones along it
GREYS = ((120, 116, 110), (96, 94, 94), (142, 134, 122), (108, 98, 92), (82, 84, 90))
SLAB_SIZE, SLABS = 2.4, 4
TILE_SIZE, TILES = 1.2, 8
GLAZES = ((196, 200, 194), (186, 196, 196), (204, 200, 186), (92, 128, 140))


def bricks(n: int, seed: int) -> Matter:
    """Bricks in running bond with mortar, some chipped, some stained, on `n` pixels along the square's side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    sway = [0.0016 * spectral(n, 2.2, seed + k, (2, 60)) for k in (0, 1)]
    v = (y + sway[0]) * ROWS
    row = np.floor(v).astype(int) % ROWS
    u = (x + sway[1]) * COLUMNS + 0.5 * (row % 2)
    column = np.floor(u).astype(int) % COLUMNS
    fu, fv = u % 1.0, v % 1.0
    du = np.minimum(fu, 1.0 - fu) * BRICK_SIZE / COLUMNS - 0.5 * JOINT
    dv = np.minimum(fv, 1.0 - fv) * BRICK_SIZE / ROWS - 0.5 * JOINT
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
        tilt[..., 0] * (fu - 0.5) * BRICK_SIZE / COLUMNS
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
    return Matter(albedo, height, rough, np.zeros((n, n)), BRICK_SIZE, hollowness=3.0)


def cobbles(n: int, seed: int) -> Matter:
    """Round cobbles in sand with moss, on `n` pixels along the square's side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    v, u = (each + 0.006 * spectral(n, 2.4, seed + k, (3, 60)) for k, each in enumerate((y, x)))
    first, second, stone = cells(v, u, COBBLES, seed)
    edge = 0.5 * (second - first) * COBBLE_SIZE / COBBLES
    fine, middle = spectral(n, 1.0, seed + 2, (30, 500)), spectral(n, 2.0, seed + 3, (6, 90))
    dome = 1.0 - np.clip((0.045 - edge) / 0.045, 0.0, 1.0) ** 2.2
    inside = step(0.002, 0.006, edge)
    face = 0.022 * dome + 0.0006 * fine + 0.0015 * middle
    face += rng.normal(0.0, 0.002, COBBLES**2)[stone]
    sand = -0.004 + 0.001 * spectral(n, 0.9, seed + 4, (60, 500))
    height = face * inside + sand * (1.0 - inside)
    greys = np.array([srgb(*grey) for grey in GREYS])[rng.integers(0, len(GREYS), COBBLES**2)]
    shade = rng.normal(0.0, 0.14, COBBLES**2)[stone] + 0.12 * fine + 0.1 * middle
    moss = step(0.3, 1.4, spectral(n, 2.6, seed + 6, (1, 20))) * step(0.018, 0.0, edge)
    grains = srgb(112, 98, 78) * np.exp(0.22 * fine)[..., None]
    color = mix(grains, greys[stone] * np.exp(shade)[..., None], inside)
    color = mix(color, srgb(62, 76, 34) * np.exp(0.3 * fine)[..., None], 0.8 * moss)
    rough = 0.74 + 0.06 * fine + 0.15 * (1.0 - inside)
    return Matter(color, height, rough, np.zeros((n, n)), COBBLE_SIZE)


def paving(n: int, seed: int) -> Matter:
    """Slabs of a pavement in half bond, stained, on `n` pixels along the square's side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    row = (y * SLABS).astype(int)
    u = (x * SLABS + 0.5 * (row % 2)) % SLABS
    column, fu, fv = u.astype(int), u % 1.0, y * SLABS % 1.0
    edge = np.minimum(np.minimum(fu, 1.0 - fu), np.minimum(fv, 1.0 - fv)) * SLAB_SIZE / SLABS
    inside = step(0.003, 0.008, edge + 0.0008 * spectral(n, 1.5, seed, (20, 300)))
    fine, middle = spectral(n, 0.8, seed + 1, (50, 500)), spectral(n, 2.0, seed + 2, (6, 120))
    big = spectral(n, 2.8, seed + 3, (1, 12))
    stain = step(0.7, 2.0, spectral(n, 2.4, seed + 4, (2, 60)))
    gum = step(2.6, 3.0, spectral(n, 2.0, seed + 5, (20, 90)))
    face = rng.normal(0.0, 0.0012, (SLABS, SLABS))[row, column] + 0.0003 * fine + 0.0003 * middle
    height = face * inside - 0.006 * (1.0 - inside)
    shade = rng.normal(0.0, 0.10, (SLABS, SLABS))[row, column] + 0.06 * fine + 0.07 * middle
    color = srgb(146, 142, 134) * np.exp(shade + 0.06 * big)[..., None]
    color = mix(mix(color, srgb(88, 82, 74), 0.5 * stain), srgb(54, 52, 50), 0.7 * gum)
    color = mix(srgb(74, 68, 58) * np.exp(0.25 * fine)[..., None], color, inside)
    return Matter(color, height, 0.82 + 0.05 * middle, np.zeros((n, n)), SLAB_SIZE)


def tiles(n: int, seed: int) -> Matter:
    """Glazed wall tiles with grout, on `n` pixels along the square's side."""
    rng = np.random.default_rng(seed)
    y, x = grid(n)
    row, column = (y * TILES).astype(int), (x * TILES).astype(int)
    fu, fv = x * TILES % 1.0, y * TILES % 1.0
    edge = np.minimum(np.minimum(fu, 1.0 - fu), np.minimum(fv, 1.0 - fv)) * TILE_SIZE / TILES
    inside = step(0.0015, 0.0045, edge)
    middle, fine = spectral(n, 2.2, seed, (4, 120)), spectral(n, 0.9, seed + 1, (60, 500))
    dirt = step(0.4, 2.0, spectral(n, 2.4, seed + 2, (1, 60), (1.0, 0.3)))
    tilt = rng.normal(0.0, 0.006, (TILES, TILES, 2))[row, column]
    slope = tilt[..., 0] * (fu - 0.5) + tilt[..., 1] * (fv - 0.5)
    height = inside * (0.002 + slope * TILE_SIZE / TILES + 0.00008 * middle)
    glaze = np.array([srgb(*each) for each in GLAZES])
    pick = rng.choice(len(glaze), (TILES, TILES), p=[0.45, 0.25, 0.2, 0.1])[row, column]
    shade = rng.normal(0.0, 0.05, (TILES, TILES))[row, column] + 0.02 * middle
    color = mix(glaze[pick] * np.exp(shade)[..., None], srgb(110, 100, 86), 0.35 * dirt)
    color = mix(srgb(136, 130, 120) * np.exp(0.2 * fine)[..., None], color, inside)
    rough = 0.16 + 0.35 * dirt + 0.02 * middle + 0.6 * (1.0 - inside)
    return Matter(color, height, rough, np.zeros((n, n)), TILE_SIZE)
