# SPDX-License-Identifier: BSD-3-Clause
"""Triangles in the pixels of a camera: which one is seen, how far, and at which place of it."""

import math

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import cross, dot, put, vec
from iap_description.math.kernels import scale as scaled

NONE = -1  # in place of a triangle
EDGE = 1e-15  # volume below which a triangle is seen from its edge [m^3]


@njit(cache=True)
def rasterize(
    corners_C: Array, scale: float, near: float, depth: Array, seen: Array, place: Array
) -> None:
    """Find the nearest triangle in every pixel.

    A pixel's ray is d = (x, y, -1). With the corners as columns of M, M w = d gives the place on the triangle in
    homogeneous coordinates: it is hit where all w >= 0, at the depth 1 / sum(w) (Olano and Greer, Triangle scan
    conversion using 2D homogeneous coordinates, 1997, section 4). So no triangle has to be clipped.

    Args:
        corners_C: (n, 3, 3) corners of the triangles in camera axes: x right, y up, looking along -z [m].
        scale: pixels for a unit of x at depth 1.
        near: least depth that is seen [m].
        depth: (h, w) along the view [m]; what is nearer than it is written.
        seen: (h, w) numbers of triangles.
        place: (h, w, 3) shares of the corners, which sum up to 1.
    """
    height, width = depth.shape
    for n in range(len(corners_C)):
        a, b, c = vec(corners_C[n, 0]), vec(corners_C[n, 1]), vec(corners_C[n, 2])
        determinant = dot(a, cross(b, c))
        if (
            abs(determinant) < EDGE or min(a[2], b[2], c[2]) > -near
        ):  # seen from its edge, or behind the camera
            continue
        u, v, w = (
            cross(b, c),
            cross(c, a),
            cross(a, b),
        )  # rows of the inverse of M, times its determinant
        left, right, top, bottom = _pixels(corners_C[n], scale, near, width, height)
        for i in range(top, bottom + 1):
            y = (0.5 * height - 0.5 - i) / scale
            for j in range(left, right + 1):
                ray = ((j + 0.5 - 0.5 * width) / scale, y, -1.0)
                at = (
                    dot(u, ray) / determinant,
                    dot(v, ray) / determinant,
                    dot(w, ray) / determinant,
                )
                total = at[0] + at[1] + at[2]
                if min(at) < 0.0 or total <= 0.0 or not near <= 1.0 / total < depth[i, j]:
                    continue
                depth[i, j], seen[i, j] = 1.0 / total, n
                put(place[i, j], scaled(1.0 / total, at))


@njit(cache=True)
def _pixels(
    corners_C: Array, scale: float, near: float, width: int, height: int
) -> tuple[int, int, int, int]:
    """First and last column and row of the pixels that may see a triangle: all where it comes too near."""
    x_low, x_high, y_low, y_high = float(width), -1.0, float(height), -1.0
    for k in range(3):
        z = -corners_C[k, 2]
        if z < near:
            return 0, width - 1, 0, height - 1
        x = corners_C[k, 0] / z * scale + 0.5 * width - 0.5
        y = 0.5 * height - 0.5 - corners_C[k, 1] / z * scale
        x_low, x_high = min(x_low, x), max(x_high, x)
        y_low, y_high = min(y_low, y), max(y_high, y)
    left, right = math.ceil(max(x_low, 0.0)), math.floor(min(x_high, width - 1.0))
    return left, right, math.ceil(max(y_low, 0.0)), math.floor(min(y_high, height - 1.0))
