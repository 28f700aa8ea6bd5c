# SPDX-License-Identifier: BSD-3-Clause
"""Images as JPEG, with loss."""

from dataclasses import dataclass
from typing import ClassVar

from iap_description.process.extras import cv2
from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels, pixels_of
from iap_io.transports.compressed_png import fitting
from iap_io.transports.transport import BITS_8, COLORS, FileTransport

QUALITY = 95  # that of compressed_image_transport, if nothing else is said


@dataclass(frozen=True)
class CompressedJpeg(FileTransport):
    """JPEG of compressed_image_transport (``compressed_publisher.cpp``, case JPEG).

    Its format is ``rgb8; jpeg compressed bgr8`` or ``mono8; jpeg compressed mono8``. Images of 16 bits, which that
    plugin cuts to 8, are left to PNG: they are labels.

    Attributes:
        quality: from 1 to 100, as libjpeg scales its tables of quantisation.
    """

    quality: int = QUALITY
    suffix: ClassVar = "/compressed"

    @property
    def share(self) -> float:
        """About the share of an image's size that it takes."""
        return 0.5 if self.quality <= QUALITY else 0.8

    def takes(self, encoding: str) -> bool:
        """True for images of 8 bits."""
        return encoding in (*COLORS, *BITS_8)

    def format(self, encoding: str) -> str:
        """The message's field ``format``."""
        return f"{encoding}; jpeg compressed {'bgr8' if encoding in COLORS else 'mono8'}"

    def pack(self, pixels: Pixels) -> Buffer:
        """The file."""
        if pixels.ndim == 3:
            pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
        _, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, self.quality])
        return data.data

    def unpack(self, encoding: str, data: Buffer) -> Pixels:
        """The image, see `iap_io.transports.transport.FileTransport.unpack`."""
        return fitting(pixels_of(data), encoding)
