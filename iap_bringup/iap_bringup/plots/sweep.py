# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a sweep: success and a metric over one key, and as a map over two."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_io.plots.plot_style import AIRCRAFT, WIDTH, write_plot
from iap_simulation.sweeps.sweep_table import (
    MAIN,
    figure_of,
    grouped,
    quartiles,
    success,
    value_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from iap_simulation.sweeps.study import Axis

HEIGHT = 2.6  # of a row of panels [in]
MIN_NUMBERS = 2  # values from which a key has a scale
MAX_SERIES = 6  # in one panel
BRIGHT = 0.6  # share of the colours' scale above which text is black
Rows = Sequence[dict[str, Any]]
FOLDER = "plots"


def draw_over(figure: Figure, axis: Axis, others: Sequence[Axis], rows: Rows, metric: str) -> None:
    """Success with its Wilson interval, and quartiles of a metric, over the values of a key.

    Args:
        figure: empty.
        axis: the key.
        others: keys that were varied besides: a series for each of their combinations, if these are few.
        rows: of the sweep's table.
        metric: a key of metrics.json.
    """
    figure.set_size_inches(WIDTH, HEIGHT)
    figure.set_layout_engine("constrained")
    left, right = figure.subplots(1, 2)
    series = grouped(others, rows)
    if len(series) > MAX_SERIES:
        others, series = (), {(): list(rows)}
    for number, (at, group) in enumerate(series.items()):
        values = [axis.values[i] for axis, i in zip(others, at, strict=True)]
        style: dict[str, Any] = {
            "color": AIRCRAFT[number],
            "label": ", ".join(map(value_text, values)),
            "fmt": "o-",
            "markersize": 3,
            "linewidth": 0.8,
            "capsize": 2,
        }
        groups = grouped([axis], group)
        _bars(left, axis, {i: _shares(each) for (i,), each in groups.items()}, style)
        _bars(right, axis, {i: quartiles(each, metric) for (i,), each in groups.items()}, style)
    left.set_ylim(-0.03, 1.03)
    left.set_ylabel("share completed (95 %)")
    right.set_ylim(bottom=0.0)
    right.set_ylabel(f"{metric} (quartiles)")
    if others:
        right.legend(title=", ".join(each.key for each in others), title_fontsize=7)
    for each in (left, right):
        _label(each, axis)


def _shares(rows: Rows) -> tuple[float, float, float]:
    share, low, high = success(rows)
    return low, share, high


def _bars(
    panel: Axes,
    axis: Axis,
    spreads: dict[int, tuple[float, float, float] | None],
    style: dict[str, Any],
) -> None:
    """Middles with bars from low to high, where there are any."""
    known = {i: each for i, each in sorted(spreads.items()) if each is not None}
    if not known:
        return
    at = _positions(axis)
    low, middle, high = np.array(list(known.values())).T
    reach = np.maximum([middle - low, high - middle], 0.0)
    panel.errorbar([at[i] for i in known], middle, reach, **style)


def draw_map(figure: Figure, axes: tuple[Axis, Axis], rows: Rows, metric: str) -> None:
    """Success and the median of a metric as maps over two keys; what else was varied is thrown together."""
    figure.set_size_inches(WIDTH, HEIGHT + 0.25 * len(axes[1].values))
    figure.set_layout_engine("constrained")
    groups = grouped(axes, rows)
    panels: Any = figure.subplots(1, 2)
    shape = (len(axes[1].values), len(axes[0].values))
    for panel, title in zip(panels, ("share completed", f"{metric}, median"), strict=True):
        values = np.full(shape, np.nan)
        for (i, j), group in groups.items():
            middle = quartiles(group, metric)
            known = success(group)[0] if title == "share completed" else middle and middle[1]
            values[j, i] = np.nan if known is None else known
        limits = {"vmin": 0.0, "vmax": 1.0} if title == "share completed" else {}
        image = panel.imshow(values, aspect="auto", origin="lower", cmap="viridis", **limits)
        for j, i in np.ndindex(*shape):
            text = "-" if np.isnan(values[j, i]) else f"{values[j, i]:.3g}"
            color = "black" if image.norm(values[j, i]) > BRIGHT else "white"
            panel.text(i, j, text, ha="center", va="center", color=color, fontsize=6)
        panel.set_xticks(range(shape[1]), [value_text(value) for value in axes[0].values])
        panel.set_yticks(range(shape[0]), [value_text(value) for value in axes[1].values])
        panel.set_xlabel(axes[0].key)
        panel.set_ylabel(axes[1].key)
        panel.grid(visible=False)
        panel.tick_params(length=0)  # a tick beside a number would read as a minus
        figure.colorbar(image, ax=panel, label=title)


def _positions(axis: Axis) -> list[float]:
    """Positions of the values of a key: themselves if they are numbers, else side by side."""
    is_scale = len(axis.values) >= MIN_NUMBERS and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in axis.values
    )
    return (
        [float(v) for v in axis.values] if is_scale else list(map(float, range(len(axis.values))))
    )


def _label(panel: Axes, axis: Axis) -> None:
    at = _positions(axis)
    panel.set_xlabel(axis.key)
    panel.margins(x=0.15 if at != list(axis.values) else 0.05)
    if at != list(axis.values):
        panel.set_xticks(at, list(map(value_text, axis.values)))


def draw_sweep(folder: Path, axes: Sequence[Axis], rows: Sequence[dict[str, Any]]) -> list[Path]:
    """Draw success and the first main metric over each key and over each pair of keys; returns the files.

    Without keys that are varied there is nothing to draw, and no folder of plots.
    """
    if not axes:
        return []
    metric = next(
        (key for key in MAIN if any(figure_of(row, key) is not None for row in rows)), MAIN[0]
    )
    plots = folder / FOLDER
    plots.mkdir(exist_ok=True)
    over = []
    for axis in axes:
        others = [other for other in axes if other is not axis]
        draw = partial(draw_over, axis=axis, others=others, rows=rows, metric=metric)
        over.append(write_plot(plots / f"{_file(axis)}.png", draw))
    maps = [
        write_plot(
            plots / f"{_file(a)}_{_file(b)}.png",
            partial(draw_map, axes=(a, b), rows=rows, metric=metric),
        )
        for a, b in itertools.combinations(axes, 2)
    ]
    return over + maps


def _file(axis: Axis) -> str:
    return axis.key.replace("/", "_").replace(".", "_")
