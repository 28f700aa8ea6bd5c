# SPDX-License-Identifier: BSD-3-Clause
"""`iap experiment virpo_tables`: all flights and estimates, their tables on the terminal and in files, the figure."""

import csv
import io
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from iap_bringup.experiments.piloted_flights import recorded_flights
from iap_bringup.experiments.virpo.cases import LocalizationStudy, study
from iap_bringup.experiments.virpo.published import PublishedTables, published
from iap_bringup.experiments.virpo.runs import run_study
from iap_bringup.experiments.virpo.scores import (
    EstimateKey,
    EstimateResults,
    FailedEstimate,
    Ranking,
    Tables,
    TrajectoryScore,
    ranked,
)
from iap_bringup.experiments.virpo.sequences import TABLE_II
from iap_bringup.experiments.virpo.tables import tables
from iap_bringup.plots.localized_flights import LocalizedFlight, draw_localized
from iap_bringup.terminal.next_step import show_path
from iap_bringup.terminal.progress import work_bar
from iap_bringup.terminal.tables import show_rows
from iap_io.plots.plot_style import write_plot
from iap_io.runs.run_folder import create_run_folder, write_file

DRAWN = ("a1", "a2", "a3", "b", "c", "d")  # flights of the figure
LEGEND = "measured (published), RMSE of the position error in m, first pose from the truth"
REMARK = (
    "The motions of the scripted pilot, and those that stand for SIAP and LIAP sequences, are not the papers':"
    " theirs are not published."
)

WHY_NOT = {  # where methods rank otherwise than published
    TABLE_II: "all_kin has no r_drift and takes neighbours' errors for independent of the own ones; with the default"
    " weights it trusts them more than TABLE IX's would, and what errors have in common is counted again and again"
}


def run_tables(
    console: Console, *, quick: bool = False, flights: Path | None = None, out: Path | None = None
) -> Tables:
    """Fly, estimate, judge, and write everything down; returns the tables.

    Args:
        console: shows the tables.
        quick: less of it, in minutes.
        flights: recordings in place of the flights of the scripted pilot.
        out: new folder for the results; None is the next free one in ``runs``.

    Raises:
        BadInput: the recordings or the folder cannot be used.
    """
    recorded = None if flights is None else recorded_flights(flights)
    what = study(quick=quick, recorded=recorded)
    folder = create_run_folder(out, "virpo_tables")
    scores: dict[EstimateKey, TrajectoryScore | FailedEstimate] = {}
    drawn: dict[str, LocalizedFlight] = {}
    with work_bar(console, "flights and estimates") as report:
        for title, results in run_study(what, report):
            console.print(f"{title}: done", highlight=False)
            scores |= results.scores
            drawn |= {
                key.case: results.drawn for key in results.scores if results.drawn is not None
            }
            paths = _write(folder, scores, what)  # so that an interrupt leaves what was done
    made = tables(scores, what, published())
    show_tables(console, made)
    for reason in _reasons(scores):
        console.print(reason, soft_wrap=True)
    for path in (*paths, _figure(folder, what, drawn)):
        show_path(console, path)
    return made


