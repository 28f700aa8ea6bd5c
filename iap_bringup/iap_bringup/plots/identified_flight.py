# SPDX-License-Identifier: BSD-3-Clause
"""Plots of an arm's flight: path, error, joints, velocities; and of logs that its plant is identified from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plots.path_curves import PathCurves
from iap_io.plots.plot_style import (
    AIRCRAFT,
    BALANCING,
    LIMIT,
    REAL,
    REFERENCE,
    SIMULATED,
    WIDTH,
    Style,
)
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.identifying import PUBLISHED, SECOND_ORDER, THIS_FIT, Predictor
from iap_simulation.identification.log import Log

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOINT_NAMES = ("q1", "q2", "q3")
UNITS = {name: "m/s" if name.startswith("u") else "rad/s" for name in CHANNELS}


def draw_path(figure: Figure, log: PathCurves) -> None:
    """The end effector's path from above and from the side, as Fig. 7 of aerial_manipulator."""
    figure.set_size_inches(WIDTH, 3.0)
    figure.set_layout_engine("constrained")
    for panel, (i, j), names in zip(
        figure.subplots(1, 2), ((0, 1), (0, 2)), ("x y", "x z"), strict=True
    ):
        panel.plot(log.p_WP_W[:, i], log.p_WP_W[:, j], **LIMIT, label="platform")
        panel.plot(log.r_d[:, i], log.r_d[:, j], **REFERENCE, label="reference")
        panel.plot(log.r[:, i], log.r[:, j], **SIMULATED, label="end effector")
        panel.set_aspect("equal", adjustable="datalim")
        panel.set_xlabel(f"{names[0]} (m)")
        panel.set_ylabel(f"{names[2]} (m)")
    panel.legend()


def draw_tracking(figure: Figure, log: PathCurves) -> None:
    """Errors of the end effector, and the joints."""
    figure.set_size_inches(WIDTH, 3.6)
    figure.set_layout_engine("constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for i, axis in enumerate("xyz"):
        error = log.r_d[:, i] - log.r[:, i]
        above.plot(log.t, error, color=AIRCRAFT[i], linewidth=1.0, label=axis)
    size = np.linalg.norm((log.r_d - log.r)[:, :3], axis=1)
    above.plot(log.t, size, **REFERENCE, label="distance")
    above.set_ylabel("error (m)")
    above.set_ylim(-0.4, 0.4)
    for i, name in enumerate(JOINT_NAMES):
        below.plot(log.t, log.q[:, i], color=AIRCRAFT[i], linewidth=1.0, label=name)
    below.set_ylabel("joints (rad)")
    _finish(above, below)


def draw_velocities(figure: Figure, log: PathCurves) -> None:
    """Commanded and real velocities."""
    figure.set_size_inches(WIDTH, 7.0)
    figure.set_layout_engine("constrained")
    panels = figure.subplots(len(CHANNELS), 1, sharex=True)
    for i, (panel, name) in enumerate(zip(panels, CHANNELS, strict=True)):
        panel.plot(log.t, log.command[:, i], **REFERENCE, label="command")
        panel.plot(log.t, log.v[:, i], **SIMULATED, label="flown")
        panel.set_ylabel(f"{name} ({UNITS[name]})")
    panels[0].legend(ncols=2)
    panels[-1].set_xlabel("time (s)")


def _finish(above: Any, below: Any) -> None:  # noqa: ANN401 - matplotlib's axes
    for panel in (above, below):
        panel.legend(ncols=4)
    below.set_xlabel("time (s)")


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
