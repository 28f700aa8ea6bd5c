# SPDX-License-Identifier: BSD-3-Clause
"""A rod in a hole: the object cut along the hole's axis, from the side and from above."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.hole_outlines import Insertion, Plane, cuts, silhouette
from iap_bringup.plots.panels import number
from iap_description.arrays import Array
from iap_description.states import P
from iap_io.plots.plot_style import SIMULATED, WIDTH, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 1.4  # width of a panel relative to its height from which on panels stand below each other
SINGLE = 5.4  # width of the figure then [in]
AROUND = 0.45  # height of title and legend [in]
BELOW, SIDE = 0.6, 0.6  # height and width of a panel's labels [in]
MM = 1e3
CUT: Style = {"facecolor": "0.75", "edgecolor": "0.75", "linewidth": 0.3}
CENTRE: Style = {"color": "0.35", "linestyle": (0, (10, 2, 2, 2)), "linewidth": 0.6}
ROD: Style = {"facecolor": "#c3d8ec", "edgecolor": SIMULATED["color"], "linewidth": 0.9}
EARLIER: Style = {"facecolor": "none", "edgecolor": "0.4", "linewidth": 0.6, "linestyle": "--"}
WAY: Style = {"color": SIMULATED["color"], "linewidth": 0.8}


def draw_insertion(figure: Figure, title: str, put: Insertion) -> None:
    """The rod at the first contact and at the end, in millimetres from where the hole begins."""
    windows = np.stack([put.window(plane) for plane in put.planes])
    spans = np.ptp(windows, axis=1)
    is_wide = bool((spans[:, 0] > WIDE * spans[:, 1]).all())
    _size(figure, spans, is_wide)
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    ratios = {"height_ratios": spans[:, 1]} if is_wide else {"width_ratios": spans[:, 0]}
    side, above = np.ravel(figure.subplots(*((2, 1) if is_wide else (1, 2)), gridspec_kw=ratios))
    for axes, plane, window in zip((side, above), put.planes, windows, strict=True):
        _draw(axes, put, plane)
        (left, low), (right, high) = MM * window
        axes.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    side.set(xlabel="horizontal [mm]", ylabel="up [mm]")
    above.set(xlabel="along the hole [mm]", ylabel="aside [mm]")
    side.set_title(f"from the side: {_leaning(put)}", fontsize=8.0, loc="left")
    above.set_title(f"from above: {_depth(put)}", fontsize=8.0, loc="left")
    handles, labels = side.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def _size(figure: Figure, spans: Array, is_wide: bool) -> None:
    """Set the figure's size so that panels of these widths and heights (2, 2) fill it."""
    if is_wide:
        width, height = SINGLE, (SINGLE - SIDE) * (spans[:, 1] / spans[:, 0]).sum() + 2.0 * BELOW
    else:
        width = WIDTH
        height = (WIDTH - 2.0 * SIDE) * spans[:, 1].max() / spans[:, 0].sum() + BELOW
    figure.set_size_inches(width, height + AROUND)
    figure.set_layout_engine("constrained")


def _draw(axes: Axes, put: Insertion, plane: Plane) -> None:
    for polygon in cuts(put.hole, plane):
        axes.fill(*(MM * polygon).T, **CUT)
    first, last = (silhouette(put.tool, put.tip_P, row, plane) for row in put.rows[[0, -1]])
    for parts, style, label in ((first, EARLIER, "at first contact"), (last, ROD, "at the end")):
        for k, polygon in enumerate(parts):
            axes.fill(*(MM * polygon).T, label=label if k == 0 else None, zorder=2.5, **style)
    axes.plot(*(MM * plane.flat(put.tip)).T, label="way of the tip", zorder=3.0, **WAY)
    ends = put.hole.row[P] + np.array([[-10.0], [10.0]]) * put.axis
    axes.plot(*(MM * plane.flat(ends)).T, label="axis of the hole", zorder=3.0, **CENTRE)


def _leaning(put: Insertion) -> str:
    rod, hole = (-np.rad2deg(np.arcsin(axis[2])) for axis in (put.rod_axis, put.axis))
    return f"rod {number(rod, 1)} deg, hole {number(hole, 1)} deg below level"


def _depth(put: Insertion) -> str:
    return f"tip {MM * put.depth:.0f} mm past the hole\u2019s start"
