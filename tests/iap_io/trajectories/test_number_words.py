# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and missing ones as other programs write them, and tables whose names leave something open."""

from pathlib import Path

import numpy as np
import pytest
from flight_bags import Motion, motion

from iap_description.errors import BadInput
from iap_io.trajectories.number_words import is_number, is_value, number_of
from iap_io.trajectories.reader import read_recorded

NAMES = "t,x,y,z,qx,qy,qz,qw"
LEVEL = "0,0,0,1"


@pytest.fixture
def way() -> Motion:
    """Two seconds at 50 Hz."""
    return motion(np.arange(0.0, 2.0, 0.02))


def rows_of(m: Motion, turn: str = LEVEL) -> list[str]:
    """A line a sample, level."""
    return [
        f"{t:.3f}," + ",".join(f"{x:.6f}" for x in p) + f",{turn}"
        for t, p in zip(m.t, m.p, strict=True)
    ]


def written(folder: Path, lines: list[str], name: str = "table.csv") -> Path:
    """A file of lines."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "-nan(ind)", "1.#QNAN", "#N/A", "null", "None", "-", "", "LOST"]
)
@pytest.mark.parametrize("name", ["table.csv", "trajectory.txt"])
def test_samples_whose_numbers_are_missing_are_left_out_and_counted(
    tmp_path: Path, way: Motion, word: str, name: str
) -> None:
    rows = rows_of(way)
    for k in (10, 40):
        rows[k] = ",".join([rows[k].split(",")[0], *[word] * 7])
    lines = [NAMES, *rows] if name == "table.csv" else [x.replace(",", " ") for x in rows if word]
    if not lines:
        return
    recorded = read_recorded(written(tmp_path, lines, name))
    assert len(recorded.t) == len(rows) - 2
    note = "2 samples without a place or attitude left out, the first is number 10"
    assert note in recorded.about.notes


@pytest.mark.parametrize(
    ("text", "value"), [("\u22121.5", -1.5), ("1.5D-01", 0.15), ("2e3", 2000.0), ("-0", 0.0)]
)
def test_minus_signs_of_typesetting_and_exponents_of_fortran_are_read(
    text: str, value: float
) -> None:
    assert number_of(text) == value and is_number(text)


@pytest.mark.parametrize("text", ["x", "1.2 m", "1,000.5", "d", "up"])
def test_other_words_are_no_numbers(text: str) -> None:
    assert not is_number(text)
    with pytest.raises(ValueError, match="could not convert"):
        number_of(text)


def test_lines_that_end_with_a_delimiter_which_the_names_lack_are_read(
    tmp_path: Path, way: Motion
) -> None:
    path = written(tmp_path, [NAMES, *(f"{row}," for row in rows_of(way))])
    np.testing.assert_allclose(read_recorded(path).p_WP_W, way.p, atol=1e-6)


@pytest.mark.parametrize("turn", ["q0,q1,q2,q3", "q1,q2,q3,q4", "heading_deg,a,b,c"])
def test_attitudes_whose_meaning_the_names_leave_open_are_asked_for(
    tmp_path: Path, way: Motion, turn: str
) -> None:
    path = written(tmp_path, [f"t,x,y,z,{turn}", *rows_of(way, "1,0,0,0")])
    with pytest.raises(BadInput, match=r"--columns TIME,X,Y,Z,QX,QY,QZ,QW or TIME,X,Y,Z names"):
        read_recorded(path)
    if turn.startswith("q0"):
        recorded = read_recorded(path, columns="t,x,y,z,q1,q2,q3,q0")
        np.testing.assert_array_equal(recorded.q_WP[0], [0.0, 0.0, 0.0, 1.0])


def test_names_with_ned_are_in_ned(tmp_path: Path, way: Motion) -> None:
    rows = [f"{t:.3f},{p[1]},{p[0]},{-p[2]}" for t, p in zip(way.t, way.p, strict=True)]
    recorded = read_recorded(written(tmp_path, ["t,x_ned,y_ned,z_ned", *rows]))
    assert recorded.about.convention == "ned"
    np.testing.assert_allclose(recorded.p_WP_W, way.p, atol=1e-6)


def test_an_index_before_the_poses_of_kitti_is_named(tmp_path: Path) -> None:
    lines = [f"{k} 1 0 0 {k} 0 1 0 0 0 0 1 0" for k in range(30)]
    with pytest.raises(BadInput, match="13 columns: an index or a time before KITTI's 12"):
        read_recorded(written(tmp_path, lines, "00.txt"), rate=10.0)


def test_a_time_of_day_is_a_value_and_no_number() -> None:
    for text in ("12:04:05.250", "7:03", "23:59:59,9"):
        assert is_value(text) and not is_number(text)
    assert is_value("1.5") and not is_value("a:b") and not is_value("")
