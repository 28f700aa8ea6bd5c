# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a Betaflight blackbox as signals, whether they come out of its frames or out of a CSV.

Rates are deg/s, forward and left; accelerations are in parts of `acc_1G`; attitudes are of that body in axes to the
north, the west and up. Its GPS has a table of its own, see `blackbox_gps`.

Its frames have no check sum. Frames P are changes of those before. A bit that flips in one of them, or in a frame I,
puts a field off from there to the next frame I, which has whole numbers: it leaps away at some frame, and back at a
frame I by as much. Where a number is guessed by the mean of the last two, two thirds of the leap stay. A flip of less
than the field's own noise harms nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.earth import STANDARD_GRAVITY
from iap_description.errors import BadInput
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.blackbox_gps import GPS, GPS_FIELDS, NO_FIX, NO_FIXES, GpsFixes
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.log_tables import LogField, LogTable, signals_of

TIME = "time"
DEG = float(np.pi / 180.0)
USUAL_1G = 2048.0
QUATERNION_STEPS = 32767.0  # of a quaternion's part that is 1
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
    LogField(
        names.ATTITUDE,
        TABLE,
        tuple(f"quaternion[{i}]" for i in range(4)),
        "nwu",
        releases="from 2025",
    ),
    LogField(
        names.RATES_SETPOINT,
        TABLE,
        tuple(f"setpoint[{i}]" for i in range(3)),
        scale=DEG,
        releases="from 4.0",
    ),
    LogField(names.THRUST, TABLE, ("setpoint[3]",), scale=1e-3),
    LogField(names.VOLTAGE, TABLE, ("vbatLatest (V)",)),
    LogField(names.VOLTAGE, TABLE, ("vbatLatest",), scale=0.01, releases="from 4.0"),
    LogField(names.CURRENT, TABLE, ("amperageLatest (A)",)),
)
NO_PLACE = "a blackbox has none"
NOT_READ = "of its GPS, which is read in the file that was recorded, not in a CSV"
NO_ATTITUDE = "the blackboxes of releases before 2025 have none"
PLACES = (names.REAR_RIGHT, names.FRONT_RIGHT, names.REAR_LEFT, names.FRONT_LEFT)
ADVICE = "blackbox_sample_rate 1/1 and dshot_bidir, for rotor speeds, and a GPS for positions"
LEAP = 10.0  # usual changes from frame to frame, beyond which one is a leap
MIN_LEAP = 16.0  # smallest leap, in steps of a field
RATIOS = (0.6, 1.8)  # of a leap away to that back
CALM = 0.6  # greatest change in between, over the leap


def log_of_columns(
    path: Path,
    kind: str,
    keys: Mapping[str, str],
    columns: Mapping[str, Array],
    notes: Sequence[str] = (),
    fixes: GpsFixes = NO_FIXES,
) -> FlightLog:
    """The log of columns by name.

    Args:
        path: of the file.
        kind: of the file, in words.
        keys: of its header.
        columns: numbers, with the time [us].
        notes: of its reader.
        fixes: of its GPS.

    Raises:
        BadInput: there are no rates.
    """
    low, high = _range(keys, columns)
    sound = _sound(columns, low, high) & np.isfinite(columns[TIME])
    t = np.unwrap(columns[TIME][sound], period=WRAP) * 1e-6
    scaled = _scaled(keys, columns, low, high)
    table = LogTable(TABLE, t, {name: x[sound] for name, x in scaled.items()})
    tables = {TABLE: [table], GPS: [fixes.table] if len(fixes.table.t) else []}
    signals, of_times = signals_of(tables, (*FIELDS, *GPS_FIELDS))
    notes_of_log = [*notes, *of_times, *fixes.notes]
    if names.GYROSCOPE not in signals:
        raise BadInput(f"{path}: no columns gyroADC[0..2]: is this a blackbox of Betaflight?")
    if not sound.all():
        notes_of_log.append(
            f"{(~sound).sum()} damaged rows left out: motors out of {low:g} to {high:g}, or no numbers"
        )
    notes_of_log += _assumed(keys, columns)
    notes_of_log += [
        f"motors: from {low:g} to {high:g} taken as 0 to 1",
        "axes: forward and left; the sign of yaw is that of the firmware, which no log shows",
    ]
    rotors = signals[names.MOTORS].values.shape[1] if names.MOTORS in signals else 0
    firmware = keys.get("Firmware revision", "Betaflight of unknown release")
    in_csv = any(name.startswith("GPS_coord") for name in columns)
    why = fixes.why or (NOT_READ if in_csv else NO_FIX if "Field G name" in keys else NO_PLACE)
    missing = {name: why for name in (names.POSITION, names.VELOCITY) if name not in signals}
    if names.ATTITUDE not in signals:
        missing = {names.ATTITUDE: NO_ATTITUDE, **missing}
    return FlightLog(
        path, kind, f"{firmware}, {rotors} rotors", signals, rotors, "enu", len(sound),
        keys, tuple(notes_of_log), missing, ADVICE, PLACES if rotors == len(PLACES) else None,
    )  # fmt: skip


