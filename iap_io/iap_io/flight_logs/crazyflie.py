# SPDX-License-Identifier: BSD-3-Clause
"""Logs of the Crazyflie's SD card [https://www.bitcraze.io/documentation/repository/crazyflie-firmware].

A file has the names of its events' variables, then records: the event's number, a time, and numbers. The CRC of all is
its end. Frames are ENU and FLU; quaternions x y z w. Pitch of `stateEstimate.pitch` is counted the other way round.
"""

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.config.text_files import read_bytes
from iap_description.earth import STANDARD_GRAVITY
from iap_description.errors import BadInput
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.log_tables import LogField, LogTable, signals_of

MAGIC = 0xBC
VERSIONS = {1: ("<u4", 1e-3), 2: ("<u8", 1e-6)}  # type and unit of times [s]
MAX_FILE_SIZE = 1 << 30  # bytes of a file
TYPES = {"b", "B", "h", "H", "i", "I", "f"}
CRC = 4  # bytes
LISTED = 8  # variables that a refusal names
DEG = float(np.pi / 180.0)
PWM = 1.0 / 65535.0
TABLE = "uSD"
STATE, TARGET = "stateEstimate", "ctrltarget"


def _xyz(stem: str) -> tuple[str, ...]:
    return tuple(f"{stem}{axis}" for axis in "xyz")


FIELDS = (
    LogField(names.ATTITUDE, TABLE, (*_xyz(f"{STATE}.q"), f"{STATE}.qw")),
    LogField(names.ATTITUDE, TABLE, tuple(f"{STATE}.{x}" for x in ("roll", "pitch", "yaw")), "crazyflie rpy", DEG),
    LogField(names.ATTITUDE, TABLE, tuple(f"stabilizer.{x}" for x in ("roll", "pitch", "yaw")), "crazyflie rpy", DEG),
    LogField(names.POSITION, TABLE, _xyz(f"{STATE}.")),
    LogField(names.VELOCITY, TABLE, _xyz(f"{STATE}.v")),
    LogField(names.RATES, TABLE, _xyz("gyro."), scale=DEG),
    LogField(names.GYROSCOPE, TABLE, _xyz("gyro."), scale=DEG),
    LogField(names.SPECIFIC_FORCE, TABLE, _xyz("acc."), scale=STANDARD_GRAVITY),
    LogField(names.MOTORS, TABLE, tuple(f"motor.m{i}" for i in range(1, 5)), scale=PWM),
    LogField(names.ROTOR_SPEEDS, TABLE, tuple(f"rpm.m{i}" for i in range(1, 5))),
    LogField(names.THRUST, TABLE, ("stabilizer.thrust",), scale=PWM),
    LogField(
        names.ATTITUDE_SETPOINT, TABLE, tuple(f"{TARGET}.{x}" for x in ("roll", "pitch", "yaw")),
        "crazyflie rpy", DEG,
    ),
    LogField(names.POSITION_SETPOINT, TABLE, _xyz(f"{TARGET}.")),
    LogField(names.VELOCITY_SETPOINT, TABLE, _xyz(f"{TARGET}.v")),
    LogField(names.VOLTAGE, TABLE, ("pm.vbat",)),
)  # fmt: skip
PLACES = (names.FRONT_RIGHT, names.REAR_RIGHT, names.REAR_LEFT, names.FRONT_LEFT)
ADVICE = "log stateEstimate.x to z and qx to qw, gyro, acc, motor.m1 to m4 and pm.vbat at 500 Hz or more"


class EventType(NamedTuple):
    """Records of one kind.

    Attributes:
        name: of the event.
        dtype: of a record.
    """

    name: str
    dtype: np.dtype


def is_usd(begin: bytes) -> bool:
    """True if a file begins as one of these logs does."""
    return (
        len(begin) > 5 and begin[0] == MAGIC and int.from_bytes(begin[1:3], "little") in VERSIONS
    )


