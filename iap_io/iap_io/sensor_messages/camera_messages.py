# SPDX-License-Identifier: BSD-3-Clause
"""Images and what cameras are like, as ROS messages in CDR."""

import struct
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from iap_description.sensors.readings import ImageReading
from iap_description.sensors.sensor_info import ENCODINGS, CameraSensorInfo
from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels
from iap_io.transports.table import taking
from iap_io.transports.transport import FileTransport, ImageWriter, Packing, Transport
from iap_io.wire.cdr import in_frame, serialised
from iap_io.wire.stamps import put_stamp, stamp_of_time

# Topics and their messages, in parts that follow each other, so that an image's pixels are never copied.
Encoded = Iterator[tuple[str, list[Buffer]]]
IMAGE = "sensor_msgs/msg/Image"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
WITH_INFO = ("image_raw", "depth/image_raw")  # images with a camera_info beside them
BYTES = {"mono8": 1, "rgb8": 3, "16UC1": 2, "32FC1": 4}  # of a pixel, by encoding


def packed(transport: FileTransport, pixels: Pixels) -> Buffer:
    """An image as a kind of compressed ones has it, made here and now."""
    return transport.pack(pixels)


class CameraEncoder:
    """Messages of every output, as sensor_msgs/Image or compressed, and CameraInfo.

    Args:
        meta: the camera.
        transports: an image is of the first that takes its encoding, else as it is.
        pack: compresses an image.
    """

    def __init__(
        self, meta: CameraSensorInfo, *, transports: Sequence[Transport], pack: Packing
    ) -> None:
        # topic, what makes its messages, topic of the CameraInfo
        self._outputs: dict[str, tuple[str, ImageWriter, str | None]] = {}
        self.topics: dict[str, str] = {}
        for encoding, name in image_topics(meta).items():
            transport = taking(transports, encoding)
            published = name if transport is None else f"{name}{transport.suffix}"
            self.topics[published] = IMAGE if transport is None else transport.msgtype
            write: ImageWriter = RawWriter(meta.frame)
            if transport is not None:
                write = transport.writer(meta.frame, encoding, pack)
            info = None
            if name.removeprefix(f"{meta.topic}/") in WITH_INFO:
                info = f"{name.removesuffix('image_raw')}camera_info"
                self.topics[info] = CAMERA_INFO
            self._outputs[encoding] = published, write, info
        self._info = bytearray(serialised(_camera_info(meta)))

    def __call__(self, reading: ImageReading) -> Encoded:
        """The image, and what its camera is like where that belongs to it."""
        published, write, info = self._outputs[reading.encoding]
        yield published, write(reading)
        if info is not None:
            put_stamp(self._info, stamp_of_time(reading.t))
            yield info, [bytes(self._info)]


class RawWriter:
    """Makes images of one topic sensor_msgs/Image.

    Args:
        frame: of the images.
    """

    def __init__(self, frame: str) -> None:
        self._frame = frame

    def __call__(self, reading: ImageReading) -> list[Buffer]:
        """See `iap_io.transports.transport.ImageWriter`."""
        data = np.ascontiguousarray(reading.pixels).reshape(-1).view(np.uint8).data
        head = bytearray(_image_head(self._frame, reading.encoding, reading.pixels.shape[:2]))
        put_stamp(head, stamp_of_time(reading.t))
        struct.pack_into("<I", head, len(head) - 4, len(data))
        return [bytes(head), data]


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
