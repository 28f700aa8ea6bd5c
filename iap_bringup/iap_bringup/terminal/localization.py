# SPDX-License-Identifier: BSD-3-Clause
"""A localisation on the terminal: the table of errors beside what methods have to be better than."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from iap_bringup.terminal.next_step import show_path
from iap_bringup.terminal.tables import three_digits
from iap_estimation.datasets.results import ALIGNED, Evaluation, tabulated

COLUMNS = (  # key of metrics.json, title, factor
    ("ate_rmse_m", "ATE mm", 1e3),
    ("ate_horizontal_rmse_m", "across", 1e3),
    ("ate_vertical_rmse_m", "up", 1e3),
    (ALIGNED, "aligned", 1e3),
    ("drift_percent", "drift %", 1.0),
    ("attitude_rmse_deg", "att. deg", 1.0),
    ("nees_position", "NEES", 1.0),
)
LEGEND = (
    "RMSE of positions in mm: whole (ATE), across, up, and after the best shift and turn (aligned);\n"
    "drift in % of a path of 1 m or more; NEES: squared error over its stated variance, 1 where that is honest"
)
HONEST = (0.2, 5.0)  # NEES without a word
# In place of methods, what these have to be better than: that nothing moves, and that a tag goes on as it went.
STILL, CONSTANT_VELOCITY = "(still)", "(constant v)"


def show_localization(console: Console, evaluation: Evaluation, folder: Path) -> None:
    """The table of errors, how fast it went, and where everything is."""
    metrics = evaluation.metrics
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("body", "method"):
        table.add_column(title, overflow="fold")
    for _, title, _ in COLUMNS:
        table.add_column(title, justify="right")
    for body, methods in metrics["estimation"].items():
        for name, record in methods.items():
            cells = (_cell(tabulated(record, key), factor) for key, _, factor in COLUMNS)
            table.add_row(body, name, *cells)
        for row in _baseline_rows(methods, begins_true=metrics["begins_at_truth"]):
            table.add_row(body, *row)
    console.print(table)
    hints = "\n".join([LEGEND, *covariance_hints(metrics["estimation"])])
    console.print(hints, highlight=False, soft_wrap=True)
    for name, record in metrics["methods"].items():
        line = f"{record['outcome']}"
        if record["keyframe_ms"] is not None:
            factor = record["real_time_factor"]
            line += f"; {record['keyframe_ms']:.1f} ms a keyframe, {factor:.1f} x real time"
        console.print(f"{name}: {line}", soft_wrap=True)
    frontend = metrics["frontend"]
    if frontend["pairs"]:
        console.print(
            f"{metrics['duration_s']:.1f} s of data, {frontend['pairs']} stereo pairs,"
            f" {frontend['pair_ms']:.1f} ms and {frontend['tracks']:.0f} tracks each"
        )
        reason = f"front end {frontend['preset']}: {frontend['reason']}"
        console.print(reason, soft_wrap=True)
    for note in metrics["notes"]:
        console.print(note, soft_wrap=True)
    show_path(console, folder, "folder")


def covariance_hints(estimation: Mapping[str, Any]) -> Iterator[str]:
    """A line for each covariance that says far less, or far more, than its errors are."""
    for body, methods in estimation.items():
        for name, record in methods.items():
            nees = record.get("nees_position")
            if nees is None or HONEST[0] <= nees <= HONEST[1]:
                continue
            times = three_digits(nees**0.5)
            cause = (
                "noise densities, calibration or clocks are off"
                if nees > 1.0
                else "noise densities are too large"
            )
            yield f"{body}, {name}: errors are {times} times what its covariances say: {cause}, or the path is short"


def _baseline_rows(methods: dict[str, Any], *, begins_true: bool) -> list[list[str]]:
    """Rows of what methods have to be better than, in the column of the errors that mean anything."""
    at = "ate_rmse_m" if begins_true else ALIGNED
    rows = []
    for title, key in ((STILL, "still_rmse_m"), (CONSTANT_VELOCITY, "constant_velocity_rmse_m")):
        known = [record[key] for record in methods.values() if key in record]
        if known:
            cells = [
                _cell(known[0] if name == at else None, factor) for name, _, factor in COLUMNS
            ]
            rows.append([title, *cells])
    return rows


def _cell(value: float | None, factor: float) -> str:
    return "-" if value is None else three_digits(factor * value)