def _assumed(keys: Mapping[str, str], columns: Mapping[str, Array]) -> list[str]:
    """Notes on numbers that the header does not have."""
    needs = {
        "acc_1G": (USUAL_1G, any(f"accSmooth[{axis}]" in columns for axis in range(3))),
        "motor_poles": (USUAL_POLES, any(name.startswith("eRPM[") for name in columns)),
    }
    return [
        f"{key}: {usual:g} assumed, the header has none"
        for key, (usual, is_needed) in needs.items()
        if is_needed and not number(keys.get(key, "")) > 0.0
    ]


def _motors(columns: Mapping[str, Array]) -> list[str]:
    return [name for name in columns if name.startswith("motor[")]


def _range(keys: Mapping[str, str], columns: Mapping[str, Array]) -> tuple[float, float]:
    """Numbers of a motor that stands and of one at its most: of the header, or of DShot or pulses by their size."""
    limits = [number(each) for each in keys.get("motorOutput", "").split(",")]
    if len(limits) == 2 and np.isfinite(limits).all() and limits[0] < limits[1]:
        return limits[0], limits[1]
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
    poles = above_zero(keys.get("motor_poles", ""), USUAL_POLES)
    for name in (each for each in columns if each.startswith("eRPM[")):
        scaled[name.replace("eRPM", "speeds")] = columns[name] * 200.0 / poles
    one_g = above_zero(keys.get("acc_1G", ""), USUAL_1G)
    units = (("", STANDARD_GRAVITY / one_g), (" (g)", STANDARD_GRAVITY), (" (m/s/s)", 1.0))
    for axis in range(3):
        for unit, factor in units:
            if f"accSmooth[{axis}]{unit}" in columns:
                scaled[f"accelerations[{axis}]"] = columns[f"accSmooth[{axis}]{unit}"] * factor
    parts = [columns[f"imuQuaternion[{i}]"] for i in range(3) if f"imuQuaternion[{i}]" in columns]
    if len(parts) == 3:  # whose fourth part is what is left, and not negative
        xyz = np.stack(parts) / QUATERNION_STEPS
        w = np.sqrt(np.maximum(1.0 - np.sum(xyz**2, axis=0), 0.0))
        scaled |= {f"quaternion[{i}]": x for i, x in enumerate((*xyz, w))}
    return scaled


def number(text: str) -> float:
    """A cell's number; NaN for words, such as flags, and for empty cells."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def above_zero(text: str, usual: float) -> float:
    """A number of the header that is above zero, or else the usual one."""
    value = number(text)
    return value if value > 0.0 else usual


def without_flips(columns: Mapping[str, Array], every: int) -> Booleans:
    """Mask (K,) of the frames that are not between a leap away and one back at a frame I.

    Args:
        columns: numbers (K,) by field, the iterations first.
        every: iterations from one frame I to the next.
    """
    iterations, *fields = columns.values()
    sound = np.ones(len(iterations), np.bool_)
    whole = np.flatnonzero(iterations % every == 0)
    for values in fields[1:]:  # behind the time, which has its own bounds
        for begin, end in _flips(values, whole):
            sound[begin:end] = False
    return sound


def _flips(values: Array, whole: Integers) -> list[tuple[int, int]]:
    """First frame of each leap away, and the frame I at which it leaps back."""
    changes = np.diff(values)
    if len(changes) == 0:
        return []
    least = max(MIN_LEAP, LEAP * float(np.median(np.abs(changes))))
    pairs = []
    for start, end in zip(whole[:-1], whole[1:], strict=True):
        back = changes[end - 1]
        if abs(back) < least:
            continue
        within = changes[max(start - 1, 0) : end - 1]
        away = int(np.argmax(np.abs(within)))
        leap, rest = float(within[away]), np.delete(within, away)
        is_calm = np.abs(rest).max(initial=0.0) < CALM * abs(leap)
        if is_calm and RATIOS[0] < -leap / back < RATIOS[1]:
            pairs.append((max(start - 1, 0) + away + 1, int(end)))
    return pairs
