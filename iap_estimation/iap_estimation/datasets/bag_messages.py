# SPDX-License-Identifier: BSD-3-Clause
"""Contents of ROS messages in bags: grey levels of images, cameras of CameraInfo, ``/tf_static`` as a tree."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput, shown
from iap_description.math.so3 import transform
from iap_description.process.extras import cv2
from iap_description.sensors.lens import PLUMB_BOB
from iap_estimation.datasets.deep_images import ALL_LEVELS, DEEP_GREY, DeepLevels
from iap_estimation.frontend.calibration import CameraCalibration
from iap_estimation.navigation.measurements import Gray
from iap_io.bags.encoded_images import decoded
from iap_io.trajectories.messages import xyz
from iap_io.transports.h264 import PacketReader
from iap_io.transports.table import is_depth, unpacked
from iap_io.transports.transport import METRES

UNIT_TOLERANCE = 0.01  # of quaternions in /tf_static


class StreamImage(NamedTuple):
    """An image out of a stream.

    Attributes:
        header: of its packet.
        levels: (h, w) grey levels.
    """

    header: Any
    levels: Gray


class GreyStream:
    """Grey images of the packets of one topic, which come in order.

    Args:
        source: to name in errors.
    """

    def __init__(self, source: str) -> None:
        self._source, self._read = source, PacketReader()

    def __call__(self, packet: Any) -> StreamImage | None:  # noqa: ANN401
        """The image of a FFMPEGPacket; None where that needs a packet that is not there.

        Raises:
            BadInput: no image, or of a kind that is not known.
        """
        try:
            image = self._read(packet)
        except ValueError as error:
            kind = shown(packet.encoding)
            raise BadInput(f"{self._source}: a packet ({kind}) cannot be read: {error}") from error
        if image is None:
            return None
        encoding, pixels = image
        code = ENCODINGS[encoding].to_grey
        levels = pixels if code is None else cv2.cvtColor(pixels, code)
        return StreamImage(packet.header, np.ascontiguousarray(levels))


class Encoding(NamedTuple):
    """Pixels of an encoding of sensor_msgs/Image.

    Attributes:
        depth: bytes of a number.
        channels: numbers of a pixel.
        to_grey: OpenCV's conversion; None where pixels are grey.
    """

    depth: int
    channels: int
    to_grey: int | None = None


_BAYER = {
    "bayer_rggb": cv2.COLOR_BayerRGGB2GRAY,
    "bayer_bggr": cv2.COLOR_BayerBGGR2GRAY,
    "bayer_gbrg": cv2.COLOR_BayerGBRG2GRAY,
    "bayer_grbg": cv2.COLOR_BayerGRBG2GRAY,
}
_COLORS = {
    "rgb": (3, cv2.COLOR_RGB2GRAY),
    "bgr": (3, cv2.COLOR_BGR2GRAY),
    "rgba": (4, cv2.COLOR_RGBA2GRAY),
    "bgra": (4, cv2.COLOR_BGRA2GRAY),
}
ENCODINGS = {
    "mono8": Encoding(1, 1),
    "8UC1": Encoding(1, 1),
    "mono16": Encoding(2, 1),
    "16UC1": Encoding(2, 1),
    "8UC3": Encoding(1, 3, cv2.COLOR_BGR2GRAY),
    **{f"{name}8": Encoding(1, *each) for name, each in _COLORS.items()},
    **{f"{name}16": Encoding(2, *each) for name, each in _COLORS.items()},
    **{f"{name}8": Encoding(1, 1, code) for name, code in _BAYER.items()},
    **{f"{name}16": Encoding(2, 1, code) for name, code in _BAYER.items()},
    **dict.fromkeys(("yuv422", "uyvy"), Encoding(1, 2, cv2.COLOR_YUV2GRAY_UYVY)),
    **dict.fromkeys(("yuv422_yuy2", "yuyv"), Encoding(1, 2, cv2.COLOR_YUV2GRAY_YUY2)),
}


def grey(message: Any, source: str, levels: DeepLevels = ALL_LEVELS) -> Gray:  # noqa: ANN401
    """Grey levels (h, w) of a sensor_msgs/Image or CompressedImage, or of an image out of a stream.

    Args:
        message: it.
        source: to name in errors.
        levels: that are black and white in images of 16 bits.

    Raises:
        BadInput: an encoding that is not known, or no image.
    """
    return levels.grey(deep_grey(message, source))


def deep_grey(message: Any, source: str) -> NDArray[Any]:  # noqa: ANN401
    """The same with as many bits as the message has, 8 or 16."""
    if isinstance(message, StreamImage):
        return message.levels
    if not hasattr(message, "encoding"):
        try:
            return _compressed_grey(message)
        except ValueError as error:
            kind = shown(message.format)
            raise BadInput(
                f"{source}: a compressed image ({kind}) cannot be read: {error}"
            ) from error
    if message.encoding not in ENCODINGS:
        raise BadInput(
            f"{source}: images of encoding {shown(message.encoding)}, which is not known:"
            f" {', '.join(sorted(ENCODINGS))} are"
        )
    encoding = ENCODINGS[message.encoding]
    pixels = _pixels(message, encoding, source)
    if encoding.to_grey is not None:
        pixels = cv2.cvtColor(pixels, encoding.to_grey)
    return np.ascontiguousarray(pixels)


def _compressed_grey(message: Any) -> NDArray[Any]:  # noqa: ANN401
    """Grey levels of 8 or 16 bits, of PNG, JPEG or 16 bits in compressedDepth, as thermal cameras have them.

    Raises:
        ValueError: no image, or depth.
    """
    if not is_depth(message.format):
        return decoded(message.data.data, DEEP_GREY)
    encoding, pixels = unpacked(message.format, message.data.data)
    if encoding == METRES:
        raise ValueError("it is depth, which has no grey levels")
    return pixels


def _pixels(message: Any, encoding: Encoding, source: str) -> NDArray[Any]:  # noqa: ANN401
    """Pixels as they are in a message, (h, w) or (h, w, channels)."""
    height, width, step = message.height, message.width, message.step
    data, row = np.frombuffer(message.data, np.uint8), width * encoding.depth * encoding.channels
    if step < row or data.size < height * step:
        raise BadInput(
            f"{source}: an image of {width}x{height} {message.encoding} has {data.size} bytes"
        )
    rows = np.ascontiguousarray(data[: height * step].reshape(height, step)[:, :row])
    if encoding.depth == 2:
        order = ">u2" if message.is_bigendian else "<u2"
        rows = rows.view(order).astype(np.uint16, copy=False)
    return rows if encoding.channels == 1 else rows.reshape(height, width, encoding.channels)


def camera_of(info: Any, topic: str, source: str) -> tuple[CameraCalibration, Array]:  # noqa: ANN401
    """The camera of a CameraInfo, and the rotation (3, 3) from the camera's frame to that of its images.

    Args:
        info: the message.
        topic: of the images; one whose name says ``rect`` brings rectified ones.
        source: to name in errors.

    Raises:
        BadInput: the camera is not calibrated, or has an unknown lens.
    """
    K, D, P = (_numbers(info, name) for name in "KDP")
    size = int(info.width), int(info.height)
    if "rect" in topic.rsplit("/", 2)[-1] or "image_rect" in topic:
        K = P.reshape(3, 4)[:, :3]
        camera = CameraCalibration.of(size, K, np.zeros(5), model=PLUMB_BOB, source=source)
        return camera, rectified_turn(info)
    camera = CameraCalibration.of(size, K, D, model=info.distortion_model, source=source)
    return camera, np.eye(3)


def shift_of(info: Any) -> float:  # noqa: ANN401
    """P[3] of a CameraInfo: 0 for a left camera, -fx times the baseline for a right one."""
    return float(_numbers(info, "P")[3])


def focal_of(info: Any) -> float:  # noqa: ANN401
    """P[0] of a CameraInfo, the focal length of rectified images [px]."""
    return float(_numbers(info, "P")[0])


def in_left_frame(info: Any, turn: Array) -> Array:  # noqa: ANN401
    """Place (4, 4) of a right camera whose CameraInfo names the left one's frame, in the left one's rectified axes.

    By REP 104 both messages of a pair may have the left camera's frame; P[3] = -fx b holds the baseline b then.

    Args:
        info: the message of the right camera.
        turn: (3, 3) from the right camera's axes to its images', see `camera_of`.
    """
    P, T = _numbers(info, "P"), np.eye(4)
    T[0, 3] = -P[3] / P[0]
    T[:3, :3] = rectified_turn(info) @ turn.T
    return T


def rectified_turn(info: Any) -> Array:  # noqa: ANN401
    """Rotation (3, 3) R of a CameraInfo, from a camera's own axes to those of its rectified images."""
    R = _numbers(info, "R").reshape(3, 3)
    return R if R.any() else np.eye(3)


