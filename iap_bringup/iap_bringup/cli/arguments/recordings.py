# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of ``iap inspect``, ``localize`` and ``identify``."""

import argparse
from pathlib import Path

from iap_bringup.cli.arguments.options import (
    add_assignments,
    add_folder,
    add_json,
    add_live_options,
    add_report_options,
)
from iap_bringup.cli.arguments.parser import CommandParser, Later


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
    add_json(parser, "it")
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
    _add_estimators(parser)
    parser.add_argument("--vehicle", help="vehicle to localise (default: the only one of the run)")
    _add_corrections(
        parser.add_argument_group("sensors", "corrections of recordings that are not this suite's")
    )
    _add_bag_options(
        parser.add_argument_group(
            "bags", "topics and calibration of bags that are not this suite's"
        )
    )
    add_folder(parser, "runs/localize_NAME-001")
    parser.add_argument(
        "--view",
        choices=("web",),
        help="show estimates beside the truth in the browser while they are made (default: not shown)",
    )
    add_live_options(parser)
    add_report_options(parser)
    parser.set_defaults(run=Later("localize", "run_command"))


def _add_estimators(parser: CommandParser) -> None:
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
        "--ranges",
        metavar="virtual:FILE",
        help="YAML file of anchors to which ranges are made from the truth (default: the recording's own)",
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
        help="YAML file that names the topics of several aircraft, or maps messages to ranges for --method uwb;"
        " docs/how_to/datasets.md has both (default: none)",
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
    _add_logs(parser)
    parser.add_argument(
        "--model",
        choices=("dynamic", "second_order", "rotorcraft"),
        required=True,
        help="model to fit (needed)",
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
    add_folder(parser, "runs/identify-001")
    add_report_options(parser)
    parser.set_defaults(run=Later("identify", "identify"))


def _add_logs(parser: CommandParser) -> None:
    parser.add_argument(
        "logs", nargs="*", metavar="LOG", help=".mat, .csv, a run folder, or a flight log"
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
