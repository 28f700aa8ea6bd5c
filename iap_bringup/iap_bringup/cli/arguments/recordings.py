# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of ``iap inspect``, ``localize``, ``identify``, ``view``, ``plot`` and ``render``."""

import argparse
from pathlib import Path

from iap_bringup.cli.arguments.options import (
    add_assignments,
    add_live_options,
    add_report_options,
    add_sensor_options,
    add_server_options,
)
from iap_bringup.cli.arguments.parser import CommandParser, Later


def _plot_names() -> str:
    from iap_bringup.plots.table import PLOTS

    return f"plots: {', '.join(plot.name for plot in PLOTS)}"


def add_inspect(parser: CommandParser) -> None:
    """Options of ``iap inspect``."""
    parser.description = (
        "Say what is in the flight log of an autopilot: signals and their rates, when the vehicle was in the air,"
        " whether frames fit the motion, what the log is good for, and what to set for the next flight."
    )
    parser.examples = ("iap inspect log_12.ulg", "iap inspect runs/hover-001 --json")
    parser.add_argument(
        "log",
        type=Path,
        metavar="LOG",
        help="PX4 ULog (.ulg), ArduPilot dataflash (.bin), Crazyflie's SD card, a blackbox's CSV, or a bag of px4_msgs"
        " or mavros",
    )
    parser.add_argument(
        "--json", action="store_true", help="print it as the only line of standard output"
    )
    parser.set_defaults(run=Later("inspect", "inspect"))


def add_localize(parser: CommandParser) -> None:
    """Options of ``iap localize``."""
    parser.description = (
        "Estimate the poses of recorded aircraft from their sensors, and compare them with the truth. Recordings are"
        " run folders, folders in EuRoC's layout, and bags of ROS 1 or 2 with images of one or two cameras, CameraInfo"
        " and Imu."
    )
    parser.examples = (
        "iap localize runs/figure_eight-001 --method vio_uwb,joint",
        "iap localize MH_01_easy --method vio,batch",
        "iap localize flight.bag --left /cam0/image_raw --accel-scale 9.80665",
    )
    parser.add_argument("dataset", type=Path, metavar="DATASET_OR_BAG", help="the recording")
    methods = (
        "vio, vio_uwb, virpo, joint, drift_filter, uwb (ranges without images) or batch (the whole recording at once,"
        " by gtsam); several joined by commas"
    )
    parser.add_argument("--method", default="vio", help=f"{methods} (default: vio)")
    parser.add_argument(
        "--preset",
        default="default",
        help="settings of the estimators, from 'iap list presets' (default: default)",
    )
    parser.add_argument(
        "--frontend",
        metavar="PRESET",
        help="settings of the front end: default for rendered images, euroc for those of cameras (default: by data)",
    )
    add_assignments(
        parser, "change a setting, e.g. estimator.keyframes=8 or frontend.max_tracks=150"
    )
    parser.add_argument("--vehicle", help="vehicle to localise (default: the only one of the run)")
    _add_corrections(
        parser.add_argument_group("sensors", "corrections of recordings that are not this suite's")
    )
    _add_bag_options(
        parser.add_argument_group(
            "bags", "topics and calibration of bags that are not this suite's"
        )
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder to create (default: the next runs/localize_NAME-001)",
    )
    parser.add_argument(
        "--view",
        choices=("web",),
        help="show estimates beside the truth in the browser while they are made (default: not shown)",
    )
    add_live_options(parser)
    add_report_options(parser)
    parser.set_defaults(run=Later("localize", "run_command"))


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
            help=f"factor on {what}: {example} (default: 1)",
        )
    sensors.add_argument(
        "--image-delay",
        type=float,
        metavar="SECONDS",
        help="delay of the images' stamps [s] (default: estimated from their turns and the gyroscope's)",
    )
    sensors.add_argument(
        "--from",
        type=float,
        dest="begin",
        metavar="SECONDS",
        help="time of the data to begin at [s] (default: 0)",
    )


