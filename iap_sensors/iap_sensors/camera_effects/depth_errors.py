# SPDX-License-Identifier: BSD-3-Clause
r"""Errors of depth by triangulation: by two imagers, or by an imager and the projector of structured light.

Depth is z = f b / d by a focal length f, a baseline b and a disparity d. What is measured is

.. math:: \hat d = q \left[ \frac{d(u + n_u, v + n_v) + n_d}{q} \right]

rounded to steps of q pixels, with an error n_d of the disparity, of one place, and with errors n_u, n_v of the place of
the pixel, so that edges are ragged. Near the middle of the range this is

.. math:: \sigma_z = \frac{z^2}{f b} \sqrt{\sigma_d^2 + q^2 / 12}

(Khoshelham and Elberink, "Accuracy and resolution of Kinect depth data for indoor mapping applications", Sensors 12,
2012, for the square law; Barron and Malik, "Intrinsic scene properties from a single RGB-D image", CVPR 2013, for both
errors within the rounding). What the right imager, or the projector, does not see gives nothing: a hole to the left of
near things. Holes are NaN, or filled with what is behind them.
"""

import math
from typing import Annotated, ClassVar

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Singles
from iap_description.config.values import BelowOne, Flag, NonNegative, Positive
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)
from iap_sensors.pixel_noise import BITS, STEP, mixed, normal_table

SAME_SURFACE = 1.0  # disparities beside each other that differ by less are of one surface [pixels]
AROUND = 4  # pixels to both sides within which contrast is looked for


class DepthErrorsSpec(EffectSpec):
    """Errors of a camera's depth.

    Attributes:
        baseline: to the right imager, or the projector [m].
        disparity_noise: standard deviation [pixels].
        step: of disparities [pixels]; 0: any.
        lateral_noise: standard deviation of the place that a pixel measures [pixels].
        max_disparity: what has a larger one is too near [pixels].
        contrast: least difference of levels beside a pixel, over the largest, for a match; 0 with a projector.
        fill: whether holes are filled with what is behind them.
    """

    NEEDS_DEPTH: ClassVar[bool] = True

    baseline: Positive
    disparity_noise: NonNegative = 0.1
    step: NonNegative = 0.0
    lateral_noise: Annotated[NonNegative, Field(le=8.0)] = 0.0
    max_disparity: Positive = 256.0
    contrast: BelowOne = 0.0
    fill: Flag = False

    def check(self, camera: CameraGeometry) -> None:
        """Refuse a camera without depth."""
        if "depth" not in camera.outputs:
            raise ValueError("key 'effects.depth_errors': the camera's outputs have no depth")


@effect_of(DepthErrorsSpec)
class DepthErrors(CameraEffect[DepthErrorsSpec]):
    """Measures depth by triangulation."""

    stage = EffectStage.DEPTH

    def __init__(self, spec: DepthErrorsSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._product = camera.focal[0] * spec.baseline
        self._out = np.empty((camera.height, camera.width), np.float32)

    def apply(self, image: CameraImage) -> None:
        """Write what is measured."""
        if image.depth is None:
            raise RuntimeError("errors of depth need the depth of the image")
        spec, table = self._spec, normal_table()
        noise = (spec.disparity_noise, spec.lateral_noise)
        limits = (spec.step, spec.max_disparity)
        _measure(image.depth, self._product, noise, limits, image.drawn_key(), table, self._out)
        _hide(image.depth, self._product, self._out)
        if spec.contrast > 0.0:
            levels = image.light if image.light.ndim == 2 else image.light[..., 1]
            _need_contrast(np.ascontiguousarray(levels), np.float32(spec.contrast), self._out)
        if spec.fill:
            _fill(self._out)
        image.depth = self._out.copy()


@njit(cache=True)
def _measure(
    depth: Singles,
    product: float,
    noise: tuple[float, float],
    limits: tuple[float, float],
    key: np.uint64,
    table: Singles,
    out: Singles,
) -> None:
    """Write depths (h, w) [m] with noise of disparity and place [pixels], of steps up to a largest disparity."""
    height, width = depth.shape
    step, largest = limits
    mask = np.uint64(table.size - 1)
    state = key
    for i in range(height):
        for j in range(width):
            state += STEP
            z = mixed(state)
            n_d = noise[0] * table[z & mask]
            row = i + int(math.floor(noise[1] * table[(z >> np.uint64(BITS)) & mask] + 0.5))
            column = j + int(math.floor(noise[1] * table[(z >> np.uint64(2 * BITS)) & mask] + 0.5))
            there = depth[min(max(row, 0), height - 1), min(max(column, 0), width - 1)]
            d = product / there + n_d
            if step > 0.0:
                d = step * math.floor(d / step + 0.5)
            if d > largest:
                out[i, j] = np.nan
            else:
                out[i, j] = product / d if d > 0.0 and not math.isinf(there) else np.inf


@njit(cache=True)
def _hide(depth: Singles, product: float, out: Singles) -> None:
    """Take away what the right imager does not see, since something nearer is before it, or its image ends."""
    height, width = depth.shape
    nearest = np.empty(width)  # largest disparity in each column of the right image
    for i in range(height):
        nearest[:] = 0.0
        for j in range(width):
            d = product / depth[i, j]
            beside = product / depth[i, min(j + 1, width - 1)]
            end = j - d + 1.0
            if abs(beside - d) < SAME_SURFACE:  # a slanted surface covers what lies between
                end = max(end, j + 1.0 - beside)
            for column in range(max(int(math.ceil(j - d)), 0), min(int(math.ceil(end)), width)):
                nearest[column] = max(nearest[column], d)
        for j in range(width):
            d = product / depth[i, j]
            column = int(math.floor(j - d + 0.5))
            if column < 0 or nearest[min(column, width - 1)] > d + SAME_SURFACE:
                out[i, j] = np.nan


@njit(cache=True)
def _need_contrast(levels: Singles, least: np.float32, out: Singles) -> None:
    """Take away what looks the same along its row (h, w)."""
    height, width = levels.shape
    for i in range(height):
        for j in range(width):
            low, high = levels[i, j], levels[i, j]
            for k in range(max(j - AROUND, 0), min(j + AROUND + 1, width)):
                low, high = min(low, levels[i, k]), max(high, levels[i, k])
            if high - low < least:
                out[i, j] = np.nan


@njit(cache=True)
def _fill(out: Singles) -> None:
    """Fill holes (h, w) with the farther of the two measurements beside them in their row."""
    height, width = out.shape
    for i in range(height):
        j = 0
        while j < width:
            if not math.isnan(out[i, j]):
                j += 1
                continue
            end = j
            while end < width and math.isnan(out[i, end]):
                end += 1
            left = out[i, j - 1] if j > 0 else np.float32(0.0)
            right = out[i, end] if end < width else np.float32(0.0)
            if j > 0 or end < width:
                out[i, j:end] = max(left, right)
            j = end
