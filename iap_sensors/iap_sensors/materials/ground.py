# SPDX-License-Identifier: BSD-3-Clause
"""Ground of many small things on top of each other: a lawn's blades, the stones of asphalt.

They are laid from the lowest to the highest, the "dead leaves" of Matheron.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.process.extras import cv2
from iap_sensors.materials.matter import Matter
from iap_sensors.materials.noise import blurred, mix, spectral, srgb, step

GRASS_SIZE, BLADES = 1.6, 24000  # of the square [m], and blades on it
GREENS = ((86, 112, 38), (62, 92, 28), (112, 132, 52), (48, 74, 26), (142, 146, 72))
STRAWS = ((176, 160, 104), (150, 132, 80))
JOINTS = 6  # points along a blade
ASPHALT_SIZE, STONES = 1.5, 14000
GRITS = ((112, 110, 108), (92, 90, 90), (134, 130, 124), (76, 75, 78), (150, 138, 124))
SHIFT = 4  # binary places behind the point of places that are drawn


@dataclass(frozen=True, eq=False)
class _Sheet:
    """Layers (n, n) and (n, n, 3) that repeat, and are drawn on."""

    layers: tuple[NDArray[np.float32], ...]

    def fill(self, polygon: Array, *values: float | Sequence[float]) -> None:
        """Draw a polygon (m, 2) of columns and rows [pixels] with a value on each layer, across edges too."""
        n = len(self.layers[0])
        low, high = polygon.min(axis=0), polygon.max(axis=0)
        for dx in (-n, 0, n):
            for dy in (-n, 0, n):
                if high[0] + dx < 0 or low[0] + dx >= n or high[1] + dy < 0 or low[1] + dy >= n:
                    continue
                at = np.round((polygon + [dx, dy]) * 2**SHIFT).astype(np.int32)
                for layer, value in zip(self.layers, values, strict=True):
                    cv2.fillPoly(layer, [at], value, cv2.LINE_AA, SHIFT)


def grass(n: int, seed: int) -> Matter:
    """A lawn on `n` pixels along its side, drawn twice as fine."""
    rng, m = np.random.default_rng(seed), 2 * n
    soil = spectral(m, 1.8, seed, (4, 300))
    color = (srgb(58, 44, 30) * np.exp(0.35 * soil)[..., None]).astype(np.float32)
    height, east, north = (np.zeros((m, m), np.float32) for _ in range(3))
    height[:] = 0.004 * soil
    sheet = _Sheet((color, height, east, north))
    patch = np.clip(0.5 + spectral(m, 3.0, seed + 1, (1, 8)) / 3.2, 0.0, 1.0)
    dry = np.clip(0.5 + spectral(m, 2.6, seed + 2, (1, 14)) / 4.0, 0.0, 1.0)
    greens, straws = (np.array([srgb(*c) for c in each]) for each in (GREENS, STRAWS))
    scale = m / GRASS_SIZE
    for k in range(BLADES):
        t = k / BLADES
        at = rng.random(2) * m
        row, column = int(at[1]) % m, int(at[0]) % m
        is_straw = rng.random() < 0.04 + 0.22 * dry[row, column]
        shade = straws[rng.integers(2)] if is_straw else greens[rng.integers(5)]
        shade = shade * (0.30 + 0.95 * t**1.3) * np.exp(rng.normal(0.0, 0.16))
        shade = shade * (0.75 + 0.5 * patch[row, column])
        angle, bend = rng.uniform(0.0, 2.0 * np.pi), rng.normal(0.0, 0.5)
        length, width = scale * rng.uniform(0.03, 0.085), scale * rng.uniform(0.0016, 0.0038)
        middle, side = _blade(at, angle, bend, length, width)
        lean = 0.55 * np.array([-np.sin(angle), np.cos(angle)])
        z = 0.006 + 0.045 * t
        for sign, gain in ((1.0, 1.22), (-1.0, 1.0)):  # each half leans to its own side
            half = np.concatenate([middle + sign * side, middle[::-1]])
            sheet.fill(half, (shade * gain).tolist(), z, sign * lean[0], sign * lean[1])
    small = [cv2.resize(each, (n, n), interpolation=cv2.INTER_AREA) for each in sheet.layers]
    color_n, height_n, east_n, north_n = (np.asarray(each, float) for each in small)
    normals = np.stack([east_n, -north_n, np.ones((n, n))], -1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    rough = 0.82 + 0.05 * spectral(n, 1.0, seed + 7, (30, 300))
    smooth = blurred(height_n, 1.0)
    return Matter(color_n, smooth, rough, 0.0 * rough, GRASS_SIZE, normals, hollowness=1.2)


def _blade(
    at: Array, angle: float, bend: float, length: float, width: float
) -> tuple[Array, Array]:
    """Points (JOINTS, 2) along a blade's middle, and half its width (JOINTS, 2) to one side [pixels]."""
    s = np.linspace(0.0, 1.0, JOINTS)
    turn = angle + bend * s
    ways = np.stack([np.cos(turn), np.sin(turn)], -1)[:-1] * length / (JOINTS - 1)
    middle = at + np.vstack([np.zeros((1, 2)), np.cumsum(ways, axis=0)])
    side = np.stack([-np.sin(turn), np.cos(turn)], -1) * (width * (1.0 - 0.85 * s))[:, None]
    return middle, side


def asphalt(n: int, seed: int) -> Matter:
    """Worn asphalt with cracks, on `n` pixels along its side."""
    rng = np.random.default_rng(seed)
    tar = spectral(n, 1.2, seed, (20, 500))
    color = (srgb(62, 62, 63) * np.exp(0.25 * tar)[..., None]).astype(np.float32)
    height = (-0.0012 + 0.0003 * tar).astype(np.float32)
    sheet, grits = _Sheet((color, height)), np.array([srgb(*each) for each in GRITS])
    for k in range(STONES):
        t, count = k / STONES, int(rng.integers(5, 8))
        radius = n / ASPHALT_SIZE * (0.0012 + 0.0042 * rng.random() ** 2.5)
        turn = np.sort(rng.random(count)) * 2.0 * np.pi
        reach = (radius * rng.uniform(0.75, 1.15, count))[:, None]
        outline = rng.random(2) * n + reach * np.stack([np.cos(turn), 0.85 * np.sin(turn)], -1)
        shade = grits[rng.choice(5, p=[0.34, 0.3, 0.18, 0.14, 0.04])] * np.exp(
            rng.normal(0.0, 0.18)
        )
        sheet.fill(outline, (shade * (0.6 + 0.7 * t)).tolist(), -0.0009 + 0.0013 * t)
    relief = blurred(height.astype(float), 0.9)
    big, middle = spectral(n, 3.0, seed + 1, (1, 10)), spectral(n, 1.8, seed + 2, (8, 80))
    worn, oil = step(-0.5, 1.6, big), step(0.8, 2.0, spectral(n, 2.6, seed + 3, (1, 30)))
    crack = np.exp(-((spectral(n, 3.0, seed + 4, (1, 20)) + 0.06 * middle) ** 2) / 0.02**2)
    crack *= step(0.2, 1.0, spectral(n, 3.0, seed + 6, (1, 5)))
    shaded = (
        color.astype(float) * (np.exp(0.12 * big + 0.08 * middle) * (1.0 - 0.27 * oil))[..., None]
    )
    albedo = mix(shaded, srgb(20, 20, 20), 0.85 * crack)
    rough = 0.88 - 0.10 * worn + 0.04 * middle
    return Matter(albedo, relief - 0.003 * crack, rough, 0.0 * rough, ASPHALT_SIZE, hollowness=1.5)
