# SPDX-License-Identifier: BSD-3-Clause
"""Images become PNG on threads of their own; their files are written there, too."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from iap_io.bags.bag_writer import RecordingFailed
from iap_io.bags.png import Pixels, png

THREADS = 2  # while one compresses, which needs no interpreter, the other gets at its next image


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
