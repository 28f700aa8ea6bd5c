# SPDX-License-Identifier: BSD-3-Clause
"""A plot of a log's commands in open loop: windows of the simulation over the recorded motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import Q, V
from iap_io.plots.plot_style import REAL, SIMULATED, WIDTH
from iap_simulation.open_loop.replayed import OpenLoopReplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANGLES, VELOCITIES = ("roll", "pitch"), ("east", "north", "up")
MARGIN = 1.3  # of the recorded range beyond which a window is not shown


def draw_windows(figure: Figure, replay: OpenLoopReplay) -> None:
    """Roll, pitch and velocities; windows that do not overlap, or the whole flight where it was one."""
    table = replay.table
    has_v = table.v is not None
    names = [f"{name} (deg)" for name in ANGLES]
    recorded = [_angles(table.q)]
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
    parts = [_angles(x[:, Q]), x[:, V]] if has_v else [_angles(x[:, Q])]
    return t, np.hstack(parts)


def _angles(q: Array) -> Array:
    """Roll and pitch (K, 2) [deg]."""
    R = so3.matrix_from_quaternion(so3.normalized(q))
    roll = np.arctan2(R[:, 2, 1], R[:, 2, 2])
    pitch = np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0))
    return np.degrees(np.column_stack([roll, pitch]))
