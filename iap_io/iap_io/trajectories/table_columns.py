# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a table that are its poses: found by the names above them, or listed by the user."""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from iap_description.config.text_files import MAX_LINE, is_file, table_lines
from iap_description.errors import BadInput, shown
from iap_io.trajectories import column_names as names_of
from iap_io.trajectories.column_names import (
    EULER,
    FROM_NORTH,
    PLACE,
    QUATERNION,
    AngleUnit,
    Column,
    column_of,
    in_one_grid,
)
from iap_io.trajectories.conventions import Convention
from iap_io.trajectories.number_words import is_number, is_value
from iap_io.trajectories.pose_reading import PoseReading

LONGEST_HEADER = 40  # lines
LISTED = 30  # names in an error's line
SUFFIXES = (".csv", ".txt", ".tsv", ".tum")
_MOTIVE = "Format Version"  # first words of a file of OptiTrack's, whose y axis points up


class TableHeader(NamedTuple):
    """Names of columns.

    Attributes:
        names: of each column, without quotes.
        delimiter: of cells; a blank stands for any number of them.
        first: number of the first line of data.
        is_comment: whether the names stand behind a # or %.
        is_motive: whether OptiTrack's program wrote it.
    """

    names: tuple[str, ...]
    delimiter: str
    first: int
    is_comment: bool = False
    is_motive: bool = False


def header_of(path: Path) -> TableHeader | None:
    """The names of a table's columns; None without any, or for no table."""
    if path.suffix not in SUFFIXES or not is_file(path):
        return None
    lines = list(islice(_all_lines(path), LONGEST_HEADER))
    for index, (number, line) in enumerate(lines):
        delimiter = next((each for each in ";\t," if each in line), " ")
        cells = cells_of(line, delimiter)
        if not (cells and cells[0] and 2 * sum(map(is_value, cells)) >= max(len(cells), 8)):
            continue
        rows = [(text, cells_of(text.lstrip("#% "), delimiter)) for _, text in lines[:index]]
        width = len(cells) - (
            not cells[-1]
        )  # of names, where lines of numbers end with a delimiter
        named = [(text, row) for text, row in rows if len(row) == len(cells)] or [
            (text, row) for text, row in rows if len(row) == width
        ]
        if sum(map(is_number, named[-1][1] if named else [])) * 2 >= len(cells) or not named:
            return None
        names = tuple(
            " ".join(filter(None, column))
            for column in zip(*(row for _, row in named), strict=True)
        )
        is_comment = named[-1][0].lstrip().startswith(("#", "%"))
        return TableHeader(names, delimiter, number, is_comment, lines[0][1].startswith(_MOTIVE))
    return None


def _all_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, those with # as well, but no blank ones."""
    data = iter(table_lines(path))
    next(data, None)  # checks the file
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), ""), 1):
            if line.strip():
                yield number, line.rstrip("\r\n")


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line, without blanks and quotes around them."""
    if delimiter == " ":
        return line.replace(",", " ").split()
    rows = csv.reader([line.strip("\r\n")], delimiter=delimiter, skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(rows, [])]
    except csv.Error:  # a line with the end of another system's lines within it
        return [cell.strip() for cell in line.split(delimiter)]


Lengths = tuple[float, float, float]


class PoseColumns(NamedTuple):
    """Indices of a table's columns: times (and their nanoseconds), position, attitude, and the body's name.

    `lengths` are metres in the unit of x, y and z; `units` those of angles, None where a name says none. Columns in
    `inverted` count the other way round.
    """

    time: tuple[int, ...]
    place: tuple[int, ...]
    turn: tuple[int, ...]
    body: int | None = None
    lengths: Lengths = (1.0, 1.0, 1.0)
    units: tuple[AngleUnit | None, ...] = ()
    convention: Convention = "enu"
    inverted: frozenset[int] = frozenset()


def in_order(header: TableHeader, roles: tuple[str, ...]) -> bool:
    """True if the first columns are time and these numbers of a pose, in this order."""
    columns = [column_of(name) for name in header.names[1 : len(roles) + 1]]
    return (
        names_of.is_time(header.names[0]) and tuple(each.role for each in columns if each) == roles
    )


def is_ambiguous(header: TableHeader) -> bool:
    """True if names mean the same, as in a short form of EuRoC's: ``p_RS_R_x, y, z, q_RS_w, x, y, z``."""
    columns = [column for name in header.names if (column := column_of(name))]
    return len({(column.role, column.body) for column in columns}) < len(columns)


