# SPDX-License-Identifier: BSD-3-Clause
"""Images of 16 bits, of which cameras use few: thermal ones have their picture in some hundred levels of 65536."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.process.extras import cv2
from iap_estimation.navigation.measurements import Gray

DEEP_GREY = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_ANYDEPTH
MAX_LEVEL = 65535  # level of 16 bits
LOOKED_AT = 10  # images that show which levels are used
LOW, HIGH = 0.5, 99.5  # percentiles that become black and white, with a margin
MARGIN = 0.1  # of the levels between them, for what comes later
WIDE = 0.5  # share of all levels, from which on they are used as they are


@dataclass(frozen=True)
class DeepLevels:
    """Levels of 16 bits that become black and white."""

    black: float
    white: float

    def grey(self, pixels: NDArray[Any]) -> Gray:
        """Grey levels of 8 bits; those of images of 8 bits are as they were."""
        if pixels.dtype == np.uint8:
            return pixels
        if self == ALL_LEVELS:
            return (pixels >> 8).astype(np.uint8)
        scaled = (pixels.astype(np.float32) - self.black) * (255.0 / (self.white - self.black))
        return np.clip(scaled + 0.5, 0.0, 255.0).astype(np.uint8)

    @property
    def note(self) -> str | None:
        """Text for the user; None where there is nothing to report."""
        if self == ALL_LEVELS:
            return None
        return f"images of 16 bits that use few: levels {self.black:.0f} to {self.white:.0f} become black to white"


ALL_LEVELS = DeepLevels(0.0, MAX_LEVEL)


def levels_of(images: Iterable[NDArray[Any]]) -> DeepLevels:
    """The levels that some images use; all, where these are of 8 bits or use most."""
    looked_at = [each[::4, ::4].ravel() for each in images]
    deep = [each for each in looked_at if each.dtype != np.uint8]
    if not deep:
        return ALL_LEVELS
    low, high = np.percentile(np.concatenate(deep), [LOW, HIGH])
    span = high - low
    if span > WIDE * MAX_LEVEL or not span > 0.0:
        return ALL_LEVELS
    margin = MARGIN * span
    return DeepLevels(max(0.0, float(low - margin)), min(float(MAX_LEVEL), float(high + margin)))
