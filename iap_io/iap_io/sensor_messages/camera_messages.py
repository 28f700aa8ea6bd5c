# SPDX-License-Identifier: BSD-3-Clause
"""Images and what cameras are like, as ROS messages in CDR."""

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from iap_description.sensors.readings import ImageReading
from iap_description.sensors.sensor_info import ENCODINGS, CameraSensorInfo
from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels
from iap_io.transports.table import taking
from iap_io.transports.transport import Transport
from iap_io.wire.cdr import in_frame, serialised
from iap_io.wire.stamps import put_stamp, stamp_of_time

# Topics and their messages, in parts that follow each other, so that an image's pixels are never copied.
Encoded = Iterator[tuple[str, list[Buffer]]]
IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
WITH_INFO = ("image_raw", "depth/image_raw")  # images with a camera_info beside them
BYTES = {"mono8": 1, "rgb8": 3, "16UC1": 2, "32FC1": 4}  # of a pixel, by encoding


Packing = Callable[[Transport, Pixels], Buffer]


def packed(transport: Transport, pixels: Pixels) -> Buffer:
    """An image as a kind of compressed ones has it, made here and now."""
    return transport.pack(pixels)


class CameraEncoder:
    """sensor_msgs/Image or CompressedImage of every output, and CameraInfo.

    Args:
        meta: the camera.
        transports: an image is of the first that takes its encoding, else as it is.
        pack: compresses an image.
    """

    def __init__(
        self, meta: CameraSensorInfo, *, transports: Sequence[Transport], pack: Packing
    ) -> None:
        self._frame, self._pack = meta.frame, pack
        # topic, kind of compression, topic of the CameraInfo
        self._outputs: dict[str, tuple[str, Transport | None, str | None]] = {}
        self.topics: dict[str, str] = {}
        for encoding, name in image_topics(meta).items():
            transport = taking(transports, encoding)
            published = name if transport is None else f"{name}{transport.suffix}"
            self.topics[published] = IMAGE if transport is None else COMPRESSED
            info = None
            if name.removeprefix(f"{meta.topic}/") in WITH_INFO:
                info = f"{name.removesuffix('image_raw')}camera_info"
                self.topics[info] = CAMERA_INFO
            self._outputs[encoding] = published, transport, info
        self._info = bytearray(serialised(_camera_info(meta)))

    def __call__(self, reading: ImageReading) -> Encoded:
        """The image, and what its camera is like where that belongs to it."""
        stamp, encoding = stamp_of_time(reading.t), reading.encoding
        published, transport, info = self._outputs[encoding]
        if transport is not None:
            data = self._pack(transport, reading.pixels)
            head = bytearray(_compressed_head(self._frame, transport.format(encoding)))
        else:
            data = np.ascontiguousarray(reading.pixels).reshape(-1).view(np.uint8).data
            head = bytearray(_image_head(self._frame, encoding, reading.pixels.shape[:2]))
        put_stamp(head, stamp)
        struct.pack_into("<I", head, len(head) - 4, len(data))
        yield published, [bytes(head), data]
        if info is not None:
            put_stamp(self._info, stamp)
            yield info, [bytes(self._info)]


def image_topics(meta: CameraSensorInfo) -> dict[str, str]:
    """Topics of a camera's images by encoding, without ``/compressed``; its first output is the image as such."""
    others = {
        "mono8": "image_mono",
        "rgb8": "image_color",
        "depth": "depth/image_raw",
        "segmentation": "segmentation/image_raw",
    }
    first = meta.outputs[0]
    return {
        ENCODINGS[output]: f"{meta.topic}/{'image_raw' if output == first else others[output]}"
        for output in meta.outputs
    }


@cache
def _image_head(frame: str, encoding: str, shape: tuple[int, int]) -> bytes:
    """An Image up to its pixels."""
    height, width = shape
    step = width * BYTES[encoding]
    return serialised(
        in_frame(IMAGE, frame, height=height, width=width, encoding=encoding, step=step)
    )


@cache
def _compressed_head(frame: str, text: str) -> bytes:
    """A CompressedImage of a format up to its data."""
    return serialised(in_frame(COMPRESSED, frame, format=text))


def _camera_info(meta: CameraSensorInfo) -> object:
    numbers = {"k": meta.K, "d": meta.D, "r": meta.R, "p": meta.P}
    return in_frame(
        CAMERA_INFO,
        meta.frame,
        height=meta.height,
        width=meta.width,
        distortion_model=meta.distortion_model,
        **{name: np.array(value) for name, value in numbers.items()},
    )
