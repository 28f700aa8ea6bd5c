# SPDX-License-Identifier: BSD-3-Clause
"""PNG files of images, without loss and as fast as they come, also on threads of their own."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.process.extras import cv2
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.bags.encoded_images import decoded

Pixels = NDArray[Any]
THREADS = 2  # while one compresses, which needs no interpreter, the other gets at its next image


def png(pixels: Pixels) -> memoryview:
    """An image (h, w) of 8 or 16 bit, or (h, w, 3) RGB, as a PNG file's bytes.

    OpenCV's own settings (runs of equal bytes behind the filter "sub") are the best that were measured: 6 ms for a
    640x480 image with 1.5 of noise, to 56 % of its size. The interpreter is free meanwhile.

    Raises:
        ValueError: PNG has no such pixels.
    """
    if pixels.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"PNG holds integers of 8 or 16 bit, not {pixels.dtype}")
    if pixels.ndim == 3:
        pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".png", pixels)
    return data.data


def pixels_of(data: bytes | memoryview) -> Pixels:
    """The image in a PNG file's bytes: (h, w), or (h, w, 3) RGB.

    Raises:
        ValueError: it is none.
    """
    pixels = decoded(data, cv2.IMREAD_UNCHANGED)
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB) if pixels.ndim == 3 else pixels


class PngPool:
    """Compresses images in the background; an image is known by its array, which must stay alive."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "png")
        self._begun: dict[int, Future[memoryview]] = {}

    def begin(self, pixels: Pixels, file: Path | None) -> None:
        """Start with an image; `file` gets it as well."""
        self._begun[id(pixels)] = self._threads.submit(_made, pixels, file)

    def of(self, pixels: Pixels) -> memoryview:
        """The PNG of an image that was begun.

        Raises:
            RecordingFailed: its file cannot be written.
        """
        return self._begun[id(pixels)].result()

    def finish(self) -> None:
        """Wait for all images.

        Raises:
            RecordingFailed: a file cannot be written.
        """
        begun, self._begun = self._begun, {}
        for image in begun.values():
            image.result()

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()


def _made(pixels: Pixels, file: Path | None) -> memoryview:
    data = png(pixels)
    if file is not None:
        try:
            file.write_bytes(data)
        except OSError as error:
            file.unlink(missing_ok=True)
            raise RecordingFailed(f"{file}: cannot be written: {error.strerror}") from error
    return data
