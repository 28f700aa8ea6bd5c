# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a sweep's folder."""

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from iap_bringup.plots.sweep import draw_map, draw_over
from iap_io.plots.plot_style import write_plot
from iap_simulation.sweeps.study import Axis
from iap_simulation.sweeps.sweep_table import MAIN

PLOTS = "plots"


def draw_sweep(folder: Path, axes: Sequence[Axis], rows: Sequence[dict[str, Any]]) -> list[Path]:
    """Draw success and the first main metric over each key and over each pair of keys; returns the files."""
    metric = next((key for key in MAIN if any(row.get(key) is not None for row in rows)), MAIN[0])
    plots = folder / PLOTS
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
