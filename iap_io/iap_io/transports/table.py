# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of compressed images by the key ``compression``, and the way back by a message's ``format``."""

from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels, pixels_of
from iap_io.transports.compressed_depth import WORD, CompressedDepth
from iap_io.transports.compressed_jpeg import QUALITY, CompressedJpeg
from iap_io.transports.compressed_png import CompressedPng
from iap_io.transports.h264 import H264
from iap_io.transports.transport import COLORS, LEVELS_16, METRES, FileTransport, Transport

Compression = Literal["none", "png", "jpeg"]
COMPRESSIONS: tuple[Compression, ...] = get_args(Compression)
Offer = Literal["png", "jpeg", "h264", "none"]
OFFERS: tuple[Offer, ...] = get_args(Offer)
Kind = TypeVar("Kind", bound=Transport)
PNG, DEPTH = CompressedPng(), CompressedDepth()


def transports_of(compression: str, quality: int = QUALITY) -> tuple[FileTransport, ...]:
    """What a recording has in place of images: the first that takes an image's encoding.

    Args:
        compression: ``png`` is without loss, so that depth stays as it is; ``jpeg`` is with loss, and labels are PNG.
        quality: of JPEG.
    """
    kinds: dict[str, tuple[FileTransport, ...]] = {
        "none": (),
        "png": (PNG,),
        "jpeg": (CompressedJpeg(quality), PNG, DEPTH),
    }
    return kinds[compression]


def offered(compression: str, quality: int = QUALITY) -> tuple[Transport, ...]:
    """Kinds that a node offers beside images: a recording's, and compressed depth with each; or a stream of H.264."""
    kinds: dict[str, tuple[Transport, ...]] = {
        "none": (),
        "png": (PNG, DEPTH),
        "jpeg": (CompressedJpeg(quality), PNG, DEPTH),
        "h264": (H264(), PNG, DEPTH),
    }
    return kinds[compression]


def taking(transports: Sequence[Kind], encoding: str) -> Kind | None:
    """The first that takes an encoding; None where the image stays as it is."""
    return next((each for each in transports if each.takes(encoding)), None)


def is_depth(text: str) -> bool:
    """True if a ``format`` is that of compressed_depth_image_transport; old ones have the encoding alone."""
    encoding, _, kind = text.partition(";")
    return WORD in kind or (not kind and encoding in (METRES, *LEVELS_16))


def unpacked(text: str, data: Buffer) -> tuple[str, Pixels]:
    """Encoding and pixels (h, w), or (h, w, 3) RGB, of a sensor_msgs/CompressedImage.

    Args:
        text: its field ``format``, such as ``rgb8; jpeg compressed bgr8`` or ``32FC1; compressedDepth png``.
        data: its field ``data``.

    Raises:
        ValueError: no image, or of a kind that is not known.
    """
    encoding, _, kind = text.partition(";")
    if is_depth(text):
        if kind.split()[1:] not in ([], ["png"]):
            raise ValueError(f"{kind.strip()[:40]} cannot be read; publish it with format png")
        return encoding, DEPTH.unpack(encoding, data)
    if not kind:  # as drivers of cameras write it: the kind of file alone
        pixels = pixels_of(data)
        return ("rgb8" if pixels.ndim == 3 else "mono8"), pixels
    if not PNG.takes(encoding):
        raise ValueError(f"encoding {encoding[:40]} is none that PNG or JPEG can hold")
    return ("rgb8" if encoding in COLORS else encoding), PNG.unpack(encoding, data)
