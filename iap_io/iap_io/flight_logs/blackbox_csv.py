# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's blackbox as CSV, by blackbox_decode or exported by the Blackbox Explorer, and what of it is a signal.

The Explorer's file begins with lines of a key and a value; both have a line of names then. Rates are deg/s, forward and
left; accelerations are in parts of `acc_1G`. A blackbox has no position and no velocity.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.config.text_files import MAX_TABLE, read_bytes
from iap_description.errors import BadInput
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.log_tables import LogField, LogTable, signals_of

BINARY = b"H Product:Blackbox"
FIRST, TIME = "loopIteration", "time"
G = 9.80665  # [m/s^2]
DEG = float(np.pi / 180.0)
USUAL_1G = 2048.0
USUAL_POLES = 14.0  # of a motor
DSHOT, PULSE = (158.0, 2047.0), (1000.0, 2000.0)  # a motor that stands, and one at its most
SLACK = 2.0  # numbers of a motor beyond its range that are no damage
WRAP = 2.0**32  # of a time [us]
TABLE = "blackbox"
FIELDS = (
    LogField(names.GYROSCOPE, TABLE, ("gyroADC[0]", "gyroADC[1]", "gyroADC[2]"), scale=DEG),
    LogField(names.RATES, TABLE, ("gyroADC[0]", "gyroADC[1]", "gyroADC[2]"), scale=DEG),
    LogField(
        names.SPECIFIC_FORCE, TABLE, ("accelerations[0]", "accelerations[1]", "accelerations[2]")
    ),
    LogField(names.MOTORS, TABLE, ("commands[*]",)),
    LogField(names.ROTOR_SPEEDS, TABLE, ("speeds[*]",)),
    LogField(names.THRUST, TABLE, ("setpoint[3]",), scale=1e-3),
    LogField(names.VOLTAGE, TABLE, ("vbatLatest (V)",)),
    LogField(names.VOLTAGE, TABLE, ("vbatLatest",), scale=0.01, releases="from 4.0"),
    LogField(names.CURRENT, TABLE, ("amperageLatest (A)",)),
)
NO_PLACE = "a blackbox has none"
PLACES = (names.REAR_RIGHT, names.FRONT_RIGHT, names.REAR_LEFT, names.FRONT_LEFT)
ADVICE = "blackbox_sample_rate 1/1 and dshot_bidir, for rotor speeds; a position needs another autopilot"


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
    t = np.unwrap(columns.pop(TIME), period=WRAP) * 1e-6
    low, high = _range(keys, columns)
    sound = _sound(columns, low, high)
    table = LogTable(TABLE, t, _scaled(keys, columns, low, high))
    table = LogTable(TABLE, t[sound], {name: x[sound] for name, x in table.columns.items()})
    signals, notes = signals_of({TABLE: [table]}, FIELDS)
    if names.GYROSCOPE not in signals:
        raise BadInput(f"{path}: no columns gyroADC[0..2]: is this a blackbox's CSV?")
    if others:
        notes.append(f"{others} lines with more or fewer cells than names left out")
    if not sound.all():
        notes.append(
            f"{(~sound).sum()} damaged rows left out: motors out of {low:g} to {high:g}, or no numbers"
        )
    notes += [
        f"motors: from {low:g} to {high:g} taken as 0 to 1",
        "axes: forward and left; the sign of yaw is that of the firmware, which no log shows",
    ]
    rotors = signals[names.MOTORS].values.shape[1] if names.MOTORS in signals else 0
    firmware = keys.get("Firmware revision", "Betaflight of unknown release")
    missing = dict.fromkeys((names.ATTITUDE, names.POSITION, names.VELOCITY), NO_PLACE)
    return FlightLog(
        path, "blackbox CSV", f"{firmware}, {rotors} rotors", signals, rotors, "enu", len(t),
        keys, tuple(notes), missing, ADVICE, PLACES if rotors == len(PLACES) else None,
    )  # fmt: skip


def refuse_binary(path: Path) -> FlightLog:
    """Refuse a blackbox that is not decoded.

    Raises:
        BadInput: always.
    """
    raise BadInput(
        f"{path}: a blackbox as it was recorded: 'blackbox_decode {path}' (of betaflight/blackbox-tools) makes the CSV"
        " that is read"
    )


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
    rows = [[_number(each) for each in cells] for cells in below if len(cells) == len(header)]
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


def _number(text: str) -> float:
    """A cell's number; NaN for words, such as flags, and for empty cells."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _motors(columns: Mapping[str, Array]) -> list[str]:
    return [name for name in columns if name.startswith("motor[")]


def _range(keys: Mapping[str, str], columns: Mapping[str, Array]) -> tuple[float, float]:
    """Numbers of a motor that stands and of one at its most: of the header, or of DShot or pulses by their size."""
    said = [_number(each) for each in keys.get("motorOutput", "").split(",")]
    if len(said) == 2 and np.isfinite(said).all() and said[0] < said[1]:
        return said[0], said[1]
    numbers = [x[np.isfinite(x)] for x in (columns[name] for name in _motors(columns))]
    values = [np.median(each) for each in numbers if len(each)]
    return DSHOT if not values or min(values) < PULSE[0] - SLACK else PULSE


def _sound(columns: Mapping[str, Array], low: float, high: float) -> Booleans:
    """Rows whose motors can be commands, and whose rates are numbers."""
    count = len(next(iter(columns.values())))
    sound = np.ones(count, np.bool_)
    for name in _motors(columns):
        stands = columns[name] == 0.0
        sound &= ((columns[name] >= low - SLACK) & (columns[name] <= high + SLACK)) | stands
    for axis in range(3):
        sound &= np.isfinite(columns.get(f"gyroADC[{axis}]", np.zeros(count)))
    return sound


def _scaled(
    keys: Mapping[str, str], columns: Mapping[str, Array], low: float, high: float
) -> dict[str, Array]:
    """The columns, with commands from 0 to 1 and accelerations in m/s^2."""
    scaled = dict(columns)
    for i, name in enumerate(_motors(columns)):
        scaled[f"commands[{i}]"] = np.maximum((columns[name] - low) / (high - low), 0.0)
    poles = _above_zero(keys.get("motor_poles", ""), USUAL_POLES)
    for name in (each for each in columns if each.startswith("eRPM[")):
        scaled[name.replace("eRPM", "speeds")] = columns[name] * 200.0 / poles
    one_g = _above_zero(keys.get("acc_1G", ""), USUAL_1G)
    for axis in range(3):
        for unit, factor in (("", G / one_g), (" (g)", G), (" (m/s/s)", 1.0)):
            if f"accSmooth[{axis}]{unit}" in columns:
                scaled[f"accelerations[{axis}]"] = columns[f"accSmooth[{axis}]{unit}"] * factor
    return scaled


def _above_zero(text: str, usual: float) -> float:
    """A number of the header that is above zero, or else the usual one."""
    number = _number(text)
    return number if number > 0.0 else usual
