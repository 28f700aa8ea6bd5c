# SPDX-License-Identifier: BSD-3-Clause
"""PNG of our own making: other readers get every pixel back, whatever the image."""

import zlib

import numpy as np
import pytest

from iap_bringup.records.deflate import LONGEST, bound, code_lengths, deflate
from iap_bringup.records.png import pixels_of, png


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


def test_a_camera_image_is_no_longer_than_that_of_zlib() -> None:
    image = _images()["waves"]
    rest = np.diff(image.astype(np.int16), axis=1).astype(np.uint8)
    assert len(png(image)) < 1.05 * len(zlib.compress(rest.tobytes(), 6))


def test_what_png_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="float32"):
        png(np.zeros((3, 3), np.float32))
    with pytest.raises(ValueError, match="not a PNG"):
        pixels_of(b"nothing")


@pytest.mark.parametrize("block", [1, 7, 1000, 10**6])
def test_zlib_inflates_what_was_deflated(block: int) -> None:
    data = np.random.default_rng(1).geometric(0.1, 5000).astype(np.uint8)
    out = np.empty(bound(data.size, block), np.uint8)
    size = deflate(data, block, out)
    assert zlib.decompress(out[:size].tobytes(), -15) == data.tobytes()


def test_codes_are_complete_and_never_too_long() -> None:
    """Fibonacci's numbers make the deepest trees."""
    counts, lengths = np.zeros(257, np.int64), np.zeros(257, np.int64)
    counts[:40] = 1
    for i in range(2, 40):
        counts[i] = counts[i - 1] + counts[i - 2]
    code_lengths(counts, lengths)
    used = lengths[counts > 0]
    assert 1 <= used.min() and used.max() <= LONGEST
    assert np.sum(0.5**used) == 1.0  # Kraft: every sequence of bits means something
    assert not lengths[counts == 0].any()
    assert (np.diff(used) <= 0).all()  # what is frequent is short
