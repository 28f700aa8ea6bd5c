# SPDX-License-Identifier: BSD-3-Clause
"""Images as a stream of H.264, whose packets need those before them since the last key frame."""

import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from iap_description.process.extras import LazyModule
from iap_description.sensors.readings import ImageReading
from iap_io.bags.bag_writer import Buffer
from iap_io.bags.encoded_images import MAX_PIXELS
from iap_io.bags.png import Pixels
from iap_io.transports.transport import BITS_8, COLORS, Packing
from iap_io.wire.cdr import MessageLayout, in_frame
from iap_io.wire.message import Message
from iap_io.wire.other_types import PACKET
from iap_io.wire.stamps import stamp_of_time

if TYPE_CHECKING:
    import av
else:
    av = LazyModule("av", "H.264 needs", "video")

KEY = 1  # of a packet's flags, as libavcodec numbers them
RATE = 30  # images a second, by which x264 says what a decoder has to be able to do [Hz]
EVERY = 10  # images from one key frame to the next, the plugin's default: a new subscriber waits for one
# Of libx264: no image waits for the next one; 640x480 take 3 ms of a core. At a rate factor of 18 smooth images with
# noise of 2 levels are off by 3 levels (RMS), and take 6 kB each; as JPEG of quality 95 they take 110 kB.
OPTIONS = {"preset": "superfast", "tune": "zerolatency", "crf": "18"}
PLANES = "yuv420p"
LUMA_FIRST = (PLANES, "nv12", "gray")  # of which grey images are the first plane
MIDDLE = 128  # of the planes of colour, where there is none
# By a part of the word for an encoding.
CODECS = {"264": "h264", "265": "hevc", "hevc": "hevc"}


@dataclass(frozen=True)
class H264:
    """Packets of ffmpeg_image_transport, in ffmpeg_image_transport_msgs/FFMPEGPacket.

    Its field ``encoding`` has the words codec, planes, encoding before the codec and encoding of the image, such as
    ``h264;yuv420p;bgr8;rgb8``. Grey images are the plane of luma as they are, as that plugin has them (``utils.cpp``,
    ``encode_single_channel_as_color``). An image of odd width or height gets its last column or row twice, and the
    message says its own size.
    """

    suffix: ClassVar = "/ffmpeg"
    msgtype: ClassVar = PACKET

    def takes(self, encoding: str) -> bool:
        """True for images of 8 bits."""
        return encoding in (*COLORS, *BITS_8)

    def writer(self, frame: str, encoding: str, pack: Packing) -> "PacketWriter":  # noqa: ARG002
        """See `iap_io.transports.transport.Transport.writer`; a stream is packed here, one image after the other."""
        return PacketWriter(frame, encoding)


class PacketWriter:
    """Makes the images of one topic packets.

    Args:
        frame: of the images.
        encoding: of the images.

    Raises:
        BadInput: PyAV is not installed.
    """

    def __init__(self, frame: str, encoding: str) -> None:
        self._create = av.CodecContext.create  # who lacks it hears of it before the first image
        self._frame = frame
        words = ("h264", PLANES, "bgr8" if encoding in COLORS else encoding, encoding)
        self._encoding = ";".join(words)
        self._codec: Any = None
        self._number = 0

    def __call__(self, reading: ImageReading) -> list[Buffer]:
        """The packet of an image."""
        planes = _planes(reading.pixels)
        if self._codec is None:
            self._open(planes, reading.pixels.shape[:2])
        planes.pts = self._number
        (packet,) = self._codec.encode(planes)
        self._head.view("pts")[()] = self._number
        self._head.view("flags")[()] = KEY if packet.is_keyframe else 0
        self._number += 1
        head, data = bytearray(self._head.stamped(stamp_of_time(reading.t))), bytes(packet)
        struct.pack_into("<I", head, len(head) - 4, len(data))
        return [bytes(head), data]

    def _open(self, planes: "av.VideoFrame", shape: tuple[int, int]) -> None:
        self._codec = self._create("libx264", "w")
        self._codec.width, self._codec.height = planes.width, planes.height
        self._codec.pix_fmt, self._codec.time_base = PLANES, Fraction(1, RATE)
        self._codec.gop_size, self._codec.max_b_frames = EVERY, 0
        self._codec.thread_count, self._codec.options = 1, OPTIONS
        size = {"height": shape[0], "width": shape[1]}
        sample = in_frame(PACKET, self._frame, encoding=self._encoding, **size)
        self._head = Message(MessageLayout.of(sample))


