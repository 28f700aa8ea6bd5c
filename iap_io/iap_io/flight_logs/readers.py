# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of flight logs, by the bytes that a file begins with."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from iap_description.config.text_files import check_file, is_file, no_text, reason_of
from iap_description.errors import BadInput
from iap_io.flight_logs import (
    ardupilot,
    blackbox,
    blackbox_csv,
    crazyflie,
    crazyflie_csv,
    dataflash,
    px4_ulog,
)
from iap_io.flight_logs.flight_log import FlightLog, numbered
from iap_io.flight_logs.plausibility import plausible

BEGIN = 64  # bytes that a kind is known by
MAX_FILE_SIZE = 8 << 30  # bytes of a file that is read
SUFFIXES = (".ulg", ".ulog", ".bin", ".bbl", ".bfl")  # that only flight logs are expected to have


class LogKind(NamedTuple):
    """A kind of file.

    Attributes:
        fits: whether a file's first bytes are of this kind.
        read: the log in it.
        read_number: one of several logs in it, from 1 on; None of kinds that have one.
        is_table: whether it is a table with names, too, whose poses are read as those of any other.
    """

    fits: Callable[[bytes], bool]
    read: Callable[[Path], FlightLog]
    read_number: Callable[[Path, int], FlightLog] | None = None
    is_table: bool = False


READERS = {
    "PX4 ULog": LogKind(lambda begin: begin.startswith(px4_ulog.MAGIC), px4_ulog.read_ulog),
    "ArduPilot dataflash": LogKind(
        lambda begin: begin.startswith(dataflash.MAGIC), ardupilot.read_dataflash
    ),
    "Crazyflie uSD": LogKind(crazyflie.is_usd, crazyflie.read_usd),
    "Crazyflie CSV": LogKind(
        crazyflie_csv.is_crazyflie_csv, crazyflie_csv.read_csv, is_table=True
    ),
    "blackbox CSV": LogKind(blackbox_csv.is_blackbox_csv, blackbox_csv.read_csv),
    "blackbox": LogKind(
        lambda begin: begin.startswith(blackbox.MAGIC),
        blackbox.read_blackbox,
        blackbox.read_blackbox,
    ),
}


def is_flight_log(path: Path) -> bool:
    """True if a file begins as a log does, or is named like one; not one that is a table, too."""
    if not is_file(path):
        return False
    kind = _kind(_begin(path))
    return path.suffix.lower() in SUFFIXES or (kind is not None and not kind.is_table)


def is_table_log(path: Path) -> bool:
    """True if a file is a log and a table with names."""
    kind = _kind(_begin(path)) if is_file(path) else None
    return kind is not None and kind.is_table


def open_log(path: Path | str) -> FlightLog:
    """Read a flight log.

    Args:
        path: of the file; ``FILE:2`` is the second of several logs in it, where the longest is read otherwise.

    Raises:
        BadInput: it is no flight log of `READERS`, damaged so that nothing can be read, or of another vehicle.
    """
    path, number = numbered(Path(path))
    check_file(path, MAX_FILE_SIZE)
    begin = _begin(path)
    if not begin:
        raise BadInput(f"{path}: empty: copy it from the vehicle again")
    if not any(begin):
        raise BadInput(f"{path}: begins with zeros alone: copy it from the vehicle again")
    kind = _kind(begin)
    if kind is None:
        known = f"no flight log that is known: {', '.join(READERS)} are read"
        raise BadInput(f"{path}: {no_text(begin) or known}")
    if number is None:
        return _with_signals(plausible(kind.read(path)))
    if kind.read_number is None:
        raise BadInput(f"{path}:{number}: the file has one log: leave out :{number}")
    return _with_signals(plausible(kind.read_number(path, number)))


def _with_signals(log: FlightLog) -> FlightLog:
    """The log, if anything of it can be believed.

    Raises:
        BadInput: nothing can, with the reasons.
    """
    if not log.signals:
        reasons = (
            "; ".join(f"{name} {why}" for name, why in log.missing.items()) or "none is known"
        )
        raise BadInput(f"{log.path}: no signal that can be used: {reasons}")
    return log


def _begin(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(BEGIN)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def _kind(begin: bytes) -> LogKind | None:
    return next((kind for kind in READERS.values() if kind.fits(begin)), None)
