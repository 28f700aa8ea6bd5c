# SPDX-License-Identifier: BSD-3-Clause
"""Poses as plain text: the TUM format [Sturm2012], ``time x y z qx qy qz qw`` a line, KITTI's [Geiger2012], EuRoC's.

A line of KITTI's is the upper three rows of a camera's pose, or all four, row by row, in the axes of the first
camera: x right, y down, z forward. It has no times: those are in ``times.txt`` beside it [s], or come of ``--rate``.

Columns of ground-truth CSV files of the EuRoC MAV data set [Burri2016], and of others in its layout: time [ns],
position [m], quaternion w x y z, and optionally velocity [m/s] and biases. Those are not used: a CSV replay is to be
the same motion as a bag of its poses, and the velocity is the positions' derivative (to 5 mm/s) anyway. The body is an
inertial unit, in EuRoC's rig with x up and z forward, see `iap_io.trajectories.reader`.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.config.text_files import is_file, read_text, remedy_of_cut, table_lines
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.column_names import column_of, time_unit
from iap_io.trajectories.number_words import is_number, number_of, numbers
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.time_units import stamps_of

SUFFIXES = (".txt", ".tum", ".kitti")
CSV = ".csv"
TIMES = "times.txt"  # beside a KITTI file
_TUM = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")
_KITTI = tuple(f"T{row}{column}" for row in range(4) for column in range(4))
_MATRICES = (12, 16)  # columns; the last four of 16 are 0 0 0 1
_NUMBERED = 13  # columns of a matrix behind an index or a time
_ORTHOGONAL = 1e-2  # error of a rotation matrix that printing explains
_EUROC = ("time", "px", "py", "pz", "qw", "qx", "qy", "qz")
_EUROC_XYZW = [4, 5, 6, 3]  # of the seven numbers of a pose


def text_kind(path: Path) -> Literal["tum", "kitti"] | None:
    """The format of a text file by the columns of its first line; None for another file."""
    if path.suffix not in (*SUFFIXES, CSV) or not is_file(path):
        return None
    cells = next((_cells(line) for _, line in table_lines(path)), [""])
    columns = len(cells)
    is_kitti = columns in _MATRICES and (_is_turn(cells[:12]) or not _has_turn(cells[4:8]))
    if path.suffix == CSV and not is_kitti:  # EuRoC's has names, and times without a point
        has_names = read_text(path).lstrip("\ufeff \n").startswith("#")
        return "tum" if columns == len(_TUM) and "." in cells[0] and not has_names else None
    if is_kitti or (columns == _NUMBERED and _is_turn(cells[1:])):
        return "kitti"
    return "tum" if columns >= len(_TUM) else None


def _is_turn(cells: list[str]) -> bool:
    """True if twelve cells are the upper rows of a pose."""
    if not all(map(is_number, cells)):
        return False
    R = np.reshape([number_of(each) for each in cells], (3, 4))[:, :3]
    return bool(np.abs(R @ R.T - np.eye(3)).max() < _ORTHOGONAL)


def _has_turn(cells: list[str]) -> bool:
    """True if four cells are a quaternion."""
    return all(map(is_number, cells)) and _is_unit(np.array([number_of(x) for x in cells]))


def _is_unit(q: Array) -> bool:
    return bool(abs(float(np.linalg.norm(q)) - 1.0) < _ORTHOGONAL)


def _cells(line: str) -> list[str]:
    if ";" in line:  # as spreadsheets write it in languages with a decimal comma
        return [cell.strip().replace(",", ".") for cell in line.split(";")]
    return line.replace(",", " ").split()


def _table(path: Path, columns: tuple[str, ...]) -> tuple[list[tuple[int, str]], Array]:
    """First cells as they are written, with their lines, and the numbers (K, columns)."""
    firsts, rows = [], []
    for number, line in table_lines(path):
        cells = _cells(line)
        if len(cells) < len(columns):
            expected = f"{' '.join(columns)} are expected{remedy_of_cut(line)}"
            raise BadInput(f"{path}: line {number}: {len(cells)} columns; {expected}")
        firsts.append((number, cells[0]))
        rows.append(numbers(path, number, cells[: len(columns)], columns))
    return firsts, np.array(rows).reshape(-1, len(columns))


def read_tum(path: Path, reading: PoseReading) -> Samples:
    """Samples of a file in the TUM format.

    Raises:
        BadInput: the file cannot be read, or a value is not a number.
    """
    times, values = _table(path, _TUM)
    stamps, notes = stamps_of(str(path), times, "s", reading)
    about = RecordingSummary("TUM trajectory", notes=notes)
    return checked(Samples(str(path), about, stamps, None, p=values[:, 1:4], q=values[:, 4:]))


def read_kitti(path: Path, reading: PoseReading) -> Samples:
    """Samples of a file of KITTI's.

    Raises:
        BadInput: the file cannot be read, it has no times, or a matrix is no rotation.
    """
    columns = len(_cells(next((line for _, line in table_lines(path)), "")))
    if columns == _NUMBERED:
        raise BadInput(
            f"{path}: {columns} columns: an index or a time before KITTI's 12: cut it off, and write times to {TIMES}"
            " beside the file"
        )
    _, values = _table(path, _KITTI[: max(columns, 12)])
    if (values[:, 12:] != [0.0, 0.0, 0.0, 1.0][: max(columns - 12, 0)]).any():
        raise BadInput(f"{path}: the last row of a matrix is not 0 0 0 1")
    T = values[:, :12].reshape(-1, 3, 4)
    R = T[:, :, :3]
    off = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    off[np.linalg.det(R) < 0.0] = np.inf
    if len(off) and not off.max() < _ORTHOGONAL:
        raise BadInput(f"{path}: sample {int(np.argmax(off))}: its matrix is no rotation")
    about = RecordingSummary("KITTI poses", convention="camera")
    times = _times(path, len(T), reading)
    stamps, notes = stamps_of(str(path), times, "s", reading)
    q = so3.quaternion_from_matrix(R)
    return checked(Samples(str(path), about.noted(*notes), stamps, None, p=T[:, :, 3], q=q))


def _times(path: Path, count: int, reading: PoseReading) -> list[tuple[int, str]]:
    """Times of a KITTI file's lines."""
    if reading.rate is not None:
        return [(k + 1, str(k)) for k in range(count)]  # lines that `stamps_of` counts
    beside = path.with_name(TIMES)
    if not is_file(beside):
        raise BadInput(
            f"{path}: KITTI poses have no times: --rate HZ gives them, or {TIMES} beside it"
        )
    times, _ = _table(beside, ("time",))
    if len(times) != count:
        raise BadInput(f"{beside}: {len(times)} times for {count} poses of {path.name}")
    return times


