# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of compressed images: the encodings that each takes, its words, and numbers that plugins have."""

import struct

import numpy as np
import pytest

from iap_io.bags.bag_writer import RecordingFailed
from iap_io.bags.png import png
from iap_io.euroc.column_order import INERTIAL, POSES, read_ordered
from iap_io.transports.compressed_depth import CompressedDepth
from iap_io.transports.compressed_jpeg import CompressedJpeg
from iap_io.transports.compressed_png import CompressedPng, fitting
from iap_io.transports.pool import ImagePool
from iap_io.transports.table import offered, taking, transports_of, unpacked

ENCODINGS = ("rgb8", "bgr8", "mono8", "8UC1", "16UC1", "mono16", "32FC1", "bayer_rggb8")


@pytest.mark.parametrize(
    ("kind", "taken", "suffix", "share"),
    [
        (CompressedDepth(), ("16UC1", "mono16", "32FC1"), "/compressedDepth", 0.15),
        (CompressedPng(), ENCODINGS[:6], "/compressed", 0.65),
        (CompressedJpeg(95), ENCODINGS[:4], "/compressed", 0.5),
        (CompressedJpeg(96), ENCODINGS[:4], "/compressed", 0.8),
    ],
)
def test_each_kind_takes_its_encodings(kind, taken, suffix, share):
    assert tuple(each for each in ENCODINGS if kind.takes(each)) == taken
    assert (kind.suffix, kind.share) == (suffix, share)


def test_words_of_formats_are_those_of_the_plugins():
    depth, lossless, jpeg = CompressedDepth(), CompressedPng(), CompressedJpeg()
    assert depth.format("32FC1") == "32FC1; compressedDepth png"
    assert [lossless.format(each) for each in ("rgb8", "mono16")] == [
        "rgb8; png compressed bgr8", "mono16; png compressed ",
    ]  # fmt: skip
    assert [jpeg.format(each) for each in ("bgr8", "8UC1")] == [
        "bgr8; jpeg compressed bgr8", "8UC1; jpeg compressed mono8",
    ]  # fmt: skip
    assert jpeg.quality == 95 and transports_of("jpeg")[0] == jpeg
    assert transports_of("jpeg", 70)[0] == offered("jpeg", 70)[0] == CompressedJpeg(70)
    assert offered("jpeg") == transports_of("jpeg")  # which has depth already
    assert taking((), "mono8") is None


def test_a_step_of_depth_is_a_metre_at_100_m():
    """A = 100 x 101, B = 1 - A / 100 = -100, so that 100 m and beyond are no depth."""
    data = bytes(
        CompressedDepth().pack(np.array([[5.0, 0.0, 99.99], [100.0, np.inf, 0.1]], np.float32))
    )
    assert struct.unpack_from("<iff", data) == (0, 10100.0, -100.0)
    steps = unpacked("16UC1; compressedDepth png", data)[1]
    assert steps.tolist() == [[1920, 0, 1], [0, 0, 65535]]
    depth = unpacked("32FC1; compressedDepth png", data)[1]
    np.testing.assert_allclose(depth[0, [0, 2]], [10100 / 2020, 100.0], rtol=1e-6)
    assert depth[1, 2] == pytest.approx(10100.0 / 65635.0) and np.isnan(depth[1, :2]).all()


def test_labels_are_in_the_file_as_they_are_behind_the_same_header():
    labels = np.array([[0, 1, 65535]], np.uint16)
    data = bytes(CompressedDepth(quantization=9.0, max_depth=30.0).pack(labels))
    assert struct.unpack_from("<iff", data) == (0, 90.0, -2.0)
    np.testing.assert_array_equal(unpacked("mono16; compressedDepth", data)[1], labels)


@pytest.mark.parametrize(
    ("text", "pixels", "encoding"),
    [
        ("png", np.zeros((2, 3, 3), np.uint8), "rgb8"),
        ("jpeg", np.zeros((2, 3), np.uint8), "mono8"),
        ("bgr8; png compressed bgr8", np.zeros((2, 3, 3), np.uint8), "rgb8"),
        ("8UC1; png compressed ", np.zeros((2, 3), np.uint8), "8UC1"),
        ("mono16; png compressed ", np.zeros((2, 3), np.uint16), "mono16"),
    ],
)
def test_an_encoding_is_that_of_the_format_or_of_the_file(text, pixels, encoding):
    found, back = unpacked(text, bytes(png(pixels)))
    assert (found, back.shape, back.dtype) == (encoding, pixels.shape, pixels.dtype)


