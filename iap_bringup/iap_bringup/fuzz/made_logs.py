# SPDX-License-Identifier: BSD-3-Clause
"""Flight logs of other people's making, byte by byte: ArduPilot's dataflash, PX4's ULog, Crazyflie's, a blackbox."""

import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_bringup.fuzz.made_blackbox import write_blackbox
from iap_description.arrays import Array
from iap_io.flight_logs.dataflash import FORMAT_SIZE, FORMAT_TYPE, HEAD

CODES = {"Q": "Q", "f": "f", "B": "B", "H": "H", "N": "16s", "Z": "64s", "c": "h", "n": "4s"}
FIRST_TYPE = 129
DURATION, STEP = 6.0, 0.05  # of the flight [s]
ULOG_HEADER = b"ULog\x01\x12\x35\x01"
ULOG_CODES = {"uint64_t": "Q", "float": "f", "bool": "?", "uint8_t": "B", "int32_t": "i"}
BOOT_US = 100_000_000  # of the first row
Event = tuple[Sequence[str], Iterable[Sequence[float]]]  # names, and rows of numbers


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


def _message(kind: str, payload: bytes) -> bytes:
    return struct.pack("<HB", len(payload), ord(kind)) + payload


class ULogWriter:
    """A log of PX4 in the making.

    The layout is that of https://docs.px4.io/main/en/dev_log/ulog_file_format.html.
    """

    def __init__(self) -> None:
        self.definitions: list[bytes] = []
        self.subscriptions: list[bytes] = []
        self.rows: list[tuple[int, bytes]] = []

    def information(self, key: str, text: str) -> None:
        """A key whose value is a text."""
        name = f"char[{len(text)}] {key}".encode()
        self.definitions.append(_message("I", bytes([len(name)]) + name + text.encode()))

    def parameter(self, key: str, value: int) -> None:
        """A whole number of the vehicle's settings."""
        name = f"int32_t {key}".encode()
        self.definitions.append(
            _message("P", bytes([len(name)]) + name + struct.pack("<i", value))
        )

    def topic(
        self, name: str, fields: str, rows: Iterable[Sequence[float]], instance: int = 0
    ) -> None:
        """Rows of numbers, the first of which is the time [us]; `fields` as in ``float[3] xyz;bool on``."""
        index, code = len(self.subscriptions), "<Q"
        for each in fields.split(";"):
            kind, _, width = each.split(" ")[0].rstrip("]").partition("[")
            code += f"{width}{ULOG_CODES[kind]}"
        if instance == 0:
            text = f"{name}:uint64_t timestamp;{fields};"
            self.definitions.append(_message("F", text.encode()))
        head = struct.pack("<BH", instance, index)
        self.subscriptions.append(_message("A", head + name.encode()))
        packed = (struct.pack(code, int(row[0]), *row[1:]) for row in rows)
        index_bytes = struct.pack("<H", index)
        self.rows += [
            (struct.unpack("<Q", each[:8])[0], _message("D", index_bytes + each))
            for each in packed
        ]

    def dropout(self, time_us: int, duration_ms: int) -> None:
        """A note that the logger has lost rows before a time."""
        self.rows.append((time_us, _message("O", struct.pack("<H", duration_ms))))

    def write(self, path: Path) -> Path:
        """Write the file, rows in the order of their times."""
        flags = _message("B", bytes(40))
        data = b"".join(each for _, each in sorted(self.rows, key=lambda row: row[0]))
        head = ULOG_HEADER + struct.pack("<Q", BOOT_US)
        path.write_bytes(head + flags + b"".join([*self.definitions, *self.subscriptions]) + data)
        return path


def usd(t: Iterable[float], *events: Event) -> bytes:
    """The bytes of a Crazyflie's file; each event has a row for each time [s]."""
    head, records = struct.pack("<BHH", 0xBC, 2, len(events)), list[tuple[float, bytes]]()
    for number, (variables, rows) in enumerate(events):
        head += struct.pack("<H", number) + b"event\0" + struct.pack("<H", len(variables))
        head += b"".join(each.encode() + b"(f)\0" for each in variables)
        for time, row in zip(t, rows, strict=True):
            data = struct.pack(f"<HQ{len(row)}f", number, round(1e6 * time), *row)
            records.append((time, data))
    body = head + b"".join(data for _, data in sorted(records, key=lambda each: each[0]))
    return body + struct.pack("<I", zlib.crc32(body))


