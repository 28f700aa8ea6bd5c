# SPDX-License-Identifier: BSD-3-Clause
"""PNG files of images, without loss and as fast as they come."""

import struct
import zlib
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_bringup.records.deflate import Bytes, bound, deflate

Pixels = NDArray[Any]
ROWS = 64  # that share a code
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB = 0, 2
_AVERAGE = 3  # the filter of every row
_ZLIB = b"\x78\x01"  # window of 32 KiB, fastest
_BEFORE = len(_SIGNATURE) + 25 + 8 + len(_ZLIB)  # bytes before the compressed ones


def png(pixels: Pixels) -> memoryview:
    """An image (h, w) of 8 or 16 bit, or (h, w, 3) RGB of 8 bit, as a PNG file's bytes.

    The rest that the mean of the pixels to the left and above leaves, in Huffman codes: see
    `iap_bringup.records.deflate`. The interpreter is free meanwhile.

    Raises:
        ValueError: PNG has no such pixels.
    """
    if pixels.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"PNG holds integers of 8 or 16 bit, not {pixels.dtype}")
    height, width = pixels.shape[:2]
    kind, bits = _RGB if pixels.ndim == 3 else _GREY, 8 * pixels.itemsize
    wide = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">"))
    rows = wide.view(np.uint8).reshape(height, -1)
    rest = np.empty((height, rows.shape[1] + 1), np.uint8)
    _subtract_mean(rows, rows.shape[1] // width, rest)
    file = np.empty(_BEFORE + bound(rest.size, ROWS * rest.shape[1]) + 20, np.uint8)
    size = deflate(rest.reshape(-1), ROWS * rest.shape[1], file[_BEFORE:])
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    before = _SIGNATURE + _chunk(b"IHDR", header) + struct.pack(">I", size + 6) + b"IDAT" + _ZLIB
    file[:_BEFORE] = np.frombuffer(before, np.uint8)
    end = _BEFORE + size
    file[end : end + 4] = _big_endian(zlib.adler32(rest.data))
    file[end + 4 : end + 8] = _big_endian(zlib.crc32(file[_BEFORE - 6 : end + 4].data))
    file[end + 8 : end + 20] = np.frombuffer(_chunk(b"IEND", b""), np.uint8)
    return file[: end + 20].data


def pixels_of(data: bytes | memoryview) -> Pixels:
    """The image in a PNG file's bytes: (h, w), or (h, w, 3) RGB.

    Raises:
        ValueError: it is none.
    """
    import cv2  # not needed by runs without images

    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("not a PNG image")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB) if pixels.ndim == 3 else pixels


@njit(cache=True, nogil=True)
def _subtract_mean(rows: Bytes, step: int, out: Bytes) -> None:
    """Filter rows (h, n) of pixels of `step` bytes into (h, 1 + n): the filter's number, then its rest."""
    height, size = rows.shape
    for y in range(height):
        out[y, 0] = _AVERAGE
        for x in range(size):
            left = int(rows[y, x - step]) if x >= step else 0
            above = int(rows[y - 1, x]) if y > 0 else 0
            out[y, 1 + x] = rows[y, x] - ((left + above) >> 1)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def _big_endian(value: int) -> Bytes:
    return np.frombuffer(struct.pack(">I", value), np.uint8)
