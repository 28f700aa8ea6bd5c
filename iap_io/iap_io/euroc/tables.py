# SPDX-License-Identifier: BSD-3-Clause
"""Tables of an EuRoC folder: a stamp in ns, then numbers, or a file's name."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput, shown
from iap_description.text_files import table_lines

_log = logging.getLogger(__name__)


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

    A last line that is cut short, as by a copy that was, is left out with a warning.

    Raises:
        BadInput: it is missing or empty, or a line is not as the first one, naming the line.
    """
    stamps: list[int] = []
    names: list[str] = []
    values: list[list[float]] = []
    for number, line in table_lines(path):
        try:
            stamp, row, name = _row(path, number, line, fewest, len(values[0]) if values else 0)
            if not line.endswith("\n") and names and not _follows(stamp, name, stamps, names):
                raise BadInput(f"{path}: line {number}: not as those before it")
        except BadInput as error:
            if line.endswith("\n") or not stamps:
                raise
            _log.warning("%s; it is the last line, cut short, and is left out", error)
            break
        stamps.append(stamp)
        if fewest:
            values.append(row)
        else:
            names.append(name)
    if not stamps:
        raise BadInput(f"{path}: the table is empty")
    return Table(np.array(stamps, dtype=np.int64), np.array(values, dtype=float), names)


def _follows(stamp: int, name: str, stamps: list[int], names: list[str]) -> bool:
    """Whether a line goes on as those before it: later, with a file of the same kind."""
    return stamp > stamps[-1] and Path(name).suffix == Path(names[0]).suffix


def _row(
    path: Path, number: int, line: str, fewest: int, count: int
) -> tuple[int, list[float], str]:
    """Stamp, numbers, of which there are `count` unless that is 0, and name of a line."""
    text, *texts = (text.strip() for text in line.split(","))
    stamp = _stamp(path, number, text)
    if not fewest:
        return stamp, [], texts[0] if texts and texts[0] else f"{text}.png"
    row = _numbers(path, number, texts, fewest)
    if count and len(row) != count:
        raise BadInput(f"{path}: line {number}: {len(texts)} numbers, unlike the first line")
    return stamp, row, ""


def _stamp(path: Path, number: int, text: str) -> int:
    stamp = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
    if not 0 <= stamp < 2**63:
        raise BadInput(f"{path}: line {number}: the stamp is {shown(text)}, not a time in ns")
    return stamp


def _numbers(path: Path, number: int, texts: list[str], fewest: int) -> list[float]:
    try:
        row = [float(text) for text in texts if text]
    except ValueError:
        row = []
    if len(row) < fewest or not np.isfinite(row).all():
        raise BadInput(f"{path}: line {number}: expected {fewest} finite numbers behind the stamp")
    return row
