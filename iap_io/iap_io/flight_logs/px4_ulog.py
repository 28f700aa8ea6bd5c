# SPDX-License-Identifier: BSD-3-Clause
"""PX4's ULog files, read by pyulog [https://docs.px4.io/main/en/dev_log/ulog_file_format.html].

PX4 has NED and FRD, quaternions w x y z, and microseconds since boot. A row's `timestamp_sample` is the time of the
measurement, and its `timestamp` that of its publication.
"""

import contextlib
import io
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.errors import BadInput
from iap_description.process.extras import LazyModule
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, MotorPlaces, Signal
from iap_io.flight_logs.log_tables import LogTable, Tables, signals_of, usable_times
from iap_io.flight_logs.padding import NOTE, without_zeros
from iap_io.flight_logs.px4_names import (
    COMMANDS,
    FIELDS,
    LOCAL,
    OTHER_VEHICLES,
    ROTORS_OF_TYPE,
)
from iap_io.flight_logs.px4_outputs import STANDING, in_motor_order, notes_on_range
from iap_io.flight_logs.px4_resets import without_resets

core = LazyModule("pyulog.core", "logs of PX4 need", "logs")

MAGIC = b"ULog\x01\x12\x35"
OF_DAMAGE = (  # what pyulog raises where bytes are not what they should be
    struct.error, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, OSError,
    MemoryError,
)  # fmt: skip
HEADER = 16  # bytes before the first message
MOST_INVALID = 0.5  # share of rows without a valid position from which on none counts
KINDS = b"FABIMPQOCDRLS"  # letters of the messages that there are
ADVICE = "SDLOG_PROFILE 25 (default, system identification, high rate), then reboot: motors are at 10 Hz otherwise"


def read_ulog(path: Path) -> FlightLog:
    """The log in a ULog file.

    Raises:
        BadInput: nothing of it can be read, or it is of no multirotor.
    """
    ulog, damage = _parsed(path)
    parameters = {str(key): value for key, value in ulog.initial_parameters.items()}
    kind = OTHER_VEHICLES.get(int(parameters.get("MAV_TYPE", 0)))
    if kind is not None:
        raise BadInput(f"{path}: a log of {kind}: this suite reads those of multirotors")
    rotors = int(parameters.get("CA_ROTOR_COUNT", 0)) or ROTORS_OF_TYPE.get(
        int(parameters.get("MAV_TYPE", 0)), 0
    )
    is_simulated = "SITL" in str(ulog.msg_info_dict.get("ver_hw", ""))
    tables, ranges = in_motor_order(tables_of(ulog), parameters, rotors, is_simulated=is_simulated)
    signals, notes = signals_of(tables, FIELDS)
    if not signals:
        raise BadInput(
            f"{path}: no topic in it that is known: it was cut in its definitions, or has no data; copy it from the"
            " vehicle again"
        )
    notes += notes_on_range(signals, ranges)
    missing = {names.MOTORS: STANDING} if ranges and names.MOTORS not in signals else {}
    log = FlightLog(
        path, "PX4 ULog", _vehicle(ulog, parameters, rotors), signals, rotors,
        rows=sum(len(each.t) for same in tables.values() for each in same),
        parameters=parameters, notes=(*damage, *notes), missing=missing, advice=ADVICE,
        motor_places=_places(parameters, rotors),
    )  # fmt: skip
    return mended(log, tables)


def _places(parameters: Mapping[str, Any], rotors: int) -> MotorPlaces | None:
    """Places of the motors by the geometry of control allocation (FRD), or else those of an X of four."""
    keys = [(f"CA_ROTOR{i}_PX", f"CA_ROTOR{i}_PY") for i in range(rotors)]
    if keys and all(x in parameters and y in parameters for x, y in keys):
        signs = [(np.sign(parameters[x]), -np.sign(parameters[y])) for x, y in keys]
        return tuple((int(x), int(y)) for x, y in signs)
    return names.QUAD_X if rotors == len(names.QUAD_X) else None