def unnamed(path: Path) -> TableHeader:
    """The columns of a table without names, by their numbers from 1."""
    number, line = next(iter(table_lines(path)), (1, ""))
    delimiter = next((each for each in ";\t," if each in line), " ")
    return TableHeader(
        tuple(str(i + 1) for i in range(len(cells_of(line, delimiter)))), delimiter, number
    )


def by_option(path: Path, header: TableHeader, columns: str) -> PoseColumns:
    """The columns that the user lists."""
    listed = [each.strip() for each in columns.split(",")]
    numbers = [str(k) for k in range(1, len(header.names) + 1)]
    indices = []
    for each in listed:
        if each in header.names:
            indices.append(header.names.index(each))
        elif each in numbers:
            indices.append(numbers.index(each))
        else:
            raise BadInput(f"{path}: --columns: no column {shown(each)}; {listing(header)}")
    if len(indices) not in (4, 5, 7, 8):
        raise BadInput(
            f"{path}: --columns {columns}: TIME,X,Y,Z are expected, and QX,QY,QZ,QW, ROLL,PITCH,YAW or YAW after them"
        )
    turn = tuple(indices[4:])
    return PoseColumns(tuple(indices[:1]), tuple(indices[1:4]), turn, units=(None,) * len(turn))


def by_names(path: Path, header: TableHeader, reading: PoseReading) -> PoseColumns:
    """The columns that names mean."""
    times = [i for i, name in enumerate(header.names) if names_of.is_time(name)]
    parts = in_one_grid(
        {
            i: column
            for i, name in enumerate(header.names)
            if (column := column_of(name)) and i not in times
        }
    )
    bodies = [i for i, name in enumerate(header.names) if name.lower() in names_of.BODIES]
    terms = {word for name in header.names for word in names_of.words(name)}
    groups = _groups(parts, PLACE)
    has_times = bool(times) or reading.rate is not None
    if not has_times or not groups:
        what = "time" if not has_times else "x, y, z"
        hint = " (latitudes are no places in metres)" if terms & names_of.ON_EARTH else ""
        raise BadInput(
            f"{path}: no column is called {what}{hint}: --columns TIME,X,Y,Z,QX,QY,QZ,QW names them; {listing(header)}"
        )
    if times:
        _check_times(path, [header.names[i] for i in times], reading)
    body = _body(path, sorted(groups), reading.body if not bodies else None)
    place, turns = groups[body], _attitude(parts, body)
    if _are_ambiguous(parts, (*place, *turns), body):
        raise BadInput(
            f"{path}: several columns mean the same: --columns NUMBERS,... chooses; {listing(header)}"
        )
    is_turned = any(column.role not in PLACE for column in parts.values()) or terms & FROM_NORTH
    if len(turns) < len(EULER) and (terms & names_of.UNREAD_TURNS or (is_turned and not turns)):
        raise BadInput(
            f"{path}: its attitudes are no quaternions and no roll, pitch and yaw, or those of another body:"
            f" --columns TIME,X,Y,Z,QX,QY,QZ,QW or TIME,X,Y,Z names what is read; {listing(header)}"
        )
    conventions = {parts[i].convention for i in place}
    return PoseColumns(
        _time_columns(header, times[0]) if times else (), place, turns, bodies[0] if bodies else None,
        _lengths(path, [parts[i].length for i in place], reading), tuple(parts[i].angle for i in turns),
        "ned" if conventions == {"ned"} else "enu",
        frozenset(i for i in turns if parts[i].is_inverted),
    )  # fmt: skip


