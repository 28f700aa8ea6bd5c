# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of a kind of compressed image, and what is common to those in which each message is an image's file."""

import struct
from collections.abc import Callable
from typing import Protocol

from iap_description.sensors.readings import ImageReading
from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels
from iap_io.wire.cdr import in_frame, serialised
from iap_io.wire.stamps import put_stamp, stamp_of_time

COMPRESSED = "sensor_msgs/msg/CompressedImage"
COLORS = ("rgb8", "bgr8")  # of 8 bits, which files hold as blue, green and red
BITS_8, LEVELS_16, METRES = ("mono8", "8UC1"), ("16UC1", "mono16"), "32FC1"


class ImageWriter(Protocol):
    """Makes images of one topic its messages, in order."""

    def __call__(self, reading: ImageReading) -> list[Buffer]:
        """A message in CDR, in parts that follow each other, so that pixels are never copied."""


class Transport(Protocol):
    """One of image_transport's kinds of topics beside that of an image."""

    @property
    def suffix(self) -> str:
        """End of the image's topic, such as ``/compressed``."""

    @property
    def msgtype(self) -> str:
        """Type of the messages."""

    def takes(self, encoding: str) -> bool:
        """Whether it holds images of an encoding."""

    def writer(self, frame: str, encoding: str, pack: "Packing") -> ImageWriter:
        """The writer of one topic's messages.

        Args:
            frame: of the images.
            encoding: of the images.
            pack: compresses an image, where each message is a file.
        """


class FileTransport(Transport, Protocol):
    """A kind whose messages are files in sensor_msgs/CompressedImage, each of them readable alone."""

    @property
    def msgtype(self) -> str:
        """Type of the messages."""
        return COMPRESSED

    @property
    def share(self) -> float:
        """About the share of an image's size that it takes, with the noise of a camera."""

    def format(self, encoding: str) -> str:
        """The message's field ``format``."""

    def pack(self, pixels: Pixels) -> Buffer:
        """The message's field ``data``: of an image (h, w), or (h, w, 3) RGB."""

    def unpack(self, encoding: str, data: Buffer) -> Pixels:
        """The way back.

        Raises:
            ValueError: the bytes are no such image.
        """

    def writer(self, frame: str, encoding: str, pack: "Packing") -> "FileWriter":
        """See `Transport.writer`."""
        return FileWriter(self, frame, encoding, pack)


Packing = Callable[[FileTransport, Pixels], Buffer]


class FileWriter:
    """Makes images CompressedImage, whose header and format are serialised once."""

    def __init__(self, transport: FileTransport, frame: str, encoding: str, pack: Packing) -> None:
        self._transport, self._pack = transport, pack
        self._head = bytearray(
            serialised(in_frame(COMPRESSED, frame, format=transport.format(encoding)))
        )

    def __call__(self, reading: ImageReading) -> list[Buffer]:
        """See `ImageWriter`."""
        data = self._pack(self._transport, reading.pixels)
        put_stamp(self._head, stamp_of_time(reading.t))
        struct.pack_into("<I", self._head, len(self._head) - 4, len(data))
        return [bytes(self._head), data]
