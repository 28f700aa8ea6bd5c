# SPDX-License-Identifier: BSD-3-Clause
"""Compressed images as image_transport's plugins write them, and the way back."""

import math
import struct
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from iap_io.bags.encoded_images import decoded, read_image
from iap_io.bags.png import png
from iap_io.transports.compressed_depth import CompressedDepth
from iap_io.transports.compressed_jpeg import CompressedJpeg
from iap_io.transports.pool import ImagePool
from iap_io.transports.table import DEPTH, PNG, offered, taking, transports_of, unpacked

A, B, FAR = 100.0 * 101.0, 1.0 - 100.0 * 101.0 / 100.0, 100.0  # of codec.cpp
LEVELS = np.add.outer(np.arange(48), 2 * np.arange(64)).astype(np.uint8)
COLOURS = np.stack([LEVELS, 200 - LEVELS, np.full_like(LEVELS, 30)], axis=-1)
LABELS = np.arange(48 * 64, dtype=np.uint16).reshape(48, 64) * 20


def test_depth_is_quantised_as_compressed_depth_image_transport_does() -> None:
    """Each pixel by the loop of ``codec.cpp``: n = A / z + B, cut to whole numbers; 0 from z_max on."""
    depths = np.array([[0.2, 0.5, 1.0, 3.7], [20.0, 99.0, 100.0, np.inf]], np.float32)
    depths = np.vstack([depths, np.float32([[np.nan, 0.0, -1.0, 0.01]])])
    data = bytes(DEPTH.pack(depths))
    assert struct.unpack_from("<iff", data) == (0, A, pytest.approx(B))
    steps = cv2.imdecode(np.frombuffer(data[12:], np.uint8), cv2.IMREAD_UNCHANGED)
    expected = [math.floor(A / z + B) if 0.16 < z < FAR else 0 for z in depths.ravel().tolist()]
    expected[-1] = 65535  # nearer than 16 bits can say
    assert steps.dtype == np.uint16
    np.testing.assert_allclose(steps.ravel(), expected, atol=1)  # float32 there, float64 here
    assert DEPTH.format("32FC1") == "32FC1; compressedDepth png"


@pytest.mark.parametrize("quantization", [20.0, 100.0, 150.0])
def test_the_error_of_depth_is_that_of_its_formula(quantization: float) -> None:
    """z <= z' and z' - z <= z z' / A, since the step that is cut off is less than 1."""
    kind = CompressedDepth(quantization)
    depths = np.geomspace(0.5, 99.0, 3000, dtype=np.float32).reshape(50, 60)
    encoding, found = unpacked("32FC1; compressedDepth png", kind.pack(depths))
    assert (encoding, found.dtype) == ("32FC1", np.float32)
    z, back = depths.astype(float), found.astype(float)
    rounding = 65535 * 2.0**-23  # of numbers of 32 bits, in steps
    error = (back - z) * quantization * (quantization + 1.0) / (z * back)  # in steps
    assert error.min() > -rounding
    assert error.max() < 1.0 + rounding
    assert error.max() > 0.95


def test_where_nothing_is_seen_depth_is_no_number() -> None:
    depths = np.array([[1.0, np.inf], [np.nan, 100.0]], np.float32)
    _, found = unpacked("32FC1; compressedDepth png", DEPTH.pack(depths))
    np.testing.assert_array_equal(np.isfinite(found), [[True, False], [False, False]])


@pytest.mark.parametrize("text", ["16UC1; compressedDepth png", "16UC1; compressedDepth", "16UC1"])
def test_numbers_of_16_bits_come_back_from_compressed_depth(text: str) -> None:
    encoding, found = unpacked(text, DEPTH.pack(LABELS))
    assert encoding == "16UC1"
    np.testing.assert_array_equal(found, LABELS)


@pytest.mark.parametrize(
    ("text", "pixels"),
    [
        ("mono8; png compressed ", LEVELS),
        ("rgb8; png compressed bgr8", COLOURS),
        ("16UC1; png compressed ", LABELS),
    ],
)
def test_png_is_without_loss(text: str, pixels: np.ndarray) -> None:
    encoding = text.split(";")[0]
    assert PNG.format(encoding) == text
    found = unpacked(text, PNG.pack(pixels))
    assert found[0] == encoding
    np.testing.assert_array_equal(found[1], pixels)


