# SPDX-License-Identifier: BSD-3-Clause
"""Path of a flight in a box of three axes, which fills its part of a figure."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.flight_curves import FlightCurves
from iap_description.arrays import Array
from iap_io.plots.plot_style import REAL, REFERENCE, SIMULATED

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.axes3d import Axes3D

SKETCHES = 9  # of the platform along the path
POINTS = 2000  # of a curve
ELEVATION_DEG, AZIMUTHS_DEG = 24.0, (-58.0, -32.0, -122.0, 58.0, 122.0)  # of views of a path
LEAST_NORMAL, MOST_LENGTH = 0.38, 0.8  # of a view's direction along a path's normal and length
ROUNDS = 3  # of measuring what is drawn, since numbers do not grow with the box
TICK_PAD, LABEL_PADS = 8.0, (23.0, 23.0, 25.0)  # of numbers and names from a cube's edges [points]
TICK_OFFSET, LABEL_OFFSET = 8.0, 21.0  # that matplotlib adds to its own [points]
Area = tuple[float, float, float, float]


def draw_path(figure: Figure, flight: FlightCurves, area: Area) -> Axes3D:
    """Reference, simulated and real path, and their shadow on the floor of the box.

    Args:
        figure: that is drawn on.
        flight: whose path it is.
        area: left, bottom, right and top of the part that is filled, as shares of the figure.
    """
    axes: Axes3D = figure.add_subplot(projection="3d")
    low, high = _box(flight)
    floor = low[2]
    path = _thinned(flight.simulated.position)
    axes.plot(*path[:, :2].T, floor, color="0.82", linewidth=1.0)
    _sketch(axes, flight)
    axes.plot(*path.T, label="simulated", **SIMULATED)
    if flight.real is not None:
        axes.plot(*_thinned(flight.real.position).T, label="recorded flight", **REAL)
    if flight.is_followed:
        axes.plot(*_thinned(flight.reference.position).T, label="reference", **REFERENCE)
    for point, marker, label in ((path[0], "o", "start"), (path[-1], "s", "end")):
        face = "white" if label == "start" else "black"
        style = {"markerfacecolor": face, "markeredgecolor": "black", "markersize": 4.5}
        axes.plot(*point[:, None], marker, label=label, zorder=10, **style)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.view_init(elev=ELEVATION_DEG, azim=azimuth_deg(path))
    _dress(axes, high - low)
    _fill(figure, axes, high - low, area)
    return axes


def azimuth_deg(points: Array) -> float:
    """Azimuth of the view of a path (n, 3), neither along it nor edge-on to the plane that it lies in."""
    if len(points) < 2:
        return AZIMUTHS_DEG[0]
    _, axes = np.linalg.eigh(np.cov(points, rowvar=False))  # normal first, length last

    def faults(azimuth_deg: float) -> float:
        a, e = np.deg2rad((azimuth_deg, ELEVATION_DEG))
        view = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        normal, length = np.abs(view @ axes)[[0, 2]]
        return max(0.0, LEAST_NORMAL - normal) + max(0.0, length - MOST_LENGTH)

    return min(AZIMUTHS_DEG, key=faults)


def _box(flight: FlightCurves) -> tuple[Array, Array]:
    """Corners of the drawn box, at equal scale, no side thinner than a third of the longest."""
    clouds = [flight.frames.reshape(-1, 3)]
    if flight.is_followed:
        clouds.append(flight.reference.position)
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


def _dress(axes: Axes3D, sides: Array) -> None:
    """Name the axes and number them, the shorter sides (3,) [m] with fewer numbers."""
    from matplotlib.ticker import MaxNLocator

    for axis, name, side in zip((axes.xaxis, axes.yaxis, axes.zaxis), "xyz", sides, strict=True):
        axis.set_label_text(f"{name} [m]")
        axis.set_pane_color((1.0, 1.0, 1.0, 1.0))
        axis.line.set_linewidth(0.5)
        axis.set_major_locator(MaxNLocator(max(2, round(5.0 * side / max(sides)))))
    axes.zaxis.set_rotate_label(False)  # which would be upside down on the left
    axes.zaxis.label.set_rotation(90.0)


def _fill(figure: Figure, axes: Axes3D, sides: Array, area: Area) -> None:
    """Let the box of some sides (3,), with its numbers and names, fill a part of the figure."""
    left, bottom, right, top = area
    width, height = right - left, top - bottom
    axes.set_position((left, bottom, width, height))
    zoom = 1.0
    for _ in range(ROUNDS):
        axes.set_box_aspect(sides, zoom=zoom)
        _keep_apart(axes, zoom * sides / np.linalg.norm(sides))
        x0, y0, x1, y1 = _extent(figure, axes)
        zoom *= min(width / (x1 - x0), height / (y1 - y0))
    x0, y0, x1, y1 = _extent(figure, axes)
    shift = 0.5 * (left + right - x0 - x1), 0.5 * (bottom + top - y0 - y1)
    axes.set_position((left + shift[0], bottom + shift[1], width, height))


def _keep_apart(axes: Axes3D, sides: Array) -> None:
    """Keep numbers and names off their axes: matplotlib's pads shrink with the other two sides (3,) of the box."""
    for i, axis in enumerate((axes.xaxis, axes.yaxis, axes.zaxis)):
        others = np.delete(sides, i)
        factor = 1.0 / (np.sqrt(1.5) * np.linalg.norm(others))
        axis.set_tick_params(pad=TICK_PAD * factor - TICK_OFFSET)
        axis.labelpad = LABEL_PADS[i] * factor - LABEL_OFFSET


def _extent(figure: Figure, axes: Axes3D) -> Area:
    """Left, bottom, right and top of the axes with their numbers and names, as shares of the figure."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    figure.draw_without_rendering()
    corners = np.array(list(product(axes.get_xlim(), axes.get_ylim(), axes.get_zlim()))).T
    box = axes.transData.transform(np.transpose(proj_transform(*corners, axes.get_proj())[:2]))
    boxes = [each.get_tightbbox() for each in (axes.xaxis, axes.yaxis, axes.zaxis)]
    edges = [
        Bbox([box.min(axis=0), box.max(axis=0)]),
        *(each for each in boxes if each is not None),
    ]
    whole = Bbox.union(edges).transformed(figure.transFigure.inverted())
    return whole.x0, whole.y0, whole.x1, whole.y1
