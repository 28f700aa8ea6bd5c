# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment modules``: flights of modules beside the tables of Sugihara et al., and their bars."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_bringup.experiments.modules.cases import COMPLETED, ModuleCase, cases, errors_of
from iap_bringup.experiments.modules.flight_bars import flight_bars
from iap_bringup.experiments.modules.recorded_bars import bar_cases, recorded_bars
from iap_bringup.experiments.rows import Report, show_bars
from iap_bringup.terminal.progress import work_bar
from iap_description.errors import BadInput
from iap_simulation.sweeps.flying import Chunk, Row, fly
from iap_simulation.sweeps.process_pool import ProcessPool, WorkPool
from iap_simulation.sweeps.sweep_folder import PARTS, SweepFolder

AXES = ("x, mm", "y, mm", "z, mm", "roll, mrad", "pitch, mrad", "yaw, mrad")


def study_modules(
    console: Console, *, quick: bool = False, json: bool = False, out: Path | None = None
) -> None:
    """Joined modules in hover, on a lemniscate and docking, beside what is published, and bars.

    Args:
        console: that shows the tables.
        quick: flies one seed, and up to four modules.
        json: prints the bars as one line in place of the tables.
        out: folder of flights, of which those that are there are not flown again; None keeps none.

    Raises:
        BadInput: the folder cannot be made, or a flight there is damaged.
    """
    rows = cases(quick=quick)
    with work_bar(Console(stderr=True)) as report:
        results = fly_all([*rows, *bar_cases(quick=quick)], out, report)
    for title in () if json else dict.fromkeys(case.title for case in rows):
        table_cases = [case for case in rows if case.title == title]
        console.print(table(title, table_cases, [results[case.name] for case in table_cases]))
    reached = list(recorded_bars(results, quick=quick))
    with work_bar(Console(stderr=True)) as report:
        report("bars")
        for bar in flight_bars(quick=quick):
            reached.append(bar)
            report(f"bars, the last one: {bar.what}")
    show_bars(console, reached, as_json=json)


def fly_all(
    every: Sequence[ModuleCase], out: Path | None, report: Report, pool: WorkPool | None = None
) -> dict[str, list[Row]]:
    """Rows of the flights of all cases by the cases' names, in order of the seeds.

    Args:
        every: the cases.
        out: folder of flights, see `study_modules`.
        report: is told how many flights are done.
        pool: who flies; None takes all processors.

    Raises:
        BadInput: see `study_modules`.
    """
    flights = {case.name: case.flights for case in every}
    chunks = {chunk.name: chunk for of_case in flights.values() for chunk in of_case}
    done = {} if out is None else _kept(out, chunks.values())
    report(f"{len(done)} of {len(chunks)}")
    waiting = [chunk for name, chunk in chunks.items() if name not in done]
    with closing((pool or ProcessPool()).map(fly, waiting)) as finished:
        for chunk, rows in finished:
            done[chunk.name] = rows
            if out is not None:
                SweepFolder(out).add(chunk.name, rows)
            report(f"{len(done)} of {len(chunks)}")
    return {
        name: [row for chunk in of_case for row in done[chunk.name]]
        for name, of_case in flights.items()
    }


def _kept(out: Path, chunks: Iterable[Chunk]) -> dict[str, list[Row]]:
    """Rows of the flights that a folder has; it is made where there is none."""
    try:
        (out / PARTS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {out}: cannot be made: {error.strerror}") from error
    folder = SweepFolder(out)
    return {
        chunk.name: folder.rows(chunk.name, chunk.seeds)
        for chunk in chunks
        if folder.has(chunk.name)
    }


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
