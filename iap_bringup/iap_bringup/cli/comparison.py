# SPDX-License-Identifier: BSD-3-Clause
"""Flights that a scenario sets beside itself: the same, with some keys changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from iap_io.runs.run_folder import COMPARED, write_metrics
from iap_simulation.flight import Flight
from iap_simulation.run import Progress, Result, execute
from iap_simulation.scenario.scenario import Scenario

Resolve = Callable[[tuple[str, ...]], tuple[Scenario, dict[str, Any]]]
SHOWN = (
    "outcome",
    "duration_s",
    "position_rmse_m",
    "force_max_n",
    "force_steady_n",
    "settled_pitch_deg",
    "depth_m",
)


def fly_compared(
    result: Result, scenario: Scenario, resolve: Resolve, folder: Path, progress: Progress
) -> None:
    """Fly what the scenario's key `compare` names, each into a folder of its own, and tell metrics.json.

    Args:
        result: of the flight itself, whose metrics get the key `compare`.
        scenario: that was flown.
        resolve: resolves the scenario anew with more assignments.
        folder: of the flight itself.
        progress: called with the simulation time [s] of each.
    """
    if not scenario.compare or result.interrupted:
        return
    compared = {}
    for name, assignments in scenario.compare.items():
        other, tree = resolve(("compare={}", *assignments))
        place = folder / COMPARED / name
        place.mkdir(parents=True)
        metrics = execute(Flight.of(other), place, tree, progress=progress).metrics
        compared[name] = {key: metrics[key] for key in SHOWN if key in metrics}
    result.metrics["compare"] = compared
    write_metrics(folder, result.metrics)
