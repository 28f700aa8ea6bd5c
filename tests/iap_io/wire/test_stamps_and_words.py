# SPDX-License-Identifier: BSD-3-Clause
"""Stamps in serialised messages, words of times and units, attitudes of logs and files of bags, by hand."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.bags.storage_files import is_bag_file, storage_files, suffix_of
from iap_io.flight_logs.log_tables import from_crazyflie_rpy, from_rpy_ned, from_wxyz_ned
from iap_io.flight_logs.padding import without_zeros
from iap_io.trajectories.pose_reading import unit_text
from iap_io.trajectories.table_rows import time_text
from iap_io.wire.stamps import put_stamp, stamp_of, stamp_of_time, stamp_parts


def test_a_stamp_is_seconds_and_nanoseconds_behind_four_bytes():
    data = bytearray(16)
    put_stamp(data, 3_000_000_007)
    assert data.hex() == "00000000" + "03000000" + "07000000" + "00000000"
    assert stamp_parts(bytes(data)) == (3, 7) and stamp_of(bytes(data)) == 3_000_000_007
    put_stamp(data, -1)
    assert stamp_parts(bytes(data)) == (-1, 999_999_999) and stamp_of(bytes(data)) == -1
    assert stamp_of_time(1.0000000016) == 1_000_000_002


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["12,5"], "12.5"),
        (["12", "500"], "12000000500"),
        (["2:03.5"], "123500000000"),
        (["1970-01-01T00:00:02.25"], "2250000000"),
        (["1970-01-01T01:00:00+01:00"], "0"),
        (["00:00:01"], "86401000000000"),
    ],
)
def test_a_time_is_a_number_two_or_that_of_a_clock(texts, said):
    assert time_text(Path("a.csv"), 3, texts) == said


@pytest.mark.parametrize("texts", [["noon"], ["1", "x"], ["1970-13-01T00:00:00"]])
def test_other_words_are_no_times(texts):
    with pytest.raises(BadInput, match=r"^a\.csv: line 3: time is .*, not a number, nor a date"):
        time_text(Path("a.csv"), 3, texts)


def test_units_of_length_have_names():
    assert [unit_text(each) for each in (1.0, 0.01, 0.001, 0.3048)] == [
        "m",
        "cm",
        "mm",
        "0.3048 m",
    ]
    assert unit_text((1.0, 0.01, 2.0)) == "m, cm, 2 m"


def test_attitudes_of_logs_are_of_flu_in_enu():
    """North, level: a multirotor that looks north has a yaw of a quarter turn from east."""
    north = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2.0]))
    for found in (from_wxyz_ned(np.array([[1.0, 0.0, 0.0, 0.0]])), from_rpy_ned(np.zeros((1, 3)))):
        assert abs(found[0] @ north) == pytest.approx(1.0)
    nose_up, right_down = from_rpy_ned(np.array([[0.0, 0.2, 0.0], [0.3, 0.0, 0.0]]))
    ahead, left = np.eye(3)[:2]
    assert so3.rotate(nose_up, ahead)[2] == pytest.approx(np.sin(0.2))
    assert so3.rotate(right_down, left)[2] == pytest.approx(np.sin(0.3))
    up = from_crazyflie_rpy(np.array([[0.0, 0.2, 0.0]]))[0]
    assert so3.rotate(up, ahead)[2] == pytest.approx(np.sin(0.2))
    odd = np.array([[0.0, np.nan, 0.0], [0.0, 0.0, 0.1]])
    for read in (from_rpy_ned, from_crazyflie_rpy):
        found = read(odd)
        assert np.isnan(found[0]).all() and np.isfinite(found[1]).all()


def test_files_of_bags_are_known_by_their_first_bytes_or_their_names(tmp_path):
    mcap, db3, bag = (tmp_path / name for name in ("b.mcap", "a.bin", "c.bag"))
    mcap.write_bytes(b"\x89MCAP0\r\n rest")
    db3.write_bytes(b"SQLite format 3\0 rest")
    bag.write_bytes(b"nothing")
    (tmp_path / "notes.txt").write_text("words")
    assert [suffix_of(each) for each in (mcap, db3, bag)] == [".mcap", ".db3", None]
    assert [is_bag_file(each) for each in (mcap, db3, bag)] == [True] * 3
    assert not is_bag_file(tmp_path / "notes.txt") and not is_bag_file(tmp_path / "none.mcap")
    assert not is_bag_file(tmp_path)
    assert storage_files(tmp_path) == [db3, mcap]


@pytest.mark.parametrize(
    ("zeros", "is_padded"), [(0, False), (65539, False), (65540, True), (200_000, True)]
)
def test_zeros_that_no_message_has_are_left_out_but_for_a_kibibyte(zeros, is_padded, tmp_path):
    path = tmp_path / "log.bin"
    path.write_bytes(b"data" + bytes(zeros))
    data, found = without_zeros(path)
    assert found == is_padded
    assert data == b"data" + bytes(1024 if is_padded else zeros)