def _check_times(path: Path, names: list[str], reading: PoseReading) -> None:
    """Refuse two times a line, and times in a unit that is not read, unless the user says another one or none count."""
    name = names[0]
    begin, end = (next((x for x in names if set(names_of.words(x)) & of), None) for of in
                  (names_of.BEGINS, names_of.ENDS))  # fmt: skip
    if begin and end:
        raise BadInput(
            f"{path}: a line has the motion from {shown(begin)} to {shown(end)}, which is no pose: chain the motions"
            " and write poses with one time"
        )
    odd = names_of.units(name) & names_of.UNREAD_TIMES
    if odd and reading.rate is None and reading.time_unit is None:
        raise BadInput(
            f"{path}: column {shown(name)}: times in {odd.pop()} are not read: write them in s, ms,"
            " us or ns, or --rate HZ counts lines instead"
        )


def _lengths(path: Path, named: list[float | None], reading: PoseReading) -> Lengths:
    """Metres in the units of x, y and z that names say; metres without any.

    Raises:
        BadInput: some name a unit and others none, and nobody says theirs.
    """
    x, y, z = (each or 1.0 for each in named)
    if reading.scale is None and None in named and set(named) - {None, 1.0}:
        unit = next(each for each in named if each is not None)
        raise BadInput(
            f"{path}: of x, y and z some name their unit and some do not: --scale {unit:g} where they are alike,"
            f" --scale {x:g},{y:g},{z:g} where the others are metres"
        )
    return x, y, z


def _attitude(parts: dict[int, Column], body: str) -> tuple[int, ...]:
    """The columns of a body's attitude: a quaternion, else Euler angles, else yaw; () without any."""
    kinds = (_turns(parts, roles, body) for roles in (QUATERNION, EULER, ("yaw",)))
    return next(filter(None, kinds), ())


def _are_ambiguous(parts: dict[int, Column], pose: tuple[int, ...], body: str) -> bool:
    """True if a body has other columns that mean the same as those of its pose."""
    roles = {parts[i].role for i in pose}
    alike = [c for c in parts.values() if c.body == body and c.role in roles]
    return len(alike) > sum(parts[i].body == body for i in pose)


def _time_columns(header: TableHeader, first: int) -> tuple[int, ...]:
    """The column of times, and that of their nanoseconds where there is one."""
    below = [
        i
        for i, name in enumerate(header.names)
        if names_of.are_nanoseconds_of(name, header.names[first])
    ]
    return first, *below[:1]


def _groups(parts: dict[int, Column], roles: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """By body, the columns of these roles where all are there."""
    bodies = {column.body for column in parts.values() if column.role in roles}
    groups: dict[str, dict[str, int]] = {
        body: {c.role: i for i, c in reversed(parts.items()) if c.body == body} for body in bodies
    }
    return {
        body: tuple(of[r] for r in roles) for body, of in groups.items() if set(roles) <= set(of)
    }


def _turns(parts: dict[int, Column], roles: tuple[str, ...], body: str) -> tuple[int, ...]:
    """The columns of a body's attitude: those of its name, or the only ones."""
    groups = _groups(parts, roles)
    return groups.get(body) or (next(iter(groups.values())) if len(groups) == 1 else ())


def _body(path: Path, bodies: list[str], body: str | None) -> str:
    """The body that is asked for, or the only one."""
    if body is None and len(bodies) == 1:
        return bodies[0]
    asked = set(names_of.words(body or ""))
    matches = [each for each in bodies if asked and asked <= set(each.split("_"))]
    if len(matches) == 1:
        return matches[0]
    named = ", ".join(each or "one without a name" for each in bodies)
    raise BadInput(
        f"{path}: positions of several bodies: {named}: --body NAME chooses one, --columns TIME,X,Y,Z,... any"
    )


def listing(header: TableHeader) -> str:
    """The names of the columns, for an error's one line."""
    if not header.names:
        return "it is empty"
    more = [f"and {len(header.names) - LISTED} more"] if len(header.names) > LISTED else []
    return f"it has {', '.join([*map(shown, header.names[:LISTED]), *more])}"
