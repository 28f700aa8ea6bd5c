# SPDX-License-Identifier: BSD-3-Clause
"""Ground-truth CSV files of the EuRoC MAV data set [Burri2016], and of others in its layout.

Columns: time [ns], position [m], quaternion w x y z, and optionally velocity [m/s] and biases. Those are not
used: a CSV replay is to be the same motion as a bag of its poses, and the velocity is the positions' derivative
(to 5 mm/s) anyway. The body is an inertial unit, in EuRoC's rig with x up and z forward, see
`iap_io.trajectories.reader`.
"""

from pathlib import Path

import numpy as np

from iap_description.config.text_files import read_text, remedy_of_cut, table_lines
from iap_description.errors import BadInput
from iap_io.trajectories.column_names import column_of, time_unit
from iap_io.trajectories.number_words import numbers
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.time_units import stamps_of

_COLUMNS = ("time", "px", "py", "pz", "qw", "qx", "qy", "qz")
_XYZW = [4, 5, 6, 3]  # of the seven numbers of a pose


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
    rows = [_row(path, number, line) for number, line in lines]
    values = np.array([row[1] for row in rows]).reshape(-1, 7)
    header = _cells((read_text(path).splitlines()[:1] or [""])[0].lstrip("# "))
    unit = time_unit(header[0]) or "ns"
    stamps, notes = stamps_of(str(path), [row[0] for row in rows], unit, reading)
    order = _quaternion_order(header)
    scale = _length(header) if reading.scale is None else 1.0
    about = RecordingSummary(
        "EuRoC ground truth", notes=notes, quaternion="wxyz" if order == _XYZW else "xyzw"
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
    return [3, 4, 5, 6] if is_xyzw else _XYZW


def _cells(line: str) -> list[str]:
    """Cells between commas, or between semicolons, which spreadsheets write in some languages."""
    return [text.strip() for text in line.split(";" if ";" in line else ",")]


def _row(path: Path, number: int, line: str) -> tuple[tuple[int, str], list[float]]:
    """Number of the line and time as it is written, and the seven numbers of the pose."""
    texts = _cells(line)
    if len(texts) < len(_COLUMNS):
        expected = f"a EuRoC ground truth has {', '.join(_COLUMNS)}, ..."
        remedy = remedy_of_cut(line) or "; --columns names those of others"
        raise BadInput(f"{path}: line {number}: {len(texts)} columns; {expected}{remedy}")
    return (number, texts[0]), numbers(path, number, texts[: len(_COLUMNS)], _COLUMNS)[1:]
