# SPDX-License-Identifier: BSD-3-Clause
"""Images and labels as PNG, without loss."""

from dataclasses import dataclass
from typing import ClassVar

from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels, pixels_of, png
from iap_io.transports.transport import BITS_8, COLORS, LEVELS_16, FileTransport


@dataclass(frozen=True)
class CompressedPng(FileTransport):
    """PNG of compressed_image_transport (``compressed_publisher.cpp``, case PNG).

    Its format is ``rgb8; png compressed bgr8``, and ``mono8; png compressed`` and a blank of what has no colour.
    """

    suffix: ClassVar = "/compressed"
    share: ClassVar = 0.65

    def takes(self, encoding: str) -> bool:
        """True for integers of 8 or 16 bits."""
        return encoding in (*COLORS, *BITS_8, *LEVELS_16)

    def format(self, encoding: str) -> str:
        """The message's field ``format``."""
        return f"{encoding}; png compressed {'bgr8' if encoding in COLORS else ''}"

    def pack(self, pixels: Pixels) -> Buffer:
        """The file."""
        return png(pixels)

    def unpack(self, encoding: str, data: Buffer) -> Pixels:
        """The image, see `iap_io.transports.transport.FileTransport.unpack`."""
        return fitting(pixels_of(data), encoding)


def fitting(pixels: Pixels, encoding: str) -> Pixels:
    """The pixels of a file, where they are such as an encoding has.

    Raises:
        ValueError: they have other numbers or channels.
    """
    bits = 16 if encoding in LEVELS_16 else 8
    if pixels.dtype.itemsize * 8 != bits or (pixels.ndim == 3) != (encoding in COLORS):
        channels = pixels.shape[2] if pixels.ndim == 3 else 1
        raise ValueError(f"encoding {encoding} with a file of {channels} x {pixels.dtype}")
    return pixels
