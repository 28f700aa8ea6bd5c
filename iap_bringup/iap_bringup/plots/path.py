# SPDX-License-Identifier: BSD-3-Clause
"""The flight path in space, with the platform sketched along it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.flight_curves import FlightCurves
from iap_description.arrays import Array
from iap_io.plots.plot_style import REAL, REFERENCE, SIMULATED

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D

SKETCHES = 9  # of the platform along the path
POINTS = 2000  # of a curve


def draw_path(axes: Axes3D, flight: FlightCurves, zoom: float = 1.0) -> None:
    """Reference, simulated and real path, and their shadow on the floor of the box."""
    low, high = _box(flight)
    floor = low[2]
    path = _thinned(flight.simulated.position)
    axes.plot(*path[:, :2].T, floor, color="0.82", linewidth=1.0)
    _sketch(axes, flight)
    axes.plot(*path.T, label="simulated", **SIMULATED)
    if flight.real is not None:
        axes.plot(*_thinned(flight.real.position).T, label="recorded flight", **REAL)
    axes.plot(*_thinned(flight.reference.position).T, label="reference", **REFERENCE)
    for point, marker, label in ((path[0], "o", "start"), (path[-1], "s", "end")):
        face = "white" if label == "start" else "black"
        style = {"markerfacecolor": face, "markeredgecolor": "black", "markersize": 4.5}
        axes.plot(*point[:, None], marker, label=label, zorder=10, **style)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=zoom)
    _dress(axes)


def _box(flight: FlightCurves) -> tuple[Array, Array]:
    """Corners of the drawn box, at equal scale, no side thinner than a third of the longest."""
    clouds = [flight.frames.reshape(-1, 3), flight.reference.position]
    if flight.real is not None:
        clouds.append(flight.real.position)
    points = np.vstack(clouds)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    half = 1.04 * np.maximum(half, max(half.max() / 3.0, 0.1))
    return middle - half, middle + half


def _sketch(axes: Axes3D, flight: FlightCurves) -> None:
    """The platform as rods from the centre to its aircraft, a few times along the path."""
    if flight.frames.shape[1] == 1:
        return
    for i in np.linspace(0, len(flight.t) - 1, SKETCHES).round().astype(int):
        center, *aircraft = flight.frames[i]
        for position in aircraft:
            axes.plot(*np.column_stack([center, position]), color="0.55", linewidth=0.8)
        axes.plot(*np.array(aircraft).T, "o", color="0.4", markersize=2.4)


def _thinned(points: Array) -> Array:
    """At most `POINTS` of the points (K, 3), with the last one."""
    step = max(1, len(points) // POINTS)
    return np.vstack([points[:-1:step], points[-1:]])


def _dress(axes: Axes3D) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("x [m]", labelpad=-2)
    axes.set_ylabel("y [m]", labelpad=-2)
    axes.set_zlabel("z [m]", labelpad=-4)
    axes.tick_params(pad=-2)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 1.0))
        axis.line.set_linewidth(0.5)
        axis.set_major_locator(MaxNLocator(5))
    axes.view_init(elev=24.0, azim=-58.0)
