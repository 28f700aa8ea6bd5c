# SPDX-License-Identifier: BSD-3-Clause
"""Images as textures: of sizes that graphics cards take."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.config.text_files import is_file
from iap_description.process.extras import cv2

Pixels = NDArray[np.uint8]
LARGEST_SIDE = 16384  # of an image, which is what cards take [pixels]
SIDE = 1024  # of a texture at most: a scene's lie in one array of the size of the largest


def read_image(path: Path) -> Pixels:
    """An image's file as a texture (h, w, 3) in sRGB.

    Raises:
        ValueError: it is missing, no image, or too large.
    """
    if not is_file(path):
        raise ValueError(f"there is no file {path}")
    check_size(path.read_bytes(), str(path))
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError(f"{path} is not an image that can be read")
    return as_texture(np.ascontiguousarray(image[..., ::-1]))


def check_size(data: bytes, name: str) -> None:
    """Refuse an image that no graphics card takes, by its header.

    Raises:
        ValueError: it is too large, or no image.
    """
    from PIL import Image  # only for images that files bring

    try:
        size = _header(Image, data)
    except Exception as error:  # Pillow raises whatever it meets
        raise ValueError(f"{name} is not an image that can be read") from error
    if max(size) > LARGEST_SIDE:
        raise ValueError(
            f"image {name} has {size[0]} x {size[1]} pixels: graphics cards take {LARGEST_SIDE} a side"
        )


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
