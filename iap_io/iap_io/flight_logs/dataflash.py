# SPDX-License-Identifier: BSD-3-Clause
"""Messages of ArduPilot's dataflash logs (.bin), as tables.

Own code: pymavlink needs a second for 2 MB, and prints a line for each damaged byte. A file is a row of messages. Each
begins with two fixed bytes and its type. A message of type 128 tells the layout of another type.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_io.flight_logs.log_tables import LogTable

HEAD = b"\xa3\x95"
MAGIC = HEAD + b"\x80"
FORMAT_TYPE, FORMAT_SIZE = 128, 89
BEFORE = 3  # bytes of a message before its numbers: the head and the type
INSTANCES = ("C", "I", "Instance")  # columns that say which sensor or estimator
DTYPES = {  # of the letters of a layout
    "a": "(32,)<i2", "b": "i1", "B": "u1", "h": "<i2", "H": "<u2", "i": "<i4", "I": "<u4", "f": "<f4",
    "d": "<f8", "n": "S4", "N": "S16", "Z": "S64", "c": "<i2", "C": "<u2", "e": "<i4", "E": "<u4",
    "L": "<i4", "M": "u1", "q": "<i8", "Q": "<u8", "g": "<f2",
}  # fmt: skip
FACTORS = {"c": 0.01, "C": 0.01, "e": 0.01, "E": 0.01, "L": 1e-7}  # of these letters' numbers


class RowFormat(NamedTuple):
    """The layout of a type of message.

    Attributes:
        name: of the type.
        letters: one for each number.
        columns: their names.
    """

    name: str
    letters: str
    columns: list[str]

    @property
    def dtype(self) -> np.dtype:
        """Of a message's numbers; empty where the layout is damaged."""
        names = self.columns[: len(self.letters)]
        if len(names) != len(self.letters) or any(x not in DTYPES for x in self.letters):
            return np.dtype([])
        return np.dtype([(name, DTYPES[x]) for name, x in zip(names, self.letters, strict=True)])


class Dataflash(NamedTuple):
    """Content of a dataflash file.

    Attributes:
        tables: instances of each type of message, by its name.
        texts: of the messages MSG.
        rows: number of messages.
        damaged: places at which bytes were passed over.
        is_cut: whether the file ends in the middle of a message.
    """

    tables: Mapping[str, list[LogTable]]
    texts: list[str]
    rows: int
    damaged: int
    is_cut: bool


def read_messages(data: bytes) -> Dataflash:
    """All messages in the bytes of a file."""
    layouts, places, damaged, is_cut = _places(data)
    raw = np.frombuffer(data, np.uint8)
    tables: dict[str, list[LogTable]] = {}
    offsets: dict[str, Array] = {}
    texts: list[str] = []
    for kind, at in places.items():
        layout = layouts[kind]
        dtype = layout.dtype
        if not dtype.names:
            continue
        index = np.asarray(at)[:, None] + np.arange(BEFORE, BEFORE + dtype.itemsize)
        rows = np.ascontiguousarray(raw[index]).view(dtype)[:, 0]
        if layout.name == "MSG" and "Message" in dtype.names:
            texts += [_text(bytes(each)) for each in rows["Message"]]
        tables[layout.name] = _tables(layout, rows)
        offsets[layout.name] = np.asarray(at, dtype=float)
    _add_times(tables, offsets)
    return Dataflash(tables, texts, sum(map(len, places.values())), damaged, is_cut)


def _places(data: bytes) -> tuple[dict[int, RowFormat], dict[int, list[int]], int, bool]:
    """Layouts and the offsets of all messages by type, the number of damaged places, and whether the end is cut."""
    layouts = {
        FORMAT_TYPE: RowFormat("FMT", "BBnNZ", ["Type", "Length", "Name", "Format", "Columns"])
    }
    sizes = [0] * 256
    sizes[FORMAT_TYPE] = FORMAT_SIZE
    places: dict[int, list[int]] = {}
    at, damaged = 0, 0
    while at + BEFORE <= len(data):
        kind = data[at + 2]
        if data[at : at + 2] != HEAD or not sizes[kind]:
            damaged += 1
            at = data.find(HEAD, at + 1)
            if at < 0:
                return layouts, places, damaged, False
            continue
        if at + sizes[kind] > len(data):
            return layouts, places, damaged, True
        if kind == FORMAT_TYPE:
            _add_layout(data[at + BEFORE : at + FORMAT_SIZE], layouts, sizes)
        places.setdefault(kind, []).append(at)
        at += sizes[kind]
    return layouts, places, damaged, at < len(data)


def _add_layout(row: bytes, layouts: dict[int, RowFormat], sizes: list[int]) -> None:
    """The layout in a message of type FMT; one is left out whose size or names do not fit its letters."""
    kind, size = row[0], row[1]
    layout = RowFormat(_text(row[2:6]), _text(row[6:22]), _text(row[22:86]).split(","))
    fits = len(set(layout.columns)) == len(layout.columns) == len(layout.letters)
    if kind != FORMAT_TYPE and fits and layout.dtype.itemsize + BEFORE == size:
        layouts[kind], sizes[kind] = layout, size


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("latin-1")


def _tables(layout: RowFormat, rows: np.ndarray) -> list[LogTable]:
    """The rows of each instance."""
    columns: dict[str, np.ndarray] = {
        name: rows[name] * FACTORS[letter] if letter in FACTORS else rows[name]
        for name, letter in zip(layout.columns, layout.letters, strict=True)
    }
    t = _times(layout.name, columns)
    letters = dict(zip(layout.columns, layout.letters, strict=True))  # I may be an integral, too
    numbers = [name for name in INSTANCES if letters.get(name) in ("B", "b", "M")]
    of_instance = columns[numbers[0]] if numbers else None
    if of_instance is None or layout.name == "PARM":
        return [LogTable(layout.name, t, columns)]
    tables = []
    for number in np.unique(of_instance):
        mine = of_instance == number
        name = layout.name if number == 0 else f"{layout.name}[{number}]"
        tables.append(LogTable(name, t[mine], {key: x[mine] for key, x in columns.items()}))
    return tables


def _times(name: str, columns: Mapping[str, np.ndarray]) -> Array:
    """Times since boot [s]; in old GPS messages TimeMS is that of the satellites, and T that since boot."""
    if "TimeUS" in columns:
        return columns["TimeUS"] * 1e-6
    of_boot = columns.get("T" if name == "GPS" else "TimeMS")
    count = len(next(iter(columns.values()))) if columns else 0
    return np.full(count, np.nan) if of_boot is None else of_boot * 1e-3


def _add_times(tables: dict[str, list[LogTable]], offsets: Mapping[str, Array]) -> None:
    """Give messages without times, such as events of old releases, those of the messages around them."""
    timed = [
        name for name, each in tables.items() if len(each) == 1 and np.isfinite(each[0].t).all()
    ]
    usual = max(timed, key=lambda name: len(offsets[name]), default=None)
    if usual is None:
        return
    t = np.maximum.accumulate(tables[usual][0].t)
    for name, each in tables.items():
        if len(each) == 1 and np.isnan(each[0].t).all():
            tables[name] = [each[0]._replace(t=np.interp(offsets[name], offsets[usual], t))]
