# SPDX-License-Identifier: BSD-3-Clause
"""Tables of an end effector that followed a path by velocity commands: errors, and stability along the path."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

STABILITY = {  # key of metrics.json, what it is
    "lyapunov_rate_max": "largest V' of (28), were commands velocities",
    "rising_share": "share of the time in which V rises",
    "rising_error_max": "largest error at which it does",
    "singular_value_min": "smallest singular value of J",
    "pole_max_per_s": "slowest pole, 1/s",
    "sampled_radius": "largest eigenvalue from command to command",
}


def show_end_effector(console: Console, arm: dict[str, Any], compare: dict[str, Any]) -> None:
    """Tables of key `arm` of metrics.json, beside the flights that it is compared with, and commands that were cut."""
    flights = {"this flight": arm, **{name: one.get("arm", {}) for name, one in compare.items()}}
    console.print(_error_table(flights, arm["published_rmse_m"]))
    console.print(_stability_table(flights))
    for joint, count in arm["clipped_commands"].items():
        if count:
            console.print(
                f"{joint}: {count} commands were beyond the arm's limits and cut to them"
            )


def _error_table(flights: Mapping[str, dict[str, Any]], published: list[float]) -> Table:
    table = Table("end effector, RMSE in m", "x", "y", "z", "distance", "largest")
    for name, arm in flights.items():
        xyz = arm.get("position_rmse_xyz_m") or [None] * 3
        cells = [_text(value, ".4f") for value in (*xyz, arm.get("position_rmse_m"))]
        table.add_row(name, *cells, _text(arm.get("position_max_m"), ".3f"))
    for number, value in enumerate(published, 1):
        table.add_row(f"recorded flight {number}", "", "", "", f"{value:.4f}", "")
    return table


def _stability_table(flights: Mapping[str, dict[str, Any]]) -> Table:
    table = Table("stability along the path", *flights)
    for key, title in STABILITY.items():
        values = (arm.get("stability", {}).get(key) for arm in flights.values())
        table.add_row(title, *(_text(value, ".3g") for value in values))
    return table


def _text(value: float | None, digits: str) -> str:
    return "-" if value is None else f"{value:{digits}}"