def _parsed(path: Path) -> tuple[Any, list[str]]:
    """The file as pyulog has it, and notes on its damage."""
    topics = sorted({each.table for each in FIELDS})
    printed = io.StringIO()  # pyulog prints its warnings on standard output
    data, is_padded = without_zeros(path)
    try:
        with contextlib.redirect_stdout(printed):
            ulog = core.ULog(_LogBytes(data), topics)
    except (core.ULogException, *OF_DAMAGE) as error:
        raise BadInput(
            f"{path}: not readable as PX4 ULog ({error}): copy it from the vehicle again"
        ) from error
    notes = []
    if ulog.dropouts:
        lost = sum(each.duration for each in ulog.dropouts) * 1e-3
        notes.append(f"{len(ulog.dropouts)} dropouts of the logger, {lost:.2f} s in all")
    if is_padded:
        notes.append(NOTE)
    elif ulog.file_corruption:
        notes.append("damaged bytes: what is between the sound messages was left out")
    elif not _is_whole(data):
        notes.append("cut: the file ends in the middle of a message; what is before counts")
    return ulog, notes


class _LogBytes(io.BytesIO):
    """Bytes of a log in which nobody steps back beyond the last two reads.

    A reader reads a message's header, then as many bytes as that says. pyulog steps back from messages of no known
    kind by the size in their header, and reads one whose size goes beyond the end for ever.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._sizes = (0, 0)

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        data = super().read(size)
        self._sizes = (self._sizes[1], len(data))
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place.

        Raises:
            ValueError: it is before the last two reads.
        """
        if whence == io.SEEK_CUR and offset < -sum(self._sizes):
            raise ValueError("the size of a message is beyond the end of the file")
        return super().seek(offset, whence)


def _is_whole(data: bytes) -> bool:
    """True if the last message of a file ends where the file does."""
    at = HEADER
    while at + 3 <= len(data) and data[at + 2] in KINDS:
        at += 3 + int.from_bytes(data[at : at + 2], "little")
    return at == len(data) or (at < len(data) and at + 3 <= len(data))  # data may be appended


def tables_of(ulog: Any) -> Tables:  # noqa: ANN401 - pyulog has no types
    """The rows of each topic and instance."""
    tables: dict[str, list[LogTable]] = {}
    for each in sorted(ulog.data_list, key=lambda one: one.multi_id):
        if "timestamp" not in each.data:  # its definition is damaged
            continue
        stamps = each.data["timestamp"]
        measured = each.data.get("timestamp_sample")
        if measured is not None and each.name not in COMMANDS and measured.min() > 0:
            stamps = measured
        name = each.name if each.multi_id == 0 else f"{each.name}[{each.multi_id}]"
        tables.setdefault(each.name, []).append(LogTable(name, stamps * 1e-6, dict(each.data)))
    return tables


def _vehicle(ulog: Any, parameters: Mapping[str, Any], rotors: int) -> str:  # noqa: ANN401
    with contextlib.redirect_stdout(io.StringIO()):
        release = ulog.get_version_info_str()
    hardware = ulog.msg_info_dict.get("ver_hw", "unknown hardware")
    airframe = parameters.get("SYS_AUTOSTART")
    parts = [f"airframe {airframe}"] if airframe else []
    parts += [f"{rotors} rotors"] if rotors else []
    return f"PX4 {release or 'of unknown release'} on {hardware}, {', '.join(parts) or 'unknown airframe'}"


def mended(log: FlightLog, tables: Tables) -> FlightLog:
    """The log without positions that are not valid, and without the resets of its estimator."""
    return without_resets(_valid(log, tables), tables)


def _valid(log: FlightLog, tables: Tables) -> FlightLog:
    """Positions and velocities where the estimator calls them valid."""
    for each in tables.get(LOCAL, [])[:1]:
        keep, _ = usable_times(each.t, each.name)
        table = LogTable(each.name, each.t[keep], {n: x[keep] for n, x in each.columns.items()})
        for name, flags in (
            (names.POSITION, ("xy_valid", "z_valid")),
            (names.VELOCITY, ("v_xy_valid", "v_z_valid")),
        ):
            if name in log.signals and all(flag in table.columns for flag in flags):
                log = _valid_signal(log, table, name, flags)
    return log


def _valid_signal(log: FlightLog, table: LogTable, name: str, flags: tuple[str, ...]) -> FlightLog:
    signal = log.signals[name]
    valid = np.all([table.columns[flag] for flag in flags], axis=0)
    inside = np.interp(signal.t, table.t, valid.astype(float)) > 0.99
    if inside.mean() < 1.0 - MOST_INVALID or inside.sum() < 2:
        share = 100.0 * (1.0 - inside.mean())
        return log.without(f"not valid in {share:.0f} % of its rows ({', '.join(flags)})", name)
    if inside.all():
        return log
    kept = Signal(signal.t[inside], signal.values[inside], signal.source, signal.unit)
    log = log.with_signal(name, kept)
    return log.noted(f"{name}: {(~inside).sum()} rows that are not valid left out")