def test_colours_keep_their_order():
    pixels = np.array([[[250, 120, 10], [1, 2, 3]]], np.uint8)
    np.testing.assert_array_equal(
        unpacked("rgb8; png compressed bgr8", bytes(png(pixels)))[1], pixels
    )


@pytest.mark.parametrize(
    ("shape", "kind", "encoding", "said"),
    [
        ((2, 3), np.uint8, "rgb8", "rgb8 with a file of 1 x uint8"),
        ((2, 3, 4), np.uint8, "mono8", "mono8 with a file of 4 x uint8"),
        ((2, 3), np.uint8, "16UC1", "16UC1 with a file of 1 x uint8"),
    ],
)
def test_pixels_that_an_encoding_does_not_have_are_refused(shape, kind, encoding, said):
    with pytest.raises(ValueError, match=f"^encoding {said}$"):
        fitting(np.zeros(shape, kind), encoding)


def test_a_file_that_cannot_be_written_is_said_when_its_image_is_waited_for(tmp_path):
    pool, pixels = ImagePool(), np.zeros((2, 3), np.uint8)
    path = tmp_path / "none" / "a.png"
    pool.begin(CompressedPng(), pixels, path)
    with pytest.raises(
        RecordingFailed, match=f"^{path}: cannot be written: No such file or directory$"
    ):
        pool.of(CompressedPng(), pixels)
    with pytest.raises(RecordingFailed):
        pool.finish()
    pool.finish()  # none is begun any more
    pool.close()


def table(tmp_path, header, order):
    path = tmp_path / "data.csv"
    path.write_text(f"{header}\n1000,1,2,3,4,5,6,7\n2000,8,9,10,11,12,13,14\n")
    count = len(order.roles)
    return read_ordered(path, count, order).values[0].tolist()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("#t,w_x,w_y,w_z,a_x,a_y,a_z,temp", [1, 2, 3, 4, 5, 6, 7]),
        ("#t, acc_x [m/s^2], acc_y, acc_z, gyro_x (rad/s), gyro_y, gyro_z, temp", [4, 5, 6, 1, 2, 3, 7]),
        ("#t,linear_acceleration_z,linear_acceleration_y,linear_acceleration_x,"
         "angular_velocity_x,angular_velocity_y,angular_velocity_z,t", [4, 5, 6, 3, 2, 1, 7]),
        ("t,acc_x,acc_y,acc_z,gyro_x,gyro_y,gyro_z,temp", [1, 2, 3, 4, 5, 6, 7]),  # no names
        ("#t,acc_x,acc_y,acc_z,gyro_x,gyro_y,gyro_x,temp", [1, 2, 3, 4, 5, 6, 7]),  # one twice
        ("#t,acc_x,acc_y,acc_z,mag_x,mag_y,mag_z,temp", [1, 2, 3, 4, 5, 6, 7]),
        ("#t,acc_x,acc_y,acc_z,gyro_x,gyro_y,gyro_z,temp,more", [1, 2, 3, 4, 5, 6, 7]),  # too many
    ],
)  # fmt: skip
def test_columns_of_an_inertial_table_are_put_in_order_by_their_names(header, expected, tmp_path):
    if header.startswith("t"):
        header = f"#\n#{header[1:]}"  # names that do not stand in the first line
    assert table(tmp_path, header, INERTIAL) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("#time,px,py,pz,qw,qx,qy,qz", [1, 2, 3, 4, 5, 6, 7]),
        ("#time,qx,qy,qz,qw,px,py,pz", [5, 6, 7, 4, 1, 2, 3]),
        ("#time,px,py,pz,qw,qx,qy,vz", [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_columns_of_poses_are_put_in_order_by_their_names(header, expected, tmp_path):
    assert table(tmp_path, header, POSES) == expected


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("w_RS_S_x [rad s^-1]", "wx"), ("a_RS_S_z [m s^-2]", "az"), ("omega_y", "wy"), ("f_x", "ax"), ("x", None),
        ("gyro", None), ("mag_x", None), ("gyroscope_w", None), ("[rad]", None), ("Accelerometer_Y", "ay"),
    ],
)  # fmt: skip
def test_a_name_says_which_number_of_an_inertial_unit_a_column_has(name, role):
    assert INERTIAL.role(name) == role
