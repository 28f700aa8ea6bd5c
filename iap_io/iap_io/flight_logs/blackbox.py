# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's blackbox as it was recorded: a file of one or more logs, each with a header of keys and its frames."""

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.text_files import MAX_TABLE, read_bytes
from iap_description.errors import BadInput, shown
from iap_io.flight_logs import blackbox_codes as codes
from iap_io.flight_logs import blackbox_frames as frames
from iap_io.flight_logs.blackbox_columns import (
    TIME,
    WRAP,
    above_zero,
    log_of_columns,
    without_flips,
)
from iap_io.flight_logs.blackbox_gps import NO_FIXES, GpsFixes, gps_fixes
from iap_io.flight_logs.flight_log import FlightLog

MAGIC = b"H Product:Blackbox"
KINDS = "IPGHS"
MAX_FIELDS = 128
MAX_NUMBERS = 1 << 30  # of the table of one log
MAX_INTERVAL = (
    5000  # iterations from one frame to the next that can be sound, see `blackbox_frames`
)
ADC_VOLTS, ADC_STEPS = 3.3, 4095.0  # of the analogue input that old releases log
NEWLINE = b"\n"
Keys = Mapping[str, str]


class FlightRecord(NamedTuple):
    """One log of a file.

    Attributes:
        keys: of its header.
        columns: numbers by field, of the sound frames.
        damaged: number of damaged frames.
        unfounded: number of frames whose own frame I was damaged.
        flipped: number of frames that are left out since a field leaps away and back in them.
        fixes: of its GPS.
    """

    keys: Keys
    columns: dict[str, Array]
    damaged: int
    unfounded: int
    flipped: int = 0
    fixes: GpsFixes = NO_FIXES

    @property
    def duration(self) -> float:
        """From the first sound frame to the last [s]."""
        t = self.columns[TIME]
        return float((t[-1] - t[0]) % 2**32 * 1e-6) if len(t) > 1 else 0.0


def read_blackbox(path: Path, number: int | None = None) -> FlightLog:
    """A log of a blackbox.

    Args:
        path: of the file.
        number: of the log in it, from 1 on; None takes the longest.

    Raises:
        BadInput: no such log, no frame of it is sound, or it is written in a way that is not known.
    """
    data = read_bytes(path, MAX_TABLE)
    starts = [each.start() for each in re.finditer(re.escape(MAGIC), data)]
    if number is not None and not 1 <= number <= len(starts):
        raise BadInput(f"{path}: log {number}: the file has {len(starts)}, from 1 on")
    ends = [*starts[1:], len(data)]
    flights = range(len(starts)) if number is None else [number - 1]
    records, reasons = {}, []
    for k in flights:
        try:
            records[k + 1] = _record(data[starts[k] : ends[k]])
        except BadInput as error:
            reasons.append(str(error))
    if not records:
        raise BadInput(f"{path}: {reasons[0]}")
    one = max(records, key=lambda k: records[k].duration)
    record = records[one]
    if len(record.columns[TIME]) < 2:
        raise BadInput(f"{path}: no sound frames: {record.damaged} are damaged: was it cut?")
    notes = _notes(record, one, len(starts))
    if reasons:
        notes.append(f"{len(reasons)} of the {len(starts)} logs cannot be read: {reasons[0]}")
    where = path if number is None else path.with_name(f"{path.name}:{number}")
    return log_of_columns(where, "blackbox", record.keys, _in_units(record), notes, record.fixes)


def _notes(record: FlightRecord, number: int, count: int) -> list[str]:
    notes = []
    if count > 1:
        notes.append(
            f"log {number} of the {count} in the file, of {record.duration:.1f} s: FILE:NUMBER is another"
        )
    if record.damaged:
        lost = f", and {record.unfounded} that are changes of them" if record.unfounded else ""
        notes.append(f"{record.damaged} damaged frames{lost} left out")
    if record.flipped:
        notes.append(
            f"{record.flipped} frames left out, in which a field leaps away and back at a whole frame: flipped bits"
        )
    return notes


