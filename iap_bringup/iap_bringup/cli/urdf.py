# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap urdf``."""

import argparse
import sys

from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.urdf import urdf_text


def print_urdf(options: argparse.Namespace) -> int:
    """Print the URDF; returns the exit code."""
    assembly = Assembly.of(load_platform(options.platform))
    sys.stdout.write(urdf_text(assembly, target=options.target))
    return 0