def _add_bag_options(bag: argparse._ArgumentGroup) -> None:
    for side in ("left", "right"):
        which = "as names say"
        bag.add_argument(
            f"--{side}", metavar="TOPIC", help=f"images of the {side} camera (default: {which})"
        )
    bag.add_argument(
        "--imu", metavar="TOPIC", help="samples of the inertial unit (default: the only ones)"
    )
    bag.add_argument(
        "--truth", metavar="TOPIC", help="true poses of the inertial unit (default: as names say)"
    )
    bag.add_argument("--body", metavar="NAME", help="body of --truth (default: the only one)")
    bag.add_argument("--frame", metavar="NAME", help="frame of --truth (default: the only one)")
    bag.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="YAML file that maps messages to ranges and anchors, for --method uwb (default: none);"
        " docs/how_to/datasets.md has one",
    )
    bag.add_argument(
        "--calibration",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="EuRoC's sensor.yaml of each camera, the left one first, and of the inertial unit if there is"
        " one more (default: CameraInfo and /tf_static of the bag)",
    )


def add_identify(parser: CommandParser) -> None:
    """Options of ``iap identify``."""
    parser.description = (
        "Fit a model of a vehicle to logs, and validate it on others. The models dynamic and second_order are of"
        " velocity commands. Their logs are MATLAB files of aerial_manipulator, CSV, or run folders, and they write a"
        " plant that 'iap run arm_path --set plant.file=FILE' flies. The model rotorcraft is of flight logs and run"
        " folders. It writes a platform that 'iap run SCENARIO --platform FILE' flies."
    )
    parser.examples = (
        "iap identify log_1.ulg log_2.ulg --model rotorcraft",
        "iap identify runs/steps-001 runs/steps-002 --model second_order",
        "iap identify *.mat --model dynamic --set alpha=0.001",
    )
    parser.add_argument(
        "logs", nargs="*", metavar="LOG", help=".mat, .csv, a run folder, or a flight log"
    )
    parser.add_argument(
        "--model",
        choices=("dynamic", "second_order", "rotorcraft"),
        required=True,
        help="model to fit",
    )
    parser.add_argument(
        "--fit", nargs="+", default=[], metavar="LOG", help="logs to fit (default: the first)"
    )
    parser.add_argument(
        "--validate",
        nargs="+",
        default=[],
        metavar="LOG",
        help="held-out logs (default: all others)",
    )
    parser.add_argument(
        "--error",
        choices=("equation", "free_run"),
        help="error to minimise (default: equation for dynamic, free_run for second_order)",
    )
    parser.add_argument(
        "--force", action="store_true", help="allow validation on a fitted flight, and report it"
    )
    add_assignments(parser, "change a setting, such as alpha=0.001, bandwidth=5.0 or start=FILE")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder to create (default: the next runs/identify-001)",
    )
    parser.add_argument("--no-plot", action="store_true", help="write no plots")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print metrics.json as the only line of standard output",
    )
    parser.set_defaults(run=Later("identify", "identify"))


def add_view(parser: CommandParser) -> None:
    """Options of ``iap view``."""
    parser.description = (
        "Show recorded runs in the browser: one, or several over or beside each other. Of a sweep it shows the table of"
        " runs, of which a click opens one."
    )
    parser.examples = (
        "iap view runs/hover-001",
        "iap view runs/hover-001 runs/hover-002 --beside 0 2 0",
        "iap view sweeps/figure_eight-001",
    )
    parser.add_argument(
        "folders", type=Path, nargs="+", metavar="RUN", help="run folders, or a sweep's"
    )
    parser.add_argument(
        "--beside",
        type=float,
        nargs=3,
        default=(0.0, 0.0, 0.0),
        metavar=("X", "Y", "Z"),
        help="offset of each run from the one before [m] (default: 0 0 0, one over the other)",
    )
    add_server_options(parser)
    parser.set_defaults(run=Later("view", "view"))


