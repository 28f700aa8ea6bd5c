# SPDX-License-Identifier: BSD-3-Clause
"""Grey levels of ROS image messages, and cameras of CameraInfo."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_estimation.frontend.calibration import PLUMB_BOB, Camera
from iap_estimation.navigation.data import Gray

Array = NDArray[np.float64]
BYTES = {
    "mono8": 1,
    "8UC1": 1,
    "rgb8": 3,
    "bgr8": 3,
    "8UC3": 3,
    "rgba8": 4,
    "bgra8": 4,
    "mono16": 2,
    "16UC1": 2,
}
BAYER = {"bayer_rggb8", "bayer_bggr8", "bayer_gbrg8", "bayer_grbg8"}
TO_GREY = {
    "rgb8": cv2.COLOR_RGB2GRAY,
    "bgr8": cv2.COLOR_BGR2GRAY,
    "8UC3": cv2.COLOR_BGR2GRAY,
    "rgba8": cv2.COLOR_RGBA2GRAY,
    "bgra8": cv2.COLOR_BGRA2GRAY,
    "bayer_rggb8": cv2.COLOR_BayerRGGB2GRAY,
    "bayer_bggr8": cv2.COLOR_BayerBGGR2GRAY,
    "bayer_gbrg8": cv2.COLOR_BayerGBRG2GRAY,
    "bayer_grbg8": cv2.COLOR_BayerGRBG2GRAY,
}


def grey(message: Any, source: str) -> Gray:  # noqa: ANN401 - rosbags makes these types at run time
    """Grey levels (h, w) of a sensor_msgs/Image or CompressedImage.

    Raises:
        BadInput: an encoding that is not known, or no image.
    """
    if not hasattr(message, "encoding"):
        data = np.frombuffer(message.data, np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
        if image is None:
            raise BadInput(f"{source}: a compressed image ({message.format}) cannot be read")
        return np.asarray(image, dtype=np.uint8)
    pixels = _pixels(message, source)
    if message.encoding in TO_GREY:
        pixels = cv2.cvtColor(pixels, TO_GREY[message.encoding])
    if pixels.dtype != np.uint8:  # 16 bit
        pixels = (pixels >> 8).astype(np.uint8)
    return np.ascontiguousarray(pixels)


def _pixels(message: Any, source: str) -> Any:  # noqa: ANN401
    """Pixels as they are in a message, (h, w) or (h, w, channels)."""
    encoding, height, width = message.encoding, message.height, message.width
    size = 1 if encoding in BAYER else BYTES.get(encoding)
    if size is None:
        raise BadInput(f"{source}: images of encoding '{encoding}', which is not known")
    data, step = np.frombuffer(message.data, np.uint8), message.step
    if step < width * size or data.size < height * step:
        raise BadInput(f"{source}: an image of {width}x{height} {encoding} has {data.size} bytes")
    rows = data[: height * step].reshape(height, step)[:, : width * size]
    if size == 2:
        return np.ascontiguousarray(rows).view(">u2" if message.is_bigendian else "<u2")
    return rows if size == 1 else rows.reshape(height, width, size)


def camera_of(info: Any, topic: str, source: str) -> tuple[Camera, Array]:  # noqa: ANN401
    """The camera of a CameraInfo, and the rotation (3, 3) from the camera's frame to that of its images.

    Args:
        info: the message.
        topic: of the images; one whose name says ``rect`` brings rectified ones.
        source: to name in errors.

    Raises:
        BadInput: the camera is not calibrated, or has another lens than plumb_bob.
    """
    K, D, R, P = (_numbers(info, name) for name in "KDRP")
    size = int(info.width), int(info.height)
    if "rect" in topic.rsplit("/", 2)[-1] or "image_rect" in topic:
        K = P.reshape(3, 4)[:, :3]
        turn = R.reshape(3, 3) if R.any() else np.eye(3)
        return Camera.of(size, K, np.zeros(5), model=PLUMB_BOB, source=source), turn
    has_lens = D.size > 0 and bool(D.any())
    model = info.distortion_model if has_lens else PLUMB_BOB
    D = D if has_lens else np.zeros(5)
    return Camera.of(size, K, D, model=model, source=source), np.eye(3)


def shift_of(info: Any) -> float:  # noqa: ANN401
    """P[3] of a CameraInfo: 0 for a left camera, -fx times the baseline for a right one."""
    return float(_numbers(info, "P")[3])


def _numbers(info: Any, name: str) -> Array:  # noqa: ANN401
    """A field whose name ROS 1 writes in capitals."""
    value = getattr(info, name) if hasattr(info, name) else getattr(info, name.lower())
    return np.array(value, dtype=float)
