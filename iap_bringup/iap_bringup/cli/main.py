# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``iap run``, ``replay``, ``localize``, ``list``, ``plot``, ``render`` and others."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

for _threads in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # threaded BLAS slows small matrices down
    os.environ.setdefault(_threads, "1")

from iap_bringup.cli import commands  # noqa: E402 - after the threads are set
from iap_bringup.experiments.experiments import EXPERIMENTS, LOCALIZATION  # noqa: E402
from iap_description.errors import BadInput, IapError  # noqa: E402

EXIT_DONE, EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed flight, 2 bad input, 130 interrupted."""
    options = make_parser().parse_args(arguments)
    try:
        return int(options.verb(options))
    except BadInput as error:
        sys.stderr.write(f"iap: {error}\n")
        return EXIT_BAD_INPUT
    except IapError as error:
        sys.stderr.write(f"iap: {error}\n")
        return EXIT_FAILED
    except KeyboardInterrupt:
        sys.stderr.write("iap: interrupted\n")
        return EXIT_INTERRUPTED


def make_parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = argparse.ArgumentParser(
        prog="iap",
        description="Simulates integrated aerial platforms: several quadrotors joined to one body.",
        epilog="Example: iap run three_star_spiral --gains paper --set wind.speed=3",
    )
    verb = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    run = verb.add_parser("run", help="fly a scenario", description="Fly a scenario and judge it.")
    run.add_argument("scenario", help="a name from 'iap list', or the path of a YAML file")
    _add_run_options(run)
    run.set_defaults(verb=commands.run)

    replay = verb.add_parser(
        "replay",
        help="fly the commands of a recorded flight",
        description="Fly recorded commands: ROS 1 .bag, rosbag2 (sqlite3, mcap) or EuRoC ground-truth CSV.",
    )
    replay.add_argument("recording", help="the bag or CSV file")
    replay.add_argument(
        "--topic", help="topic of the commands (default: the one whose type and name fit)"
    )
    replay.add_argument(
        "--actual-topic", help="topic of what the real aircraft did, to compare with"
    )
    replay.add_argument(
        "--convention",
        choices=("enu", "ned"),
        help="frames of the numbers (default: enu; ned for a pair of Points)",
    )
    _add_run_options(replay)
    replay.set_defaults(verb=commands.replay)

    localize = verb.add_parser(
        "localize",
        help="estimate where recorded aircraft were",
        description="Estimate the poses of recorded aircraft from their sensors, and judge them: a run folder, a"
        " folder in EuRoC's layout, or a bag of ROS 1 or 2 with stereo images, CameraInfo and Imu.",
    )
    _add_localize_options(localize)
    localize.set_defaults(verb=commands.localize)

    listing = verb.add_parser(
        "list", help="what there is to fly", description="List scenarios, platforms and gains."
    )
    listing.set_defaults(verb=commands.list_all)

    plot = verb.add_parser(
        "plot", help="draw a run's plots again", description="Draw the plots of a run's folder."
    )
    plot.add_argument("folder", type=Path, metavar="RUN", help="the run's folder")
    plot.set_defaults(verb=commands.plot)

    render = verb.add_parser(
        "render",
        help="picture of a run, or its images again",
        description="Render a picture of a run in flight; or, with --sensors or --scene, all images of its cameras"
        " again, into a new run folder.",
    )
    render.add_argument("folder", type=Path, metavar="RUN", help="the run's folder")
    render.add_argument(
        "--time", type=float, help="simulation time of the picture [s] (default: mid-flight)"
    )
    render.add_argument(
        "--out",
        type=Path,
        help="PNG to write (default: RUN/plots/picture.png), or the new run folder (default: the next runs/NAME-001)",
    )
    _add_sensor_options(render)
    render.set_defaults(verb=commands.render)

    experiment = verb.add_parser(
        "experiment", help="a study with a table", description="Run a study."
    )
    studies = {**EXPERIMENTS, **LOCALIZATION}
    told = "; ".join(f"{name}: {study.__doc__}" for name, study in studies.items())
    experiment.add_argument("name", choices=studies, help=told)
    experiment.add_argument("--quick", action="store_true", help="less of it, in minutes")
    experiment.add_argument(
        "--flights", type=Path, metavar="DIR", help="recordings in place of flights by hand"
    )
    experiment.add_argument("--out", type=Path, help="new folder for tables and figures")
    experiment.set_defaults(verb=commands.experiment)

    bench = verb.add_parser(
        "bench",
        help="measure speed",
        description="Run the benchmarks (all, or those whose name fits).",
    )
    bench.add_argument("name", nargs="?", help="part of a benchmark's name")
    bench.set_defaults(verb=commands.bench)
    return parser


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--platform", help="fly this platform instead of the scenario's")
    parser.add_argument("--gains", help="gain preset: default or paper")
    parser.add_argument("--seed", type=int, help="seed of all noise")
    parser.add_argument("--duration", type=float, help="simulated time [s]")
    _add_assignments(
        parser, "change any key of the resolved configuration, e.g. platform.center.mass=1.3"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="run folder to create (default: the next runs/NAME-001)",
    )
    _add_sensor_options(parser)
    parser.add_argument(
        "--state-source",
        metavar="truth|METHOD",
        help="what controllers go by: the truth (default), or the estimate of a method: vio, vio_uwb, virpo, joint"
        " or drift_filter",
    )
    parser.add_argument("--realtime", action="store_true", help="keep pace with the wall clock")
    parser.add_argument("--view", action="store_true", help="open PyBullet's window")
    _add_report_options(parser)


def _add_localize_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=Path, metavar="DATASET_OR_BAG", help="folder or bag")
    methods = "vio, vio_uwb, virpo, joint, drift_filter; several with commas"
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
    _add_assignments(
        parser, "change a setting, e.g. estimator.keyframes=8 or frontend.max_tracks=150"
    )
    parser.add_argument("--vehicle", help="which of a run's vehicles, if there are several")
    bag = parser.add_argument_group("bags", "of a bag that is not this suite's")
    for side in ("left", "right"):
        bag.add_argument(f"--{side}", metavar="TOPIC", help=f"images of the {side} camera")
    bag.add_argument("--imu", metavar="TOPIC", help="the inertial unit")
    bag.add_argument("--truth", metavar="TOPIC", help="true poses of the inertial unit")
    bag.add_argument(
        "--calibration",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="sensor.yaml as EuRoC has it of the left and the right camera, and of the inertial unit if there is a"
        " third; in place of CameraInfo and /tf_static",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder to create (default: the next runs/localize_NAME-001)",
    )
    _add_report_options(parser)


def _add_assignments(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--set",
        dest="assignments",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"{what}; may be repeated",
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-plot", action="store_true", help="leave the plots out")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print metrics.json as the only line of standard output",
    )


def _add_sensor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sensors", help="sets of sensors for every vehicle, with commas; see 'iap list'"
    )
    parser.add_argument("--scene", help="place to fly in; see 'iap list'")


if __name__ == "__main__":
    sys.exit(main())
