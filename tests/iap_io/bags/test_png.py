# SPDX-License-Identifier: BSD-3-Clause
"""PNG without loss: readers get every pixel back, whatever the image."""

import numpy as np
import pytest

from iap_io.bags.png import pixels_of, png


def _images() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x, y = np.meshgrid(np.arange(93), np.arange(71))
    waves = 128 + 90 * np.sin(x / 7) * np.cos(y / 11)
    return {
        "one pixel": np.full((1, 1), 7, np.uint8),
        "one colour": np.full((71, 93), 200, np.uint8),
        "one row": rng.integers(256, size=(1, 500)).astype(np.uint8),
        "one column": rng.integers(256, size=(500, 1)).astype(np.uint8),
        "noise": rng.integers(256, size=(200, 93)).astype(np.uint8),
        "waves": (waves + rng.normal(0, 2, waves.shape)).astype(np.uint8),
        "part of another": rng.integers(256, size=(64, 64)).astype(np.uint8)[3:50, 5:60],
        "labels": rng.integers(2**16, size=(71, 93)).astype(np.uint16),
        "colour": rng.integers(256, size=(71, 93, 3)).astype(np.uint8),
    }


@pytest.mark.parametrize("name", list(_images()))
def test_opencv_reads_every_pixel(name: str) -> None:
    image = _images()[name]
    back = pixels_of(png(image))
    assert back.dtype == image.dtype
    np.testing.assert_array_equal(back, image)


@pytest.mark.parametrize("name", list(_images()))
def test_pillow_reads_every_pixel(name: str) -> None:
    image_module = pytest.importorskip("PIL.Image")
    io = pytest.importorskip("io")
    image = _images()[name]
    with image_module.open(io.BytesIO(png(image))) as opened:
        opened.load()
        np.testing.assert_array_equal(np.asarray(opened), image)


def test_depth_is_no_png() -> None:
    with pytest.raises(ValueError, match="float32"):
        png(np.zeros((3, 4), np.float32))


def test_what_is_no_png_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a PNG nor a JPEG"):
        pixels_of(b"nothing of the kind")
