# SPDX-License-Identifier: BSD-3-Clause
"""Plots over time as pages: the series of a figure's panels drawn by uPlot, in one file that needs no network.

uPlot 1.6.32 (MIT) lies in ``data/plots/uplot``: 53 kB. Installed, plotly costs 40 MB and bokeh 25 MB.
mpld3 costs 0.6 MB, and fails at a figure with a panel in three dimensions.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iap_bringup.plots.plot import Plot
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import FOLDER, PLOTS, AnyPlot, plot_named
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_io.plots.plot_style import drawn_figure
from iap_io.runs.run_folder import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

DATA = Path(__file__).parents[1] / "data" / "plots"
LIBRARY = DATA / "uplot"
FEWEST_POINTS = 3  # of a series; lines of two mark limits
DIGITS = 6  # of a number
HIDDEN = "_"  # begins the names of lines that no legend has
GREEK = {r"\tau": "\N{GREEK SMALL LETTER TAU}"}


class Series(NamedTuple):
    """A line of a panel.

    Attributes:
        name: in the legend.
        color: as CSS has it.
        dashed: whether it is.
        t: (n,) [s].
        values: (n,), NaN where there is none.
    """

    name: str
    color: str
    dashed: bool
    t: Array
    values: Array


class Panel(NamedTuple):
    """Series over one time axis.

    Attributes:
        label: of the values, with their unit.
        limits: of the axis of values, which a page shows where values hardly differ.
        series: its lines.
    """

    label: str
    limits: tuple[float, float]
    series: Sequence[Series]


def panels_of(figure: Figure) -> list[Panel]:
    """Panels of a figure whose lines go forward along their axis, from the top, rows before columns."""

    def place(axes: Axes) -> tuple[float, float]:
        box = axes.get_position()
        return (-round(box.y1, 2), round(box.x0, 2))

    panels = []
    for axes in sorted(figure.axes, key=place):
        series = list(_series_of(axes)) if axes.name == "rectilinear" else []
        if series:
            panels.append(Panel(_plain(axes.get_ylabel()), axes.get_ylim(), series))
    return panels


def _figure(plot: Plot, content: object) -> Figure:
    return drawn_figure(lambda figure: plot.draw(figure, content))


def _series_of(axes: Axes) -> Iterator[Series]:
    from matplotlib.colors import to_rgba

    label = _plain(axes.get_ylabel())
    for line in axes.lines:
        t, values = (np.asarray(each, float) for each in line.get_data())
        is_shown = line.get_visible() and line.get_transform().contains_branch(axes.transData)
        if len(t) >= FEWEST_POINTS and is_shown and (np.diff(t) >= 0.0).all():
            name = str(line.get_label())
            known = label if name.startswith(HIDDEN) else _plain(name)
            red, green, blue, alpha = to_rgba(line.get_color(), line.get_alpha())
            color = f"rgba({round(255 * red)},{round(255 * green)},{round(255 * blue)},{alpha:g})"
            yield Series(known, color, _is_dashed(line), t, values)


def _is_dashed(line: Line2D) -> bool:
    return line.get_linestyle() not in ("-", "solid")


def _plain(text: str) -> str:
    """A label without the signs of mathematics, on one line."""
    for name, sign in GREEK.items():
        text = text.replace(name, sign)
    return re.sub(r"[$\\{}]", "", text.replace("\n", " "))


def page_of(title: str, panels: Sequence[Panel]) -> str:
    """The page of some panels."""
    tree: list[dict[str, Any]] = [
        {
            "label": panel.label,
            "limits": list(panel.limits),
            "series": [
                {**each._asdict(), "t": _numbers(each.t), "values": _numbers(each.values)}
                for each in panel.series
            ],
        }
        for panel in panels
    ]
    data = json.dumps(tree, allow_nan=False).replace("</", "<\\/")
    parts = [(LIBRARY / name).read_text() for name in ("uPlot.min.css", "uPlot.iife.min.js")]
    style, library = parts
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body><script>{library}</script>"
        f"<script>window.IAP_PLOT={{title:{json.dumps(title)},panels:{data}}};\n"
        f"{(DATA / 'page.js').read_text()}</script></body></html>\n"
    )


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values.tolist()]


def write_pages(run: RecordedRun, names: Sequence[str]) -> list[Path]:
    """Write pages of a run's plots over time into its folder; of several vehicles each gets its own.

    Args:
        run: that is drawn.
        names: of the plots; none are all that the run has.

    Returns:
        The files.

    Raises:
        BadInput: a name is unknown, or its plot has no series, or the run has not what it needs.
    """
    plots: Sequence[AnyPlot] = [plot_named(name) for name in names] if names else PLOTS
    paths = []
    for plot in plots:
        contents = plot.needs.of(run)
        if names and not contents:
            raise BadInput(f"plot {plot.name}: {run.folder} has not {plot.needs.what}")
        for end, content in contents.items():
            panels = panels_of(_figure(plot, content)) if isinstance(plot, Plot) else []
            if panels:
                path = run.folder / FOLDER / f"{plot.name}{end}.html"
                write_file(path, page_of(f"{run.folder.name}: {plot.name}{end}", panels).encode())
                paths.append(path)
        if names and not any(each.stem.startswith(plot.name) for each in paths):
            raise BadInput(f"plot {plot.name}: no series over time for --html")
    return paths
