# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a table that its own columns call lost or not valid, as motion captures and estimators write them.

Such lines hold the last pose, or a guess, and are no measurement: without them there is a gap, as any other.
"""

from collections.abc import Sequence
from pathlib import Path

from iap_description.errors import BadInput, shown
from iap_io.trajectories import column_names as names_of
from iap_io.trajectories.pose_reading import counted

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
