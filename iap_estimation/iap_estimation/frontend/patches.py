# SPDX-License-Identifier: BSD-3-Clause
r"""Alignment of the patch around a corner in later images, under scale, shear and change of brightness; compiled.

Following a patch from image to image by a shift alone loses a little each time, and more where a
plane is seen aslant. So the patch T of the image in which a track was anchored is found again by an
affine motion, a gain and an offset (Shi and Tomasi, "Good features to track", 1994, for the affine
motion as a test of what is followed; Baker and Matthews, "Lucas-Kanade 20 years on", 2004, for the
inverse compositional iteration): with weights w, A and d minimise

.. math::
    \sum_x w(x) \, (I(A x + d) - \alpha T(x) - \beta)^2 .

How alike both are is their weighted correlation. Lengths in A are shares of the patch's half side.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers, Pixels, Singles

SPREAD = 0.6  # standard deviation of the weights, of the patch's half side
ROUNDS = 12  # at most
STILL = 0.02  # a step that ends the search [px]
WEAKEST = 0.1  # added to the squared gradients' sums, so that every patch has an answer
DIMMEST = 0.1  # gain below which a patch is not seen


class Patches(NamedTuple):
    """Patches of n anchored tracks, of side S.

    Attributes:
        levels: (n, S, S) grey levels less their weighted mean.
        gradients: (n, 2, S, S) gradients along x and y [grey levels / px].
        gains: (n, 6, 6) from the weighted sums of differences to steps.
        energy: (n,) weighted sums of squared levels.
        shapes: (n, 2, 2) the affine motions into the last left image.
    """

    levels: Singles
    gradients: Singles
    gains: Array
    energy: Array
    shapes: Array

    def kept(self, which: Booleans) -> "Patches":
        """Some of them (n,)."""
        levels, gradients, gains, energy, shapes = self
        return Patches(levels[which], gradients[which], gains[which], energy[which], shapes[which])

    def with_others(self, where: Integers, others: "Patches") -> "Patches":
        """A copy with others at indices (m,)."""
        copies: list[Any] = [field.copy() for field in self]
        for field, other in zip(copies, others, strict=True):
            field[where] = other
        return Patches(*copies)

    def and_then(self, other: "Patches") -> "Patches":
        """These and others."""
        pairs: Any = zip(self, other, strict=True)
        fields: list[Any] = [np.concatenate(pair) for pair in pairs]
        return Patches(*fields)


def weights_of(side: int) -> Array:
    """(S, S) weights of a patch's pixels, with the sum 1."""
    x = np.linspace(-1.0, 1.0, side) / SPREAD
    w = np.exp(-0.5 * (x[:, None] ** 2 + x**2))
    return np.asarray(w / w.sum())


def cut(image: Pixels, points: Array, weights: Array) -> Patches:
    """The patches (n) around points (n, 2) [px] of an image."""
    n, side = len(points), len(weights)
    patches = Patches(
        np.empty((n, side, side), dtype=np.float32),
        np.empty((n, 2, side, side), dtype=np.float32),
        np.empty((n, 6, 6)),
        np.empty(n),
        np.tile(np.eye(2), (n, 1, 1)),
    )
    _cut(image, points, weights, patches)
    return patches._replace(gains=np.asarray(np.linalg.inv(patches.gains), dtype=float))


def find(image: Pixels, patches: Patches, points: Array, shapes: Array, weights: Array) -> Array:
    """Move points (n, 2) [px] and shapes (n, 2, 2), both in place, to where patches are in an image.

    Returns:
        (n,) how alike they are, at most 1; 0 where a patch is not found or leaves the image.
    """
    alike = np.zeros(len(points))
    _find(image, patches, points, shapes, weights, alike)
    return alike


@njit(cache=True, error_model="numpy")
def _sample(image: Pixels, u: float, v: float) -> float:
    """Grey level between pixels."""
    c, r = int(u), int(v)
    a, b = u - c, v - r
    top = (1.0 - a) * image[r, c] + a * image[r, c + 1]
    bottom = (1.0 - a) * image[r + 1, c] + a * image[r + 1, c + 1]
    return (1.0 - b) * top + b * bottom


@njit(cache=True, error_model="numpy")
def _fits(image: Pixels, u: float, v: float, reach_u: float, reach_v: float) -> bool:
    """True if a patch, and a pixel around it, is inside the image."""
    rows, columns = image.shape
    inside_u = u - reach_u >= 1.0 and u + reach_u < columns - 2.0
    return inside_u and v - reach_v >= 1.0 and v + reach_v < rows - 2.0


@njit(cache=True, error_model="numpy")
def _cut(image: Pixels, points: Array, weights: Array, patches: Patches) -> None:
    """Fill levels, gradients and energy; the gains become the sums (6, 6) that they are the inverses of."""
    levels, gradients, sums, energy, _ = patches
    side = weights.shape[0]
    half = side // 2
    for k in range(points.shape[0]):
        u, v = points[k, 0], points[k, 1]
        if not _fits(image, u, v, half, half):
            levels[k], gradients[k], energy[k] = 0.0, 0.0, 0.0
            sums[k] = np.eye(6)
            continue
        mean = 0.0
        for r in range(side):
            for c in range(side):
                x, y = u + c - half, v + r - half
                levels[k, r, c] = _sample(image, x, y)
                gradients[k, 0, r, c] = 0.5 * (_sample(image, x + 1, y) - _sample(image, x - 1, y))
                gradients[k, 1, r, c] = 0.5 * (_sample(image, x, y + 1) - _sample(image, x, y - 1))
                mean += weights[r, c] * levels[k, r, c]
        energy[k] = _sums(levels[k], gradients[k], mean, weights, sums[k])


