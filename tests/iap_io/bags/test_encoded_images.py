# SPDX-License-Identifier: BSD-3-Clause
"""Images in bags: raw, compressed, and PNG against OpenCV."""

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from iap_io.bags.encoded_images import decoded, read_image
from iap_io.bags.png import pixels_of, png

IMAGE = np.arange(12 * 16, dtype=np.uint8).reshape(12, 16)


def png_of(width: int, height: int) -> bytes:
    """A PNG that says it is so large, and has zeros for one row, or its beginning."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(bytes(min(width, 1000) + 1)))
    return b"\x89PNG\r\n\x1a\n" + head + rows + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", [".png", ".jpg"])
def test_png_and_jpeg_are_read(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"image{kind}"
    cv2.imwrite(str(file), IMAGE)
    for pixels in (
        read_image(file, cv2.IMREAD_GRAYSCALE),
        decoded(file.read_bytes(), cv2.IMREAD_GRAYSCALE),
        decoded(np.fromfile(file, np.uint8), cv2.IMREAD_GRAYSCALE),  # as a message has it
    ):
        np.testing.assert_allclose(pixels, IMAGE, atol=0 if kind == ".png" else 20)


def test_a_colour_jpeg_with_a_comment_is_read() -> None:
    data = cv2.imencode(".jpg", np.repeat(IMAGE[..., None], 3, axis=-1))[1].tobytes()
    data = data[:2] + b"\xff\xfe\x00\x06text" + data[2:]
    assert decoded(data, cv2.IMREAD_COLOR).shape == (12, 16, 3)


@pytest.mark.parametrize("marker", sorted({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}))
def test_the_size_of_a_jpeg_stands_behind_any_marker_of_a_frame(marker: int) -> None:
    """ITU-T T.81, table B.1: C4, C8 and CC are tables and an extension; 01 and D0 to D9 have no length."""
    parts = [b"\xff\xd8", b"\xff\x01", b"\xff\xff\xff\xd3"]
    parts += [bytes([0xFF, other, 0, 9, *[8] * 7]) for other in (0xC4, 0xC8, 0xCC, 0xDA, 0xE0)]
    frame = struct.pack(">BBHBHH", 0xFF, marker, 17, 8, 30_001, 29_999)
    with pytest.raises(ValueError, match="29999x30001 pixels"):
        decoded(b"".join([*parts, frame]), cv2.IMREAD_GRAYSCALE)


def test_as_many_pixels_as_are_allowed_are_read() -> None:
    with pytest.raises(ValueError, match="4096x8193 pixels, at most 33554432"):
        decoded(png_of(4096, 8193), cv2.IMREAD_GRAYSCALE)
    with pytest.raises(ValueError, match="damaged"):  # its rows, but not its size
        decoded(png_of(4096, 8192)[:-12], cv2.IMREAD_GRAYSCALE)


@pytest.mark.parametrize("size", [(30_000, 30_000), (2**31 - 1, 2**31 - 1), (0, 5)])
def test_sizes_that_no_camera_has_are_refused_before_anything_is_unpacked(
    size: tuple[int, int],
) -> None:
    with pytest.raises(ValueError, match=f"{size[0]}x{size[1]} pixels"):
        decoded(png_of(*size), cv2.IMREAD_GRAYSCALE)


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG", b"BM" + bytes(100), b"\xff\xd8\xff", b"\xff\xd8" + b"\xff" * 99]
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="neither a PNG nor a JPEG"):
        decoded(data, cv2.IMREAD_GRAYSCALE)


def test_only_files_are_read(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), tmp_path / "none.png"):
        with pytest.raises(ValueError, match="no file"):
            read_image(path, cv2.IMREAD_GRAYSCALE)


def test_a_chunk_that_says_to_be_large_gets_no_room() -> None:
    data = bytearray(cv2.imencode(".png", IMAGE)[1].tobytes())
    at = data.index(b"IDAT")
    data[at - 4 : at] = struct.pack(">I", 2**31 - 1)
    with pytest.raises(ValueError, match="cut short"):
        decoded(bytes(data), cv2.IMREAD_GRAYSCALE)


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
