# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a Crazyflie's variables by their own names, as its client and users' scripts write them.

A line of names such as ``timestamp,stateEstimate.x,motor.m1`` is above the numbers. Times are in ms by rights; where
these give no rate of a log, in s, us or ns.
"""

import re
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.config.text_files import MAX_TABLE, read_bytes
from iap_description.errors import BadInput
from iap_io.flight_logs.blackbox_columns import number
from iap_io.flight_logs.crazyflie import TABLE, listed, log_of_tables
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.log_tables import LogTable

GROUPS = ("stateEstimate", "stabilizer", "gyro", "acc", "motor", "pm", "ctrltarget", "controller")
TIMES = ("timestamp", "time", "t", "tick")  # before a unit such as _ms
UNITS = {"ms": 1e-3, "s": 1.0, "us": 1e-6, "ns": 1e-9}  # the firmware's own first
LOG_RATES = (5.0, 5000.0)  # of logs [Hz]
_NAME = re.compile(rf"(?:{'|'.join(GROUPS)})\.\w+")
_PARTED = re.compile(r"[,;\t]")


def is_crazyflie_csv(begin: bytes) -> bool:
    """True if a text begins with a line that names a variable of a Crazyflie, maybe behind a time."""
    try:
        line = begin.decode("utf-8", errors="strict").lstrip("\ufeff# ").partition("\n")[0]
    except UnicodeDecodeError:
        return False
    names = [each.strip(' "') for each in _PARTED.split(line)]
    return len(names) > 1 and any(_NAME.fullmatch(each) for each in names[:-1])


def read_csv(path: Path) -> FlightLog:
    """The log in a table.

    Raises:
        BadInput: it has no times, no rows of numbers, or no variable that is known.
    """
    lines = read_bytes(path, MAX_TABLE).decode("utf-8", errors="replace").splitlines()
    header = [each.strip(' "') for each in _PARTED.split(lines[0].lstrip("\ufeff# "))]
    cells = [_PARTED.split(line) for line in lines[1:] if line.strip()]
    whole = [[number(each) for each in row] for row in cells if len(row) == len(header)]
    if len(whole) < 2:
        raise BadInput(f"{path}: {len(whole)} rows of numbers below its names: was it cut?")
    columns = dict(zip(header, np.array(whole).T, strict=True))
    time = next((name for name in header if name.lower().partition("_")[0] in TIMES), None)
    if time is None:
        raise BadInput(f"{path}: no column of times: name one {TIMES[0]}, in ms")
    unit = _unit(columns[time])
    notes = [f"times: column {time}, taken as {unit}"]
    if len(whole) < len(cells):
        notes.append(
            f"{len(cells) - len(whole)} lines with more or fewer cells than names left out"
        )
    table = LogTable(TABLE, columns.pop(time) * UNITS[unit], columns)
    return log_of_tables(path, "Crazyflie CSV", [table], notes, listed(columns))


def _unit(times: Array) -> str:
    """The first unit in which times (K,) have a log's rate."""
    finite = np.unique(times[np.isfinite(times)])
    period = float(np.median(np.diff(finite))) if len(finite) > 1 else 0.0
    low, high = 1.0 / LOG_RATES[1], 1.0 / LOG_RATES[0]
    return next((name for name, unit in UNITS.items() if low <= period * unit <= high), "ms")
