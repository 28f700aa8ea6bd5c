# SPDX-License-Identifier: BSD-3-Clause
r"""White balance and colour correction, on digital numbers over their black level.

.. math:: y = M \, \mathrm{diag}(w) \, (x - x_{black})

Automatic gains make the means of red and blue those of green, the grey world (Buchsbaum, "A spatial processor model for
object colour perception", J. Franklin Institute 310, 1980). Gains follow the image that they are for.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numba import njit

from iap_description.arrays import Array, Singles
from iap_description.config.record import Flag, NonNegative, Vec3
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
)

STEP = 4  # rows and columns between pixels that are metered
LEAST_MEAN = 1e-4  # that is distinguished from darkness


class WhiteBalanceSpec(EffectSpec):
    """White balance.

    Attributes:
        gains: of red, green and blue.
        automatic: whether gains make the image grey in the mean, on top.
        matrix: from balanced colours to the image's, by row.
    """

    NEEDS_COLOR: ClassVar[bool] = True

    gains: tuple[NonNegative, NonNegative, NonNegative] = (1.0, 1.0, 1.0)
    automatic: Flag = False
    matrix: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:  # noqa: ARG002
        """Effects of this description in a camera."""
        return (WhiteBalance(self),)


class WhiteBalance(CameraEffect):
    """Balances colours."""

    stage = EffectStage.PROCESSING

    def __init__(self, spec: WhiteBalanceSpec) -> None:
        self._spec = spec

    def apply(self, image: CameraImage) -> None:
        """Take the black level away, and multiply colours."""
        gains = np.array(self._spec.gains)
        if self._spec.automatic:
            means = np.maximum(_means(image.light) * gains - image.black * gains, LEAST_MEAN)
            gains = gains * means[1] / means
        mixed = np.array(self._spec.matrix) * gains / (1.0 - image.black)
        _mix(image.light, mixed.astype(np.float32), np.float32(image.black))
        image.black = 0.0


@njit(cache=True)
def _means(image: Singles) -> Array:
    """Means (3,) of some pixels of an image (h, w, 3)."""
    total, count = np.zeros(3), 0
    for i in range(0, image.shape[0], STEP):
        for j in range(0, image.shape[1], STEP):
            for k in range(3):
                total[k] += image[i, j, k]
            count += 1
    return total / count


@njit(cache=True)
def _mix(image: Singles, matrix: Singles, black: np.float32) -> None:
    """Multiply the colours of an image (h, w, 3), over black, by a matrix (3, 3)."""
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            r, g, b = image[i, j, 0] - black, image[i, j, 1] - black, image[i, j, 2] - black
            for k in range(3):
                image[i, j, k] = matrix[k, 0] * r + matrix[k, 1] * g + matrix[k, 2] * b
