# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment modules``: flights of modules beside the tables of Sugihara et al., and their bars."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_bringup.experiments.modules.cases import COMPLETED, ModuleCase, cases, errors_of
from iap_bringup.experiments.modules.flight_bars import flight_bars
from iap_bringup.experiments.modules.recorded_bars import bar_cases, recorded_bars
from iap_bringup.experiments.rows import Report, bar_table, print_json
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import work_bar
from iap_description.errors import BadInput
from iap_simulation.sweeps.flying import Chunk, Row, fly
from iap_simulation.sweeps.process_pool import ProcessPool, WorkPool
from iap_simulation.sweeps.sweep_folder import PARTS, SweepFolder

AXES = ("x, mm", "y, mm", "z, mm", "roll, mrad", "pitch, mrad", "yaw, mrad")
MEAN_WRENCHES = ("joint_force_n", "joint_torque_nm")  # of all joints of a flight
OF_JOINTS = (
    "force_rms_n",
    "torque_rms_nm",
    "force_peak_n",
    "force_after_catch_n",
)  # of each joint


def study_modules(
    console: Console, *, quick: bool = False, json: bool = False, out: Path | None = None
) -> None:
    """Joined modules in hover, on a lemniscate and docking, beside what is published, and bars.

    Args:
        console: that shows the tables.
        quick: flies one seed, and up to four modules.
        json: prints the figures of all flights and the bars as one line in place of the tables.
        out: folder of flights, of which those that are there are not flown again; None keeps none.

    Raises:
        BadInput: the folder cannot be made, or a flight there is damaged.
    """
    rows, others = cases(quick=quick), bar_cases(quick=quick)
    with work_bar(make_console(stderr=True)) as report:
        results = fly_all([*rows, *others], out, report)
    for title in () if json else dict.fromkeys(case.title for case in rows):
        table_cases = [case for case in rows if case.title == title]
        console.print(table(title, table_cases, [results[case.name] for case in table_cases]))
    reached = list(recorded_bars(results, quick=quick))
    with work_bar(make_console(stderr=True)) as report:
        report("bars")
        for bar in flight_bars(quick=quick):
            reached.append(bar)
            report(f"bars, the last one: {bar.what}")
    if json:
        bars = [bar.figures for bar in reached]
        print_json(console, {"flights": flight_figures([*rows, *others], results), "bars": bars})
    else:
        console.print(bar_table(reached))


def flight_figures(
    every: Iterable[ModuleCase], results: Mapping[str, Sequence[Row]]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures of the cases' flights by the first words of their tables' titles, and by their labels."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for case in every:
        of_table = out.setdefault(case.title.partition(",")[0], {})
        of_table[case.label] = case_figures(case, results[case.name])
    return out


def case_figures(case: ModuleCase, rows: Sequence[Row]) -> dict[str, Any]:
    """Figures of a case, the largest of its flights; errors are RMSE per axis, and None where a flight failed."""
    errors = errors_of(case, rows)
    return {
        "position_rmse_m": errors and errors[:3],
        "angle_rmse_rad": errors and errors[3:],
        "published_position_m": case.published[:-3] or None,
        "published_angle_rad": case.published[-3:] or None,
        **{key: _largest(_modules(rows), key) for key in MEAN_WRENCHES},
        **{f"joint_{key}": _largest(_joints(rows), key) for key in OF_JOINTS},
        "completed": sum(row["outcome"] == COMPLETED for row in rows),
        "flights": len(rows),
    }


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
    figures, known = case_figures(case, rows), case.published
    errors = [*(figures["position_rmse_m"] or ()), *(figures["angle_rmse_rad"] or ())]
    paper = [""] * (len(AXES) - len(known)) + [f" ({1e3 * value:.3g})" for value in known]
    cells = [f"{1e3 * value:.1f}" for value in errors] or ["-"] * len(AXES)
    worst = [figures[key] for key in MEAN_WRENCHES]
    return [
        *(a + b for a, b in zip(cells, paper, strict=True)),
        *("" if value is None else f"{value:.3f}" for value in worst),
        f"{figures['completed']} of {figures['flights']}",
    ]


def _modules(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Records of modules in the rows of flights, without those that ended before there were any."""
    return [row["modules"] for row in rows if "modules" in row]


def _joints(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Records of the joints in the rows of flights."""
    return [joint for each in _modules(rows) for joint in each.get("joints", {}).values()]


def _largest(each: Iterable[Mapping[str, Any]], key: str) -> float | None:
    """Largest value of a key; None where there is none."""
    values = [tree[key] for tree in each if tree.get(key) is not None]
    return max(values, default=None)
