# SPDX-License-Identifier: BSD-3-Clause
"""Files of loggers that reserve room, whose rest is zeros."""

import os
from pathlib import Path

ZEROS = bytes(
    1 << 20
)  # as many as are read at once; comparing takes a tenth of the time of stripping
MIN_PADDING = 3 + 2**16  # bytes of zeros that no message has
KEPT = 1024  # bytes of them, which may belong to the last message
NOTE = "nothing but zeros at the end of the file, which are left out"


def without_zeros(path: Path) -> tuple[bytes, bool]:
    """The bytes of a file, and whether zeros at its end are left out."""
    with path.open("rb") as file:
        size = end = file.seek(0, os.SEEK_END)
        piece = b""
        while end and not piece:
            begin = max(0, end - len(ZEROS))
            file.seek(begin)
            piece = file.read(end - begin)
            piece = b"" if piece == ZEROS else piece.rstrip(b"\0")
            end = begin + len(piece)
        file.seek(0)
        is_padded = size - end > MIN_PADDING
        return file.read(end + KEPT if is_padded else size), is_padded
