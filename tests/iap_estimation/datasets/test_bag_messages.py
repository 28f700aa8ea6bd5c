# SPDX-License-Identifier: BSD-3-Clause
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets.bag_messages import ENCODINGS, deep_grey, grey
from iap_io.transports.table import DEPTH

H, W = 6, 8
RAMP = np.add.outer(10 * np.arange(H), 20 * np.arange(W)).astype(np.uint8)
RED, GREEN, BLUE = 0.299, 0.587, 0.114  # of grey, ITU-R BT.601


def message(pixels, encoding, *, padding=0, big=False):
    """A sensor_msgs/Image of pixels (h, w) or (h, w, channels), whose rows have some bytes more than they need."""
    numbers = pixels.astype(pixels.dtype.newbyteorder(">" if big else "<"))
    rows = numbers.reshape(len(pixels), -1).view(np.uint8)
    data = np.pad(rows, ((0, 0), (0, padding)), constant_values=77)
    return SimpleNamespace(
        encoding=encoding,
        height=pixels.shape[0],
        width=pixels.shape[1],
        step=data.shape[1],
        is_bigendian=int(big),
        data=data.ravel(),
    )


def encoded(levels, encoding, **layout):
    """A scene without colour in an encoding."""
    pixels = levels.astype(np.uint16) * 257 if "16" in encoding else levels
    if encoding.startswith(("yuv", "uyvy", "yuyv")):
        order = (pixels, np.full_like(pixels, 128))
        pixels = np.stack(order if "yuy" in encoding else order[::-1], axis=-1)
    elif ENCODINGS[encoding].channels > 1:
        pixels = np.stack([pixels] * ENCODINGS[encoding].channels, axis=-1)
    return message(pixels, encoding, **layout)


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_a_scene_without_colour_is_the_same_in_every_encoding(encoding):
    flat = np.full((H, W), 90, np.uint8)
    ramp = flat if "bayer" in encoding else RAMP  # which blurs where it makes up colours
    assert grey(encoded(ramp, encoding), "bag") == pytest.approx(ramp, abs=1)
    assert grey(encoded(ramp, encoding, padding=5), "bag") == pytest.approx(ramp, abs=1)


@pytest.mark.parametrize("encoding", sorted(name for name in ENCODINGS if "16" in name))
def test_numbers_of_two_bytes_are_read_in_both_orders(encoding):
    levels = np.full((H, W), 90, np.uint8)
    image = message(encoded_pixels(levels, encoding), encoding, big=True)
    assert grey(image, "bag") == pytest.approx(levels, abs=1)


def encoded_pixels(levels, encoding):
    """Numbers of 16 bits whose two bytes differ, so that their order counts."""
    channels = ENCODINGS[encoding].channels
    pixels = levels.astype(np.uint16) * 256
    return pixels if channels == 1 else np.stack([pixels] * channels, axis=-1)


@pytest.mark.parametrize(
    ("encoding", "share"),
    [("rgb8", RED), ("bgr8", BLUE), ("rgba8", RED), ("rgb16", RED), ("bgra16", BLUE)],
)
def test_the_first_colour_has_its_share_of_grey(encoding, share):
    dtype = np.uint16 if "16" in encoding else np.uint8
    pixels = np.zeros((H, W, ENCODINGS[encoding].channels), dtype)
    pixels[..., 0] = np.iinfo(dtype).max
    assert grey(message(pixels, encoding), "bag") == pytest.approx(255 * share, abs=1)


@pytest.mark.parametrize(
    ("encoding", "first", "share"),
    [
        ("bayer_rggb8", (0, 0), RED),
        ("bayer_rggb8", (1, 1), BLUE),
        ("bayer_bggr8", (0, 0), BLUE),
        ("bayer_gbrg8", (0, 1), BLUE),
        ("bayer_gbrg16", (1, 0), RED),
        ("bayer_grbg8", (0, 1), RED),
    ],
)
def test_a_colour_of_a_bayer_pattern_has_its_share_of_grey(encoding, first, share):
    dtype = np.uint16 if "16" in encoding else np.uint8
    pixels = np.zeros((H, W), dtype)
    pixels[first[0] :: 2, first[1] :: 2] = np.iinfo(dtype).max
    middle = grey(message(pixels, encoding), "bag")[2:-2, 2:-2]
    assert middle == pytest.approx(255 * share, abs=2)


def test_an_unknown_encoding_is_refused_with_those_that_are_known():
    with pytest.raises(BadInput, match=r"'nv24', which is not known: .*mono8"):
        grey(message(RAMP, "nv24"), "bag")


def test_an_image_with_too_few_bytes_is_refused():
    image = message(RAMP, "rgb8")
    with pytest.raises(BadInput, match=r"8x6 rgb8 has 48 bytes"):
        grey(image, "bag")


def _compressed(text, data):
    return SimpleNamespace(format=text, data=np.frombuffer(bytes(data), np.uint8))


def test_a_thermal_camera_s_levels_are_read_from_compressed_depth():
    levels = np.arange(H * W, dtype=np.uint16).reshape(H, W) * 300
    message = _compressed("16UC1; compressedDepth png", DEPTH.pack(levels))
    np.testing.assert_array_equal(deep_grey(message, "bag"), levels)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("32FC1; compressedDepth png", "it is depth"), ("16UC1; compressedDepth rvl", "rvl cannot")],
)
def test_compressed_depth_without_grey_levels_is_refused_in_one_line(text, reason):
    message = _compressed(text, DEPTH.pack(np.ones((H, W), np.float32)))
    with pytest.raises(BadInput, match=f"bag: a compressed image .*{reason}") as refused:
        grey(message, "bag")
    assert "\n" not in str(refused.value)
