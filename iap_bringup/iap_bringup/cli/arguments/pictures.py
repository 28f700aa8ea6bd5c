# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of ``iap view``, ``plot`` and ``render``."""

import argparse
from pathlib import Path

from iap_bringup.cli.arguments.options import (
    add_assignments,
    add_count,
    add_sensor_options,
    add_server_options,
)
from iap_bringup.cli.arguments.parser import CommandParser, Later, Need


def _plot_names() -> str:
    from iap_bringup.plots.table import PLOTS

    return f"plots: {', '.join(plot.name for plot in PLOTS)}"


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
    of_films = ("rate", "size", "follow", "begin", "end", "speed", "plot")
    parser.needs.append(Need(of_films, "--video FILE", lambda options: options.video is not None))
    _add_images(parser)
    parser.set_defaults(run=Later("images", "render"))


def _add_images(parser: CommandParser) -> None:
    add_sensor_options(parser)
    parser.add_argument(
        "--renderer",
        help="renderer of the images: opengl, physical, mitsuba or pybullet (default: the run's)",
    )
    add_count(
        parser,
        "--spp",
        "paths that renderer mitsuba traces through each pixel (default: the run's)",
    )
    add_assignments(
        parser, "change any key of the run's configuration, e.g. world.weather.clouds=1"
    )
    add_count(
        parser,
        "--workers",
        "processes that render (default: this one); the same command goes on where it was ended",
    )


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
    _add_film_camera(film.add_mutually_exclusive_group())
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


def _add_film_camera(camera: argparse._MutuallyExclusiveGroup) -> None:
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
