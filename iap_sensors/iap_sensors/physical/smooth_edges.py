# SPDX-License-Identifier: BSD-3-Clause
"""Smooth edges of surfaces in images of levels, by FXAA (Lottes, "FXAA", NVIDIA white paper, 2009), its second version.

On a CPU this takes less than half the time of a shader that does the same.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Levels = NDArray[np.uint8]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]
Pixels = NDArray[Any]  # of levels or of light
Real = np.float32

LEAST_CONTRAST = np.uint8(10)  # of the neighbours, below which nothing is an edge [levels]
SHIFT = np.uint8(3)  # nor below their largest level over 2^3
REACH = np.float32(8.0)  # along an edge [pixels]
MARGIN = 5  # of the image, whose edges stay as they are [pixels]
GREY = np.array([77, 150, 29])  # shares of colours in brightness, of 256
LEAST_SLOPE = np.float32(2.0)  # [levels]
ONE_SIXTH, ONE_HALF = np.float32(1.0 / 6.0), np.float32(0.5)


def smoothed(image: Levels) -> Levels:
    """An image (h, w) or (h, w, 3) with its edges smoothed along themselves."""
    out, is_grey = image.copy(), image.ndim == 2
    grey = image if is_grey else _brightness(image)
    _smooth(_channels(image), grey, _channels(out), ONE_HALF, is_grey)
    return out


def smoothed_light(image: Singles) -> Singles:
    """An image of linear light (h, w) or (h, w, 3) with the edges smoothed that its square root shows in levels."""
    out, grey = image.copy(), np.empty(image.shape[:2], np.uint8)
    _root(_mean(_channels(image)).reshape(-1), grey.reshape(-1))
    _smooth(_channels(image), grey, _channels(out), np.float32(0.0), is_grey=False)
    return out


def _channels(image: Pixels) -> Pixels:
    """An image (h, w) or (h, w, channels) as (h, w, channels)."""
    return image.reshape(*image.shape[:2], -1)


@njit(cache=True)
def _mean(image: Singles) -> Singles:
    """Mean (h, w) of the channels of light (h, w, channels)."""
    height, width, channels = image.shape
    if channels == 1:
        return image[:, :, 0]
    out, share = np.empty((height, width), np.float32), np.float32(1.0 / channels)
    for i in range(height):
        for j in range(width):
            total = np.float32(0.0)
            for k in range(channels):
                total += image[i, j, k]
            out[i, j] = total * share
    return out


@njit(cache=True)
def _root(light: Singles, out: Levels) -> None:
    """Write levels of the square root of light (n,)."""
    for i in range(light.size):
        root = np.sqrt(min(max(light[i], np.float32(0.0)), np.float32(1.0)))
        out[i] = np.int32(np.float32(255.0) * root + ONE_HALF)


@njit(cache=True)
def _brightness(image: Levels) -> Levels:
    height, width, _ = image.shape
    out = np.empty((height, width), np.uint8)
    for i in range(height):
        for j in range(width):
            sum_ = GREY[0] * image[i, j, 0] + GREY[1] * image[i, j, 1] + GREY[2] * image[i, j, 2]
            out[i, j] = sum_ >> 8
    return out


@njit(cache=True)
def _smooth(image: Pixels, grey: Levels, out: Pixels, rounding: Real, is_grey: bool) -> None:  # noqa: FBT001 - numba's
    """Write to `out` the pixels of an image (h, w, channels) that lie on edges of its brightness.

    Args:
        image: levels or light.
        grey: (h, w) brightness [levels].
        out: the image's copy.
        rounding: added to what is written: 1/2 where levels are cut to integers, else 0.
        is_grey: True if brightness is the image's only channel.
    """
    height, width, channels = image.shape
    columns = np.empty(width, np.int32)
    for i in range(MARGIN, height - MARGIN):
        for j in columns[: _edges(grey, i, columns)]:
            low, high = _extremes(grey, i, j)
            y, x = _way(grey, i, j)
            inner, outer = _along(grey, i, j, y, x)
            whole = ONE_HALF * (inner + outer)
            is_short = whole < low or whole > high
            if is_grey:
                out[i, j, 0] = (inner if is_short else whole) + rounding
                continue
            for k in range(channels):
                inner, outer = _along(image[..., k], i, j, y, x)
                out[i, j, k] = (inner if is_short else ONE_HALF * (inner + outer)) + rounding


@njit(cache=True)
def _edges(grey: Levels, i: int, out: Ints) -> int:
    """Write the columns of a row in which there is an edge, within the margin, and return their number.

    Without a branch in it each loop is one of vector instructions, or nearly so.
    """
    inner = max(grey.shape[1] - 2, 0)
    nw, ne, m = grey[i - 1, :inner], grey[i - 1, 2:], grey[i, 1 : 1 + inner]
    sw, se = grey[i + 1, :inner], grey[i + 1, 2:]
    is_edge = np.empty(inner, np.uint8)
    for j in range(inner):
        low = min(min(nw[j], ne[j]), min(min(sw[j], se[j]), m[j]))
        high = max(max(nw[j], ne[j]), max(max(sw[j], se[j]), m[j]))
        is_edge[j] = np.uint8(high - low) >= max(LEAST_CONTRAST, np.uint8(high >> SHIFT))
    count = 0
    for j in range(MARGIN - 1, inner + 1 - MARGIN):
        out[count] = j + 1
        count += int(is_edge[j])
    return count


@njit(cache=True, inline="always")
def _extremes(grey: Levels, i: int, j: int) -> tuple[np.int32, np.int32]:
    """The least and the largest level of a pixel and its four neighbours across corners."""
    nw, ne, sw, se = grey[i - 1, j - 1], grey[i - 1, j + 1], grey[i + 1, j - 1], grey[i + 1, j + 1]
    m = grey[i, j]
    low, high = min(min(nw, ne), min(min(sw, se), m)), max(max(nw, ne), max(max(sw, se), m))
    return np.int32(low), np.int32(high)


@njit(cache=True, inline="always")
def _way(grey: Levels, i: int, j: int) -> tuple[Real, Real]:
    """Rows and columns along the edge at a pixel: across the slope, the farther the steeper it is to one side."""
    nw, ne = np.float32(grey[i - 1, j - 1]), np.float32(grey[i - 1, j + 1])
    sw, se = np.float32(grey[i + 1, j - 1]), np.float32(grey[i + 1, j + 1])
    x, y = (sw + se) - (nw + ne), (nw + sw) - (ne + se)
    least = max((nw + ne + sw + se) * np.float32(1.0 / 32.0), LEAST_SLOPE)
    gain = np.float32(1.0) / (min(abs(x), abs(y)) + least)
    return min(max(y * gain, -REACH), REACH), min(max(x * gain, -REACH), REACH)


@njit(cache=True, inline="always")
def _along(image: Pixels, i: int, j: int, y: Real, x: Real) -> tuple[Real, Real]:
    """Means of two levels near a pixel and of two far from it, along an edge."""
    row, column = np.float32(i), np.float32(j)
    near = _at(image, row - ONE_SIXTH * y, column - ONE_SIXTH * x)
    near += _at(image, row + ONE_SIXTH * y, column + ONE_SIXTH * x)
    far = _at(image, row - ONE_HALF * y, column - ONE_HALF * x)
    far += _at(image, row + ONE_HALF * y, column + ONE_HALF * x)
    return ONE_HALF * near, ONE_HALF * far


@njit(cache=True, inline="always")
def _at(image: Pixels, row: Real, column: Real) -> Real:
    """A level between pixels, linear; both are positive."""
    i, j, one = np.uint32(row), np.uint32(column), np.uint32(1)  # not counted from the end
    a, b = row - np.float32(i), column - np.float32(j)
    nw, ne = np.float32(image[i, j]), np.float32(image[i, j + one])
    sw, se = np.float32(image[i + one, j]), np.float32(image[i + one, j + one])
    upper = nw + b * (ne - nw)
    return upper + a * (sw + b * (se - sw) - upper)