@njit(cache=True, error_model="numpy")
def _sums(levels: Singles, gradients: Singles, mean: float, weights: Array, H: Array) -> float:
    """Weighted sums (6, 6) of products of slopes, less what gain and offset take; levels lose their mean."""
    side = weights.shape[0]
    half = side // 2
    energy = 0.0
    H[:] = 0.0
    by_offset, by_gain, j = np.zeros(6), np.zeros(6), np.zeros(6)
    for r in range(side):
        for c in range(side):
            w = weights[r, c]
            levels[r, c] -= mean
            level = levels[r, c]
            energy += w * level * level
            x, y = (c - half) / half, (r - half) / half
            gx, gy = gradients[0, r, c], gradients[1, r, c]
            j[0], j[1], j[2], j[3], j[4], j[5] = gx * x, gx * y, gy * x, gy * y, gx, gy
            for a in range(6):
                by_offset[a] += w * j[a]
                by_gain[a] += w * j[a] * level
                for b in range(a, 6):
                    H[a, b] += w * j[a] * j[b]
    for a in range(6):
        for b in range(a, 6):
            H[a, b] -= by_offset[a] * by_offset[b] + by_gain[a] * by_gain[b] / (energy + 1e-9)
            H[b, a] = H[a, b]
        H[a, a] += WEAKEST
    return energy


@njit(cache=True, error_model="numpy")
def _find(
    image: Pixels, patches: Patches, points: Array, shapes: Array, weights: Array, alike: Array
) -> None:
    observed, sums, step = np.empty(weights.shape), np.empty(6), np.empty(6)
    for k in range(points.shape[0]):
        for _ in range(ROUNDS):
            alike[k] = _compare(image, patches, k, points[k], shapes[k], weights, observed, sums)
            if alike[k] <= 0.0:
                break
            for a in range(6):
                step[a] = 0.0
                for b in range(6):
                    step[a] += patches.gains[k, a, b] * sums[b]
            if _move(step, points[k], shapes[k], weights.shape[0] // 2) < STILL:
                break


@njit(cache=True, error_model="numpy")
def _compare(
    image: Pixels,
    patches: Patches,
    k: int,
    point: Array,
    shape: Array,
    weights: Array,
    observed: Array,
    sums: Array,
) -> float:
    """The correlation of patch k with where it is thought to be, and sums (6,) of slopes times differences."""
    levels, energy = patches.levels[k], patches.energy[k]
    side = weights.shape[0]
    half = side // 2
    u, v = point[0], point[1]
    a, b, c, d = shape[0, 0], shape[0, 1], shape[1, 0], shape[1, 1]
    if not _fits(image, u, v, half * (abs(a) + abs(b)), half * (abs(c) + abs(d))):
        return 0.0
    mean, square, product = 0.0, 0.0, 0.0
    for i in range(side):
        for j in range(side):
            x, y = j - half, i - half
            value = _sample(image, u + a * x + b * y, v + c * x + d * y)
            observed[i, j] = value
            w = weights[i, j]
            mean += w * value
            square += w * value * value
            product += w * value * levels[i, j]
    square -= mean * mean
    gain = product / (energy + 1e-9)
    if gain < DIMMEST or square <= 0.0:
        return 0.0
    _differences(levels, patches.gradients[k], observed, weights, mean, gain, sums)
    return product / math.sqrt(square * energy)


@njit(cache=True, error_model="numpy")
def _differences(
    levels: Singles,
    gradients: Singles,
    observed: Array,
    weights: Array,
    mean: float,
    gain: float,
    sums: Array,
) -> None:
    """Weighted sums (6,) of slopes times what is left of the differences without gain and offset."""
    side = weights.shape[0]
    half = side // 2
    s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(side):
        y = (i - half) / half
        for j in range(side):
            x = (j - half) / half
            e = weights[i, j] * ((observed[i, j] - mean) / gain - levels[i, j])
            ex, ey = e * gradients[0, i, j], e * gradients[1, i, j]
            s0 += ex * x
            s1 += ex * y
            s2 += ey * x
            s3 += ey * y
            s4 += ex
            s5 += ey
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = s0, s1, s2, s3, s4, s5


@njit(cache=True, error_model="numpy")
def _move(step: Array, point: Array, shape: Array, half: int) -> float:
    """A, d become those of the motion after the inverse of the step's; returns how far the middle went [px]."""
    a, b = 1.0 + step[0] / half, step[1] / half
    c, d = step[2] / half, 1.0 + step[3] / half
    size = a * d - b * c
    if size < 0.25:
        size = 0.25  # the step is far too long; what comes of it will not be alike
    p, q, r, s = shape[0, 0], shape[0, 1], shape[1, 0], shape[1, 1]
    shape[0, 0], shape[0, 1] = (p * d - q * c) / size, (q * a - p * b) / size
    shape[1, 0], shape[1, 1] = (r * d - s * c) / size, (s * a - r * b) / size
    du = shape[0, 0] * step[4] + shape[0, 1] * step[5]
    dv = shape[1, 0] * step[4] + shape[1, 1] * step[5]
    point[0] -= du
    point[1] -= dv
    return math.hypot(du, dv)
