# SPDX-License-Identifier: BSD-3-Clause
"""PNG and JPEG files as pixels, after a look at their sizes: a kilobyte can say that it is a thousand megapixels."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.process.extras import cv2

MAX_PIXELS = 1 << 25
MAX_BYTES = 1 << 27  # of a file
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # JPEG's markers of a frame, which has a size
_ALONE = {0x01, *range(0xD0, 0xDA)}  # those without a length


def read_image(path: Path, flags: int) -> NDArray[Any]:
    """The image in a file, see `decoded`.

    Raises:
        ValueError: there is none, or none that can be read.
    """
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise ValueError(f"no file of at most {MAX_BYTES >> 20} MiB")
        return decoded(path.read_bytes(), flags)
    except OSError as error:
        raise ValueError(str(error.strerror)) from error


def decoded(data: bytes | memoryview | NDArray[np.uint8], flags: int) -> NDArray[Any]:
    """The image in a file's bytes: (h, w), or (h, w, channels) as OpenCV orders them.

    Args:
        data: the file.
        flags: of ``cv2.imdecode``.

    Raises:
        ValueError: it is neither PNG nor JPEG, damaged, or has more than `MAX_PIXELS`.
    """
    width, height = _size(bytes(data[: 1 << 20]))
    if not 0 < width * height <= MAX_PIXELS:
        raise ValueError(f"an image of {width}x{height} pixels, at most {MAX_PIXELS} can be read")
    if bytes(data[: len(_PNG)]) == _PNG and not _is_whole_png(data):
        raise ValueError("a damaged image: it is cut short")
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise ValueError(f"a damaged image: {error}") from error
    if pixels is None:
        raise ValueError("a damaged image")
    return pixels


def _is_whole_png(data: bytes | memoryview | NDArray[np.uint8]) -> bool:
    """True if all chunks of a PNG are there: OpenCV makes room for what a chunk says that it holds."""
    at = len(_PNG)
    while at + 12 <= len(data):
        head = bytes(data[at : at + 8])
        if head.endswith(b"IEND"):
            return True
        at += 12 + int.from_bytes(head[:4], "big")
    return False


def _size(head: bytes) -> tuple[int, int]:
    """Width and height as the beginning of a file says."""
    if head.startswith(_PNG) and head[12:16] == b"IHDR" and len(head) >= 24:
        width, height = struct.unpack_from(">II", head, 16)
        return int(width), int(height)
    at = len(_JPEG) if head.startswith(_JPEG) else len(head)
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return int(width), int(height)
        if marker == 0xFF:  # filling
            at += 1
        else:
            at += 2 if marker in _ALONE else 2 + struct.unpack_from(">H", head, at + 2)[0]
    raise ValueError("neither a PNG nor a JPEG image")
