# SPDX-License-Identifier: BSD-3-Clause
"""PNG files of images, without loss and as fast as they come."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[Any]


def png(pixels: Pixels) -> memoryview:
    """An image (h, w) of 8 or 16 bit, or (h, w, 3) RGB, as a PNG file's bytes.

    Runs of equal bytes behind the mean filter: half the time of zlib's search for repetitions, and
    smaller, since a camera's noise does not repeat. The interpreter is free meanwhile.

    Raises:
        ValueError: PNG has no such pixels.
    """
    import cv2  # not needed by runs without images

    if pixels.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"PNG holds integers of 8 or 16 bit, not {pixels.dtype}")
    if pixels.ndim == 3:
        pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    settings = [cv2.IMWRITE_PNG_COMPRESSION, 1]
    settings += [cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE]
    if hasattr(cv2, "IMWRITE_PNG_FILTER"):  # OpenCV before 4.12 leaves no choice
        settings += [cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_AVG]
    _, data = cv2.imencode(".png", pixels, settings)
    return data.data


def pixels_of(data: bytes | memoryview) -> Pixels:
    """The image in a PNG file's bytes: (h, w), or (h, w, 3) RGB.

    Raises:
        ValueError: it is none.
    """
    import cv2

    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("not a PNG image")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB) if pixels.ndim == 3 else pixels
