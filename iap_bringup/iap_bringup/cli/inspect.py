# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap inspect``."""

import argparse
import json
import sys

from rich.console import Console

from iap_io.flight_logs.inspection import Inspection
from iap_io.trajectories.logged_bags import open_any


def inspect(options: argparse.Namespace) -> int:
    """Show what is in a flight log; returns the exit code."""
    inspection = Inspection.of(open_any(options.log))
    console = Console(stderr=options.json)
    for line in inspection.lines():
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if options.json:
        sys.stdout.write(json.dumps(inspection.metrics, allow_nan=False) + "\n")
    return 0
