# SPDX-License-Identifier: BSD-3-Clause
"""The figure of a training: reward and success over its steps."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from iap_io.runs.run_folder import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from iap_learning.training.log import Row

CURVE = "training.png"
MEDIAN = 9  # iterations
UNITS = {"online": ("steps [million]", 1e6), "dagger": ("updates [thousand]", 1e3)}
SIZE, DPI = (7.16, 2.4), 200  # [in], of a page with two columns
EXPLORING: dict[str, Any] = {"color": "#1b62a5", "linewidth": 1.0, "label": "with exploration"}
JUDGED: dict[str, Any] = {
    "color": "#e0780b",
    "linewidth": 0.8,
    "marker": "o",
    "markersize": 3,
    "label": "without",
}
LOOK: Any = {  # matplotlib knows its keys as literals only
    "font.size": 8.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "grid.color": "0.88",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
}


def draw_training(folder: Path, rows: Sequence[Row]) -> Path:
    """Draw the rows of a training's last stage in episodes into its folder; returns the path.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    stage = "online" if any(row["stage"] == "online" for row in rows) else "dagger"
    unit, of_unit = UNITS[stage]
    flown = [{**row, unit: float(row["steps"]) / of_unit} for row in rows if row["stage"] == stage]
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        _draw(left, flown, unit, "return", "sum of rewards")
        _draw(right, flown, unit, "success", "share of successes")
        right.set_ylim(-0.03, 1.03)
        left.legend()
        image = io.BytesIO()
        figure.savefig(image, dpi=DPI, metadata={"Software": None})
    write_file(folder / CURVE, image.getvalue())
    return folder / CURVE


def _draw(axes: Axes, rows: Sequence[Row], unit: str, key: str, label: str) -> None:
    for name, style in ((key, EXPLORING), (f"judged_{key}", JUDGED)):
        known = [row for row in rows if name in row]
        steps = [float(row[unit]) for row in known]
        values = [float(row[name]) for row in known]
        axes.plot(steps, smooth(values) if style is EXPLORING else values, **style)
    axes.set_xlabel(unit)
    axes.set_ylabel(label)


def smooth(values: Sequence[float]) -> list[float]:
    """Medians of `MEDIAN` neighbours: where worlds begin anew, the few episodes that are over at first have failed."""
    reach = MEDIAN // 2
    return [median(values[max(0, i - reach) : i + reach + 1]) for i in range(len(values))]
