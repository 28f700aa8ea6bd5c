# SPDX-License-Identifier: BSD-3-Clause
"""Trajectory files in the TUM format: ``time x y z qx qy qz qw`` a line, seconds and metres.

Own code rather than evo's, whose import takes a second of every run, and which names no line of a bad file; the tests
read the files back with evo.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_description.text_files import table_lines

Array = NDArray[np.float64]


def tum_text(t: Array, poses: Array) -> str:
    """The file of poses (K, 7) at times (K,) [s], all with nine decimals."""
    line = " ".join(["%.9f"] * 8) + "\n"
    return "".join([line % tuple(row) for row in np.column_stack([t, poses]).tolist()])


def write_tum(path: Path, t: Array, poses: Array) -> None:
    """Write poses (K, 7) at times (K,) [s]."""
    path.write_text(tum_text(t, poses), encoding="ascii")


def read_tum(path: Path) -> tuple[Array, Array]:
    """Times (K,) [s] and poses (K, 7) of a TUM file; lines that begin with # are skipped.

    Raises:
        BadInput: the file is missing, or a line is not eight finite numbers, or time does not
            increase.
    """
    rows = [_row(path, n, line) for n, line in table_lines(path)]
    if not rows:
        raise BadInput(f"{path}: no pose")
    table = np.array(rows)
    backwards = np.flatnonzero(np.diff(table[:, 0]) <= 0.0)
    if backwards.size:
        raise BadInput(f"{path}: time does not increase after {table[backwards[0], 0]:.9f} s")
    return table[:, 0], table[:, 1:]


def _row(path: Path, number: int, line: str) -> list[float]:
    try:
        row = [float(word) for word in line.split()]
    except ValueError:
        row = []
    if len(row) != 8 or not np.isfinite(row).all():
        raise BadInput(f"{path}: line {number}: expected 8 finite numbers, found '{line.strip()}'")
    return row
