# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of commands that fly: ``iap run``, ``replay``, ``sweep``, ``dataset`` and ``cluster``."""

from pathlib import Path

from iap_bringup.cli.arguments.options import (
    add_folder,
    add_live_options,
    add_pose_options,
    add_report_options,
    add_scenario_options,
)
from iap_bringup.cli.arguments.parser import CommandParser, Later
from iap_simulation.scenario.shipped import SCENARIOS

WHAT = ("motion", "position", "velocity", "attitude", "motors")  # of a flight log is flown


def _scenario_name(name: str) -> str:
    """The name of a scenario that is there, or any path, which is looked for when it is read."""
    if not name.endswith((".yaml", ".yml")):
        SCENARIOS.file_or_path(name)
    return name


def _token_name() -> str:
    from iap_simulation.sweeps.cluster import TOKEN

    return f"The head makes the token {TOKEN}. Copy it to the other machines."


def add_run(parser: CommandParser) -> None:
    """Options of ``iap run``."""
    parser.description = (
        "Fly a scenario, and write a run folder with its figures, plots and recording."
    )
    parser.examples = (
        "iap run three_star_spiral",
        "iap run hover --set wind.speed=4 --set platform.center.mass=1.3",
        "iap run figure_eight --platform star_5 --gains paper --sensors imu",
        "iap run my_scenario.yaml --view web --realtime",
    )
    parser.add_argument(
        "scenario", type=_scenario_name, help="a name from 'iap list', or the path of a YAML file"
    )
    _add_flight_options(parser)
    parser.set_defaults(run=Later("flight", "run"))


def add_replay(parser: CommandParser) -> None:
    """Options of ``iap replay``."""
    parser.description = (
        "Fly a recorded motion: ROS 1 .bag, rosbag2 (sqlite3, mcap), tables with or without names, ground-truth CSV in"
        " EuRoC's layout, TUM or KITTI text, or an autopilot's flight log."
    )
    parser.examples = (
        "iap replay flight.mcap --topic /uav/command --actual-topic /uav/odom",
        "iap replay track.txt --time-unit ms --convention ned --from 12 --to 60",
        "iap replay log.ulg --platform f450",
        "iap replay log.ulg --what motors --platform model/platform.yaml",
    )
    parser.add_argument("recording", help="path of the bag, run, table, text file or flight log")
    parser.add_argument(
        "--what",
        choices=WHAT,
        default="motion",
        help="what of a flight log is flown: its motion, its set-points of position or velocity, or its attitudes with"
        " thrust or its motors in open loop, from windows along the flight (default: motion)",
    )
    parser.add_argument(
        "--horizon",
        type=float,
        metavar="S",
        help="length of these windows [s] (default: 1)",
    )
    add_pose_options(parser)
    _add_flight_options(parser)
    parser.set_defaults(run=Later("replay", "replay"))


def _add_flight_options(parser: CommandParser) -> None:
    add_scenario_options(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="run folder to create (default: the next runs/NAME-001)",
    )
    parser.add_argument("--realtime", action="store_true", help="keep pace with the wall clock")
    parser.add_argument(
        "--view",
        nargs="?",
        const="pybullet",
        choices=("web", "pybullet"),
        help="show the flight: in the browser (web), or in PyBullet's window (pybullet, or no value)"
        " (default: not shown)",
    )
    parser.add_argument("--no-view", action="store_true", help="write no page view.html")
    add_live_options(parser)
    add_report_options(parser)


def add_sweep(parser: CommandParser) -> None:
    """Options of ``iap sweep``."""
    parser.description = "Fly a scenario for many values of its keys and many seeds."
    parser.examples = (
        "iap sweep figure_eight_windy --vary wind.turbulence=0:8:5 --seeds 20",
        "iap sweep hover --vary control.gains=default,paper --set draw.position=0.2",
    )
    parser.epilog = "A sweep that was ended goes on with the same command and its folder as --out."
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="number of seeds of each combination, from --seed on (default: 1)",
    )
    _add_study_options(parser, "sweeps")
    parser.set_defaults(run=Later("sweep", "run"))


def add_dataset(parser: CommandParser) -> None:
    """Options of ``iap dataset``."""
    parser.description = "Record a scenario many times, with other seeds and values of its keys."
    parser.examples = (
        "iap dataset figure_eight --sensors stereo --scene textured_walls --count 20",
    )
    parser.epilog = (
        "A data set that was ended goes on with the same command and its folder as --out."
        " With --policy it records episodes of a task: see iap dataset TASK --policy NAME --help."
    )
    parser.add_argument(
        "--count",
        type=int,
        default=1,
        metavar="N",
        dest="seeds",
        help="number of recordings of each combination, with seeds from --seed on (default: 1)",
    )
    _add_study_options(parser, "datasets")
    parser.set_defaults(run=Later("sweep", "dataset"))


def _add_study_options(parser: CommandParser, base: str) -> None:
    parser.add_argument(
        "scenario", type=_scenario_name, help="a name from 'iap list', or the path of a YAML file"
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="values of a key: FROM:TO:COUNT, or VALUE,VALUE,...; may be repeated, and all combinations are flown",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", type=int, metavar="N", help="number of processes (default: one for each core)"
    )
    where.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="fly on a Ray cluster: HOST:PORT of its head, auto for the one of this machine, or local"
        " (default: none)",
    )
    add_scenario_options(parser)
    add_folder(parser, f"{base}/NAME-001")
    add_report_options(parser)


PORT = 6379  # of a cluster's head


def add_cluster(parser: CommandParser) -> None:
    """Options of ``iap cluster``."""
    parser.description = "Join a Ray cluster with this checkout's environment, until Ctrl-C."
    parser.examples = ("iap cluster", "iap cluster 10.0.0.5:6379")
    parser.names = _token_name
    parser.add_argument(
        "head",
        nargs="?",
        metavar="HOST:PORT",
        help="head of the cluster to join (default: this machine becomes the head)",
    )
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"port of the head (default: {PORT})"
    )
    parser.set_defaults(run=Later("cluster", "cluster"))
