# SPDX-License-Identifier: BSD-3-Clause
"""Tables of an EuRoC folder: a stamp in ns, then numbers, or a file's name."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.text_files import table_lines
from iap_description.errors import BadInput, shown


class CsvTable(NamedTuple):
    """A table.

    Attributes:
        stamps: (K,) [ns].
        values: (K, n) what follows; n is 0 where that is names.
        names: K of them, or none.
        note: a sentence for the user about a last line that was left out; None where nothing was.
    """

    stamps: Integers
    values: Array
    names: list[str]
    note: str | None = None


def read_table(path: Path, fewest: int) -> CsvTable:
    """Read a table.

    Args:
        path: the file; lines that begin with # are skipped.
        fewest: numbers behind the stamp, or more of them; 0 for a file's name.

    A last line without an end, as a copy that was cut short leaves it, is left out: its last number may have lost
    digits and still be one. A name is whole where it ends as those before it.

    Raises:
        BadInput: it is missing or empty, or a line is not as the first one, naming the line.
    """
    stamps: list[int] = []
    names: list[str] = []
    values: list[list[float]] = []
    note = None
    for number, line in table_lines(path):
        if stamps and not line.endswith("\n") and not (names and _goes_on(line, stamps, names)):
            note = f"{path}: line {number}, the last one, is cut short: left out"
            break
        stamp, row, name = _row(path, number, line, fewest, len(values[0]) if values else 0)
        stamps.append(stamp)
        if fewest:
            values.append(row)
        else:
            names.append(name)
    if not stamps:
        raise BadInput(f"{path}: the table is empty")
    return CsvTable(np.array(stamps, dtype=np.int64), np.array(values, dtype=float), names, note)


def _goes_on(line: str, stamps: list[int], names: list[str]) -> bool:
    """True if a line has a later stamp than those before it, and a file of the same kind."""
    stamp, name, *_ = (text.strip() for text in f"{line},".split(","))
    is_later = stamp.isascii() and stamp.isdecimal() and int(stamp[:20]) > stamps[-1]
    return is_later and Path(name).suffix == Path(names[0]).suffix


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
