# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers on the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


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
    """A table with a row for each name and a column for each key; what a row does not have stays empty."""
    keys = columns or list(dict.fromkeys(key for values in rows.values() for key in values))
    table = Table("", title=title)
    for key in keys:
        table.add_column(key.replace("_", " "), justify="right", overflow="fold")
    for name, values in rows.items():
        cells = [values.get(key, "") for key in keys]
        table.add_row(name, *(v if isinstance(v, str) else number_text(v, 3) for v in cells))
    console.print(table)


def number_text(value: Any, digits: int) -> str:  # noqa: ANN401 - a number or a list of them
    """A number or numbers, "-" for none."""
    if isinstance(value, list):
        return " ".join(number_text(item, digits) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:.{digits}f}"
