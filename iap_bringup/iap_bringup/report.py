# SPDX-License-Identifier: BSD-3-Clause
"""What the user sees in the terminal: progress, the table of a run, lists."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from iap_bringup.scenario import Scenario


@contextmanager
def progress_bar(
    console: Console, scenario: Scenario, duration: float
) -> Iterator[Callable[[float], None]]:
    """A bar over the simulated time; yields the function that moves it."""
    names = ", ".join(f"{v.platform.name} ({v.control.preset} gains)" for v in scenario.vehicles)
    console.print(f"[bold]{scenario.scenario}[/]: {names}, {duration:.1f} s, seed {scenario.seed}")
    columns = (
        BarColumn(40),
        TextColumn("{task.completed:6.1f} of {task.total:.1f} s"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=5) as bar:
        task = bar.add_task("", total=duration)
        yield lambda t: bar.update(task, completed=t)


def show(console: Console, metrics: dict[str, Any], folder: Path) -> None:
    """The table of tracking errors, and where everything is."""
    vehicles = metrics.get("vehicles") or {"": metrics}
    for name, one in vehicles.items():
        console.print(_error_table(name, one))
    start, end = metrics["window_s"]
    factor = metrics["real_time_factor"]
    console.print(
        f"{metrics['outcome']}: {metrics['duration_s']:.1f} s in {metrics['wall_s']:.2f} s"
        f" ({factor:.1f} x real time), control step {metrics['control_step_us']:.0f} us,"
        f" errors over {start:.1f} to {end:.1f} s"
    )
    for collision in metrics.get("collisions", []):
        console.print(
            f"collision at {collision['t_s']:.3f} s: {' and '.join(collision['vehicles'])}"
        )
    console.print(f"run folder: {folder}", soft_wrap=True)


def _error_table(name: str, metrics: dict[str, Any]) -> Table:
    table = Table(title=name or None)
    for column in ("", "RMSE", "max x / roll", "max y / pitch", "max z / yaw"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row(
        "position [m]",
        _number(metrics["position_rmse_m"], 4),
        *_numbers(metrics["position_max_m"], 4),
    )
    angles = " ".join(_number(a, 3) for a in metrics["attitude_rmse_deg"])
    table.add_row("attitude [deg]", angles, *_numbers(metrics["attitude_max_deg"], 3))
    if metrics["axis_rmse_deg"] is not None:
        table.add_row("axis [deg]", _number(metrics["axis_rmse_deg"], 3), "", "", "")
    table.add_row("velocity [m/s]", _number(metrics["velocity_rmse_mps"], 4), "", "", "")
    if metrics.get("actual_position_rmse_m") is not None:
        table.add_row(
            "to real flight [m]", _number(metrics["actual_position_rmse_m"], 4), "", "", ""
        )
        real = " ".join(_number(a, 3) for a in metrics["actual_attitude_rmse_deg"])
        table.add_row("to real flight [deg]", real, "", "", "")
    table.add_row(
        "thrust of an aircraft [N]", f"at most {_number(metrics['thrust_max_n'], 1)}", "", "", ""
    )
    return table


def _number(value: float | None, digits: int) -> str:
    return "free" if value is None else f"{value:.{digits}f}"


def _numbers(values: Sequence[float | None] | None, digits: int) -> list[str]:
    return [_number(value, digits) for value in values or (None, None, None)]


def show_list(
    console: Console,
    scenarios: list[tuple[str, str]],
    platforms: list[tuple[str, str]],
    gains: list[str],
) -> None:
    """What there is to fly."""
    for title, rows in (("Scenarios", scenarios), ("Platforms", platforms)):
        table = Table(title=title, title_justify="left", show_header=False, box=None)
        for name, description in rows:
            table.add_row(f"[bold]{name}[/]", description)
        console.print(table)
    console.print(
        "  star_N, line_N   generated for N = 2..12; NAME_fixed has fixed links instead of joints"
    )
    console.print(f"[italic]Gains[/]\n  {', '.join(gains)}")


def show_convergence(console: Console, study: Any) -> None:  # noqa: ANN401 - iap_physics.convergence's record
    """The table of free flight against the closed form."""
    table = Table(title="Free flight, PyBullet against the closed form")
    for column in ("rate [Hz]", "position error [mm]", "order"):
        table.add_column(column, justify="right")
    console.print(table)
