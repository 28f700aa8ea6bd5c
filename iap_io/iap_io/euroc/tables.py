# SPDX-License-Identifier: BSD-3-Clause
"""Tables of an EuRoC folder: a stamp in ns, then numbers, or a file's name."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.text_files import table_lines


class Table(NamedTuple):
    """A table.

    Attributes:
        stamps: (K,) [ns].
        values: (K, n) what follows; n is 0 where that is names.
        names: K of them, or none.
    """

    stamps: Integers
    values: Array
    names: list[str]


def read_table(path: Path, fewest: int) -> Table:
    """Read a table.

    Args:
        path: the file; lines that begin with # are skipped.
        fewest: numbers behind the stamp, or more of them; 0 for a file's name.

    Raises:
        BadInput: it is missing or empty, or a line is not as the first one, naming the line.
    """
    stamps, names = [], []
    values: list[list[float]] = []
    for number, line in table_lines(path):
        stamp, *texts = (text.strip() for text in line.split(","))
        stamps.append(_stamp(path, number, stamp))
        if fewest:
            values.append(_numbers(path, number, texts, fewest))
            if len(values[-1]) != len(values[0]):
                raise BadInput(
                    f"{path}: line {number}: {len(texts)} numbers, unlike the first line"
                )
        else:
            names.append(texts[0] if texts and texts[0] else f"{stamp}.png")
    if not stamps:
        raise BadInput(f"{path}: the table is empty")
    return Table(np.array(stamps, dtype=np.int64), np.array(values, dtype=float), names)


def _stamp(path: Path, number: int, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise BadInput(
            f"{path}: line {number}: the stamp is {text!r}, not a time in ns"
        ) from error


def _numbers(path: Path, number: int, texts: list[str], fewest: int) -> list[float]:
    try:
        row = [float(text) for text in texts if text]
    except ValueError:
        row = []
    if len(row) < fewest or not np.isfinite(row).all():
        raise BadInput(f"{path}: line {number}: expected {fewest} finite numbers behind the stamp")
    return row
