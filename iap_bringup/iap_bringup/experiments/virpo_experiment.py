# SPDX-License-Identifier: BSD-3-Clause
"""`iap experiment virpo_tables`: all flights and estimates, their tables on the terminal and in files, the figure."""

from pathlib import Path

from rich.console import Console

from iap_bringup.experiments.motion_recordings import given_flights
from iap_bringup.experiments.options import ExperimentOptions
from iap_bringup.experiments.published import published
from iap_bringup.experiments.virpo_cases import Study, study
from iap_bringup.experiments.virpo_report import show_tables, write_tables
from iap_bringup.experiments.virpo_runs import run_study
from iap_bringup.experiments.virpo_scores import Failed, Key, Score
from iap_bringup.experiments.virpo_tables import tables
from iap_bringup.plots.plot_file import write_plot
from iap_bringup.plots.plots_localization import Localized, draw_localized
from iap_io.runs.run_folder import create_run_folder

DRAWN = ("a1", "a2", "a3", "b", "c", "d")  # flights of the figure


def run_tables(console: Console, options: ExperimentOptions) -> None:
    """Fly, estimate, judge, and write everything down.

    Raises:
        BadInput: the recordings or the folder cannot be used.
    """
    given = None if options.flights is None else given_flights(options.flights)
    what = study(quick=options.quick, given=given)
    folder = create_run_folder(options.out, "virpo_tables")
    scores: dict[Key, Score | Failed] = {}
    drawn: dict[str, Localized] = {}
    with console.status("flights and estimates") as status:
        for title, found in run_study(what, status.update):
            console.print(f"{title}: done", highlight=False)
            scores |= found.scores
            drawn |= {key.case: found.drawn for key in found.scores if found.drawn is not None}
            paths = _written(folder, scores, what)  # so that an interrupt leaves what was done
    show_tables(console, tables(scores, what, published()))
    for reason in _reasons(scores):
        console.print(reason, soft_wrap=True)
    for path in (*paths, _figure(folder, what, drawn)):
        console.print(str(path), soft_wrap=True)


def _written(folder: Path, scores: dict[Key, Score | Failed], what: Study) -> list[Path]:
    notes = "\n".join(f"- {reason}" for reason in _reasons(scores))
    return write_tables(folder, tables(scores, what, published()), notes)


def _reasons(scores: dict[Key, Score | Failed]) -> list[str]:
    """Why estimates failed."""
    failed = {
        f"{k.case} {k.method}: {s.reason}" for k, s in scores.items() if isinstance(s, Failed)
    }
    return [f"failed: {each}" for each in sorted(failed)]


def _figure(folder: Path, what: Study, drawn: dict[str, Localized]) -> Path:
    shown = [drawn[case.name] for case in what.cases if case.name in DRAWN and case.name in drawn]
    return write_plot(folder / "localized.png", lambda figure: draw_localized(figure, shown))