def read_euroc(path: Path, reading: PoseReading) -> Samples:
    """Samples of a EuRoC ground-truth CSV, of its inertial unit.

    Raises:
        BadInput: the file cannot be read, or a value is not a number.
    """
    lines = list(table_lines(path))
    if len(lines) == 1 and not any(map(str.isdigit, lines[0][1])):
        raise BadInput(
            f"{path}: names of columns alone, without a line of numbers below: record anew"
        )
    rows = [_euroc_row(path, number, line) for number, line in lines]
    values = np.array([row[1] for row in rows]).reshape(-1, 7)
    header = _named_cells((read_text(path).splitlines()[:1] or [""])[0].lstrip("# "))
    unit = time_unit(header[0]) or "ns"
    stamps, notes = stamps_of(str(path), [row[0] for row in rows], unit, reading)
    order = _quaternion_order(header)
    scale = _length(header) if reading.scale is None else 1.0
    about = RecordingSummary(
        "EuRoC ground truth", notes=notes, quaternion="wxyz" if order == _EUROC_XYZW else "xyzw"
    ).in_units_of(scale)
    p = scale * values[:, :3]
    return checked(Samples(str(path), about, stamps, None, p=p, q=values[:, order]))


def _length(header: list[str]) -> float:
    """Metres in one of the unit of positions that names say."""
    columns = filter(None, map(column_of, header[1:4]))
    return next((each.length for each in columns if each.length is not None), 1.0)


def _quaternion_order(header: list[str]) -> list[int]:
    """Columns of x, y, z, w by the header's names; without names, those of EuRoC."""
    names = [name.lower().split(" ")[0] for name in header]
    ends = [name.rsplit("_", 1)[-1].removeprefix("q") for name in names[4:8]]
    is_xyzw = ends == ["x", "y", "z", "w"]
    return [3, 4, 5, 6] if is_xyzw else _EUROC_XYZW


def _named_cells(line: str) -> list[str]:
    """Cells between commas, or between semicolons, which spreadsheets write in some languages."""
    return [text.strip() for text in line.split(";" if ";" in line else ",")]


def _euroc_row(path: Path, number: int, line: str) -> tuple[tuple[int, str], list[float]]:
    """Number of the line and time as it is written, and the seven numbers of the pose."""
    texts = _named_cells(line)
    if len(texts) < len(_EUROC):
        expected = f"a EuRoC ground truth has {', '.join(_EUROC)}, ..."
        remedy = remedy_of_cut(line) or "; --columns names those of others"
        raise BadInput(f"{path}: line {number}: {len(texts)} columns; {expected}{remedy}")
    return (number, texts[0]), numbers(path, number, texts[: len(_EUROC)], _EUROC)[1:]
