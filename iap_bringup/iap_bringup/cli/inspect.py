# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap inspect``."""

import argparse
import json
import sys

from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.log_inspection import show
from iap_bringup.terminal.progress import work_bar
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.run_folders import is_run, read_run
from iap_io.trajectories.logged_bags import open_any
from iap_simulation.open_loop.log_trials import trials_of


def inspect(options: argparse.Namespace) -> int:
    """Show what is in a flight log, or in a run as those of its aircraft; returns the exit code."""
    console = make_console(stderr=options.json)
    with work_bar(make_console(stderr=True), "reading"):
        logs = read_run(options.log) if is_run(options.log) else [open_any(options.log)]
        inspections = [Inspection.of(log, trials_of(log)) for log in logs]
    for inspection in inspections:
        show(console, inspection)
    if options.json:
        metrics = [each.metrics for each in inspections]
        plain = metrics[0] if len(metrics) == 1 else metrics
        sys.stdout.write(json.dumps(plain, allow_nan=False) + "\n")
    return 0
