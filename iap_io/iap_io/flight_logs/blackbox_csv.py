# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's blackbox as CSV, by blackbox_decode or exported by the Blackbox Explorer.

The Explorer's file begins with lines of a key and a value; both have a line of names then.
"""

import csv
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.config.text_files import MAX_TABLE, read_bytes
from iap_description.errors import BadInput
from iap_io.flight_logs.blackbox_columns import TIME, log_of_columns, number
from iap_io.flight_logs.flight_log import FlightLog

FIRST = "loopIteration"


def is_blackbox_csv(begin: bytes) -> bool:
    """True if a text begins as one of these tables does."""
    text = begin.decode("utf-8", errors="replace").lstrip('\ufeff"\r\n ')
    return text.startswith((FIRST, "Product"))


def read_csv(path: Path) -> FlightLog:
    """The log in a CSV.

    Raises:
        BadInput: it has no line of names, no rows, or cells that are no numbers.
    """
    text = read_bytes(path, MAX_TABLE).decode("utf-8", errors="replace")
    keys, columns, others = _read(path, text)
    notes = [f"{others} lines with more or fewer cells than names left out"] if others else []
    return log_of_columns(path, "blackbox CSV", keys, columns, notes)


def _read(path: Path, text: str) -> tuple[dict[str, str], dict[str, Array], int]:
    """The keys above the names, the columns, and the number of lines that have more or fewer cells."""
    lines = (_cells(each) for each in text.lstrip("\ufeff").splitlines() if each.strip())
    keys: dict[str, str] = {}
    header: list[str] = []
    for cells in lines:
        if cells and cells[0].strip() == FIRST:
            header = [
                each.strip().removesuffix(" (us)").removesuffix(" (deg/s)") for each in cells
            ]
            break
        if len(cells) >= 2:
            keys[cells[0].strip()] = ",".join(cells[1:]).strip()
    if TIME not in header:
        raise BadInput(f"{path}: no line of names with {FIRST} and {TIME}: was it cut?")
    below = list(lines)
    rows = [[number(each) for each in cells] for cells in below if len(cells) == len(header)]
    if len(rows) < 2:
        raise BadInput(f"{path}: {len(rows)} rows of numbers: was it cut?")
    columns = dict(zip(header, np.array(rows).T, strict=True))
    return keys, columns, len(below) - len(rows)


def _cells(line: str) -> list[str]:
    """The cells of a line by itself, as a quote that does not end is of no other line; none if one is endless."""
    try:
        return next(csv.reader([line], skipinitialspace=True), [])
    except csv.Error:
        return []
