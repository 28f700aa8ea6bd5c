# SPDX-License-Identifier: BSD-3-Clause
"""Tables of EuRoC folders that are damaged or cut short."""

from pathlib import Path

import pytest

from iap_description.errors import BadInput
from iap_io.euroc.tables import read_table

ROW = "1403636579763555584,0.1,0.2,0.3,0.0,0.0,9.81\n"


def table(folder: Path, text: str) -> Path:
    path = folder / "data.csv"
    path.write_text(f"#timestamp [ns],w,a\n{text}")
    return path


@pytest.mark.parametrize(
    "end",
    [
        "14036365",
        "1403636579768555584,0.1,0.2,",
        ROW.strip().replace("9.81", "-"),
        ROW.strip().replace("9.81", "9."),  # a number, but not the one that was written
    ],
)
def test_a_last_line_that_is_cut_short_is_left_out_and_told(end: str, tmp_path: Path) -> None:
    found = read_table(table(tmp_path, ROW + ROW + end), 6)
    assert len(found.stamps) == 2
    assert found.note is not None and "line 4, the last one, is cut short" in found.note
    assert read_table(table(tmp_path, ROW + ROW), 6).note is None


@pytest.mark.parametrize(
    "end", ["14036365", "1403636579768555584,140363657976855", "1403636579768555584,x.p"]
)
def test_a_name_that_is_cut_short_is_left_out(end: str, tmp_path: Path) -> None:
    found = read_table(table(tmp_path, f"1403636579763555584,a.png\n{end}"), 0)
    assert found.names == ["a.png"]


def test_a_whole_name_needs_no_end(tmp_path: Path) -> None:
    text = "1403636579763555584,a.png\n1403636579768555584,b.png"
    found = read_table(table(tmp_path, text), 0)
    assert found.names == ["a.png", "b.png"] and found.note is None


def test_a_whole_line_that_is_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: expected 6 finite numbers"):
        read_table(table(tmp_path, ROW + "1403636579768555584,0.1,0.2,\n"), 6)


@pytest.mark.parametrize("stamp", ["9223372036854775808", "1" * 5000, "-1", "1.5", "x", "²", ""])
def test_a_stamp_is_a_time_in_ns(stamp: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: the stamp is .* not a time in ns"):
        read_table(table(tmp_path, ROW + ROW.replace("1403636579763555584", stamp)), 6)


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 2 is longer"):
        read_table(table(tmp_path, "1" * 10**6), 6)
