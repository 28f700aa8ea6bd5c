# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap train``."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from iap_bringup.cli.arguments.learning import NOMINAL
from iap_bringup.plots.training import draw_training
from iap_bringup.terminal.console import headline, make_console
from iap_bringup.terminal.next_step import show_next, show_path
from iap_bringup.terminal.program import program
from iap_bringup.terminal.progress import TimeLeft, progress_bar
from iap_description.errors import BadInput
from iap_description.process.interrupts import Deferral
from iap_io.runs.run_folder import CHECKPOINT, new_folder

if TYPE_CHECKING:  # JAX is an extra, and slow to import
    from iap_learning.training.experiment import Experiment
    from iap_learning.training.training import TrainingResult

BASE = Path("trainings")
SHOWN = {  # of the bar: key of a row -> its form
    "success": "success {:.1%}",
    "return": "return {:.2f}",
    "judged_success": "without exploration {:.1%}",
    "error": "error {:.3g}",
    "steps_per_s": "{:.0f} steps/s",
}
Watch = Callable[[dict[str, Any]], None]


def run(options: argparse.Namespace) -> int:
    """Train from nothing, or go on."""
    from iap_learning.training import training
    from iap_learning.training.experiment import read_experiment

    console = make_console()
    if options.resume is not None:
        _check_alone(options)
        folder, experiment = options.resume, read_experiment(options.resume)
        trained = _watched(console, experiment, folder, lambda w: training.go_on(folder, w))
    else:
        experiment = _experiment(options)
        with new_folder(options.out, experiment.name, BASE) as folder:
            trained = _watched(
                console, experiment, folder, lambda w: training.begin(experiment, folder, w)
            )
    draw_training(folder, trained.rows)
    _show(console, trained)
    return 0


def _check_alone(options: argparse.Namespace) -> None:
    """Refuse what would change a training that goes on."""
    changes = ("task", "offline", "online", "seed", "steps")
    changed = [name for name in changes if getattr(options, name) is not None]
    if changed or options.assignments or options.preset != NOMINAL:
        raise BadInput(f"--resume {options.resume}: goes on as it began; give nothing else")


def _experiment(options: argparse.Namespace) -> "Experiment":
    from iap_learning.training.experiment import Choice, make_experiment

    if options.task is None:
        raise BadInput("train: a task is expected, or --resume FOLDER")
    name = options.task if options.preset == NOMINAL else f"{options.task}_{options.preset}"
    choice = Choice(
        offline=options.offline,
        online=options.online,
        seed=options.seed,
        steps=options.steps,
        assignments=tuple(options.assignments),
    )
    return make_experiment(name, choice)


def _watched(
    console: Console,
    experiment: "Experiment",
    folder: Path,
    train: Callable[[Watch], "TrainingResult"],
) -> "TrainingResult":
    """Train under a bar; who interrupts it is told how it goes on.

    An interrupt waits for the next row, since JAX does not survive one in the midst of its work.
    """
    text = headline(experiment.name, f"seed {experiment.seed}, {folder}")
    try:
        with _bar(console, experiment, text) as show, Deferral() as interrupts:

            def watch(row: dict[str, Any]) -> None:
                show(row)
                interrupts.check()

            return train(watch)
    except KeyboardInterrupt as stop:
        if (folder / CHECKPOINT).is_file():
            stop.args = (f"{program()} train --resume {folder} goes on from the last checkpoint",)
        raise


@contextmanager
def _bar(console: Console, experiment: "Experiment", above: str) -> Iterator[Watch]:
    """A bar over the steps of all stages, below a text that stays from the first row on; yields what moves it on."""
    totals = _totals(experiment)
    text = TextColumn("{task.description} {task.fields[text]}")
    columns = (BarColumn(30), text, TimeElapsedColumn(), TimeLeft())
    with progress_bar(columns, console) as bar:
        tasks = {
            stage: bar.add_task(stage, total=total, text="", visible=stage == next(iter(totals)))
            for stage, total in totals.items()
        }
        shown = dict[str, float]()

        def watch(row: dict[str, Any]) -> None:
            if not shown:
                bar.print(above, soft_wrap=True, markup=True)
            shown.update({key: row[key] for key in SHOWN if key in row})
            words = [form.format(shown[key]) for key, form in SHOWN.items() if key in shown]
            task = tasks[row["stage"]]
            bar.update(task, completed=row["steps"], text=", ".join(words), visible=True)

        yield watch


def _totals(experiment: "Experiment") -> dict[str, int]:
    """Updates offline and by DAgger, and steps online."""
    totals = {}
    if experiment.offline is not None:
        totals["offline"] = getattr(experiment.offline, experiment.offline.method).updates
    if experiment.dagger is not None:
        totals["dagger"] = experiment.dagger.all_updates
    if experiment.online is not None:
        totals["online"] = experiment.online.steps
    return totals


def _show(console: Console, trained: "TrainingResult") -> None:
    best = trained.best
    if best is not None:
        console.print(
            f"best policy: {best.success:.1%} of episodes without exploration, return"
            f" {best.returns:.2f}, after {best.steps} steps"
        )
    policy = trained.folder / "policy.npz"
    show_path(console, policy, "policy")
    show_next(console, "judge it", "evaluate", policy)
