# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands take."""

import argparse


def add_assignments(parser: argparse.ArgumentParser, what: str) -> None:
    """Option --set; `what` it changes."""
    parser.add_argument(
        "--set",
        dest="assignments",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"{what}; may be repeated",
    )


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Options of what is shown at the end."""
    parser.add_argument("--no-plot", action="store_true", help="leave the plots out")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print metrics.json as the only line of standard output",
    )


def add_sensor_options(parser: argparse.ArgumentParser) -> None:
    """Options of sensors and of the place."""
    parser.add_argument(
        "--sensors", help="sets of sensors for every vehicle, with commas; see 'iap list'"
    )
    parser.add_argument("--scene", help="place to fly in; see 'iap list'")
