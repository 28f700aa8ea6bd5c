# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``iap sweep`` and ``iap dataset``."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from iap_bringup.cli.options import scenario_options
from iap_bringup.terminal.console import headline, make_console
from iap_bringup.terminal.flight import space_text
from iap_bringup.terminal.next_step import show_path, show_view
from iap_bringup.terminal.progress import progress_bar, work_bar
from iap_bringup.terminal.tables import show_rows
from iap_description.errors import BadInput
from iap_description.process import interrupts
from iap_io.recording.disk_use import disk_use, free_space
from iap_io.trajectories.pose_reading import counted
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.sweeps.cluster import ClusterPool
from iap_simulation.sweeps.process_pool import ProcessPool
from iap_simulation.sweeps.study import Axis, Study, SweepPoint
from iap_simulation.sweeps.sweep import SweepResult, chunks_of, sweep
from iap_simulation.sweeps.sweep_folder import SweepFolder
from iap_simulation.sweeps.sweep_table import alike_for_all_seeds, summarised


def run(options: argparse.Namespace) -> int:
    """Fly a sweep; it is done when every run has its row, whatever became of the runs."""
    return _fly(options, Path("sweeps"), records=False)


def dataset(options: argparse.Namespace) -> int:
    """Record a data set; it is done when every run has its row, whatever became of the runs."""
    return _fly(options, Path("datasets"), records=True)


def _fly(options: argparse.Namespace, base: Path, *, records: bool) -> int:
    if options.workers is not None and options.workers < 1:
        raise BadInput(f"--workers {options.workers}: at least one is expected")
    axes = tuple(map(Axis.of, options.vary))
    study = Study(options.scenario, scenario_options(options), axes, options.seeds, records)
    points = study.points()
    console = make_console(stderr=options.json)
    lines = [_disk_text(study, points, options.out or base)] if records else []
    pool = (
        ProcessPool(options.workers) if options.cluster is None else ClusterPool(options.cluster)
    )
    folder = SweepFolder.open(options.out, study, points, base)
    try:
        with _bar(console, study, len(points), lines) as progress:
            result = sweep(study, points, folder, pool, progress)
        if not options.no_plot:
            with work_bar(console, "drawing"):
                # matplotlib is slow to import
                from iap_bringup.plots.sweep import draw_sweep

                draw_sweep(folder.path, study.axes, result.rows)
        interrupts.let_finish()
        folder.write_summary(result.summary)
    except Exception:  # whatever it is: a folder without a run would look begun
        folder.remove_unused()
        raise
    except KeyboardInterrupt as stop:
        stop.args = (f"the same command with --out {folder.path} goes on",)
        raise
    _show(console, study, result, folder.path)
    if options.json:
        sys.stdout.write(json.dumps(result.summary, allow_nan=False) + "\n")
    return 0


def _disk_text(study: Study, points: Sequence[SweepPoint], parent: Path) -> str:
    """The disk space that the recordings take that a folder does not have yet.

    Raises:
        BadInput: the disk has not enough space.
    """
    size, folder = 0, SweepFolder(parent)
    for point in points:
        flight = Flight.of(scenario_of(point.tree, study.scenario))
        waiting = sum(not folder.has(chunk.name) for chunk in chunks_of(study, point))
        size += waiting * disk_use(flight.meta, flight.scenario.recording, flight.duration)
    free = free_space(parent)
    text = space_text(size, free)
    if size > free:
        raise BadInput(f"the disk is too small, {text}: fly fewer, or record less")
    return text


@contextmanager
def _bar(
    console: Console, study: Study, points: int, lines: Sequence[str]
) -> Iterator[Callable[[int], None]]:
    """A bar over runs below lines of text, which stay once a run is done; yields the function that moves it on."""
    each = f"{counted(points, 'combination')}, {counted(study.seeds, 'seed')} each"
    text = headline(study.scenario, each)
    runs = TextColumn("{task.completed:.0f} of {task.total:.0f}")
    columns = (BarColumn(40), runs, TimeElapsedColumn(), Pace())
    with progress_bar(columns, console) as bar:
        task = bar.add_task("", total=study.runs, there=None, seconds=0.0)

        def move(runs: int) -> None:
            if bar.tasks[0].fields["there"] is None:
                bar.update(task, there=runs)
            elif bar.tasks[0].completed == bar.tasks[0].fields["there"]:
                bar.print("\n".join([*lines, text]), soft_wrap=True, markup=True)
            bar.update(task, advance=runs, seconds=bar.tasks[0].elapsed or 0.0)

        yield move


class Pace(ProgressColumn):
    """Rate of the runs that this command has flown, and the time that is left at it.

    Fields of the task: runs that were `there` before, and the `seconds` that had passed when the last ones were done.
    """

    def render(self, task: Task) -> Text:
        """Rate and time, once something has been done."""
        done = task.completed - (task.fields["there"] or 0)
        if done <= 0 or task.total is None:
            return Text("")
        rate = done / task.fields["seconds"]
        since = (task.elapsed or 0.0) - task.fields["seconds"]
        left = max(0.0, (task.total - task.completed) / rate - since)
        return Text(f"{rate:.2g} runs/s, {timedelta(seconds=round(left))} left")


def _show(console: Console, study: Study, result: SweepResult, folder: Path) -> None:
    lines = summarised(study.axes, result.rows)
    axes = [axis.key for axis in study.axes]
    rows = {
        ", ".join(f"{key}={line[key]}" for key in axes) or study.scenario: {
            key: text for key, text in line.items() if key not in axes
        }
        for line in lines
    }
    title = "median and quartiles of completed runs, Wilson intervals of 95 %"
    show_rows(console, title, rows)
    summary = result.summary
    again = "; {retried} pieces of work were begun again" if summary["retried"] else ""
    runs = "{runs} run" if summary["runs"] == 1 else "{runs} runs"
    console.print(f"{runs}, {{failed}} failed{again}; {{wall_s:.1f}} s".format(**summary))
    alike = 0 if study.records else alike_for_all_seeds(study.axes, result.rows)
    if alike:
        console.print(
            f"note: in {alike} of {counted(len(lines), 'combination')} all seeds have the same figures;"
            " the key draw says what seeds draw",
            soft_wrap=True,
        )
    show_path(console, folder, "folder")
    show_view(console, folder)