def _numbers(info: Any, name: str) -> Array:  # noqa: ANN401
    """A field whose name ROS 1 writes in capitals."""
    value = getattr(info, name) if hasattr(info, name) else getattr(info, name.lower())
    return np.array(value, dtype=float)


class FixedFrames:
    """Frames that do not move against each other.

    Args:
        source: to name in errors.
        messages: of type tf2_msgs/TFMessage.
    """

    def __init__(self, source: str, messages: Iterable[Any]) -> None:
        self._source = source
        self._parents: dict[str, tuple[str, Array]] = {}
        for message in messages:
            for each in message.transforms:
                p, q = each.transform.translation, each.transform.rotation
                turn = np.array([q.x, q.y, q.z, q.w])
                length = float(np.linalg.norm(turn))
                if not abs(length - 1.0) < UNIT_TOLERANCE or not np.isfinite(xyz(p)).all():
                    child = shown(each.child_frame_id)
                    raise BadInput(f"{source}: /tf_static has no place and turn for frame {child}")
                turn /= length
                T = transform(np.array(xyz(p)), turn)
                self._parents[_plain(each.child_frame_id)] = _plain(each.header.frame_id), T

    def between(self, base: str, frame: str) -> Array:
        """Place (4, 4) of a frame in a base.

        Raises:
            BadInput: nothing joins them.
        """
        root, T_RB = self._from_root(_plain(base))
        other, T_RF = self._from_root(_plain(frame))
        if root != other:
            raise BadInput(
                f"{self._source}: /tf_static does not say where frame '{frame}' is in '{base}';"
                " give --calibration LEFT RIGHT"
            )
        T_BF: Array = np.linalg.inv(T_RB) @ T_RF
        return T_BF

    def _from_root(self, frame: str) -> tuple[str, Array]:
        """The frame that a frame hangs from in the end, and its place (4, 4) in that."""
        T, passed = np.eye(4), {frame}
        while frame in self._parents:
            frame, T_PF = self._parents[frame]
            if frame in passed:
                raise BadInput(f"{self._source}: /tf_static has a circle through frame '{frame}'")
            passed.add(frame)
            T = T_PF @ T
        return frame, T


def _plain(frame: str) -> str:
    """A frame's name without the slash that ROS 1 allowed before it."""
    return frame.removeprefix("/")
