# SPDX-License-Identifier: BSD-3-Clause
"""Rows and bars of studies, and their reports while they run."""

from collections.abc import Callable, Mapping, Sequence
from json import dumps
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

Report = Callable[[str], None]  # called with what is being done
Rows = dict[str, dict[str, Any]]


def silent(text: str) -> None:
    """A `Report` that nobody sees."""


def bar_row(measured: float, bar: str) -> dict[str, float | str]:
    """A row of a study's table: a measured value with three digits, and what it must reach."""
    return {"measured": float(f"{measured:.3g}"), "bar": bar}


class Bar(NamedTuple):
    """One thing that flights must reach, and what they do.

    Attributes:
        what: is measured, with its unit.
        measured: the worst of all flights; infinite where one did not come to its end.
        limit: of it.
        at_least: whether it must not be below the limit; else not above.
    """

    what: str
    measured: float
    limit: float
    at_least: bool = False

    @property
    def passes(self) -> bool:
        """True if it is reached."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def text(self) -> str:
        """The limit with its sign."""
        return f"{'>=' if self.at_least else '<='} {self.limit:.3g}"

    @property
    def figures(self) -> dict[str, Any]:
        """Its fields, its text and whether it is reached, as JSON."""
        return {**self._asdict(), "bar": self.text, "passes": self.passes}


def print_json(console: Console, figures: object) -> None:
    """Print figures as one line of JSON, with null in place of numbers that are none."""
    console.file.write(f"{dumps(_plain(figures), allow_nan=False)}\n")


def _plain(figures: object) -> object:
    """Figures as JSON has them."""
    if isinstance(figures, Mapping):
        return {str(key): _plain(value) for key, value in figures.items()}
    if isinstance(figures, list | tuple):
        return [_plain(value) for value in figures]
    if isinstance(figures, np.generic):
        return _plain(figures.item())
    return None if isinstance(figures, float) and not isfinite(figures) else figures


def show_bars(console: Console, bars: Sequence[Bar], *, as_json: bool) -> None:
    """Print bars as a table, or as one line of JSON."""
    if as_json:
        print_json(console, [bar.figures for bar in bars])
    else:
        console.print(bar_table(bars))


def bar_table(reached: Sequence[Bar]) -> Table:
    """A table of bars."""
    out = Table("what", title="Bars")
    for name in ("measured", "bar", ""):
        out.add_column(name, justify="right")
    for bar in reached:
        row = (f"{bar.measured:.3g}", bar.text, "pass" if bar.passes else "miss")
        out.add_row(bar.what, *row)
    return out
