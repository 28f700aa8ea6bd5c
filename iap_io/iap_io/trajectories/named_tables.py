# SPDX-License-Identifier: BSD-3-Clause
"""Poses in tables whose header names the columns, in any order and with any others beside them.

So are exports of logs, of motion captures, and of ``rostopic echo -p``. Cells are parted by commas, semicolons, tabs or
blanks. ``--columns`` says which they are where names do not: TIME,X,Y,Z, and QX,QY,QZ,QW or ROLL,PITCH,YAW or YAW.
"""

from pathlib import Path

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.text_files import CUT, table_lines
from iap_description.errors import BadInput, shown
from iap_description.math import euler, so3
from iap_io.trajectories import column_names as names_of
from iap_io.trajectories.column_names import MAX_RADIANS, QUATERNION
from iap_io.trajectories.conventions import AngleUnit, TimeUnit
from iap_io.trajectories.number_words import number_of
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.table_columns import (
    LISTED,
    PoseColumns,
    TableHeader,
    by_names,
    by_option,
    cells_of,
    header_of,
    unnamed,
)
from iap_io.trajectories.table_rows import time_text, unwrapped, valid_rows
from iap_io.trajectories.time_units import stamps_of

Rows = list[tuple[int, list[str]]]


def read_named(path: Path, reading: PoseReading) -> Samples:
    """Samples of a table with names.

    Raises:
        BadInput: a name or number is missing, several columns could be meant, or angles have no unit.
    """
    header = header_of(path)
    if header is None and reading.columns is None:
        raise BadInput(f"{path}: no line of names above its numbers")
    header = header or unnamed(path)
    columns = (
        by_option(path, header, reading.columns)
        if reading.columns
        else by_names(path, header, reading)
    )
    rows = [
        (number, cells_of(line, header.delimiter))
        for number, line in table_lines(path)
        if number >= header.first
    ]
    rows, notes = _of_body(path, header, rows, columns, reading)
    rows, of_lost = valid_rows(path, header.names, rows, columns.place)
    values = _numbers(path, header, rows, (*columns.place, *columns.turn))
    stamps, time_notes = _stamps(path, header, rows, columns, reading)
    used = {*columns.time, *columns.place, *columns.turn, columns.body}
    others = tuple(name for i, name in enumerate(header.names) if i not in used and name)[:LISTED]
    signs = np.array([-1.0 if i in columns.inverted else 1.0 for i in columns.turn])
    q, angles, about_turns = _attitudes(path, header, signs * values[:, 3:], columns, reading)
    about = RecordingSummary(
        "table by its names", body=reading.body, others=others, angles=angles,
        notes=(*notes, *of_lost, *time_notes, *about_turns),
        convention="y-up" if header.is_motive else columns.convention,
    )  # fmt: skip
    scale = columns.lengths if reading.scale is None else (1.0, 1.0, 1.0)
    about = about.in_units_of(scale[0] if len(set(scale)) == 1 else scale)
    return checked(Samples(str(path), about, stamps, None, p=values[:, :3] * scale, q=q))


def _stamps(
    path: Path, header: TableHeader, rows: Rows, columns: PoseColumns, reading: PoseReading
) -> tuple[Integers, tuple[str, ...]]:
    """Stamps (K,) of lines [ns], and notes of their unit; of lines without times, by the rate that is asked for."""
    if not columns.time:
        return stamps_of(str(path), [(number, str(number)) for number, _ in rows], "s", reading)
    written = [[cells[i] for i in columns.time] for _, cells in rows]
    texts = [
        (number, time_text(path, number, each))
        for (number, _), each in zip(rows, written, strict=True)
    ]
    texts = unwrapped([each[0] for each in written], texts)
    usual = names_of.time_unit(header.names[columns.time[0]]) or _usual(texts)
    unit: TimeUnit = "ns" if len(columns.time) > 1 or ":" in written[0][0] else usual
    return stamps_of(str(path), texts, unit, reading)


def _of_body(
    path: Path, header: TableHeader, rows: Rows, columns: PoseColumns, reading: PoseReading
) -> tuple[Rows, tuple[str, ...]]:
    """The rows of one body, where a column names it."""
    for number, cells in rows:
        if len(cells) < len(header.names):
            remedy = CUT if number == rows[-1][0] else ""
            raise BadInput(
                f"{path}: line {number}: {len(cells)} columns; the header has {len(header.names)}{remedy}"
            )
    if columns.body is None:
        return rows, ()
    counts: dict[str, int] = {}
    for _, cells in rows:
        counts[cells[columns.body]] = counts.get(cells[columns.body], 0) + 1
    if len(counts) == len(rows) or (len(counts) == 1 and reading.body is None):
        return rows, ()
    if reading.body not in counts:
        listed = ", ".join(f"{name} ({count})" for name, count in list(counts.items())[:LISTED])
        raise BadInput(
            f"{path}: column {shown(header.names[columns.body])} has several bodies: {listed}; choose with --body"
        )
    return [row for row in rows if row[1][columns.body] == reading.body], ()