def run_and_show(
    console: Console,
    what: LocalizationStudy,
    folder: Path,
    tables_of: Callable[[EstimateResults], Tables],
    notes_of: Callable[[EstimateResults], str] = lambda _: "",
) -> Tables:
    """Fly and estimate a study, write its tables and notes as they grow, show them, and return the tables.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    scores: dict[EstimateKey, TrajectoryScore | FailedEstimate] = {}
    with work_bar(console, "flights and estimates") as report:
        for title, results in run_study(what, report):
            console.print(f"{title}: done", highlight=False)
            scores |= results.scores
            made, notes = tables_of(scores), notes_of(scores)
            paths = write_tables(folder, made, notes)  # so that an interrupt leaves what was done
    for name in made.names:
        show_rows(console, name, made.pivot(name))
    if notes:
        console.print(notes, soft_wrap=True, highlight=False)
    show_bars(console, made)
    for path in paths:
        show_path(console, path)
    return made


def run_beside_published(
    console: Console,
    name: str,
    what: LocalizationStudy,
    tables_of: Callable[[EstimateResults, LocalizationStudy, PublishedTables], Tables],
    out: Path | None,
) -> Tables:
    """Run a study whose tables stand beside published ones, count estimates that fail, and return the tables.

    Args:
        console: shows the tables.
        name: of the study.
        what: cases and seeds.
        tables_of: makes the tables.
        out: new folder for the results; None is the next free one in ``runs``.

    Raises:
        BadInput: the folder cannot be used.
    """
    folder, papers = create_run_folder(out, name), published()
    return run_and_show(
        console, what, folder, lambda scores: tables_of(scores, what, papers), failures
    )


def failures(results: EstimateResults) -> str:
    """Number of the estimates that have failed, and why."""
    failed = {
        (k.case, k.method): s.reason for k, s in results.items() if isinstance(s, FailedEstimate)
    }
    count = len({(key.case, key.method) for key in results})
    lines = [f"{len(failed)} of {count} estimates failed"]
    lines += [f"- {case}, {method}: {reason}" for (case, method), reason in failed.items()]
    return "\n".join(lines)


def _write(
    folder: Path,
    scores: dict[EstimateKey, TrajectoryScore | FailedEstimate],
    what: LocalizationStudy,
) -> list[Path]:
    notes = "\n".join(f"- {reason}" for reason in _reasons(scores))
    return write_tables(folder, tables(scores, what, published()), notes)


def _reasons(scores: dict[EstimateKey, TrajectoryScore | FailedEstimate]) -> list[str]:
    """Reasons for which estimates failed."""
    failed = {
        f"{k.case} {k.method}: {s.reason}"
        for k, s in scores.items()
        if isinstance(s, FailedEstimate)
    }
    return [f"failed: {each}" for each in sorted(failed)]


def _figure(folder: Path, what: LocalizationStudy, drawn: dict[str, LocalizedFlight]) -> Path:
    shown = [drawn[case.name] for case in what.cases if case.name in DRAWN and case.name in drawn]
    return write_plot(folder / "localized.png", lambda figure: draw_localized(figure, shown))


def show_tables(console: Console, made: Tables) -> None:
    """All tables, how methods rank, and what was missed."""
    for name in made.names:
        rows = made.pivot(name)
        show_rows(console, name, {row.replace("_", " "): cells for row, cells in rows.items()})
    console.print(f"{LEGEND}; gains in %. {REMARK}")
    for order in made.orders:
        console.print(f"{order.table}, {order.group}: {_ranks(order)}")
    show_bars(console, made)


def show_bars(console: Console, made: Tables) -> None:
    """Print the number of bars that are reached."""
    with_bar = [cell for cell in made.cells if cell.passed is not None]
    console.print(f"{len(with_bar) - len(made.missed)} of {len(with_bar)} bars reached")


def write_tables(folder: Path, made: Tables, notes: str = "") -> list[Path]:
    """Write `tables.csv`, one line for each figure, and `tables.md`; returns both.

    Args:
        folder: that is there.
        made: what to write.
        notes: Markdown that follows the tables, such as reasons of what was missed.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    paths = folder / "tables.csv", folder / "tables.md"
    write_file(paths[0], as_csv(made).encode())
    write_file(paths[1], as_markdown(made, notes).encode())
    return list(paths)


def as_csv(made: Tables) -> str:
    """A line for each figure, with its bar and whether that is reached."""
    text = io.StringIO()
    keys = [*asdict(made.cells[0]), "passed"] if made.cells else []
    writer = csv.DictWriter(text, keys, lineterminator="\n")
    writer.writeheader()
    for cell in made.cells:
        writer.writerow({**asdict(cell), "passed": cell.passed})
    return text.getvalue()


def as_markdown(made: Tables, notes: str = "") -> str:
    """All tables, and how methods rank."""
    lines = [f"{LEGEND}; gains in %. {REMARK}", ""]
    for name in made.names:
        rows = made.pivot(name)
        columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
        lines += [f"## {name}", "", f"| | {' | '.join(columns)} |"]
        lines.append(f"|---|{'---|' * len(columns)}")
        for row, cells in rows.items():
            lines.append(f"| {row} | {' | '.join(cells.get(c, '') for c in columns)} |")
        lines.append("")
    if made.orders:
        lines += ["## How methods rank", ""]
        lines += [f"- {order.table}, {order.group}: {_ranks(order)}" for order in made.orders]
        lines.append("")
    return "\n".join([*lines, *([notes] if notes else [])])


def _ranks(order: Ranking) -> str:
    paper = f"; published {ranked(order.published)}" if order.published else ""
    why = f" ({WHY_NOT[order.table]})" if order.against and order.table in WHY_NOT else ""
    return f"{ranked(order.measured)}{paper}; {order.text}{why}"
