# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a log's commands in open loop: windows over the recorded motion, and step responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iap_description.arrays import Array
from iap_description.states import Q, V
from iap_io.plots.plot_style import REAL, REFERENCE, SIMULATED, WIDTH
from iap_simulation.open_loop.replayed import OpenLoopReplay
from iap_simulation.open_loop.step_response import AxisResponses, roll_and_pitch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

ANGLES, VELOCITIES = ("roll", "pitch"), ("east", "north", "up")
MARGIN = 1.3  # of the recorded range beyond which a window is not shown


def draw_windows(figure: Figure, replay: OpenLoopReplay) -> None:
    """Roll, pitch and velocities; windows that do not overlap, or the whole flight where it was one."""
    table = replay.table
    has_v = table.v is not None
    names = [f"{name} (deg)" for name in ANGLES]
    recorded = [roll_and_pitch(table.q)]
    if table.v is not None:
        names += [f"v {name} (m/s)" for name in VELOCITIES]
        recorded.append(table.v)
    figure.set_size_inches(WIDTH, 1.3 * len(names))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(len(names), 1, sharex=True)
    curves = np.hstack(recorded)
    windows = [_columns(t, x, has_v=has_v) for t, x in _shown(replay)]
    for i, (panel, name) in enumerate(zip(panels, names, strict=True)):
        panel.plot(table.t, curves[:, i], **REAL, label="recorded")
        for t, columns in windows:
            panel.plot(t, columns[:, i], **SIMULATED)
        panel.plot([], [], **SIMULATED, label="simulated, open loop")
        low, high = curves[:, i].min(), curves[:, i].max()
        half = max(0.5 * MARGIN * (high - low), 1e-3)
        panel.set_ylim(0.5 * (low + high) - half, 0.5 * (low + high) + half)
        panel.set_ylabel(name)
    panels[0].legend(ncols=2)
    panels[-1].set_xlabel("time since the log's boot (s)")


def _shown(replay: OpenLoopReplay) -> list[tuple[Array, Array]]:
    """Times and states of what is drawn."""
    t, paths = replay.table.t, replay.paths
    segments, end = [], -1
    for w, start in enumerate(paths.starts):
        if start >= end:
            end = start + len(paths.x) - 1
            segments.append((t[start : end + 1], paths.x[:, w]))
    return segments


def _columns(t: Array, x: Array, *, has_v: bool) -> tuple[Array, Array]:
    parts = [roll_and_pitch(x[:, Q]), x[:, V]] if has_v else [roll_and_pitch(x[:, Q])]
    return t, np.hstack(parts)


def draw_steps(figure: Figure, steps: Mapping[str, AxisResponses]) -> None:
    """Responses of roll and pitch to a step of their set-point, with bands of one standard deviation."""
    figure.set_size_inches(WIDTH, 2.4)
    figure.set_layout_engine("constrained")
    panels = figure.subplots(1, len(steps), sharex=True, sharey=True, squeeze=False)[0]
    for panel, (axis, responses) in zip(panels, steps.items(), strict=True):
        for style, label, each in zip(
            (REAL, SIMULATED), responses._fields, responses, strict=True
        ):
            if each is None:
                continue
            panel.plot(each.t, each.values, **style, label=label)
            band = each.values - each.deviations, each.values + each.deviations
            panel.fill_between(each.t, *band, color=style["color"], alpha=0.2, linewidth=0.0)
        panel.axhline(1.0, **REFERENCE)
        panel.set(title=axis, xlabel="time after the step (s)")
        panel.legend(loc="lower right")
    panels[0].set_ylabel("share of the step")
