# SPDX-License-Identifier: BSD-3-Clause
"""Depth images as the numbers that a policy sees."""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Count, Positive
from iap_description.errors import BadInput

Images = NDArray[np.float32]  # (B, height, width) depths [m], not finite where nothing is measured


class DepthImage(Record):
    """The image of a depth camera or a lidar that a policy sees.

    Attributes:
        preset: of depth cameras or lidars.
        settings: keys of it that are others here, such as ``width``.
        blocks: rows and columns of pixels of which a policy sees the nearest alone.
        inverse: a policy sees this depth over the measured one, at most 1, and 0 where nothing is measured [m]; None:
            it sees the depth over the largest, and 1 where nothing is measured.
    """

    preset: str
    settings: dict[str, Any]
    blocks: tuple[Count, Count] = (1, 1)
    inverse: Positive | None = None


class DepthNumbers:
    """Depth images as numbers from 0 to 1, a number for each block of pixels, the nearest of them.

    A number is the depth over the camera's largest, 1 where nothing is measured; or the least depth of which the task
    speaks over the depth, 0 where nothing is measured.

    Args:
        image: what a task says of them.
        pixels: rows and columns of an image.
        far: largest depth of the camera [m].

    Attributes:
        blocks: rows and columns of pixels of one block.
        shape: rows and columns of blocks.

    Raises:
        BadInput: blocks do not fill the image.
    """

    def __init__(self, image: DepthImage, pixels: tuple[int, int], far: float) -> None:
        rows, columns = pixels
        self.blocks, self._far, self._least = image.blocks, far, image.inverse
        if rows % image.blocks[0] or columns % image.blocks[1]:
            raise BadInput(
                f"key 'depth.blocks': {rows} rows and {columns} columns are no multiples of"
                f" {image.blocks[0]} and {image.blocks[1]}"
            )
        self.shape = (rows // image.blocks[0], columns // image.blocks[1])

    @property
    def size(self) -> int:
        """Numbers of an image."""
        return self.shape[0] * self.shape[1]

    @property
    def term(self) -> tuple[str, int, float]:
        """Name of the numbers, how many, and by what they are divided."""
        if self._least is None:
            return "depth", self.size, 1.0
        return "inverse_depth", self.size, 1.0 / self._least

    def of(self, depth: Images) -> NDArray[np.float32]:
        """(B, numbers) of images, row by row."""
        nearest = np.empty((len(depth), self.size), np.float32)
        _take_nearest(depth, *self.blocks, nearest)
        if self._least is None:
            share = nearest / np.float32(self._far)
            return np.minimum(share, np.float32(1.0))  # errors may exceed the range
        share = np.float32(self._least) / np.maximum(nearest, np.float32(self._least))
        return share.astype(np.float32, copy=False)

    def depths(self, numbers: NDArray[np.float32]) -> Array:
        """Depths (B, numbers) that an image's numbers stand for [m], infinite where nothing is measured."""
        if self._least is None:
            return np.where(numbers < 1.0, numbers.astype(np.float64) * self._far, math.inf)
        with np.errstate(divide="ignore"):
            return self._least / numbers.astype(np.float64)


@njit(cache=True)
def _take_nearest(depth: Images, rows: int, columns: int, out: NDArray[np.float32]) -> None:
    """Write the least depth of each block of every image (B, height, width); infinite where nothing is measured."""
    across = depth.shape[2] // columns
    for b in range(len(out)):
        out[b] = np.inf
        for v in range(depth.shape[1]):
            for u in range(depth.shape[2]):
                k = (v // rows) * across + u // columns
                if (
                    0.0 < depth[b, v, u] < out[b, k]
                ):  # neither NaN nor -infinite, which is too near
                    out[b, k] = depth[b, v, u]
