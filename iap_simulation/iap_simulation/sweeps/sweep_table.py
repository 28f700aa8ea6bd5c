# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of the runs of each combination of a sweep."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_io.runs.run_meta import COMPLETED
from iap_simulation.sweeps.statistics import wilson_interval
from iap_simulation.sweeps.study import Axis

MAIN = ("position_rmse_m", "arm.position_rmse_m", "force_max_n", "depth_m")  # where rows have them
QUARTILES = (25.0, 50.0, 75.0)
LEAST_MM = 0.001  # of a length that is shown
MAX_VALUE_CHARACTERS = 24  # characters of a value


def grouped(
    axes: Sequence[Axis], rows: Sequence[dict[str, Any]]
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Rows of each combination, by the places of its values on the axes."""
    positions = [{repr(value): i for i, value in enumerate(axis.values)} for axis in axes]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        at = tuple(
            position[repr(row[axis.key])] for position, axis in zip(positions, axes, strict=True)
        )
        groups.setdefault(at, []).append(row)
    return groups


def alike_for_all_seeds(axes: Sequence[Axis], rows: Sequence[dict[str, Any]]) -> int:
    """Number of combinations of several runs whose figures are the same with every seed."""
    return sum(
        len(group) > 1 and all(_but_seed(row) == _but_seed(group[0]) for row in group)
        for group in grouped(axes, rows).values()
    )


def _but_seed(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "seed"}


def success(rows: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Share of completed runs, and the bounds of its Wilson interval of 95 %."""
    completed = sum(row["outcome"] == COMPLETED for row in rows)
    return (completed / len(rows), *wilson_interval(completed, len(rows)))


def figure_of(row: dict[str, Any], path: str) -> Any:  # noqa: ANN401 - as metrics.json has it
    """A figure of a row by the dotted path of its keys; None where the row has it not."""
    value: Any = row
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def quartiles(rows: Sequence[dict[str, Any]], key: str) -> tuple[float, float, float] | None:
    """Lower quartile, median and upper quartile of a metric over completed runs; None where none has it."""
    completed = [figure_of(row, key) for row in rows if row["outcome"] == COMPLETED]
    values = [value for value in completed if value is not None]
    if not values:
        return None
    low, middle, high = np.percentile(values, QUARTILES)
    return float(low), float(middle), float(high)


def summarised(axes: Sequence[Axis], rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """A line for each combination: its values, success, and median and quartiles of what is measured of all."""
    lines = []
    for at, group in grouped(axes, rows).items():
        values = {axis.key: value_text(axis.values[i]) for axis, i in zip(axes, at, strict=True)}
        share, low, high = (f"{100.0 * each:.1f}" for each in success(group))
        line = {**values, "runs": str(len(group)), "completed, %": f"{share} ({low} to {high})"}
        for key in MAIN:
            spread = quartiles(group, key)
            if spread is not None:
                is_length = key.endswith("_m")
                name = f"{key.removesuffix('_m')}, mm" if is_length else key
                low, middle, high = (_text(each, is_length=is_length) for each in spread)
                line[name] = f"{middle} ({low} to {high})"
        lines.append(line)
    return lines


def _text(value: float, *, is_length: bool) -> str:
    """A figure with three digits; a length [m] in mm, of which less than `LEAST_MM` is nothing."""
    if not is_length:
        return f"{value:.3g}"
    return f"{1e3 * value:.3g}" if 1e3 * value >= LEAST_MM else f"< {LEAST_MM:g}"


def value_text(value: object) -> str:
    """A value of a key, short."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[: MAX_VALUE_CHARACTERS - 1]}…"
