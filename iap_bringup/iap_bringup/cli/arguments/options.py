# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands take, and options of recordings, one for each key of `PoseReading` that a user sets."""

import argparse
from pathlib import Path
from typing import Any, NamedTuple, get_args

from iap_bringup.cli.arguments.parser import CommandParser, Need
from iap_io.trajectories.conventions import (
    Convention,
    QuaternionOrder,
    TimeUnit,
    WrenchFrame,
    WrenchUse,
)

ALONE, FIRST_PORT = "127.0.0.1", 8080  # where pages are served: on this machine alone


class PoseOption(NamedTuple):
    """An option of a recording.

    Attributes:
        key: of `Replay`.
        flag: as it is typed.
        text: for the help.
        how: of argparse.
    """

    key: str
    flag: str
    text: str
    how: dict[str, Any]


def _scale(text: str) -> float | tuple[float, ...]:
    """One number, or three with commas.

    Raises:
        ArgumentTypeError: the text says something else.
    """
    try:
        numbers = tuple(float(each) for each in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 3):
        raise argparse.ArgumentTypeError(
            f"a number, or three with commas, is expected, found '{text}'"
        )
    return numbers if len(numbers) == 3 else numbers[0]


TEXT: dict[str, Any] = {}
NUMBER: dict[str, Any] = {"type": float}
POSE_OPTIONS = (
    PoseOption("topic", "--topic", "topic of the commands, or TOPIC:BODY (default: whose name and type fit)", TEXT),
    PoseOption(
        "actual_topic",
        "--actual-topic",
        "topic of the real aircraft's motion, to compare with (default: none)",
        TEXT,
    ),
    PoseOption(
        "wrench_topic",
        "--wrench-topic",
        "topic of the wrenches that were commanded, to fly (default: none)",
        TEXT,
    ),
    PoseOption(
        "wrench_use",
        "--wrench-use",
        "feed_forward: beside the feedback to the poses (default, where there are poses); open_loop: alone",
        {"choices": get_args(WrenchUse)},
    ),
    PoseOption(
        "actual_wrench_topic",
        "--actual-wrench-topic",
        "topic of measured wrenches, to compare with (default: none)",
        TEXT,
    ),
    PoseOption(
        "wrench_frame",
        "--wrench-frame",
        "whose axes these wrenches are in: body or world (default: as frame_id says)",
        {"choices": get_args(WrenchFrame)},
    ),
    PoseOption("body", "--body", "child_frame_id of the body (default: the only one)", TEXT),
    PoseOption("frame", "--frame", "frame_id of the poses (default: the only one)", TEXT),
    PoseOption(
        "convention",
        "--convention",
        f"axes of the numbers: {', '.join(get_args(Convention))} (default: as names say, else enu; ned for a pair of"
        " Points, camera for KITTI)",
        {"choices": get_args(Convention), "metavar": "AXES"},
    ),
    PoseOption(
        "quaternion",
        "--quaternion",
        "order of a quaternion's numbers, or inverse (default: as the type or the header says)",
        {"choices": get_args(QuaternionOrder)},
    ),
    PoseOption(
        "scale",
        "--scale",
        "length of a unit of the file [m], such as 0.001; X,Y,Z where axes differ (default: 1)",
        {"type": _scale},
    ),
    PoseOption(
        "origin", "--origin", "first: subtract the first position from all (default: none)", {"choices": ("first",)}
    ),
    PoseOption(
        "time_unit",
        "--time-unit",
        "unit of a text file's times (default: as their steps say)",
        {"choices": get_args(TimeUnit)},
    ),
    PoseOption(
        "columns",
        "--columns",
        "columns of a table, by names or numbers: TIME,X,Y,Z[,QX,QY,QZ,QW] (default: as its names say)",
        TEXT,
    ),
    PoseOption(
        "angles",
        "--angles",
        "unit of Euler angles (default: as their range says)", {"choices": ("rad",
        "deg")},
    ),
    PoseOption(
        "clock",
        "--clock",
        "times of a bag: header stamps, or times of reception (default: header stamps, where they fit)",
        {"choices": ("header", "bag")},
    ),
    PoseOption("rate", "--rate", "rate of a file's lines [Hz], in place of its times (default: none)", NUMBER),
    PoseOption(
        "mounting",
        "--mounting",
        "turn of the recorded body in the platform: auto, none, rest (from its first attitude), or"
        " ROLL,PITCH,YAW [deg] (default: auto)",
        TEXT,
    ),
    PoseOption("begin", "--from", "first time that counts, from the first sample on [s] (default: 0)", NUMBER),
    PoseOption("end", "--to", "last time that counts [s] (default: the end)", NUMBER),
    PoseOption("bridge", "--bridge", "longest gap between samples that is interpolated [s] (default: 1)", NUMBER),
    PoseOption("smooth", "--smooth", "cut-off frequency of the smooth copy [Hz] (default: 2, or lower)", NUMBER),
    PoseOption(
        "max_speed",
        "--max-speed",
        "follow leaps of set-points at this speed [m/s] (default: leaps are refused)",
        NUMBER,
    ),
)  # fmt: skip


