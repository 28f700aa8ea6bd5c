# SPDX-License-Identifier: BSD-3-Clause
"""Contents of messages and files that no sender means, refused with what they say."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.bags.encoded_images import read_image
from iap_io.bags.png import png
from iap_io.euroc.tables import read_table
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.text_poses import read_kitti
from iap_io.transports.compressed_depth import METRES, CompressedDepth
from iap_io.wire.joint_views import MOST_POINTS, trajectory_of


def test_png_has_integers_of_8_or_16_bits():
    for kind in (np.uint8, np.uint16):
        assert bytes(png(np.ones((2, 3), kind))).startswith(b"\x89PNG")
    for kind in (np.float32, np.int16, np.uint32):
        with pytest.raises(ValueError, match="^PNG holds integers of 8 or 16 bit, not "):
            png(np.ones((2, 3), kind))


def test_an_image_is_a_whole_file(tmp_path):
    path = tmp_path / "image.png"
    with pytest.raises(ValueError, match="^no file of at most 128 MiB$"):
        read_image(path, 0)
    data = bytes(png(np.arange(64, dtype=np.uint8).reshape(8, 8)))
    path.write_bytes(data)
    np.testing.assert_array_equal(read_image(path, 0).ravel(), np.arange(64))
    path.write_bytes(data[:-8])
    with pytest.raises(ValueError, match="^a damaged image: it is cut short$"):
        read_image(path, 0)


@pytest.mark.parametrize(
    ("a", "b"),
    [(0.0, 0.0), (-1.0, 0.0), (np.inf, 0.0), (1.0, 1.0), (1.0, -np.inf), (np.nan, 0.0)],
)
def test_depths_have_a_quantisation(a, b):
    steps = np.array([[0, 10], [20, 40]], np.uint16)
    header = struct.pack("<iff", 0, 8.0, -0.5)
    depth = CompressedDepth().unpack(METRES, header + bytes(png(steps)))
    np.testing.assert_allclose(depth[1], [8.0 / 20.5, 8.0 / 40.5], rtol=1e-6)
    assert np.isnan(depth[0, 0])
    with pytest.raises(ValueError, match="with quantisation "):
        CompressedDepth().unpack(METRES, struct.pack("<iff", 0, a, b) + bytes(png(steps)))


def points(count):
    return [SimpleNamespace()] * count


@pytest.mark.parametrize("count", [0, MOST_POINTS + 1])
def test_a_trajectory_of_joints_has_a_point_and_ten_thousand_at_most(count):
    content = SimpleNamespace(joint_names=["q1", "q2"], points=points(count))
    with pytest.raises(BadInput, match=f"^points: 1 to 10000 are taken, there are {count}$"):
        trajectory_of(content, ("q1", "q2"))
    content.joint_names = ["q1", "q3"]
    with pytest.raises(BadInput, match=r"^joint_names: q1, q3; the arm's are q1, q2$"):
        trajectory_of(content, ("q1", "q2"))


def kitti(path, last="0 0 0 1", count=3, times=3):
    row = f"1 0 0 {{}} 0 1 0 0 0 0 1 1 {last}\n"
    path.write_text("".join(row.format(0.1 * k) for k in range(count)))
    path.with_name("times.txt").write_text("".join(f"{0.1 * k}\n" for k in range(times)))
    return read_kitti(path, PoseReading())


def test_matrices_of_kitti_end_with_a_row_of_nothing_and_have_a_time_each(tmp_path):
    path = tmp_path / "poses.txt"
    assert len(kitti(path).q) == 3
    with pytest.raises(BadInput, match="the last row of a matrix is not 0 0 0 1$"):
        kitti(path, last="0 0 0 2")
    with pytest.raises(BadInput, match=r"times\.txt: 2 times for 3 poses of poses\.txt$"):
        kitti(path, times=2)


def test_a_table_of_euroc_has_a_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("#timestamp,x\n")
    with pytest.raises(BadInput, match=f"^{path}: the table is empty$"):
        read_table(path, 1)
    path.write_text("#timestamp,x\n1000,2.5\n2000,3.5\n")
    table = read_table(path, 1)
    assert table[0].tolist() == [1000, 2000] and table[1].tolist() == [[2.5], [3.5]]