def read_usd(path: Path) -> FlightLog:
    """The log in a file of an SD card.

    Raises:
        BadInput: its head is damaged, or it has no records.
    """
    data = read_bytes(path, MAX_FILE_SIZE)
    unit = VERSIONS[int.from_bytes(data[1:3], "little")][1]
    try:
        events, at = _events(data)
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path}: its list of variables is damaged or cut: copy it again"
        ) from error
    rows, is_sound = _records(data, events, at)
    tables = [
        LogTable(TABLE, each["t"] * unit, {name: each[name] for name in (each.dtype.names or ())[2:]})
        for each in rows if len(each) > 1
    ]  # fmt: skip
    notes = []
    if zlib.crc32(data[:-CRC]) != int.from_bytes(data[-CRC:], "little"):
        notes.append("its CRC is not that of the file: it was cut or damaged")
    if not is_sound:
        notes.append("records of an unknown event: what comes after the first of them is left out")
    return log_of_tables(path, "Crazyflie uSD", tables, notes, _known(events))


def _known(events: Mapping[int, EventType]) -> str:
    return listed(name for each in events.values() for name in (each.dtype.names or ())[2:])


def listed(variables: Iterable[str]) -> str:
    """The first of some variables, in words."""
    return ", ".join(list(variables)[:LISTED]) or "none"


def log_of_tables(
    path: Path, kind: str, tables: Sequence[LogTable], notes: Sequence[str], known: str
) -> FlightLog:
    """The log of tables with a Crazyflie's variables by their names.

    Args:
        path: of the file.
        kind: of the file, in words.
        tables: of its events.
        notes: of its reader, behind those on the signals.
        known: variables that it has, in words.

    Raises:
        BadInput: none of the variables is known.
    """
    signals, of_signals = signals_of({TABLE: list(tables)}, FIELDS)
    if not signals:
        raise BadInput(f"{path}: no variable in it that is known, of {known}")
    rotors = len(PLACES)
    return FlightLog(
        path, kind, f"Crazyflie, {rotors} rotors", signals, rotors, "enu",
        sum(len(each.t) for each in tables), {}, (*of_signals, *notes), {}, ADVICE, PLACES,
    )  # fmt: skip


def _events(data: bytes) -> tuple[dict[int, EventType], int]:
    """The events, and where the records begin."""
    version, count = struct.unpack_from("<HH", data, 1)
    stamp = VERSIONS[version][0]
    at, events = 5, {}
    for _ in range(count):
        (number,) = struct.unpack_from("<H", data, at)
        name, at = _text(data, at + 2)
        (width,) = struct.unpack_from("<H", data, at)
        at += 2
        fields = [("event", "<u2"), ("t", stamp)]
        for _ in range(width):
            variable, at = _text(data, at)
            if variable[-3:-2] != "(" or variable[-2:-1] not in TYPES:
                raise ValueError(variable)
            fields.append((variable[:-3], f"<{variable[-2]}"))
        events[number] = EventType(name, np.dtype(fields))
    return events, at


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at)
    return data[at:end].decode("ascii"), end + 1


def _records(
    data: bytes, events: Mapping[int, EventType], at: int
) -> tuple[list[np.ndarray], bool]:
    """The records of each event, and whether all could be read."""
    end = len(data) - CRC
    if len(events) == 1:
        ((number, event),) = events.items()
        rows = np.frombuffer(data, event.dtype, max(end - at, 0) // event.dtype.itemsize, at)
        other = rows["event"] != number
        sound = rows[: int(np.argmax(other))] if other.any() else rows
        return [sound], not other.any()
    places: dict[int, list[int]] = {number: [] for number in events}
    while at + 2 <= end:
        number = int.from_bytes(data[at : at + 2], "little")
        if number not in events:
            return _stacked(data, events, places), False
        size = events[number].dtype.itemsize
        if at + size > end:
            break
        places[number].append(at)
        at += size
    return _stacked(data, events, places), True


def _stacked(
    data: bytes, events: Mapping[int, EventType], offsets: Mapping[int, list[int]]
) -> list[np.ndarray]:
    rows = []
    for number, places in offsets.items():
        dtype = events[number].dtype
        each = b"".join(data[at : at + dtype.itemsize] for at in places)
        rows.append(np.frombuffer(each, dtype))
    return rows