def add_pose_options(parser: CommandParser) -> None:
    """Options of `POSE_OPTIONS`, and --offset."""
    for option in POSE_OPTIONS:
        parser.add_argument(option.flag, dest=option.key, help=option.text, **option.how)
    parser.add_argument(
        "--offset",
        nargs=3,
        type=float,
        metavar=("X", "Y", "Z"),
        help="offset of the whole flight [m], as --set 'offset=[X,Y,Z]' (default: 0 0 0)",
    )


def add_assignments(parser: CommandParser, what: str) -> None:
    """Option --set; `what` it changes."""
    parser.add_argument(
        "--set",
        dest="assignments",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"{what}; may be repeated",
    )


def add_folder(parser: CommandParser | argparse._MutuallyExclusiveGroup, default: str) -> None:
    """Option --out of the folder to create."""
    text = f"folder to create (default: the next {default})"
    parser.add_argument("--out", type=Path, metavar="DIR", help=text)


def add_count(parser: CommandParser, flag: str, text: str, default: int | None = None) -> None:
    """Option of a whole number; `text` says its default where there is none."""
    text = text if default is None else f"{text} (default: {default})"
    parser.add_argument(flag, type=int, default=default, metavar="N", help=text)


def add_json(parser: CommandParser, what: str) -> None:
    """Option --json, which prints a summary as the only line of standard output."""
    text = f"print {what} as the only line of standard output"
    parser.add_argument("--json", action="store_true", help=text)


def add_report_options(parser: CommandParser) -> None:
    """Options of what is shown at the end."""
    parser.add_argument("--no-plot", action="store_true", help="write no plots")
    add_json(parser, "metrics.json")


def add_sensor_options(parser: CommandParser) -> None:
    """Options of sensors and of the place."""
    parser.add_argument(
        "--sensors",
        help="sets of sensors from 'iap list sensors' for every vehicle, joined by commas (default: the scenario's)",
    )
    parser.add_argument(
        "--scene", help="scene from 'iap list scenes', or a file of one (default: the scenario's)"
    )


def add_scenario_options(parser: CommandParser) -> None:
    """Options of what is flown, see `scenario_options`."""
    parser.add_argument(
        "--platform",
        help="platform from 'iap list platforms', or a YAML file of one (default: the scenario's)",
    )
    parser.add_argument(
        "--engine", help="physics: pybullet, mujoco or closed_form (default: the scenario's)"
    )
    parser.add_argument(
        "--gains",
        help="gains from 'iap list gains', or a YAML file of gains (default: the scenario's)",
    )
    parser.add_argument("--seed", type=int, help="seed of all noise (default: the scenario's)")
    parser.add_argument(
        "--duration", type=float, help="simulated time [s] (default: the scenario's)"
    )
    add_assignments(
        parser, "change any key of the resolved configuration, e.g. platform.center.mass=1.3"
    )
    add_sensor_options(parser)
    parser.add_argument(
        "--state-source",
        metavar="truth|METHOD",
        help="state that controllers use: the truth (default), or the estimate of a method: vio, vio_uwb, virpo, joint,"
        " drift_filter or capture_inertial",
    )


def add_server_options(parser: CommandParser) -> None:
    """Options of what serves pages to a browser."""
    parser.add_argument(
        "--host",
        default=ALONE,
        help="address to serve pages at; 0.0.0.0 takes all networks (default: this machine alone)",
    )
    parser.add_argument(
        "--port", type=int, default=FIRST_PORT, help=f"first port to try (default: {FIRST_PORT})"
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser")


def add_live_options(parser: CommandParser) -> None:
    """Options of what serves pages of a flight to a browser while it is flown."""
    add_server_options(parser)
    parser.add_argument(
        "--allow-control",
        action="store_true",
        help="let browsers on other machines control the flight, too",
    )
    pages = ("host", "port", "no_browser", "allow_control")
    parser.needs.append(Need(pages, "--view web", lambda options: options.view == "web"))
