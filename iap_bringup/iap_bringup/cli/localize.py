# SPDX-License-Identifier: BSD-3-Clause
"""What `iap localize` does."""

import argparse
import json
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from iap_description.errors import BadInput
from iap_estimation.datasets.bag_topics import Chosen
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.datasets.results import evaluate, show_results, write_results
from iap_estimation.navigation.data import Dataset
from iap_estimation.navigation.pipeline import Results, check_methods, localize
from iap_estimation.navigation.settings import Settings, load_settings
from iap_io.runs.run_folder import create_run_folder, write_config

EXIT_DONE, EXIT_FAILED = 0, 1


def run_command(options: argparse.Namespace) -> int:
    """Localise, judge, write, draw and show.

    Returns:
        The exit code: 1 if a method has failed.

    Raises:
        BadInput: no data set, or not one for the methods; nothing is left behind then.
    """
    console = Console(stderr=options.json)
    methods = [name.strip() for name in options.method.split(",") if name.strip()]
    dataset = open_dataset(options.dataset, _choices(options))
    frontend = options.frontend or dataset.frontend
    settings = load_settings(options.preset, options.assignments, frontend)
    check_methods(methods, dataset)
    folder = create_run_folder(options.out, f"localize_{dataset.name}")
    try:
        results = _watched(console, dataset, methods, settings)
    except BaseException:  # what does not come to its end has nothing to leave
        shutil.rmtree(folder)
        raise
    evaluation = evaluate(results)
    write_config(folder, {**settings.model_dump(mode="json"), "methods": methods})
    write_results(folder, evaluation)
    if not options.no_plot:
        from iap_bringup.plots.localize_plots import (
            write_localization_plots,  # matplotlib is slow to import
        )

        write_localization_plots(folder / "plots", evaluation)
    show_results(console, evaluation, folder)
    if options.json:
        sys.stdout.write(json.dumps(evaluation.metrics, allow_nan=False) + "\n")
    return _exit_code(results)


def _choices(options: argparse.Namespace) -> Choices:
    topics = Chosen(options.left, options.right, options.imu)
    files: tuple[Path, ...] = tuple(options.calibration)
    if files and len(files) not in (2, 3):
        raise BadInput(f"--calibration: two or three files are expected, found {len(files)}")
    return Choices(options.vehicle, topics, files, options.truth)


def _watched(
    console: Console, dataset: Dataset, methods: list[str], settings: Settings
) -> Results:
    """The results, with the time of the data shown meanwhile."""
    columns = TextColumn("{task.completed:6.1f} s of data"), BarColumn(20), TimeElapsedColumn()
    names = ", ".join(craft.name for craft in dataset.aircraft)
    console.print(f"[bold]{', '.join(methods)}[/]: {names} of {dataset.source}", soft_wrap=True)
    with Progress(*columns, console=console, transient=True, refresh_per_second=5) as bar:
        task = bar.add_task("", total=None)
        return localize(
            dataset, methods, settings, progress=lambda t: bar.update(task, completed=t)
        )


def _exit_code(results: Results) -> int:
    failed = {name: ran.outcome for name, ran in results.methods.items() if ran.has_failed}
    for name, outcome in failed.items():
        sys.stderr.write(f"iap: {name} {outcome}\n")
    return EXIT_FAILED if failed else EXIT_DONE