def _circle() -> tuple[Array, Array, Array]:
    """Times, places and velocities in NED of a climb in circles."""
    t: Array = np.arange(0.0, DURATION, STEP)
    places = np.stack([np.cos(t), np.sin(t), -2.0 - 0.1 * t], 1)
    return t, places, np.stack([-np.sin(t), np.cos(t), np.full(len(t), -0.1)], 1)


def write_all(home: Path) -> None:
    """Write a log of each kind."""
    for write in (write_dataflash, _write_ulog, _write_usd, _write_blackbox_csv, write_blackbox):
        write(home)


def _write_ulog(home: Path) -> None:
    t, places, speeds = _circle()
    log = ULogWriter()
    log.information("ver_hw", "MADE_UP")
    for key, value in (("SYS_AUTOSTART", 4001), ("MAV_TYPE", 2), ("CA_ROTOR_COUNT", 4)):
        log.parameter(key, value)
    us = [round(BOOT_US + 1e6 * each) for each in t]
    log.topic("vehicle_attitude", "float[4] q", [(k, 1.0, 0.0, 0.0, 0.0) for k in us])
    flags = "bool xy_valid;bool z_valid;bool v_xy_valid;bool v_z_valid"
    fields = f"float x;float y;float z;float vx;float vy;float vz;{flags}"
    rows = [(k, *p, *v, 1, 1, 1, 1) for k, p, v in zip(us, places, speeds, strict=True)]
    log.topic("vehicle_local_position", fields, rows)
    log.topic("actuator_armed", "bool armed", [(k, 1) for k in us])
    log.write(home / "flight.ulg")


def _write_usd(home: Path) -> None:
    t, places, speeds = _circle()
    names = [f"stateEstimate.{each}" for each in ("x", "y", "z", "vx", "vy", "vz")]
    turns = [f"stateEstimate.q{each}" for each in "xyzw"]
    swap = [1.0, -1.0, -1.0]
    rows = [
        (*p, *v, 0.0, 0.0, 0.0, 1.0) for p, v in zip(places * swap, speeds * swap, strict=True)
    ]
    (home / "flight_usd").write_bytes(usd(t.tolist(), (names + turns, rows)))


def _write_blackbox_csv(home: Path) -> None:
    names = ["loopIteration", "time (us)", *(f"gyroADC[{i}]" for i in range(3))]
    names += [*(f"accSmooth[{i}]" for i in range(3)), *(f"motor[{i}]" for i in range(4))]
    rows = [[k, 1000 * k, 90, 0, -180, 0, 0, 2048, *[630 + k % 10] * 4] for k in range(500)]
    lines = [
        '"Product","Blackbox flight data recorder"',
        '"acc_1G","2048"',
        ", ".join(names),
        *(", ".join(map(str, each)) for each in rows),
    ]
    (home / "flight_blackbox.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_dataflash(home: Path) -> None:
    """The log of a copter that climbs and circles."""
    t, circle, speed = _circle()
    us = [round(1e6 * (50.0 + each)) for each in t]
    attitudes = [(k, 0.0, 5.0, 10.0) for k in us]
    places = [(k, 0, *p, *v) for k, p, v in zip(us, circle, speed, strict=True)]
    kinds = (
        Rows("MSG", "QZ", "TimeUS,Message", [(us[0], b"ArduCopter V4.3.0")]),
        Rows("ATT", "Qfff", "TimeUS,Roll,Pitch,Yaw", attitudes),
        Rows("XKF1", "QBffffff", "TimeUS,C,PN,PE,PD,VN,VE,VD", places),
        Rows("EV", "QB", "TimeUS,Id", [(us[0], 10), (us[1], 28)]),
    )
    (home / "flight.bin").write_bytes(dataflash(kinds))