@pytest.mark.parametrize(
    ("text", "pixels"),
    [("mono8; jpeg compressed mono8", LEVELS), ("rgb8; jpeg compressed bgr8", COLOURS)],
)
def test_jpeg_loses_less_with_more_quality(text: str, pixels: np.ndarray) -> None:
    """Peak signal-to-noise ratio 20 log10(255 / rms) of noisy images; colours are in the order of the encoding."""
    rng = np.random.default_rng(1)
    noisy = np.clip(pixels + rng.normal(0.0, 1.5, pixels.shape), 0, 255).astype(np.uint8)
    ratios, sizes = [], []
    for quality in (50, 95, 100):
        kind = CompressedJpeg(quality)
        encoding = text.split(";")[0]
        assert kind.format(encoding) == text
        data = kind.pack(noisy)
        assert bytes(data[:2]) == b"\xff\xd8"
        found, back = unpacked(text, data)
        assert found == encoding
        rms = np.sqrt(np.mean((back.astype(float) - noisy) ** 2))
        ratios.append(20.0 * np.log10(255.0 / rms))
        sizes.append(len(data))
    assert ratios == sorted(ratios)
    assert sizes == sorted(sizes)
    assert ratios[0] > 30.0
    assert ratios[1] > 38.0


def test_one_key_chooses_what_stands_in_place_of_an_image() -> None:
    chosen = {
        (key, encoding): kind
        and f"{kind.suffix} {kind.format(encoding).partition('; ')[2].strip()}"
        for key in ("none", "png", "jpeg")
        for encoding in ("mono8", "16UC1", "32FC1")
        for kind in [taking(transports_of(key, 80), encoding)]
    }
    assert {chosen["none", each] for each in ("mono8", "16UC1", "32FC1")} == {None}
    assert chosen["png", "mono8"] == chosen["png", "16UC1"] == "/compressed png compressed"
    assert chosen["png", "32FC1"] is None
    assert chosen["jpeg", "mono8"] == "/compressed jpeg compressed mono8"
    assert chosen["jpeg", "16UC1"] == "/compressed png compressed"  # labels are never cut
    assert chosen["jpeg", "32FC1"] == "/compressedDepth compressedDepth png"
    assert taking(offered("png"), "32FC1") == DEPTH
    assert offered("none") == ()


@pytest.mark.parametrize(
    ("text", "data", "reason"),
    [
        ("32FC1; compressedDepth rvl", bytes(40), "compressedDepth rvl cannot be read"),
        ("32FC1; compressedDepth png", bytes(12), "12 bytes, which has a header of 12"),
        ("32FC1; compressedDepth png", bytes(12) + bytes(png(LABELS)), "quantisation 0.0, 0.0"),
        ("32FC1; compressedDepth png", bytes(12) + bytes(png(LEVELS)), "file of uint8"),
        ("32FC1; png compressed ", bytes(png(LABELS)), "32FC1 is none that PNG or JPEG"),
        ("mono8; png compressed ", bytes(png(LABELS)), "mono8 with a file of 1 x uint16"),
        ("mono8; jpeg compressed ", bytes(CompressedJpeg().pack(COLOURS)), "file of 3 x uint8"),
        ("16UC1; jpeg compressed ", bytes(CompressedJpeg().pack(LEVELS)), "file of 1 x uint8"),
        ("mono8; tiff compressed ", b"II*\0" + bytes(40), "neither a PNG nor a JPEG"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        unpacked(text, data)


def test_images_are_compressed_beside_the_flight_by_threads_that_end_with_it(
    tmp_path: Path,
) -> None:
    def threads() -> list[str]:
        return [each.name for each in threading.enumerate() if each.name.startswith("images")]

    pool, before = ImagePool(), threads()
    images = [LEVELS + k for k in range(4)]
    for k, image in enumerate(images):
        pool.begin(PNG, image, tmp_path / f"{k}.png" if k < 2 else None)
    for image in images:
        np.testing.assert_array_equal(
            decoded(bytes(pool.of(PNG, image)), cv2.IMREAD_GRAYSCALE), image
        )
    pool.finish()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0.png", "1.png"]
    np.testing.assert_array_equal(read_image(tmp_path / "1.png", cv2.IMREAD_GRAYSCALE), images[1])
    assert len(threads()) > len(before)
    pool.close()
    assert threads() == before
