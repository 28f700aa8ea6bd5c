# SPDX-License-Identifier: BSD-3-Clause
"""The table of an end effector that followed a path by velocity commands."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def show_end_effector(console: Console, arm: dict[str, Any], compare: dict[str, Any]) -> None:
    """The table of key `arm` of metrics.json beside flights that it is compared with, and commands that were cut."""
    flights = {"this flight": arm, **{name: one.get("arm", {}) for name, one in compare.items()}}
    console.print(_error_table(flights, arm["published_rmse_m"]))
    for joint, count in arm["clipped_commands"].items():
        if count:
            console.print(
                f"{joint}: {count} commands were beyond the arm's limits and cut to them"
            )


def _error_table(flights: Mapping[str, dict[str, Any]], published: list[float]) -> Table:
    table = Table("end effector, RMSE in mm", "x", "y", "z", "distance", "largest")
    for name, arm in flights.items():
        xyz = arm.get("position_rmse_xyz_m") or [None] * 3
        cells = [_text(value) for value in (*xyz, arm.get("position_rmse_m"))]
        table.add_row(name, *cells, _text(arm.get("position_max_m")))
    for number, value in enumerate(published, 1):
        table.add_row(f"recorded flight {number}", "", "", "", _text(value), "")
    return table


def _text(value: float | None) -> str:
    return "-" if value is None else f"{1e3 * value:.1f}"
