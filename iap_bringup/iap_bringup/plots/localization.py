# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a localisation: paths, errors over time with their 3 sigma, and quartiles as in iap_simulator Fig. 17.

Where an estimator did not begin at the truth, trajectories are moved and turned about the vertical onto it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plots.localized_flights import COLORS, draw_boxes, quartiles_of
from iap_bringup.plots.panels import MILLIMETRE_LIMIT
from iap_estimation.datasets.results import Evaluation
from iap_estimation.evaluation.alignment import yaw_aligned
from iap_estimation.evaluation.comparison import SIGMAS, TrajectoryComparison
from iap_io.plots.plot_style import AIRCRAFT, REFERENCE, WIDTH, Style, write_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 1.7  # height of a body's panels [in]
BOUND: Style = {"linestyle": (0, (1, 1.5)), "linewidth": 0.7}
LEAST_REACH = 0.005  # of the scale of errors [m]
WIDEST_BOUND = 4.0  # that is shown, over the largest error
MARGIN = 1.05


def write_localization_plots(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Draw what there is a truth for; returns the files.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    drawn = {body: methods for body, methods in evaluation.comparisons.items() if methods}
    if not drawn:
        return []
    is_true = evaluation.results.begins_true
    shown = {
        body: {name: _Shown(one, is_true=is_true) for name, one in methods.items()}
        for body, methods in drawn.items()
    }
    figures = {"paths": draw_paths, "errors": draw_errors, "quartiles": draw_quartiles}
    return [
        write_plot(folder / f"{name}.png", partial(draw, shown=shown))
        for name, draw in figures.items()
    ]


class _Shown:
    """A trajectory as it is drawn: times, places, true places, standard deviations.

    It is aligned unless it began at the truth, where that can be done.
    """

    def __init__(self, one: TrajectoryComparison, *, is_true: bool) -> None:
        aligned = None if is_true else yaw_aligned(one.estimate, one.truth)
        estimate = one.estimate if aligned is None else aligned
        self.t, self.sigma = one.t, one.sigma
        self.p, self.truth = estimate[:, :3], one.truth[:, :3]
        self.errors = self.p - self.truth


Panels = dict[str, dict[str, _Shown]]  # by body and method


def draw_paths(figure: Figure, shown: Panels) -> None:
    """From above, and heights over time; a row for each body."""
    rows = _rows(figure, shown, (1.0, 2.0))
    for (body, methods), (above, height) in zip(shown.items(), rows, strict=True):
        for name, one in methods.items():
            style = _style(name)
            above.plot(one.p[:, 0], one.p[:, 1], label=name, **style)
            height.plot(one.t, one.p[:, 2], **style)
        first = next(iter(methods.values()))
        above.plot(first.truth[:, 0], first.truth[:, 1], label="truth", **REFERENCE)
        height.plot(first.t, first.truth[:, 2], **REFERENCE)
        above.set_aspect("equal", adjustable="datalim")
        above.set_ylabel(f"{body}\ny [m]")
        height.set_ylabel("z [m]")
    rows[-1][0].set_xlabel("x [m]")
    rows[-1][1].set_xlabel("time [s]")
    _legend(figure, rows[0][0])


def draw_errors(figure: Figure, shown: Panels) -> None:
    """Errors of the place along x, y and z over time on one scale, with three standard deviations dotted."""
    rows = _rows(figure, shown, (1.0, 1.0, 1.0), shares=True)
    reach = _reach([one for methods in shown.values() for one in methods.values()])
    unit, factor = _unit(reach)
    for (body, methods), panels in zip(shown.items(), rows, strict=True):
        for axis, axes in enumerate(panels):
            for name, one in methods.items():
                axes.plot(one.t, factor * one.errors[:, axis], label=name, **_style(name))
                bound = {**_style(name), **BOUND}
                for sign in (-SIGMAS, SIGMAS):
                    axes.plot(one.t, factor * sign * one.sigma[:, axis], **bound)
            axes.set_title("xyz"[axis] if panels is rows[0] else "", fontsize=8.0)
        panels[0].set_ylabel(f"{body}\nerror [{unit}]")
    for axes in rows[-1]:
        axes.set_xlabel("time [s]")
    rows[0][0].set_ylim(-factor * reach, factor * reach)
    rows[0][0].plot([], [], color="0.3", **BOUND, label=f"{SIGMAS:g} standard deviations")
    _legend(figure, rows[0][0])


def _reach(shown: Sequence[_Shown]) -> float:
    """Half of the scale of errors [m]: all of them, and the bounds unless these are far larger."""
    largest = max(float(np.nanmax(np.abs(one.errors), initial=0.0)) for one in shown)
    bounds = [SIGMAS * one.sigma[np.isfinite(one.sigma)] for one in shown]
    bound = max(float(each.max(initial=0.0)) for each in bounds)
    return MARGIN * max(largest, min(bound, WIDEST_BOUND * largest), LEAST_REACH)


def _unit(size: float) -> tuple[str, float]:
    """The unit in which errors of a size [m] are drawn, and how many of it are a metre."""
    return ("mm", 1e3) if size < MILLIMETRE_LIMIT else ("m", 1.0)


def draw_quartiles(figure: Figure, shown: Panels) -> None:
    """Least, quartiles and largest of the position error, for each body and method."""
    figure.set_size_inches(WIDTH, 2.6)
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    names = list(dict.fromkeys(name for methods in shown.values() for name in methods))
    most = max(
        float(np.nanmax(np.linalg.norm(one.errors, axis=1), initial=0.0))
        for methods in shown.values()
        for one in methods.values()
    )
    unit, factor = _unit(most)
    quartiles = {
        name: {b: quartiles_of(factor * m[name].errors) for b, m in shown.items() if name in m}
        for name in names
    }
    colors = {name: _style(name)["color"] for name in names}
    draw_boxes(axes, quartiles, colors)
    axes.set_ylabel(f"position error [{unit}]")
    for name in names:
        axes.plot([], [], linewidth=5.0, color=colors[name], label=name)
    _legend(figure, axes)


def _rows(
    figure: Figure, shown: Panels, widths: tuple[float, ...], *, shares: bool = False
) -> list[list[Any]]:
    figure.set_size_inches(WIDTH, 0.6 + ROW * len(shown))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(
        len(shown), len(widths), squeeze=False, width_ratios=widths, sharex=shares, sharey=shares
    )
    return [list(row) for row in panels]


def _legend(figure: Figure, axes: Any) -> None:  # noqa: ANN401
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=7)


def _style(name: str) -> dict[str, Any]:
    color = COLORS.get(name) or AIRCRAFT[sum(map(ord, name)) % len(AIRCRAFT)]
    return {"color": color, "linewidth": 1.0}