def _planes(pixels: Pixels) -> "av.VideoFrame":
    """An image as planes of luma and of colour at half its width and height."""
    height, width = pixels.shape[:2]
    odd = ((0, height % 2), (0, width % 2), (0, 0))
    pixels = np.pad(pixels, odd[: pixels.ndim], "edge")
    if pixels.ndim == 3:
        image = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
        return image.reformat(format=PLANES)
    colour = np.full((len(pixels) // 2, pixels.shape[1]), MIDDLE, np.uint8)
    return av.VideoFrame.from_ndarray(np.vstack([pixels, colour]), format=PLANES)


class PacketReader:
    """Gives the images of one topic's packets, which come in order; lost ones are noticed where packets are numbered.

    Packets before the first key frame, and from a loss to the next one, give no image.
    """

    def __init__(self) -> None:
        self._codec: Any = None
        self._last: int | None = None  # number of the packet before, if it had an image
        self._is_numbered = False  # one by one

    def __call__(self, packet: Any) -> tuple[str, Pixels] | None:  # noqa: ANN401 - of rosbags
        """Encoding and pixels (h, w), or (h, w, 3) RGB, of a FFMPEGPacket; None where they need others.

        Raises:
            ValueError: no image, or of a kind that is not known.
            BadInput: PyAV is not installed.
        """
        step = 0 if self._last is None else int(packet.pts) - self._last
        self._is_numbered |= step == 1
        if packet.flags & KEY:
            self._codec = _decoder(packet.encoding)
        elif self._last is None or (self._is_numbered and step != 1):
            self._last = None
            return None
        self._last = None
        image = self._image(packet)
        if image is not None:
            self._last = int(packet.pts)
        return image

    def _image(self, packet: Any) -> tuple[str, Pixels] | None:  # noqa: ANN401
        sent = av.Packet(packet.data.tobytes())
        sent.pts = sent.dts = int(packet.pts)
        try:
            images = self._codec.decode(sent)
        except av.FFmpegError as error:
            raise ValueError(f"a damaged packet of {len(packet.data)} bytes") from error
        if len(images) != 1 or images[0].is_corrupt:
            return None
        if images[0].pts != sent.pts:
            raise ValueError("images come after packets of others (B frames), which is not read")
        return _pixels(images[0], packet)


def _decoder(encoding: str) -> "av.CodecContext":
    """The decoder for the field ``encoding``, whose first word is a codec, or an encoder in old bags."""
    word = encoding.partition(";")[0]
    name = next((codec for part, codec in CODECS.items() if part in word), None)
    if name is None:
        raise ValueError(f"encoding {encoding[:40]} is neither H.264 nor H.265")
    codec = av.CodecContext.create(name, "r")
    codec.thread_count, codec.options = 1, {"max_pixels": str(MAX_PIXELS)}
    codec.flags |= av.codec.context.Flags.low_delay
    return codec


def _pixels(image: "av.VideoFrame", packet: Any) -> tuple[str, Pixels]:  # noqa: ANN401
    """Encoding and pixels of the size that a packet says."""
    words = packet.encoding.split(";")
    encoding = words[3] if len(words) == 4 else "bgr8"
    height, width = int(packet.height), int(packet.width)
    if not (0 < height <= image.height and 0 < width <= image.width):
        raise ValueError(f"{width}x{height} of {image.width}x{image.height} pixels")
    if encoding in COLORS:
        return "rgb8", image.to_ndarray(format="rgb24")[:height, :width]
    if encoding not in BITS_8:
        raise ValueError(f"images of encoding {encoding[:40]}, which is neither grey nor colour")
    if image.format.name in LUMA_FIRST:
        return encoding, image.to_ndarray()[:height, :width]
    return encoding, image.to_ndarray(format="gray")[:height, :width]
