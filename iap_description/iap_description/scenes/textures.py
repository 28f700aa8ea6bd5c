# SPDX-License-Identifier: BSD-3-Clause
"""Textures out of nothing but a seed: they repeat, are middle grey in the mean, and have corners at every scale.

Whatever a texture shows, rectangles lie on it whose sizes follow a power law (the "dead leaves" of
Lee, Mumford, Huang, "Occlusion models for natural images", 2001), so that an image of it looks as
rich from two metres as from forty.
"""

from collections.abc import Callable
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array

Pixels = NDArray[np.uint8]
Rng = np.random.Generator

SIZE = 512  # of every texture [pixels]
MEAN, DEVIATION = 0.5, 0.19  # of the grey levels, of 1
SATURATION = 0.75  # of the colours, of what they are painted in
GREY = np.array([0.299, 0.587, 0.114])  # of the colours' shares in it


@lru_cache(maxsize=16)
def make_texture(name: str) -> Pixels:
    """The (SIZE, SIZE, 3) texture of a name, the same each time; it cannot be written to."""
    rng = np.random.default_rng(crc32(name.encode()))
    image = _finished(MAKERS[name](rng))
    image.flags.writeable = False
    return image


def _finished(image: Array) -> Pixels:
    """Colours (h, w, 3) brought to the mean and deviation that all textures have."""
    grey = image @ GREY
    level = MEAN + (grey - grey.mean()) * DEVIATION / grey.std()
    tint = (np.maximum(image, 0.0) / np.maximum(grey, 0.05)[..., None]) ** SATURATION
    return (255.0 * np.clip(level[..., None] * tint, 0.03, 0.97)).astype(np.uint8)


def noise(rng: Rng, octaves: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256)) -> Array:
    """(SIZE, SIZE) value noise of mean 0 and deviation 1 that repeats; octaves are cells along a side."""
    total = np.zeros((SIZE, SIZE))
    for cells in octaves:
        t = np.arange(SIZE) * cells / SIZE
        i, part = t.astype(int), t % 1.0
        values = rng.normal(size=(cells, cells)) * cells**-0.5
        rows = values[i] * (1 - part[:, None]) + values[(i + 1) % cells] * part[:, None]
        total += rows[:, i] * (1 - part) + rows[:, (i + 1) % cells] * part
    return (total - total.mean()) / total.std()


def leaves(
    image: Array,
    rng: Rng,
    count: int,
    *,
    opacity: float = 1.0,
    least: float = 3.0,
    largest: float = SIZE / 5,
) -> None:
    """Lay rectangles of many sizes and shades over an image, the largest first, around its borders too.

    Args:
        image: (SIZE, SIZE, 3), changed.
        rng: decides.
        count: of rectangles.
        opacity: of each.
        least: size of the smallest [pixels].
        largest: size of the largest [pixels].
    """
    share = rng.random(count)
    sizes = np.sort(1.0 / np.sqrt(share / least**2 + (1 - share) / largest**2))[::-1]
    aspect_ratios = np.exp(rng.uniform(-0.9, 0.9, count))
    positions = rng.integers(0, SIZE, (count, 2))
    shades = rng.uniform(0.1, 0.9, (count, 1)) + rng.normal(0.0, 0.05, (count, 3))
    for size, ratio, (row, column), shade in zip(
        sizes, aspect_ratios, positions, shades, strict=True
    ):
        height, width = max(2, round(size * ratio)), max(2, round(size / ratio))
        fill(image, row, column, height, width, shade, opacity)


def fill(
    image: Array, row: int, column: int, height: int, width: int, shade: Array, opacity: float
) -> None:
    """Paint a rectangle of an image that repeats."""
    size = len(image)
    for top, bottom in _intervals(row, height, size):
        for left, right in _intervals(column, width, size):
            area = image[top:bottom, left:right]
            area += opacity * (shade - area)


def _intervals(first: int, length: int, size: int) -> list[tuple[int, int]]:
    """The one or two stretches of `length` from `first` on a ring."""
    first %= size
    end = first + length
    return [(first, end)] if end <= size else [(first, size), (0, min(end - size, first))]


