# SPDX-License-Identifier: BSD-3-Clause
"""Images as textures: of sizes that graphics cards take."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.config.text_files import is_file, read_bytes
from iap_description.errors import BadInput
from iap_description.process.extras import cv2

Pixels = NDArray[np.uint8]
LARGEST_FILE = 1 << 29  # bytes
LARGEST_SIDE = 16384  # of an image, which is what cards take [pixels]
SIDE = 1024  # of a texture at most: a scene's lie in one array of the size of the largest


def read_image(path: Path) -> Pixels:
    """An image's file as a texture (h, w, 3) in sRGB.

    Raises:
        ValueError: it is missing, no image, or too large.
    """
    if not is_file(path):
        raise ValueError(f"there is no file {path}")
    data = file_bytes(path)
    check_size(data, str(path))
    image = decoded(data, cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError(f"{path} is not an image that can be read")
    return as_texture(np.ascontiguousarray(image[..., ::-1]))


def file_bytes(path: Path) -> bytes:
    """The bytes of a mesh's or an image's file.

    Raises:
        ValueError: it cannot be read, or is longer than `LARGEST_FILE`.
    """
    try:
        return read_bytes(path, LARGEST_FILE)
    except BadInput as error:
        raise ValueError(str(error)) from error


def decoded(data: bytes, flags: int) -> NDArray[Any] | None:
    """The pixels of an image's bytes; None if they are damaged."""
    try:
        return cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error:
        return None


def check_size(data: bytes, name: str) -> tuple[int, int]:
    """Width and height by an image's header, for which a graphics card has room.

    Raises:
        ValueError: it is too large, or no image.
    """
    from PIL import Image  # only for images that files bring

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tags that are no size
            size = _header(Image, data)
    except Exception as error:  # Pillow raises whatever it meets
        raise ValueError(f"{name} is not an image that can be read") from error
    if max(size) > LARGEST_SIDE:
        raise ValueError(
            f"image {name} has {size[0]} x {size[1]} pixels: graphics cards take {LARGEST_SIDE} a side"
        )
    return size


def _header(library: Any, data: bytes) -> tuple[int, int]:  # noqa: ANN401
    """Width and height of an image, however large it is."""
    largest, library.MAX_IMAGE_PIXELS = library.MAX_IMAGE_PIXELS, None
    try:
        with library.open(io.BytesIO(data)) as image:
            width, height = image.size
    finally:
        library.MAX_IMAGE_PIXELS = largest
    return width, height


def as_texture(image: Pixels) -> Pixels:
    """An image (h, w) or (h, w, n) whose sides are powers of two, `SIDE` at most."""
    height, width = (_power_of_two(n) for n in image.shape[:2])
    if (height, width) == image.shape[:2]:
        return image
    smaller = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(smaller, dtype=np.uint8)


def _power_of_two(n: int) -> int:
    """The power of two next to a number of pixels, `SIDE` at most."""
    return int(min(2 ** round(np.log2(max(n, 1))), SIDE))
