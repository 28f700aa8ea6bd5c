# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of a kind of compressed image."""

from typing import Protocol

from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels

COLORS = ("rgb8", "bgr8")  # of 8 bits, which files hold as blue, green and red
BITS_8, LEVELS_16, METRES = ("mono8", "8UC1"), ("16UC1", "mono16"), "32FC1"


class Transport(Protocol):
    """One of image_transport's kinds of sensor_msgs/CompressedImage."""

    @property
    def suffix(self) -> str:
        """End of the image's topic, such as ``/compressed``."""

    @property
    def share(self) -> float:
        """About the share of an image's size that it takes, with the noise of a camera."""

    def takes(self, encoding: str) -> bool:
        """Whether it holds images of an encoding."""

    def format(self, encoding: str) -> str:
        """The message's field ``format``."""

    def pack(self, pixels: Pixels) -> Buffer:
        """The message's field ``data``: of an image (h, w), or (h, w, 3) RGB."""

    def unpack(self, encoding: str, data: Buffer) -> Pixels:
        """The way back.

        Raises:
            ValueError: the bytes are no such image.
        """
