# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a table as other programs write them: which of them are measurements, and their times.

Motion captures and estimators have columns that call a line lost or not valid. Such a line holds the last pose, or a
guess, and is no measurement: without it there is a gap, as any other. Times are numbers, dates, times of day, or
minutes of an hour.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from iap_description.errors import BadInput, shown
from iap_io.trajectories import column_names as names_of
from iap_io.trajectories.pose_reading import counted

_MINUTES = re.compile(r"(\d{1,2}):(\d{2}\.\d+)")  # as spreadsheets show times, without the hour
_NS = 10**9
_HOUR, _DAY = 3600 * _NS, 86400 * _NS


def time_text(path: Path, number: int, texts: Sequence[str]) -> str:
    """A time as digits: seconds and nanoseconds in one, or of a date and time of day [ns].

    Raises:
        BadInput: it is none.
    """
    text = texts[0].replace(",", ".")
    try:
        if len(texts) > 1:
            return str(int(text) * _NS + int(texts[1]))
        if minutes := _MINUTES.fullmatch(text):
            return str(int(minutes[1]) * 60 * _NS + round(float(minutes[2]) * 1e9))
        if ":" in text:
            date = datetime.fromisoformat(text if "-" in text else f"1970-01-02T{text}")
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            return str(int(date.timestamp()) * _NS + date.microsecond * 1000)
        float(text)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"{path}: line {number}: time is {shown(' '.join(texts))}, not a number, nor a date as"
            " 2024-05-31T09:41:07.25"
        ) from error
    return text


def unwrapped(written: Sequence[str], times: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Times that go on through midnight, or through a full hour where they are minutes.

    Args:
        written: the times as they stand in the table.
        times: numbers of lines and the same as digits, see `time_text`.
    """
    if any(":" not in text or "-" in text for text in written):
        return times
    turn = _HOUR if all(map(_MINUTES.fullmatch, (x.replace(",", ".") for x in written))) else _DAY
    added, before, out = 0, None, []
    for number, text in times:
        if before is not None and int(text) < before - turn // 2:
            added += turn
        before = int(text)
        out.append((number, str(before + added)))
    return out


Rows = list[tuple[int, list[str]]]
_GOOD = {"valid", "isvalid", "tracked", "istracked", "trackingvalid"}
_BAD = {"invalid", "lost", "occluded"}
_BESIDE = set("is was tracking tracker track xy z xyz flag state data mocap rb".split())
_BESIDE |= {"position", "pos", "pose", "rigid", "body", "field"}
_TRUE, _FALSE = {"1", "1.0", "true", "t", "yes", "y"}, {"0", "0.0", "false", "f", "no", "n", ""}


def valid_rows(
    path: Path, names: Sequence[str], rows: Rows, place: Sequence[int]
) -> tuple[Rows, tuple[str, ...]]:
    """The lines that no column calls lost, and a note of the others.

    Args:
        path: of the table.
        names: of its columns.
        rows: numbers of lines and their cells.
        place: columns of the position, whose body a column may name.

    Raises:
        BadInput: a column says so of all of them.
    """
    body = {word for i in place if (column := names_of.column_of(names[i])) for word in
            column.body.split("_")}  # fmt: skip
    notes = []
    for i, name in enumerate(names):
        good = _good_words(name, body)
        if good is None or not {cells[i].lower() for _, cells in rows} <= _TRUE | _FALSE:
            continue
        kept = [row for row in rows if row[1][i].lower() in good]
        if not kept:
            raise BadInput(
                f"{path}: column {shown(name)} says that none of its {counted(len(rows), 'line')} holds a pose: was it"
                " tracked at all? If the column means something else, take it out of the table"
            )
        if len(kept) < len(rows):
            out = counted(len(rows) - len(kept), "line")
            notes.append(f"{out} left out that column {shown(name)} calls lost or not valid")
        rows = kept
    return rows, tuple(notes)


def _good_words(name: str, body: set[str]) -> set[str] | None:
    """The words of a column that mark a pose as measured; None where its name is of something else."""
    terms = set(names_of.words(name))
    marks = terms & (_GOOD | _BAD)
    if len(marks) != 1 or not terms - marks <= _BESIDE | body:
        return None
    return _TRUE if marks <= _GOOD else _FALSE