def _plain(shade: tuple[float, float, float]) -> Array:
    return np.tile(np.array(shade), (SIZE, SIZE, 1))


def _grained(image: Array, rng: Rng, amount: float) -> Array:
    return image * (1.0 + amount * noise(rng))[..., None]


def _tiled(
    image: Array, rng: Rng, rows: int, columns: int, *, joint: int, spread: float, shift: bool
) -> None:
    """Multiply an image by tiles of various shades with dark joints; every other row is shifted if asked for."""
    y, x = np.mgrid[:SIZE, :SIZE]
    row = y * rows // SIZE
    x = (x + (row % 2 if shift else 0) * SIZE // columns // 2) % SIZE
    shades = np.exp(
        rng.normal(0.0, spread, (rows, columns, 1)) + 0.025 * rng.normal(size=(rows, columns, 3))
    )
    image *= shades[row, x * columns // SIZE]
    image[(y % (SIZE // rows) < joint) | (x % (SIZE // columns) < joint)] *= 0.45


def _bricks(rng: Rng) -> Array:
    image = _plain((0.62, 0.40, 0.32))
    _tiled(image, rng, 32, 16, joint=2, spread=0.25, shift=True)
    leaves(image, rng, 500, opacity=0.45)
    return _grained(image, rng, 0.12)


def _concrete(rng: Rng) -> Array:
    image = _plain((0.56, 0.56, 0.53))
    _tiled(image, rng, 4, 4, joint=3, spread=0.18, shift=False)
    leaves(image, rng, 900, opacity=0.35)
    return _grained(image, rng, 0.2)


def _mosaic(rng: Rng) -> Array:
    image = _plain((0.5, 0.5, 0.5))
    leaves(image, rng, 3500, least=6)
    leaves(image, rng, 700)
    return _grained(image, rng, 0.05)


def _posters(rng: Rng) -> Array:
    """A plastered wall with posters: a picture with large letters or small print."""
    image = _grained(_plain((0.66, 0.63, 0.56)), rng, 0.12)
    leaves(image, rng, 300, opacity=0.25)
    for row, column in _jittered(rng, 4, 5):
        height, width = int(rng.integers(70, 120)), int(rng.integers(50, 90))
        _poster(image, rng, row, column, height, width)
    return _grained(image, rng, 0.04)


def _jittered(rng: Rng, rows: int, columns: int) -> list[tuple[int, int]]:
    """Places (row, column) on a grid, each moved a bit."""
    step = np.array([SIZE // rows, SIZE // columns])
    cells = np.array(list(np.ndindex(rows, columns)))
    shifted = cells * step + rng.integers(0, np.maximum(step // 3, 1), cells.shape)
    return [(int(row), int(column)) for row, column in shifted]


def _poster(image: Array, rng: Rng, row: int, column: int, height: int, width: int) -> None:
    back, ink = rng.uniform(0.55, 1.0, 3), rng.uniform(0.0, 0.3, 3)
    if rng.random() < 0.4:
        back, ink = ink, back
    fill(image, row, column, height, width, back, 1.0)
    cell = int(rng.integers(4, 13))
    for line in range(row + cell, row + height - cell, cell + 3):
        for at in range(column + cell // 2, column + width - cell, cell):
            if rng.random() < 0.6:
                shade = ink if rng.random() < 0.8 else rng.uniform(0.0, 1.0, 3)
                fill(image, line, at, cell - 1, int(rng.integers(2, cell)), shade, 1.0)


def _facade(rng: Rng) -> Array:
    """Windows in rows, some of them with blinds, in a plastered wall."""
    image = _grained(_plain((0.60, 0.55, 0.48)), rng, 0.1)
    leaves(image, rng, 500, opacity=0.3)
    for i, j in np.ndindex(4, 4):
        _window(image, rng, i * SIZE // 4 + 28, j * SIZE // 4 + 30)
    fill(image, 0, 0, 8, SIZE, np.array([0.8, 0.78, 0.72]), 0.9)
    fill(image, SIZE // 2, 0, 5, SIZE, np.array([0.35, 0.33, 0.3]), 0.9)
    return _grained(image, rng, 0.05)


def _window(image: Array, rng: Rng, row: int, column: int) -> None:
    fill(image, row - 6, column - 6, 84, 76, np.array([0.85, 0.84, 0.8]), 1.0)
    fill(image, row + 74, column - 10, 8, 84, np.array([0.3, 0.3, 0.3]), 1.0)
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        shade = np.array([0.7, 0.9, 1.0]) * rng.uniform(0.08, 0.45)
        at = row + 37 * i, column + 33 * j
        fill(image, *at, 34, 30, shade, 1.0)
        fill(
            image,
            at[0] + int(rng.integers(2, 16)),
            at[1] + int(rng.integers(2, 12)),
            int(rng.integers(5, 16)),
            int(rng.integers(4, 16)),
            2.0 * shade,
            0.8,
        )
    if rng.random() < 0.4:
        for line in range(row, row + int(rng.integers(20, 70)), 5):
            fill(image, line, column, 3, 63, np.array([0.75, 0.72, 0.62]), 1.0)


def _container(rng: Rng) -> Array:
    """Corrugated sheet with signs, rust and numbers."""
    image = _plain((0.55, 0.55, 0.55))
    x = np.arange(SIZE) % 16
    image *= np.select([x < 5, x < 8, x < 13], [1.15, 0.7, 0.95], 1.3)[None, :, None]
    leaves(image, rng, 900, opacity=0.5)
    for row, column in _jittered(rng, 3, 3):
        _poster(image, rng, row, column, 50, 100)
    return _grained(image, rng, 0.12)


def _tiles(rng: Rng) -> Array:
    """Small wall tiles as in a station, with bands and signs."""
    image = _plain((0.60, 0.63, 0.62))
    _tiled(image, rng, 32, 32, joint=2, spread=0.16, shift=False)
    for row in (96, 352):
        fill(image, row, 0, 32, SIZE, np.array([0.16, 0.25, 0.36]), 0.85)
    leaves(image, rng, 400, opacity=0.4)
    for row, column in _jittered(rng, 2, 3):
        _poster(image, rng, row + 150, column, 64, 110)
    return _grained(image, rng, 0.06)


def _paving(rng: Rng) -> Array:
    """Slabs with stains and litter."""
    image = _plain((0.52, 0.51, 0.49))
    _tiled(image, rng, 16, 16, joint=2, spread=0.2, shift=True)
    leaves(image, rng, 900, opacity=0.4)
    return _grained(image, rng, 0.15)


def _field(rng: Rng) -> Array:
    """Grass with bare patches and stones."""
    patch = np.clip(0.5 + 0.8 * noise(rng, (4, 8, 16, 32)), 0.0, 1.0)[..., None]
    image = patch * np.array([0.34, 0.46, 0.22]) + (1 - patch) * np.array([0.52, 0.45, 0.33])
    image = _grained(image, rng, 0.2)
    image *= np.exp(0.15 * rng.normal(size=(SIZE, SIZE, 1)))
    leaves(image, rng, 900, opacity=0.7, largest=SIZE / 32)
    return image


def _crates(rng: Rng) -> Array:
    """Boards with frames and stencils."""
    image = _plain((0.60, 0.47, 0.30))
    _tiled(image, rng, 16, 2, joint=3, spread=0.22, shift=False)
    for at in (0, SIZE // 2):
        for row, column, height, width in ((at, 0, 20, SIZE), (0, at, SIZE, 20)):
            fill(image, row, column, height, width, np.array([0.40, 0.30, 0.18]), 0.9)
    leaves(image, rng, 500, opacity=0.4)
    for row, column in _jittered(rng, 2, 2):
        _poster(image, rng, row + 70, column + 60, 60, 90)
    return _grained(image, rng, 0.1)


MAKERS: dict[str, Callable[[Rng], Array]] = {
    "bricks": _bricks,
    "concrete": _concrete,
    "container": _container,
    "crates": _crates,
    "facade": _facade,
    "field": _field,
    "mosaic": _mosaic,
    "paving": _paving,
    "posters": _posters,
    "tiles": _tiles,
}
