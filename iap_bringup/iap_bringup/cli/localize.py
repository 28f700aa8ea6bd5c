# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap localize``."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from iap_bringup.cli.live_pages import may_control
from iap_bringup.cli.view import serve
from iap_bringup.terminal.console import headline, make_console
from iap_bringup.terminal.localization import show_localization
from iap_bringup.terminal.next_step import show_path
from iap_bringup.terminal.progress import time_bar, work_bar
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_description.process.interrupts import Deferral
from iap_estimation.datasets.bag_source import TruthPoses
from iap_estimation.datasets.bag_topics import TopicNames
from iap_estimation.datasets.dataset import FrontendChoice, SensorDataset
from iap_estimation.datasets.localization import check_methods, localize
from iap_estimation.datasets.method_results import LocalizationResults
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.datasets.results import evaluate, write_results
from iap_estimation.datasets.understanding import Corrections, understand
from iap_estimation.datasets.virtual_ranges import with_virtual_ranges
from iap_estimation.navigation.settings import EstimationSettings, load_settings
from iap_io.runs.run_folder import new_folder, write_config

if TYPE_CHECKING:
    from iap_bringup.viewing.localization_viewer import LocalizationViewer

EXIT_DONE, EXIT_FAILED = 0, 1


def run_command(options: argparse.Namespace) -> int:
    """Localise, judge, write, draw and show.

    An interrupt waits for the end of an update, since kernels that load and libraries that draw do not survive one
    in their midst.

    Returns:
        The exit code: 1 if a method has failed or is lost.

    Raises:
        BadInput: no data set, or not one for the methods; nothing is left behind then.
    """
    console = make_console(stderr=options.json)
    methods = [name.strip() for name in options.method.split(",") if name.strip()]
    dataset = open_dataset(options.dataset, _choices(options))
    if options.ranges is not None:
        dataset = with_virtual_ranges(dataset, options.ranges)
    if options.frontend is not None:
        dataset = replace(dataset, frontend=FrontendChoice(options.frontend, "as asked for"))
    settings = load_settings(options.preset, options.assignments, dataset.frontend.preset)
    check_methods(methods, dataset)
    understanding = understand(dataset, _corrections(options))
    dataset = understanding.dataset
    with new_folder(options.out, f"localize_{dataset.name}") as folder:
        names = ", ".join(each.name for each in dataset.aircraft)
        title = headline(", ".join(methods), f"{names} of {dataset.source}")
        what = "\n".join([*map(escape, understanding.lines), title])
        with _pages(options, dataset, methods, console) as viewer:
            results = _localized(options, dataset, methods, settings, what, viewer, console)
            evaluation = evaluate(results, understanding.record)
            write_config(folder, {**settings.model_dump(mode="json"), "methods": methods})
            write_results(folder, evaluation)
            if viewer is not None:
                with suppress(KeyboardInterrupt):  # ends the wait, and no localisation
                    viewer.linger()
        drawn = list[Path]()
        if not options.no_plot:
            with work_bar(console, "drawing"):
                # matplotlib is slow to import
                from iap_bringup.plots.localization import write_localization_plots

                drawn = write_localization_plots(folder / "plots", evaluation)
    show_localization(console, evaluation, folder)
    for path in drawn[:1]:
        show_path(console, path, "look at it")
    if options.json:
        sys.stdout.write(json.dumps(evaluation.metrics, allow_nan=False) + "\n")
    return _exit_code(results)


def _localized(
    options: argparse.Namespace,
    dataset: SensorDataset,
    methods: Sequence[str],
    settings: EstimationSettings,
    what: str,
    viewer: LocalizationViewer | None,
    console: Console,
) -> LocalizationResults:
    """Run the methods below a bar, and show them in pages where there are any."""
    with (
        time_bar(console, what, _length(dataset, options.begin)) as show,
        Deferral() as interrupts,
    ):

        def progress(t: float) -> None:
            show(t)
            if viewer is not None:
                viewer.progress(t)
            interrupts.check()

        if viewer is None:
            return localize(dataset, methods, settings, progress=progress)
        viewer.check = interrupts.check
        make, watch = viewer.make, viewer.vision.take
        return localize(dataset, methods, settings, make=make, progress=progress, watch=watch)


def _length(dataset: SensorDataset, begin: float | None) -> float | None:
    """About how long the data last [s] from where they count; None where that is not known."""
    return None if dataset.end is None else max(0.0, dataset.end - max(0.0, begin or 0.0))


@contextmanager
def _pages(
    options: argparse.Namespace, dataset: SensorDataset, methods: Sequence[str], console: Console
) -> Iterator[LocalizationViewer | None]:
    """Serve pages of a localisation within this context, if asked for.

    Raises:
        BadInput: no port is free, or there is no such address.
    """
    if options.view is None:
        yield None
        return
    from iap_bringup.viewing.localization_viewer import LocalizationViewer

    server = serve(options, f"{', '.join(methods)} of {dataset.name}", console)
    try:
        yield LocalizationViewer(
            server, dataset, methods, may_control=may_control(options, console)
        )
    finally:
        server.stop()


def _corrections(options: argparse.Namespace) -> Corrections:
    """The options that describe the sensors.

    Raises:
        BadInput: a number that is none or too large, or a factor of 0.
    """
    names = {"accel_scale": "--accel-scale", "gyro_scale": "--gyro-scale"}
    for name, option in {**names, "image_delay": "--image-delay", "begin": "--from"}.items():
        value = getattr(options, name)
        if value is not None and not math.isfinite(value):
            raise BadInput(f"{option} {value}: expected a number")
        if name in names and value == 0.0:
            raise BadInput(f"{option} {value}: expected a factor other than 0")
        if value is not None and abs(value) > MAX_SI_NUMBER:
            raise BadInput(f"{option} {value:g}: expected a number of at most {MAX_SI_NUMBER:g}")
    gyro_scale = 1.0 if options.gyro_scale is None else options.gyro_scale
    begin = -math.inf if options.begin is None else options.begin
    return Corrections(options.accel_scale, gyro_scale, options.image_delay, begin)


def _choices(options: argparse.Namespace) -> Choices:
    topics = TopicNames(options.left, options.right, options.imu)
    truth = TruthPoses(options.truth, options.body, options.frame)
    return Choices(options.vehicle, topics, tuple(options.calibration), truth, options.map)


def _exit_code(results: LocalizationResults) -> int:
    failed = {
        n: ran.outcome for n, ran in results.methods.items() if ran.has_failed or ran.is_lost
    }
    for name, outcome in failed.items():
        sys.stderr.write(f"iap: {name} {outcome}\n")
    return EXIT_FAILED if failed else EXIT_DONE
