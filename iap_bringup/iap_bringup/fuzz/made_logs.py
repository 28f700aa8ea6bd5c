# SPDX-License-Identifier: BSD-3-Clause
"""Flight logs of other people's making, byte by byte: ArduPilot's dataflash."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_io.flight_logs.dataflash import FORMAT_SIZE, FORMAT_TYPE, HEAD

CODES = {"Q": "Q", "f": "f", "B": "B", "H": "H", "N": "16s", "Z": "64s", "c": "h", "n": "4s"}
FIRST_TYPE = 129
DURATION, STEP = 6.0, 0.05  # of the flight [s]


class Rows(NamedTuple):
    """Messages of one type.

    Attributes:
        name: of the type, up to 4 letters.
        letters: one for each number, of `CODES`.
        columns: their names, with commas.
        rows: the numbers; `time_us` of each is the first where the first letter is Q.
    """

    name: str
    letters: str
    columns: str
    rows: Iterable[Sequence[float | bytes]]


def dataflash(kinds: Iterable[Rows]) -> bytes:
    """The bytes of a log; messages are in the order of their times, and those without times come first."""
    formats, messages = (
        [_format(FORMAT_TYPE, FORMAT_SIZE, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")],
        [],
    )
    for number, kind in enumerate(kinds, FIRST_TYPE):
        code = "<" + "".join(CODES[each] for each in kind.letters)
        size = len(HEAD) + 1 + struct.calcsize(code)
        formats.append(_format(number, size, kind.name, kind.letters, kind.columns))
        for row in kind.rows:
            time = row[0] if kind.letters[0] == "Q" else 0
            messages.append((time, HEAD + bytes([number]) + struct.pack(code, *row)))
    messages.sort(key=lambda each: each[0])
    return b"".join([*formats, *(data for _, data in messages)])


def _format(number: int, size: int, name: str, letters: str, columns: str) -> bytes:
    texts = struct.pack("<4s16s64s", name.encode(), letters.encode(), columns.encode())
    return HEAD + bytes([FORMAT_TYPE, number, size]) + texts


def write_dataflash(home: Path) -> None:
    """The log of a copter that climbs and circles."""
    t = np.arange(0.0, DURATION, STEP)
    us = [round(1e6 * (50.0 + each)) for each in t]
    attitudes = [(k, 0.0, 5.0, 10.0) for k in us]
    circle = np.stack([np.cos(t), np.sin(t), -2.0 - 0.1 * t], 1)
    speed = np.stack([-np.sin(t), np.cos(t), np.full(len(t), -0.1)], 1)
    places = [(k, 0, *p, *v) for k, p, v in zip(us, circle, speed, strict=True)]
    kinds = (
        Rows("MSG", "QZ", "TimeUS,Message", [(us[0], b"ArduCopter V4.3.0")]),
        Rows("ATT", "Qfff", "TimeUS,Roll,Pitch,Yaw", attitudes),
        Rows("XKF1", "QBffffff", "TimeUS,C,PN,PE,PD,VN,VE,VD", places),
        Rows("EV", "QB", "TimeUS,Id", [(us[0], 10), (us[1], 28)]),
    )
    (home / "flight.bin").write_bytes(dataflash(kinds))