def _record(data: bytes) -> FlightRecord:
    """One log by its header and its frames."""
    keys, begin = _header(data)
    layout, names = _layout(keys)
    bytes_ = np.frombuffer(data, np.uint8)[begin:]
    out = _table(len(bytes_) // min(_min_bytes(layout, kind) for kind in range(2)) + 1, len(names))
    width = int(2 + layout.counts[frames.KIND_H] + layout.counts[frames.KIND_G])
    most = len(bytes_) // _min_bytes(layout, frames.KIND_G) if layout.counts[frames.KIND_G] else 0
    places = _table(min(most, data.count(b"G", begin)), width)
    rows, found, damaged, unfounded = frames.decoded(bytes_, layout, out, places)
    columns = {name: out[:rows, k].astype(float) for k, name in enumerate(names)}
    sound = without_flips(columns, int(layout.intervals[0]))
    kept = {name: x[sound] for name, x in columns.items()}
    t_us = np.unwrap(columns[TIME], period=WRAP)
    fixes = gps_fixes(keys, places[:found], t_us, _release(keys))
    return FlightRecord(keys, kept, damaged, unfounded, int((~sound).sum()), fixes)


def _table(count: int, fields: int) -> Integers:
    """Room for so many frames.

    Raises:
        BadInput: there is none.
    """
    if count * fields > MAX_NUMBERS:
        raise BadInput(
            f"up to {count} frames of {fields} fields are more than {MAX_NUMBERS} numbers: its header is damaged"
        )
    return np.zeros((count, fields), np.int64)


def _min_bytes(layout: frames.FrameLayout, kind: int) -> int:
    """Least length of a frame of a kind: its letter, and a byte for each group of fields that has bytes.

    Raises:
        BadInput: the last group needs more fields than there are.
    """
    encodings = layout.codes[kind, : layout.counts[kind]].tolist()
    size, k = 1, 0
    while k < len(encodings):
        code = encodings[k]
        size += code != codes.NO_BYTES
        k += codes.WIDTHS.get(code, 1)
        if code == codes.GROUP_OF_8:
            k += len(list(itertools.takewhile(code.__eq__, encodings[k : k + 7])))
    if k > len(encodings):
        raise BadInput(
            f"fields of its frames {KINDS[kind]} end within a group of several: its header is damaged"
        )
    return size


def _header(data: bytes) -> tuple[Keys, int]:
    """Keys and values of the lines that begin with an H, and the place behind them."""
    keys, at = {}, 0
    while data[at : at + 2] == b"H ":
        end = data.find(NEWLINE, at)
        if end < 0:
            break
        key, _, value = data[at + 2 : end].decode("latin-1").partition(":")
        keys[key.strip()] = value.strip()
        at = end + 1
    return keys, at


def _layout(keys: Keys) -> tuple[frames.FrameLayout, list[str]]:
    """Encodings of frames, and the names of the fields of frames I and P.

    Raises:
        BadInput: a key is missing or is no list of numbers, or an encoding or a predictor is not known.
    """
    names = [each.strip() for each in keys.get("Field I name", "").split(",")]
    if names[:2] != ["loopIteration", TIME] or len(names) > MAX_FIELDS:
        raise BadInput(f"no fields loopIteration and {TIME}: its header is cut or damaged")
    count = len(names)
    counts = [len(_numbers(keys, f"Field {k} encoding", None)) for k in KINDS]
    counts[:2] = [count, count]
    if max(counts) > MAX_FIELDS:
        raise BadInput(
            f"frames of {max(counts)} fields, {MAX_FIELDS} at most: its header is damaged"
        )
    encodings = np.zeros((len(KINDS), max(*counts, 1)), np.int64)
    for row, kind in enumerate(KINDS):
        key = f"Field {kind} encoding"
        encodings[row, : counts[row]] = _numbers(keys, key, counts[row] if row < 2 else None)
    predictors = [_numbers(keys, f"Field {kind} predictor", count) for kind in "IP"]
    _check(encodings, codes.KNOWN, "encoding")
    _check(np.array(predictors), frames.KNOWN, "predictor")
    least_motor = _numbers(keys, "motorOutput", None) or _numbers(keys, "minthrottle", None) or [0]
    constants = [
        (_numbers(keys, "minthrottle", None) or [0])[0],
        (_numbers(keys, "vbatref", None) or [0])[0],
        least_motor[0],
        names.index("motor[0]") if "motor[0]" in names else 0,
    ]
    layout = frames.FrameLayout(
        encodings, np.array(counts), np.array(predictors),
        np.array(_numbers(keys, "Field I signed", count)), np.array(constants),
        np.array(_intervals(keys)), (_numbers(keys, "Data version", None) or [1])[0],
    )  # fmt: skip
    for row in range(len(KINDS)):
        _min_bytes(layout, row)  # the decoder writes whole groups
    return layout, names


def _intervals(keys: Keys) -> tuple[int, int, int]:
    """Iterations from one frame I to the next, and of how many iterations how many have a frame P."""
    every = (_numbers(keys, "I interval", None) or [32])[0]
    share, _, of = keys.get("P interval", "1/1").partition("/")
    intervals = (every, _number(share), _number(of)) if of else (every, 1, _number(share))
    if max(intervals) > MAX_INTERVAL:
        raise BadInput(f"{max(intervals)} iterations between its frames: its header is damaged")
    a, b, c = (max(each, 1) for each in intervals)
    return a, b, c


def _numbers(keys: Keys, key: str, count: int | None) -> list[int]:
    """The whole numbers of a key; none where it is missing and no count is asked for."""
    text = keys.get(key, "")
    numbers = [_number(each) for each in text.split(",")] if text else []
    if count is not None and len(numbers) != count:
        raise BadInput(
            f"key '{key}' has {len(numbers)} numbers in place of {count}: its header is damaged"
        )
    return numbers


def _number(text: str) -> int:
    """A whole number of 32 bits, with a sign or without."""
    try:
        number = int(text.strip(), 0)
    except ValueError:
        number = 1 << 32
    if not -(1 << 31) <= number < 1 << 32:
        raise BadInput(
            f"{shown(text.strip())} in its header is no number of 32 bits: it is damaged"
        )
    return number


def _check(values: Integers, known: tuple[int, ...], what: str) -> None:
    odd = sorted(set(values.ravel().tolist()) - set(known))
    if odd:
        raise BadInput(f"{what} {odd[0]} of its fields is not known")


def _in_units(record: FlightRecord) -> dict[str, Array]:
    """The columns with rates in deg/s and voltages in V, whose units changed from release to release."""
    columns, keys = dict(record.columns), record.keys
    factor = _gyro_factor(keys)
    for axis in range(3):
        name = f"gyroADC[{axis}]"
        if name in columns:
            columns[name] = factor * columns[name]
    if "vbatLatest" in columns:
        columns["vbatLatest (V)"] = _volt_factor(keys) * columns.pop("vbatLatest")
    if "amperageLatest" in columns and _release(keys) >= (3, 1):
        columns["amperageLatest (A)"] = 0.01 * columns.pop("amperageLatest")
    return columns


def _release(keys: Keys) -> tuple[int, int]:
    """Release of Betaflight; (0, 0) of what was before it."""
    revision = keys.get("Firmware revision", "")
    match = re.search(r"Betaflight (?:/ \S+ )?(\d{1,9})\.(\d{1,9})", revision)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _gyro_factor(keys: Keys) -> float:
    """Degrees per second of one step, which the header has as the bits of a float."""
    bits = keys.get("gyro_scale", keys.get("gyro.scale", "0x3f800000"))
    factor = np.array([_number(bits) % 2**32], dtype=np.uint32).view(np.float32)[0]
    return above_zero(str(float(factor)), 1.0)


def _volt_factor(keys: Keys) -> float:
    """Volts of one step: hundredths from release 4.0, tenths from 3.1, and steps of the analogue input before."""
    release = _release(keys)
    if release >= (4, 0):
        return 0.01
    if release >= (3, 1):
        return 0.1
    scale = above_zero(keys.get("vbatscale", keys.get("vbat_scale", "")), 110.0)
    return ADC_VOLTS / ADC_STEPS * scale / 10.0
