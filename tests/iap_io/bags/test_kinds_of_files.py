# SPDX-License-Identifier: BSD-3-Clause
"""What tells files and lines apart, each part of it by itself."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_io.bags.mending import _is_cut
from iap_io.bags.storage_files import MAGIC
from iap_io.euroc.tables import _goes_on
from iap_io.flight_logs.crazyflie import is_usd
from iap_io.flight_logs.log_tables import _is_numbers
from iap_io.trajectories.bags import is_bag
from iap_io.trajectories.bodies import _fits
from iap_io.trajectories.text_poses import _has_turn
from iap_io.transports.table import is_depth


@pytest.mark.parametrize(
    ("data", "is_cut"),
    [
        (MAGIC + b"rest" + MAGIC, False),
        (MAGIC + MAGIC, False),
        (MAGIC, True),
        (MAGIC + b"rest", True),
        (MAGIC + b"much of the rest", True),
        (b"other" + MAGIC, False),
        (b"", False),
    ],
)
def test_an_mcap_file_is_cut_that_begins_and_does_not_end_as_one(data, is_cut, tmp_path):
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    assert _is_cut(path) == is_cut


@pytest.mark.parametrize(
    ("line", "goes_on"),
    [
        ("2000, b.png", True),
        ("1999, b.png", False),
        ("2001,b.jpg", False),
        ("2001", False),
        ("x, b.png", False),
        ("20\u0662, b.png", False),
    ],
)
def test_a_line_goes_on_with_a_later_stamp_and_a_file_of_the_same_kind(line, goes_on):
    assert _goes_on(line, [1000, 1999], ["a.png"]) == goes_on


@pytest.mark.parametrize(
    ("begin", "is_one"),
    [
        (b"\xbc\x01\x00abc", True),
        (b"\xbc\x02\x00abc", True),
        (b"\xbc\x03\x00abc", False),
        (b"\xbc\x01\x01abc", False),
        (b"\xbd\x01\x00abc", False),
        (b"\xbc\x01\x00ab", False),
        (b"", False),
    ],
)
def test_a_crazyflies_log_has_its_mark_a_known_version_and_something_behind(begin, is_one):
    assert is_usd(begin) == is_one


def test_a_column_of_numbers_has_one_a_row():
    for kind in (bool, np.uint8, np.int16, np.float32):
        assert _is_numbers(np.zeros(3, kind))
    for odd in (None, np.zeros((3, 2)), np.zeros(3, "S4"), np.zeros(3, complex)):
        assert not _is_numbers(odd)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("32FC1; compressedDepth png", True),
        ("16UC1; compressedDepth", True),
        ("32FC1", True),
        ("16UC1", True),
        ("rgb8; jpeg compressed bgr8", False),
        ("32FC1; png", False),
        ("rgb8", False),
    ],
)
def test_depth_is_known_by_its_word_or_by_its_encoding_alone(text, is_one):
    assert is_depth(text) == is_one


def test_four_cells_are_a_turn_of_unit_length():
    assert _has_turn(["0", "0", "0", "1"]) and _has_turn(["0.5", "-0.5", "0.5", "0.5"])
    assert not _has_turn(["0", "0", "0", "2"]) and not _has_turn(["0", "0", "x", "1"])


def test_a_body_fits_what_is_asked_for_of_name_and_frame():
    body: Any = SimpleNamespace(name="drone", frame="world")
    for asked, fits in (
        ((None, None), True), (("drone", None), True), (("/drone", "world/"), True), (("other", None), False),
        (("drone", "map"), False), ((None, "map"), False),
    ):  # fmt: skip
        reading: Any = SimpleNamespace(body=asked[0], frame=asked[1])
        assert _fits(body, reading) == fits


def test_a_bag_is_a_folder_or_a_file_by_its_bytes_or_name_even_if_it_is_not_there(tmp_path):
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / "b.bin").write_bytes(MAGIC)
    for name, is_one in (("", True), ("b.bin", True), ("a.txt", False), ("none.db3", True), ("none.mcap", True),
                         ("none.bag", True), ("none.csv", False)):  # fmt: skip
        assert is_bag(tmp_path / name) == is_one