def _numbers(path: Path, header: TableHeader, rows: Rows, indices: tuple[int, ...]) -> Array:
    """Numbers (K, columns); an empty cell is NaN."""
    values = np.full((len(rows), len(indices)), np.nan)
    for k, (number, cells) in enumerate(rows):
        for j, index in enumerate(indices):
            text = cells[index].replace(",", ".")
            try:
                values[k, j] = number_of(text)
            except ValueError as error:
                name = header.names[index]
                raise BadInput(
                    f"{path}: line {number}: {name} is {shown(cells[index])}, not a number"
                ) from error
    return values


def _usual(texts: list[tuple[int, str]]) -> TimeUnit:
    """The unit of times whose name says none: whole numbers are no seconds."""
    return "s" if any("." in text for _, text in texts[:2]) else "ns"


def _attitudes(
    path: Path, header: TableHeader, values: Array, columns: PoseColumns, reading: PoseReading
) -> tuple[Array, AngleUnit | None, tuple[str, ...]]:
    """Quaternions (K, 4), the one unit of their Euler angles if they are of such, and what is to be said of them.

    Raises:
        BadInput: angles whose unit nobody says.
    """
    count = values.shape[1]
    if count == len(QUATERNION):
        return values, None, ()
    if count == 0:
        level = np.tile(so3.IDENTITY, (len(values), 1))
        return level, None, ("no attitudes in it: taken as level, without yaw",)
    units = _units_of_angles(path, header, values, columns, reading)
    angles: Array = values * [np.pi / 180.0 if unit == "deg" else 1.0 for unit in units]
    _check_radians(path, header, values, columns, units, reading)
    notes = [] if count > 1 else ["no roll and pitch in it: taken as level"]
    rpy: Array = angles if count > 1 else np.column_stack([0.0 * angles, 0.0 * angles, angles])
    bad = np.asarray(~np.isfinite(rpy).all(axis=1))
    q = euler.quaternions_from_rpy(np.where(bad[:, None], 0.0, rpy))
    q[bad] = np.nan
    words = [{"deg": "degrees", "rad": "radians"}[unit] for unit in units]
    unit = words[0] if len(set(words)) == 1 else ", ".join(words)
    notes += ["pitch is positive with the nose down"] if columns.inverted else []
    return (
        q,
        units[0] if len(set(units)) == 1 and count > 1 else None,
        (
            *notes,
            f"Euler angles in {unit}, yaw, pitch and roll about the turned axes z, y and x",
        ),
    )


def _check_radians(
    path: Path, header: TableHeader, values: Array, columns: PoseColumns,
    units: list[AngleUnit], reading: PoseReading,
) -> None:  # fmt: skip
    """Refuse roll and pitch (K, 3) that their names call radians and that are far beyond a right angle."""
    for j, unit in enumerate(units[:2] if len(units) > 1 else ()):
        largest = float(np.nanquantile(np.abs(values[:, j]), 0.9))
        if unit == "rad" and largest > MAX_RADIANS and reading.angles is None:
            raise BadInput(
                f"{path}: {shown(header.names[columns.turn[j]])} comes to {largest:.3g}, which is no radians: --angles"
                " deg takes them as degrees, --angles rad as radians"
            )


def _units_of_angles(
    path: Path, header: TableHeader, values: Array, columns: PoseColumns, reading: PoseReading
) -> list[AngleUnit]:
    """Units of angles (K, n): of their names, else the one that is asked for; that alone where all are named.

    Raises:
        BadInput: nobody says one.
    """
    are_named = None not in columns.units
    units = [
        (named if not are_named else None) or reading.angles or named for named in columns.units
    ]
    if None in units:
        at = max(j for j, unit in enumerate(units) if unit is None)
        largest = float(np.nanmax(np.abs(values[:, at]), initial=0.0))
        name = header.names[columns.turn[at]]
        raise BadInput(
            f"{path}: {shown(name)} has no unit, angles come to {largest:.3g}: --angles deg or --angles rad says it"
        )
    return [unit for unit in units if unit is not None]
