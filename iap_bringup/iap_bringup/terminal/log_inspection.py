# SPDX-License-Identifier: BSD-3-Clause
"""Content of a flight log on the terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from iap_io.flight_logs.inspection import COLUMNS, Inspection

NUMBERS = 2, 3  # columns, whose units stand on a line of their own


def show(console: Console, inspection: Inspection) -> None:
    """Show the signals of a log in a table as wide as the terminal, between lines on the whole log."""
    _show_lines(console, inspection.heading())
    table = Table(box=None, pad_edge=False)
    for i, title in enumerate(COLUMNS):
        if i in NUMBERS:
            table.add_column(title.replace(" ", "\n"), justify="right")
        else:
            table.add_column(title, overflow="fold")
    for row in inspection.rows():
        table.add_row(*row)
    console.print(table, highlight=False)
    _show_lines(console, inspection.conclusions())


def _show_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)
