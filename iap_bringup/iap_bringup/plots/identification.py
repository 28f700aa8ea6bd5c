# SPDX-License-Identifier: BSD-3-Clause
"""Plots of an identification: measured and predicted velocities of every held-out log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iap_bringup.plots.identified_flight import UNITS
from iap_io.plots.plot_style import BALANCING, LIMIT, REAL, SIMULATED, WIDTH, Style
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.identifying import PUBLISHED, SECOND_ORDER, THIS_FIT, Predictor
from iap_simulation.identification.log import Log

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES: dict[str, Style] = {
    PUBLISHED: {**BALANCING, "linewidth": 0.8},
    SECOND_ORDER: {**LIMIT, "color": "0.2"},
    THIS_FIT: {**SIMULATED, "linewidth": 1.0},
}


def draw_log(figure: Figure, log: Log, predictors: dict[str, Predictor]) -> None:
    """Every channel of a log, measured and predicted from its first sample on."""
    figure.set_size_inches(WIDTH, 1.1 * len(log.channels))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(len(log.channels), 1, sharex=True)
    runs = {name: predictors[name](log) for name in STYLES if name in predictors}
    for panel, channel in zip(panels, log.channels, strict=True):
        i = CHANNELS.index(channel)
        panel.plot(log.t, log.v[:, i], **REAL, label="measured")
        for name, run in runs.items():
            panel.plot(log.t, run[:, i], **STYLES[name], label=name)
        panel.set_ylabel(f"{channel} ({UNITS[channel]})")
    panels[0].legend(ncols=4)
    panels[0].set_title(log.name, fontsize=8)
    panels[-1].set_xlabel("time (s)")
