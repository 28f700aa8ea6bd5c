# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers on the terminal."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

FRAME = 3  # columns of the terminal that a column of a table takes besides its text
MOST_OF_NAMES = 30  # columns of names before they fold


def show_columns(console: Console, title: str, columns: dict[str, dict[str, float]]) -> None:
    """A table of numbers: a row for each key, a column for each name; what a column does not have stays empty."""
    keys = dict.fromkeys(key for values in columns.values() for key in values)
    rows = {
        key: {name: f"{values[key]:.4g}" for name, values in columns.items() if key in values}
        for key in keys
    }
    show_rows(console, title, rows)


def show_rows(
    console: Console,
    title: str,
    rows: dict[str, dict[str, Any]],
    columns: Sequence[str] | None = None,
) -> None:
    """A table with a row for each name and a column for each key; what a row does not have stays empty.

    Keys that end in _m are shown in mm. Where not all columns fit the terminal, several tables stand below each other.
    """
    keys = columns or list(dict.fromkeys(key for values in rows.values() for key in values))
    shown = {key: [_cell(key, values.get(key, "")) for values in rows.values()] for key in keys}
    longest, width = max(map(len, rows), default=0), console.width - FRAME - 1  # beside the names'
    least = min(longest, MOST_OF_NAMES)
    for number, part in enumerate(_parts(shown, width - least)):
        table = Table(title=title if number == 0 else None)
        room = width - sum(_needed(key, shown[key]) for key in part)
        table.add_column("", width=max(least, min(longest, room)))  # others fold first
        for key in part:
            table.add_column(_title(key), justify="right", overflow="fold")
        for n, name in enumerate(rows):
            table.add_row(name, *(shown[key][n] for key in part))
        console.print(table)


def _needed(key: str, cells: list[str]) -> int:
    """Width of a column with its frame; headings may fold at their spaces."""
    return max(map(len, [*_title(key).split(), *cells]), default=0) + FRAME


def _parts(shown: Mapping[str, list[str]], width: int) -> list[list[str]]:
    """Columns in groups that fit into a width."""
    parts: list[list[str]] = [[]]
    left = width
    for key, cells in shown.items():
        needed = _needed(key, cells)
        if parts[-1] and needed > left:
            parts.append([])
            left = width
        parts[-1].append(key)
        left -= needed
    return parts


def _title(key: str) -> str:
    """Heading of a key: words, and its unit where it is changed."""
    text = key.removesuffix("_m").replace("_", " ")
    return f"{text} mm" if _in_mm(key) else text


def _in_mm(key: str) -> bool:
    return key.endswith("_m")


def _cell(key: str, value: Any) -> str:  # noqa: ANN401 - a number, several, a word or none
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(_cell(key, each) for each in value)
    if value is None or isinstance(value, bool):
        return number_text(value, 0)
    return three_digits(1e3 * value if _in_mm(key) else value)


def three_digits(value: float) -> str:
    """A number with three significant digits, without a power of ten where one can read it so."""
    size = abs(value)
    if size == 0.0 or not math.isfinite(size):
        return f"{value:g}"
    if size >= 1e5 or size < 1e-3:
        return f"{value:.3g}"
    return f"{value:.0f}" if size >= 100.0 else f"{value:#.3g}".rstrip(".")


def number_text(value: Any, digits: int) -> str:  # noqa: ANN401 - a number or a list of them
    """A number or numbers, "-" for none."""
    if isinstance(value, list):
        return " ".join(number_text(item, digits) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:.{digits}f}"
