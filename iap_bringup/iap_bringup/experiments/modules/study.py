# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment modules``: flights of modules beside the tables of Sugihara et al., and their bars."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_bringup.experiments.modules.cases import COMPLETED, ModuleCase, cases, errors_of
from iap_bringup.experiments.modules.flight_bars import flight_bars
from iap_bringup.experiments.modules.recorded_bars import bar_cases, recorded_bars
from iap_bringup.experiments.rows import show_bars
from iap_bringup.terminal.progress import work_bar
from iap_simulation.sweeps.flying import Row, fly
from iap_simulation.sweeps.process_pool import ProcessPool

AXES = ("x, mm", "y, mm", "z, mm", "roll, mrad", "pitch, mrad", "yaw, mrad")


def study_modules(console: Console, *, quick: bool = False, json: bool = False) -> None:
    """Joined modules in hover, on a lemniscate and docking, beside what is published, and bars (some minutes)."""
    rows = cases(quick=quick)
    every = [*rows, *bar_cases(quick=quick)]
    with work_bar(Console(stderr=True)) as report:
        results = {}
        for name, flights in fly_all(every):
            results[name] = flights
            report(f"{len(results)} of {len(every)}: {name}")
    for title in () if json else dict.fromkeys(case.title for case in rows):
        table_cases = [case for case in rows if case.title == title]
        console.print(table(title, table_cases, [results[case.name] for case in table_cases]))
    with work_bar(Console(stderr=True), "bars"):
        reached = [*recorded_bars(results, quick=quick), *flight_bars(quick=quick)]
    show_bars(console, reached, as_json=json)


def fly_all(every: Sequence[ModuleCase]) -> Iterator[tuple[str, list[Row]]]:
    """The names of the cases and what came of their flights, in any order, on all processors."""
    with closing(ProcessPool().map(fly, [case.chunk for case in every])) as finished:
        for chunk, rows in finished:
            yield chunk.name, rows


def table(title: str, table_cases: Sequence[ModuleCase], results: Sequence[list[Row]]) -> Table:
    """A table of cases and the rows of their flights: errors are the largest of all seeds, per axis."""
    out = Table(
        "", title=f"{title}: RMSE, largest of {len(table_cases[0].seeds)} seeds (published)"
    )
    for name in (*AXES, "joints, N", "N m", "completed"):
        out.add_column(name, justify="right")
    for case, rows in zip(table_cases, results, strict=True):
        out.add_row(case.label, *_cells(case, rows))
    return out


def _cells(case: ModuleCase, rows: Sequence[Row]) -> list[str]:
    errors, known = errors_of(case, rows), case.published
    paper = [""] * (len(AXES) - len(known)) + [f" ({1e3 * value:.3g})" for value in known]
    cells = ["-"] * len(AXES) if errors is None else [f"{1e3 * value:.1f}" for value in errors]
    done = sum(row["outcome"] == COMPLETED for row in rows)
    worst = [_worst(rows, key) for key in ("joint_force_n", "joint_torque_nm")]
    return [
        *(a + b for a, b in zip(cells, paper, strict=True)),
        *worst,
        f"{done} of {len(rows)}",
    ]


def _worst(rows: Sequence[Row], key: str) -> str:
    """Largest mean wrench in a joint of all flights."""
    known: list[Any] = [row["modules"][key] for row in rows if "modules" in row]
    values = [value for value in known if value is not None]
    return f"{max(values):.3f}" if values else ""
