# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap localize``."""

import argparse
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from iap_bringup.cli.options import add_assignments, add_report_options
from iap_bringup.terminal.flight import time_bar
from iap_bringup.terminal.localization import show_localization
from iap_description.errors import BadInput
from iap_description.process.interrupts import Deferral
from iap_estimation.datasets.bag_source import TruthPoses
from iap_estimation.datasets.bag_topics import TopicNames
from iap_estimation.datasets.dataset import FrontendChoice
from iap_estimation.datasets.localization import check_methods, localize
from iap_estimation.datasets.method_results import LocalizationResults
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.datasets.results import evaluate, write_results
from iap_estimation.datasets.understanding import Corrections, understand
from iap_estimation.navigation.settings import load_settings
from iap_io.runs.run_folder import new_folder, write_config

EXIT_DONE, EXIT_FAILED = 0, 1


def add_localize(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap localize``."""
    parser.description = (
        "Estimate the poses of recorded aircraft from their sensors, and judge them: a run folder, a folder in EuRoC's"
        " layout, or a bag of ROS 1 or 2 with images of one or two cameras, CameraInfo and Imu."
    )
    parser.add_argument("dataset", type=Path, metavar="DATASET_OR_BAG", help="folder or bag")
    methods = (
        "vio, vio_uwb, virpo, joint, drift_filter, uwb (ranges without images), batch (all of the recording at once, by"
        " gtsam); several with commas"
    )
    parser.add_argument("--method", default="vio", help=f"{methods} (default: vio)")
    parser.add_argument(
        "--preset", default="default", help="settings of the estimators (default: default)"
    )
    parser.add_argument(
        "--frontend",
        metavar="PRESET",
        help="settings of the front end: default, for rendered images, or euroc, for cameras' (default: the one for"
        " the data)",
    )
    add_assignments(
        parser, "change a setting, e.g. estimator.keyframes=8 or frontend.max_tracks=150"
    )
    parser.add_argument("--vehicle", help="which of a run's vehicles, if there are several")
    _add_corrections(parser.add_argument_group("sensors", "of recordings of others"))
    _add_bag_options(parser.add_argument_group("bags", "of a bag that is not this suite's"))
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder to create (default: the next runs/localize_NAME-001)",
    )
    add_report_options(parser)
    parser.set_defaults(run=run_command)


def _add_corrections(sensors: argparse._ArgumentGroup) -> None:
    for name, what, example in (
        (
            "accel",
            "specific forces",
            "9.80665 where they are in g, -1 where their sign is flipped",
        ),
        ("gyro", "angular velocities", "0.0174533 where they are in deg/s"),
    ):
        sensors.add_argument(
            f"--{name}-scale",
            type=float,
            metavar="FACTOR",
            help=f"factor on {what}: {example}",
        )
    sensors.add_argument(
        "--image-delay",
        type=float,
        metavar="SECONDS",
        help="how late the stamps of the images are (default: found by their turns and the gyroscope's)",
    )
    sensors.add_argument(
        "--from",
        type=float,
        dest="begin",
        metavar="SECONDS",
        help="time of the data from which on they count",
    )


def _add_bag_options(bag: argparse._ArgumentGroup) -> None:
    for side in ("left", "right"):
        only = ", or of the only one" if side == "left" else ""
        bag.add_argument(f"--{side}", metavar="TOPIC", help=f"images of the {side} camera{only}")
    bag.add_argument("--imu", metavar="TOPIC", help="the inertial unit")
    bag.add_argument("--truth", metavar="TOPIC", help="true poses of the inertial unit")
    bag.add_argument("--body", metavar="NAME", help="which body of --truth, where it has several")
    bag.add_argument("--frame", metavar="NAME", help="in which frame, where it has several")
    bag.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="YAML that says which messages are ranges to which anchors, for --method uwb; see docs/datasets.md",
    )
    bag.add_argument(
        "--calibration",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="sensor.yaml as EuRoC has it of each camera, the left one first, and of the inertial unit if there is"
        " one more; in place of CameraInfo and /tf_static",
    )


def run_command(options: argparse.Namespace) -> int:
    """Localise, judge, write, draw and show.

    An interrupt waits for the end of an update, since kernels that load and libraries that draw do not survive one
    in their midst.

    Returns:
        The exit code: 1 if a method has failed or is lost.

    Raises:
        BadInput: no data set, or not one for the methods; nothing is left behind then.
    """
    console = Console(stderr=options.json)
    methods = [name.strip() for name in options.method.split(",") if name.strip()]
    dataset = open_dataset(options.dataset, _choices(options))
    if options.frontend is not None:
        dataset = replace(dataset, frontend=FrontendChoice(options.frontend, "as asked for"))
    settings = load_settings(options.preset, options.assignments, dataset.frontend.preset)
    check_methods(methods, dataset)
    understanding = understand(dataset, _corrections(options))
    dataset = understanding.dataset
    with new_folder(options.out, f"localize_{dataset.name}") as folder:
        names = ", ".join(each.name for each in dataset.aircraft)
        of = escape(f"{names} of {dataset.source}")
        what = "\n".join(
            [*map(escape, understanding.lines), f"[bold]{', '.join(methods)}[/]: {of}"]
        )
        with time_bar(console, what) as show, Deferral() as interrupts:

            def progress(t: float) -> None:
                show(t)
                interrupts.check()

            results = localize(dataset, methods, settings, progress=progress)
        evaluation = evaluate(results, understanding.record)
        write_config(folder, {**settings.model_dump(mode="json"), "methods": methods})
        write_results(folder, evaluation)
        if not options.no_plot:
            # matplotlib is slow to import
            from iap_bringup.plots.localization import write_localization_plots

            write_localization_plots(folder / "plots", evaluation)
    show_localization(console, evaluation, folder)
    if options.json:
        sys.stdout.write(json.dumps(evaluation.metrics, allow_nan=False) + "\n")
    return _exit_code(results)


def _corrections(options: argparse.Namespace) -> Corrections:
    """The options that describe the sensors.

    Raises:
        BadInput: a number that is none, or a factor of 0.
    """
    names = {"accel_scale": "--accel-scale", "gyro_scale": "--gyro-scale"}
    for name, option in {**names, "image_delay": "--image-delay", "begin": "--from"}.items():
        value = getattr(options, name)
        if value is not None and not math.isfinite(value):
            raise BadInput(f"{option} {value}: expected a number")
        if name in names and value == 0.0:
            raise BadInput(f"{option} {value}: expected a factor other than 0")
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
