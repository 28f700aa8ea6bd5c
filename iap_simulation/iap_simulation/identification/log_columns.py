# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table of velocities: whose they are, and in which units, by the names in its header.

``u_l``, ``droneA.u_l [km/h]`` and ``/uav1/u_l_cm_s`` are the same channel. A unit of a header counts before the one of
the settings, which holds for columns without a unit. Columns of other names are not read.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput, shown
from iap_physics.identified.dynamics import CHANNELS, JOINTS
from iap_simulation.identification.log import BASE_CHANNELS, SI, LogUnits

TIMES = ("t", "time", "timestamp", "stamp")
JOINT_ANGLES = tuple(f"q{i + 1}" for i in range(JOINTS))
NAMES = (*TIMES, *CHANNELS, *(f"{each}_ref" for each in CHANNELS), *JOINT_ANGLES)
TURN = 2.0 * np.pi
ANGLES = {"rad": 1.0, "mrad": 1e-3, "deg": TURN / 360.0, "rev": TURN}
LENGTHS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "in": 0.0254}
TIME_UNITS = {
    "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6,
    "ns": 1e-9, "min": 60.0,
}  # fmt: skip
SPEEDS = {f"{name}/s": size for name, size in LENGTHS.items()} | {
    "km/h": 1.0 / 3.6, "kmh": 1.0 / 3.6, "kph": 1.0 / 3.6, "mps": 1.0, "fps": 0.3048, "mph": 0.44704,
    "kn": 1852.0 / 3600.0, "kt": 1852.0 / 3600.0, "kts": 1852.0 / 3600.0, "knots": 1852.0 / 3600.0,
}  # fmt: skip
RATES = {f"{name}/s": size for name, size in ANGLES.items()} | {
    "dps": TURN / 360.0, "rpm": TURN / 60.0, "rps": TURN,
}  # fmt: skip
_ENDS = "|".join(sorted(NAMES, key=len, reverse=True))
_NAME = re.compile(
    rf"(?:(?P<owner>.*?)[./:_])?(?P<name>{_ENDS})(?:_(?P<unit>[a-z]+(?:_[a-z]+)?))?"
)


class NamedColumn(NamedTuple):
    """A column of a header.

    Attributes:
        owner: words before its name, such as ``droneA``; empty without any.
        name: of `NAMES`.
        unit: as the header has it; empty without one.
        place: of the column.
    """

    owner: str
    name: str
    unit: str
    place: int


class ReadColumns(NamedTuple):
    """Columns of one vehicle.

    Attributes:
        signals: (K,) in SI units, by name.
        in_units: whether the header has a unit of a speed.
        notes: whose they are, and the units that were taken from the header.
    """

    signals: dict[str, Array]
    in_units: bool
    notes: tuple[str, ...]


def columns_of(source: str, header: list[str], table: Array, units: LogUnits = SI) -> ReadColumns:
    """The columns of a table (K, n) in SI units.

    Args:
        source: the file, for errors.
        header: names of its columns.
        table: their numbers.
        units: of columns whose names have none.

    Raises:
        BadInput: columns of two vehicles, two columns of one meaning, or a unit that is not known.
    """
    columns = [each for i, name in enumerate(header) if (each := _column(i, name)) is not None]
    owner = _owner(source, columns)
    read: dict[str, NamedColumn] = {}
    for each in columns:
        if each.owner != owner or each.name in TIMES:
            continue
        if each.name in read:
            two = " and ".join(shown(header[i]) for i in (read[each.name].place, each.place))
            raise BadInput(f"{source}: columns {two} are both {each.name}; one is expected")
        read[each.name] = each
    times = [each for each in columns if each.name in TIMES and each.owner in (owner, "")]
    if times:
        read["t"] = min(times, key=lambda each: (each.owner != owner, TIMES.index(each.name)))
    signals: dict[str, Array] = {}
    names_by_unit: dict[str, list[str]] = {}
    for name, each in read.items():
        size = _size(source, header[each.place], name, each.unit, units)
        signals[name] = size * table[:, each.place]
        if each.unit and size != 1.0:
            names_by_unit.setdefault(each.unit, []).append(name)
    notes = [
        f"{', '.join(names)} taken as {unit}, as the header has it"
        for unit, names in names_by_unit.items()
    ]
    notes += [f"columns of {owner} are read"] if owner else []
    in_units = any(read[name].unit for name in (*BASE_CHANNELS[:3],) if name in read)
    return ReadColumns(signals, in_units, tuple(notes))


def _column(index: int, text: str) -> NamedColumn | None:
    """A column of the header by its text; None for one that is not read."""
    plain, unit = text.strip(), ""
    match = re.fullmatch(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]", plain)
    if match:
        plain, unit = match[1], match[2]
    name = _NAME.fullmatch(plain)
    if name is None:
        return None
    behind = (name["unit"] or "").replace("_", "/")
    if behind and (unit or behind not in TIME_UNITS | SPEEDS | RATES | ANGLES):
        return None
    unit = "" if unit in ("-", "1") else unit
    return NamedColumn((name["owner"] or "").strip("/. "), name["name"], unit or behind, index)


def _owner(source: str, columns: list[NamedColumn]) -> str:
    """The vehicle whose columns are read; empty where names stand alone.

    Raises:
        BadInput: there are several, and none without a name.
    """
    owners = list(dict.fromkeys(each.owner for each in columns if each.name == CHANNELS[0]))
    if "" in owners or not owners:
        return ""
    if len(owners) > 1:
        raise BadInput(
            f"{source}: columns of {' and '.join(owners)}: leave one vehicle's columns in the file, or take the name"
            " away from those that count"
        )
    return owners[0]


def _size(source: str, text: str, name: str, unit: str, units: LogUnits) -> float:
    """SI units in one of a column's numbers.

    Raises:
        BadInput: its unit is none of the quantity.
    """
    known, usual = _units_of(name, units)
    if not unit:
        return usual
    plain = _plain_unit(unit)
    if plain not in known:
        raise BadInput(
            f"{source}: column {shown(text)}: its unit is none of {', '.join(known)}: convert it, or name one of these"
        )
    return known[plain]


def _units_of(name: str, units: LogUnits) -> tuple[Mapping[str, float], float]:
    """Units of a quantity by name, and the size of the usual one."""
    plain = name.removesuffix("_ref")
    if plain == "t":
        return TIME_UNITS, 1.0
    if plain in JOINT_ANGLES:
        return ANGLES, units.angle
    return (SPEEDS, units.speed) if plain in BASE_CHANNELS[:3] else (RATES, units.angle)


def _plain_unit(unit: str) -> str:
    """A unit as `SPEEDS` and its like have it: ``m s^-1``, ``m*s**-1`` and ``m/sec`` are ``m/s``."""
    text = unit.replace("\u00b0", "deg").replace("degrees", "deg").replace("degree", "deg").lower()
    text = re.sub(r"\bper\b", "/", text)
    text = re.sub(r"(?<=/)\s*(sec(ond)?s?)\b", "s", text)
    text = re.sub(r"[\s*\u00b7.]*(s|h)\s*(\^|\*\*)?\s*\{?[-\u2212]1\}?$", r"/\1", text)
    return re.sub(r"\s+", "", text)
