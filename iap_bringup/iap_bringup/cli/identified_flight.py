# SPDX-License-Identifier: BSD-3-Clause
"""``iap run`` of a scenario whose plant was identified from logs."""

import argparse
import json
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import write_plots
from iap_description.errors import BadInput
from iap_io.runs.run_folder import new_folder
from iap_io.runs.run_meta import COMPLETED
from iap_simulation.arm.run import execute_arm, rmse
from iap_simulation.arm.scenario import resolve_arm

UNSUPPORTED_OPTIONS = (
    "platform",
    "engine",
    "gains",
    "sensors",
    "scene",
    "state_source",
    "realtime",
    "view",
)

STABILITY = {  # key of metrics.json, what it is
    "lyapunov_rate_max": "largest V' of (28), were commands velocities",
    "rising_share": "share of the time in which V rises",
    "rising_error_max": "largest error at which it does",
    "singular_value_min": "smallest singular value of J",
    "pole_max_per_s": "slowest pole, 1/s",
    "sampled_radius": "largest eigenvalue from command to command",
}


def run_arm(options: argparse.Namespace) -> int:
    """Fly a scenario with the options of ``iap run``; returns the exit code.

    Raises:
        BadInput: anything unknown, missing or impossible, and options that mean nothing to such a plant.
    """
    for name in UNSUPPORTED_OPTIONS:
        if getattr(options, name):
            flag = name.replace("_", "-")
            raise BadInput(f"--{flag}: {options.scenario} flies a plant identified from logs")
    console = Console(stderr=options.json)
    scenario, tree = resolve_arm(
        options.scenario,
        tuple(options.assignments),
        seed=options.seed,
        duration=options.duration,
    )
    with new_folder(options.out, scenario.scenario) as folder:
        result = execute_arm(scenario, tree, folder, options.scenario)
        if not options.no_plot:
            write_plots(RecordedRun(folder))
    show(console, result.metrics)
    console.print(f"run folder: {folder}", soft_wrap=True)
    if options.json:
        sys.stdout.write(json.dumps(result.metrics, allow_nan=False) + "\n")
    if result.metrics["outcome"] != COMPLETED:
        sys.stderr.write(f"iap: {result.failure}\n")
        return 1
    return 0


def show(console: Console, metrics: dict[str, Any]) -> None:
    """Tables of errors and of stability, and what was cut."""
    flights = {"this flight": metrics, **metrics["compare"]}
    console.print(_error_table(flights, metrics["published_rmse_m"]))
    console.print(_stability_table(flights))
    start, end = metrics["window_s"]
    console.print(
        f"{metrics['outcome']}: {metrics['duration_s']:.1f} s in {metrics['wall_s']:.2f} s"
        f" ({metrics['real_time_factor']:.0f} x real time), errors over {start:.1f} to {end:.1f} s"
    )
    for joint, count in metrics["clipped_commands"].items():
        if count:
            console.print(
                f"{joint}: {count} commands were beyond the arm's limits and cut to them"
            )


def _error_table(flights: dict[str, dict[str, Any]], published: list[float]) -> Table:
    table = Table("end effector, RMSE in m", "x", "y", "z", "distance", "largest")
    for name, metrics in flights.items():
        cells = [f"{value:.4f}" for value in rmse(metrics)]
        largest = metrics["position_max_m"]
        table.add_row(name, *cells, "-" if largest is None else f"{largest:.3f}")
    for number, value in enumerate(published, 1):
        table.add_row(f"recorded flight {number}", "", "", "", f"{value:.4f}", "")
    return table


def _stability_table(flights: dict[str, dict[str, Any]]) -> Table:
    table = Table("stability along the path", *flights)
    for key, title in STABILITY.items():
        values = (metrics.get("stability", {}).get(key) for metrics in flights.values())
        table.add_row(title, *("-" if value is None else f"{value:.3g}" for value in values))
    return table
