# SPDX-License-Identifier: BSD-3-Clause
r"""Colours of a camera: the mosaic of filters on its image sensor, and the processing that makes up and balances them.

Bayer, "Color imaging array", US patent 3 971 065, 1976: each pixel sees one colour. The others are made up by the mean
of neighbours (`bilinear`) or along edges (`edge_aware`), by OpenCV.

White balance and colour correction work on digital numbers over their black level:

.. math:: y = M \, \mathrm{diag}(w) \, (x - x_{black})

Automatic gains make the means of red and blue those of green, the grey world (Buchsbaum, "A spatial processor model for
object colour perception", J. Franklin Institute 310, 1980). Gains follow the image that they are for.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from iap_description.arrays import Array, Integers, Singles
from iap_description.config.values import Flag, NonNegative, Vec3
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)

FULL_SCALE = np.float32(65535.0)
Pattern = Literal["RGGB", "BGGR", "GRBG", "GBRG"]
Response = Annotated[float, Field(strict=True, gt=0.0, le=1.0)]
STEP = 4  # rows and columns between pixels that are metered
LEAST_MEAN = 1e-4  # that is distinguished from darkness


class BayerSpec(EffectSpec):
    """A mosaic of colour filters.

    Attributes:
        pattern: colours of the first two rows' first two pixels.
        response: of red, green and blue pixels to white light, over the largest.
        demosaic: how colours are made up.
    """

    NEEDS_COLOR: ClassVar[bool] = True

    pattern: Pattern = "RGGB"
    response: tuple[Response, Response, Response] = (1.0, 1.0, 1.0)
    demosaic: Literal["bilinear", "edge_aware"] = "bilinear"


@effect_of(BayerSpec)
class Mosaic(CameraEffect[BayerSpec]):
    """Leaves each pixel the light of its own colour."""

    stage = EffectStage.MOSAIC

    def __init__(self, spec: BayerSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._raw = np.empty((camera.height, camera.width), np.float32)
        self._channels = np.array(["RGB".index(each) for each in spec.pattern]).reshape(2, 2)
        self._response = np.array(spec.response, np.float32)

    def apply(self, image: CameraImage) -> None:
        """Take one colour of each pixel."""
        _sample(image.light, self._channels, self._response, self._raw)
        image.light = self._raw


@effect_of(BayerSpec)
class Demosaic(CameraEffect[BayerSpec]):
    """Makes up the colours that pixels do not see."""

    stage = EffectStage.PROCESSING

    def __init__(self, spec: BayerSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        edges = "_EA" if spec.demosaic == "edge_aware" else ""
        self._code = f"COLOR_Bayer{spec.pattern}2RGB{edges}"
        size = camera.height, camera.width
        self._numbers = np.empty(size, np.uint16)
        self._colors = np.empty((*size, 3), np.uint16)
        self._light = np.empty((*size, 3), np.float32)

    def apply(self, image: CameraImage) -> None:
        """Make up colours."""
        _to_numbers(image.light.reshape(-1), self._numbers.reshape(-1))
        cv2.cvtColor(self._numbers, getattr(cv2, self._code), dst=self._colors)
        _to_shares(self._colors.reshape(-1), self._light.reshape(-1))
        image.light = self._light


@njit(cache=True)
def _sample(light: Singles, channels: Integers, response: Singles, out: Singles) -> None:
    """Write the colour of each pixel (h, w) of light (h, w, 3)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            k = channels[i & 1, j & 1]
            out[i, j] = light[i, j, k] * response[k]


@njit(cache=True)
def _to_numbers(shares: Singles, out: NDArray[np.uint16]) -> None:
    zero, one, half = np.float32(0.0), np.float32(1.0), np.float32(0.5)
    for i in range(shares.size):
        out[i] = np.uint16(min(max(shares[i], zero), one) * FULL_SCALE + half)


@njit(cache=True)
def _to_shares(numbers: NDArray[np.uint16], out: Singles) -> None:
    unit = np.float32(1.0) / FULL_SCALE
    for i in range(numbers.size):
        out[i] = np.float32(numbers[i]) * unit


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


@effect_of(WhiteBalanceSpec)
class WhiteBalance(CameraEffect[WhiteBalanceSpec]):
    """Balances colours."""

    stage = EffectStage.PROCESSING

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