def add_plot(parser: CommandParser) -> None:
    """Options of ``iap plot``."""
    parser.description = "Draw the plots of a run's folder."
    parser.examples = (
        "iap plot runs/hover-001",
        "iap plot runs/hover-001 errors thrusts --html",
        "iap plot --list",
    )
    parser.add_argument("folder", type=Path, nargs="?", metavar="RUN", help="the run's folder")
    parser.names = _plot_names
    parser.add_argument(
        "plots",
        nargs="*",
        metavar="PLOT",
        help="plots to draw, or module:PLOT of your own (default: all that the run has)",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="list all plots, what they show, and which of them RUN has",
    )
    parser.add_argument(
        "--html",
        action="store_true",
        help="write the plots over time as pages for a browser, with zoom and values under the cursor",
    )
    parser.set_defaults(run=Later("images", "plot"))


def add_render(parser: CommandParser) -> None:
    """Options of ``iap render``."""
    parser.description = (
        "Render a picture of a run in flight. With --video, render a video of the flight. With --sensors, --scene,"
        " --renderer or --set, render all images of its cameras again, into a new run folder."
    )
    parser.examples = (
        "iap render runs/hover-001 --time 2 5 8",
        "iap render runs/hover-001 --video hover.webm --plot thrusts",
        "iap render runs/hover-001 --sensors stereo --renderer physical",
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument(
        "--time",
        type=float,
        nargs="+",
        default=[],
        metavar="T",
        help="simulation time of the picture [s] (default: mid-flight); several give pictures side by side",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="PNG to write (default: RUN/plots/picture.png), or the new run folder (default: the next runs/NAME-001)",
    )
    _add_film_options(parser.add_argument_group("videos"))
    add_sensor_options(parser)
    parser.add_argument(
        "--renderer",
        help="renderer of the images: opengl, physical, mitsuba or pybullet (default: the run's)",
    )
    parser.add_argument(
        "--spp",
        type=int,
        metavar="N",
        help="paths that renderer mitsuba traces through each pixel (default: the run's)",
    )
    add_assignments(
        parser, "change any key of the run's configuration, e.g. world.weather.clouds=1"
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that render (default: this one); the same command goes on where it was ended",
    )
    parser.set_defaults(run=Later("images", "render"))


def _add_film_options(film: argparse._ArgumentGroup) -> None:
    film.add_argument(
        "--video",
        type=Path,
        metavar="FILE",
        help="write a video: .webm or .mp4 for browsers, .webp or .gif for pages of images (default: none)",
    )
    film.add_argument("--rate", type=float, default=25.0, help="rate of frames [Hz] (default: 25)")
    film.add_argument(
        "--size",
        type=picture_size,
        default=(960, 540),
        metavar="WIDTHxHEIGHT",
        help="size of a frame [px] (default: 960x540)",
    )
    camera = film.add_mutually_exclusive_group()
    camera.add_argument(
        "--follow",
        action="store_true",
        default=True,
        help="the camera follows the vehicle (default)",
    )
    camera.add_argument(
        "--fixed",
        dest="follow",
        action="store_false",
        help="the camera stands still and sees the whole path",
    )
    film.add_argument(
        "--from", type=float, dest="begin", metavar="T", help="first time [s] (default: 0)"
    )
    film.add_argument(
        "--to", type=float, dest="end", metavar="T", help="last time [s] (default: the end)"
    )
    film.add_argument(
        "--speed",
        type=float,
        default=1.0,
        help="factor on the speed of the flight (default: 1)",
    )
    film.add_argument(
        "--plot", metavar="NAME", help="plot over time to show below the video (default: none)"
    )


def picture_size(text: str) -> tuple[int, int]:
    """Width and height of a film's pictures, both even, as coded videos need.

    Raises:
        ArgumentTypeError: the text says something else.
    """
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT, such as 960x540")
    width, height = (int(part) for part in parts)
    if not (64 <= width <= 3840 and 64 <= height <= 2160) or width % 2 or height % 2:
        raise argparse.ArgumentTypeError(f"'{text}': even, 64x64 to 3840x2160")
    return width, height
