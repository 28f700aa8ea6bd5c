# SPDX-License-Identifier: BSD-3-Clause
"""New corners of an image: where its gradients differ along both axes, spread over the image."""

from typing import Any

import numpy as np

from iap_description.arrays import Array, Booleans, Integers, Pixels
from iap_description.process.extras import cv2
from iap_estimation.frontend.spec import FrontendSpec

PYRAMID_FACTOR = 2  # corners are sought in an image of half the size, in a quarter of the time
BLOCK = 3  # side of the patch whose gradients make a corner [px of it]
REACH = 2  # of the gradients of a block of 3 pixels around its middle [px of it]
LEVELS = 127.5  # grey levels per pixel for which OpenCV says 1 as the root of a corner's strength


def new_corners(
    image: Pixels, occupied: Array, count: int, spec: FrontendSpec, where: Booleans
) -> Array:
    """Up to `count` corners (m, 2) [px] that keep their distance from points (n, 2) that are taken.

    Cells of the grid with fewest points come first; within a cell the strongest corners do.

    Args:
        image: (h, w).
        occupied: (n, 2) [px].
        count: of corners at most.
        spec: see `FrontendSpec`.
        where: (h, w) whether there may be one.
    """
    if count <= 0:
        return np.zeros((0, 2))
    corners = _strongest_first(image, occupied, spec, where)
    cells = _cells(corners, image, spec)
    counts = np.bincount(_cells(occupied, image, spec), minlength=spec.grid[0] * spec.grid[1])
    rank = counts[cells] + _place_among_equals(cells)
    return corners[np.argsort(rank, kind="stable")[:count]]


def _strongest_first(image: Pixels, occupied: Array, spec: FrontendSpec, where: Booleans) -> Array:
    """All corners (m, 2) [px] away from points (n, 2) that are taken."""
    rows, columns = (length // PYRAMID_FACTOR for length in image.shape)
    even = image[: rows * PYRAMID_FACTOR, : columns * PYRAMID_FACTOR]
    small: Any = cv2.resize(even, (columns, rows), interpolation=cv2.INTER_AREA)
    find: Any = cv2.goodFeaturesToTrackWithQuality
    mask, apart = _free(small, occupied, spec), spec.spacing / PYRAMID_FACTOR
    mask[
        ~where[
            : rows * PYRAMID_FACTOR : PYRAMID_FACTOR, : columns * PYRAMID_FACTOR : PYRAMID_FACTOR
        ]
    ] = 0
    corners, strength = find(small, 0, spec.quality, apart, mask, blockSize=BLOCK)
    if corners is None:
        return np.zeros((0, 2))
    enough = strength.ravel() >= (spec.contrast / LEVELS) ** 2
    if spec.eigenvalue_ratio > 0.0:
        enough &= eigenvalue_ratios(small, corners.reshape(-1, 2)) >= spec.eigenvalue_ratio
    middle = 0.5 * (PYRAMID_FACTOR - 1)  # of the pixels that were made one
    return np.asarray(corners.reshape(-1, 2)[enough] * PYRAMID_FACTOR + middle, dtype=float)


def eigenvalue_ratios(image: Pixels, points: Array) -> Array:
    """Weak eigenvalue over strong one of the structure tensor at each point: 1 at a round spot, 0 on an edge.

    The tensor is that of Shi and Tomasi, "Good features to track" (1994), eq. (3). A point whose
    weak eigenvalue is a small share slides along its edge while it is followed.

    Args:
        image: (h, w) grey levels.
        points: (n, 2) whole pixels.

    Returns:
        (n,); 0 where there is no gradient at all.
    """
    reach = np.arange(-REACH, REACH + 1)
    u, v = points.astype(int).T
    rows = np.clip(v[:, None] + reach, 0, image.shape[0] - 1)
    columns = np.clip(u[:, None] + reach, 0, image.shape[1] - 1)
    patches = image[rows[:, :, None], columns[:, None, :]].astype(float)
    across, down = _sobel(patches), _sobel(patches.swapaxes(1, 2)).swapaxes(1, 2)
    xx, yy, xy = (
        (one * other).sum(axis=(1, 2))
        for one, other in ((across, across), (down, down), (across, down))
    )
    middle, half = 0.5 * (xx + yy), np.hypot(0.5 * (xx - yy), xy)
    strong = middle + half
    weak = np.maximum(middle - half, 0.0)
    return np.divide(weak, strong, out=np.zeros(len(points)), where=strong > 0.0)


def _sobel(patches: Array) -> Array:
    """Sobel's gradient along the last axis (n, h - 2, w - 2) of patches (n, h, w)."""
    steps = patches[:, :, 2:] - patches[:, :, :-2]
    return steps[:, :-2] + 2.0 * steps[:, 1:-1] + steps[:, 2:]


def _free(small: Pixels, occupied: Array, spec: FrontendSpec) -> Pixels:
    """Mask of the small image: 255 where new corners may be."""
    mask = np.zeros_like(small)
    edge = -(-spec.border // PYRAMID_FACTOR)
    mask[edge : small.shape[0] - edge, edge : small.shape[1] - edge] = 255
    radius = round(spec.spacing / PYRAMID_FACTOR)
    for u, v in np.round(occupied / PYRAMID_FACTOR).astype(int).tolist():
        cv2.circle(mask, (u, v), radius, 0, cv2.FILLED)
    return mask


def _cells(points: Array, image: Pixels, spec: FrontendSpec) -> Integers:
    """Number (n,) of the cell in which each point (n, 2) is."""
    rows, columns = spec.grid
    share = np.array([columns / image.shape[1], rows / image.shape[0]])
    column, row = np.floor(points * share).astype(np.int64).T
    return np.clip(row, 0, rows - 1) * columns + np.clip(column, 0, columns - 1)


def _place_among_equals(values: Integers) -> Integers:
    """Number of equal values (n,) each value has before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ranks = np.empty_like(values)
    ranks[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    return ranks
