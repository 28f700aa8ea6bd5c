# SPDX-License-Identifier: BSD-3-Clause
"""A text file that only grows, and holds whole pieces only, also on a full disk."""

import os
from pathlib import Path

from iap_io.bags.bag_writer import RecordingFailed, put

_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR


class GrowingFile:
    """A new file.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._file = os.open(path, _FLAGS, 0o644)

    def append(self, text: str) -> None:
        """Write a piece at the end, whole or not at all.

        Raises:
            RecordingFailed: the disk is full or cannot be written.
        """
        data = text.encode()
        try:
            put(self._file, self._size, data)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise RecordingFailed(f"{self._path}: cannot be written: {error.strerror}") from error
        self._size += len(data)

    def close(self) -> None:
        """Let go of the file; may be called again."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
