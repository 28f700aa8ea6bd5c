# SPDX-License-Identifier: BSD-3-Clause
"""Figures of flights in README and docs, beside what their commands give: within one unit of their last digit."""

import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from iap_bringup.experiments.page_tables import BELOW, PageTables, load_figures, value_at
from iap_bringup.experiments.rows import Report, silent
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import counted, work_bar
from iap_description.errors import BadInput
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import score
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

DATA = Path("docs") / "results" / "data"
FLIGHT = "run "  # what the command of a single flight begins with


class ReadmeFigure(NamedTuple):
    """A figure that a page gives of a flight.

    Attributes:
        command: what is typed behind ``iap run``.
        key: dotted path in metrics.json.
        text: the figure as it stands there.
        factor: from the key's unit to the figure's.
    """

    command: str
    key: str
    text: str
    factor: float

    def is_met(self, metrics: Mapping[str, Any]) -> bool:
        """True if the flight has this figure, within one unit of its last digit."""
        digits = len(self.text.partition(".")[2])
        return abs(self.value(metrics) - float(self.text)) <= 10.0**-digits

    def value(self, metrics: Mapping[str, Any]) -> float:
        """The flight's figure; NaN where it has none."""
        value = value_at(metrics, self.key)
        return math.nan if value is None else self.factor * float(value)


def readme_figures(folder: Path) -> list[ReadmeFigure]:
    """Figures of single flights in the tables of the pages, each once.

    Args:
        folder: of templates and figures.

    Raises:
        BadInput: a figure was not measured.
    """
    tables, measured_before = PageTables.load(folder), load_figures(folder)
    out: dict[ReadmeFigure, None] = {}
    for name in tables.templates:
        tables.table(name, measured_before)
        for each in tables.placeholders(name):
            if not each.command.startswith(FLIGHT):
                continue
            value = measured_before[each.command][each.path]
            parts = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, number in parts:
                key = each.path if index is None else f"{each.path}.{index}"
                if isinstance(number, int | float):
                    command = each.command.removeprefix(FLIGHT)
                    text = each.number(number).removeprefix(BELOW)
                    out[ReadmeFigure(command, key, text, each.factor)] = None
    return list(out)


def fly(command: str) -> dict[str, Any]:
    """Metrics of the flight that a command makes, without a recording."""
    name, *words = shlex.split(command)
    pairs = list(zip(words[::2], words[1::2], strict=True))
    options = {
        flag.strip("-").replace("-", "_"): value for flag, value in pairs if flag != "--set"
    }
    settings = tuple(value for flag, value in pairs if flag == "--set")
    scenario, _ = resolve(name, Options(**options, assignments=settings))
    flight = Flight.of(scenario)
    with Simulation(flight) as simulation:
        return score(flight, simulation)[0]


def measured(
    figures: Sequence[ReadmeFigure], report: Report = silent
) -> Iterator[tuple[ReadmeFigure, float, bool]]:
    """Each figure with what its flight gives, and whether that is the same."""
    for command in counted(report, list(dict.fromkeys(figure.command for figure in figures))):
        metrics = fly(command)
        for figure in figures:
            if figure.command == command:
                yield figure, figure.value(metrics), figure.is_met(metrics)


def compare_readme(console: Console, *, as_json: bool = False) -> None:
    """Fly the commands of the tables of README and docs, and print their figures beside those that the pages give.

    Args:
        console: where the table goes.
        as_json: whether it is one line of JSON on standard output.

    Raises:
        BadInput: there is no README, or a figure differs.
    """
    roots = (*Path(__file__).resolve().parents, Path())
    checkouts = [root for root in roots if (root / "iap_bringup" / "setup.py").is_file()]
    if not checkouts:
        raise BadInput("experiment readme: no README here; run it from a checkout")
    table = Table("iap run", "key", "page", "here", "same")
    rows, differing, last_command = [], [], ""
    figures = readme_figures(checkouts[0] / DATA)
    with work_bar(make_console(stderr=True)) as report:
        results = list(measured(figures, report))
    for figure, value, is_met in results:
        differing += [] if is_met else [f"{figure.command}: {figure.key}"]
        rows.append(
            {
                "command": figure.command,
                "key": figure.key,
                "page": float(figure.text),
                "here": None if math.isnan(value) else value,
                "is_met": is_met,
            }
        )
        is_repeated = figure.command == last_command  # named once, as it may be long
        command = "" if is_repeated else figure.command
        table.add_row(command, figure.key, figure.text, f"{value:.4g}", "yes" if is_met else "no")
        last_command = figure.command
    if as_json:
        sys.stdout.write(json.dumps({"figures": rows, "differing": len(differing)}) + "\n")
    else:
        console.print(table)
        console.print(f"{len(rows) - len(differing)} of {len(rows)} figures as on the pages")
    if differing:
        raise BadInput(f"experiment readme: {len(differing)} figures differ: {differing[0]}")
