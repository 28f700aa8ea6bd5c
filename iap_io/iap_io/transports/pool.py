# SPDX-License-Identifier: BSD-3-Clause
"""Images that are compressed beside the flight, on threads of their own."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from iap_io.bags.bag_writer import Buffer, RecordingFailed
from iap_io.bags.png import Pixels
from iap_io.transports.transport import FileTransport

THREADS = 2  # while one compresses, which needs no interpreter, the other gets at its next image


class ImagePool:
    """Compresses images in the background; an image is known by its array, which must stay alive."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "images")
        self._begun: dict[tuple[FileTransport, int], Future[Buffer]] = {}

    def begin(self, transport: FileTransport, pixels: Pixels, file: Path | None = None) -> None:
        """Start with an image; `file` gets it as well."""
        work = self._threads.submit(_made, transport, pixels, file)
        self._begun[transport, id(pixels)] = work

    def of(self, transport: FileTransport, pixels: Pixels) -> Buffer:
        """The file of an image that was begun.

        Raises:
            RecordingFailed: its file cannot be written.
        """
        return self._begun[transport, id(pixels)].result()

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


def _made(transport: FileTransport, pixels: Pixels, file: Path | None) -> Buffer:
    data = transport.pack(pixels)
    if file is not None:
        try:
            file.write_bytes(data)
        except OSError as error:
            file.unlink(missing_ok=True)
            raise RecordingFailed(f"{file}: cannot be written: {error.strerror}") from error
    return data
