# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap urdf``."""

import argparse
import sys

from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.urdf import urdf_text


def add_urdf(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap urdf``."""
    parser.description = "Print a platform's URDF."
    parser.add_argument(
        "platform",
        help="name of a platform (three_star, star_5, f450, ...) or path of its YAML file",
    )
    parser.add_argument(
        "--target", choices=["ros", "bullet"], default="ros", help="reader of it (default: ros)"
    )
    parser.set_defaults(run=print_urdf)


def print_urdf(options: argparse.Namespace) -> int:
    """Print the URDF; returns the exit code."""
    assembly = Assembly.of(load_platform(options.platform))
    sys.stdout.write(urdf_text(assembly, target=options.target))
    return 0
