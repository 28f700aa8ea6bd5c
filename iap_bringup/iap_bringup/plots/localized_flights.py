# SPDX-License-Identifier: BSD-3-Clause
"""Flights as they were localised, laid out like iap_simulator Fig. 17: paths in their scenes, quartiles of the errors.

The true path is black and dashed, every method has its colour. The box of a method reaches from the
first to the third quartile of the position error over a flight, its whiskers to the least and the
largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.panels import limit_times
from iap_description.arrays import Array
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import triangles
from iap_description.geometry.tessellation import mesh
from iap_description.process.extras import cv2
from iap_description.scenes.library import load_scene
from iap_io.plots.plot_style import REFERENCE, WIDTH, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Quartiles = tuple[float, float, float, float, float]

COLORS = {
    "vio": "0.55",
    "vio_uwb": "#e0780b",
    "virpo_paper": "#7fb2dd",
    "virpo": "#1b62a5",
    "drift_filter": "#44aa99",
    "joint": "#7a3b96",
}
OTHERS = ("#117733", "#cc6677", "#332288", "#999933", "#882255", "#6699cc")
OUTLINE: Style = {"facecolor": "0.90", "edgecolor": "0.72", "linewidth": 0.4, "zorder": 0.2}
ANCHOR: Style = {"color": "#b3261e", "markersize": 5.0, "linestyle": "none", "zorder": 6}
ROW = 2.25  # height of a flight's panels [in]
MARGIN = 4.0  # around the path [m]
OBSTACLE_HEIGHT = 7.0  # [m] above which nothing counts as an obstacle and is drawn
MIN_STEP = 0.2  # of a surface that one flies around [m]
MAX_TRIANGLES = 3000  # of a surface that are drawn
SCALE_LIMIT = 20.0  # in median errors: larger ones do not set the scale


@dataclass(frozen=True)
class BodyPath:
    """Places over time.

    Attributes:
        t: (K,) [s].
        p: (K, 3) in `map` [m].
    """

    t: Array
    p: Array


@dataclass(frozen=True)
class LocalizedFlight:
    """A flight and its estimates.

    Attributes:
        title: of its panels.
        scene: where it was.
        anchors: (n, 3) [m].
        body: whose path is drawn.
        true: its path.
        estimates: the same as each method has it.
        quartiles: by method, and in it by body: least error, quartiles, and largest [m].
    """

    title: str
    scene: str
    anchors: Array
    body: str
    true: BodyPath
    estimates: Mapping[str, BodyPath]
    quartiles: Mapping[str, Mapping[str, Quartiles]]

    @property
    def methods(self) -> list[str]:
        """Methods that are drawn."""
        return list(dict.fromkeys([*self.quartiles, *self.estimates]))


def draw_localized(figure: Figure, flights: Sequence[LocalizedFlight]) -> None:
    """A row of panels for each flight: from above, the height, and quartiles of the errors."""
    figure.set_size_inches(WIDTH, 0.35 + ROW * len(flights))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(
        len(flights), 3, squeeze=False, gridspec_kw={"width_ratios": (1.1, 1.05, 1.5)}
    )
    methods = list(dict.fromkeys(name for flight in flights for name in flight.methods))
    colors = colors_of(methods)
    for (above, height, boxes), flight in zip(panels, flights, strict=True):
        _draw_above(above, flight, colors)
        _draw_height(height, flight, colors)
        draw_boxes(boxes, flight.quartiles, colors)
        above.set_title(flight.title, loc="left", fontsize=7.5, fontweight="bold")
    _legend(figure, flights, colors)


def colors_of(methods: Sequence[str]) -> dict[str, str]:
    """A colour for every method."""
    others = iter(OTHERS * (1 + len(methods) // len(OTHERS)))
    return {name: COLORS[name] if name in COLORS else next(others) for name in methods}


def _draw_above(axes: Axes, flight: LocalizedFlight, colors: Mapping[str, str]) -> None:
    """The scene's outlines, anchors and paths, x to the right and y upwards."""
    low, high = _view(flight)
    for outline in outlines(flight.scene):
        axes.fill(*outline.T, **OUTLINE)
    for name, path in flight.estimates.items():
        axes.plot(*path.p[:, :2].T, color=colors[name], linewidth=0.9)
    axes.plot(*flight.true.p[:, :2].T, **REFERENCE)
    _draw_anchors(axes, flight.anchors, low, high)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x [m]", ylabel="y [m]")
    axes.set_aspect("equal")
    axes.grid(visible=False)


def _view(flight: LocalizedFlight) -> tuple[Array, Array]:
    """Corners of a square around the true path, with its margin [m]."""
    low, high = (
        end(flight.true.p[:, :2], axis=0) + side * MARGIN
        for end, side in ((np.min, -1.0), (np.max, 1.0))
    )
    middle, half = 0.5 * (low + high), 0.5 * float((high - low).max())
    return middle - half, middle + half


def _draw_anchors(axes: Axes, anchors: Array, low: Array, high: Array) -> None:
    """Triangles; an anchor outside the view is a mark on its edge, with its distance from the middle."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    for anchor in anchors[:, :2]:
        way = (anchor - middle) / half
        beyond = float(np.abs(way).max())
        if beyond <= 1.0:
            axes.plot(*anchor, "^", **ANCHOR)
            continue
        edge = middle + 0.94 * half * way / beyond
        pointing = float(np.rad2deg(np.arctan2(way[1], way[0]))) - 90.0
        axes.plot(*edge, marker=(3, 0, pointing), **ANCHOR)
        distance = float(np.linalg.norm(anchor - middle))
        x, y = (middle + 0.78 * half * way / beyond).tolist()
        axes.text(x, y, f"{distance:.0f} m", fontsize=6, ha="center", va="center", zorder=6)


def outlines(scene: str) -> list[Array]:
    """Convex outlines (n, 2) from above of what stands in a scene, as far as one could fly into it [m]."""
    outlines: list[Array] = []
    for solid in load_scene(scene).solids:
        if solid.shape == "surface":
            outlines += _steep_triangles(solid)
            continue
        vertices = np.asarray(mesh(solid)[0], dtype=float)
        if vertices[:, 2].min() < OBSTACLE_HEIGHT:
            outlines.append(convex_hull(vertices[:, :2]))
    return outlines


def _steep_triangles(solid: Shape) -> list[Array]:
    """Outlines from above of the largest triangles of a surface that stand in the way."""
    vertices, faces = triangles(solid)
    corners = vertices[faces]
    low, tall = corners[..., 2].min(axis=1), np.ptp(corners[..., 2], axis=1)
    steep = corners[(low < OBSTACLE_HEIGHT) & (tall > MIN_STEP)]
    largest = np.argsort(-np.ptp(steep, axis=1).max(axis=1))[:MAX_TRIANGLES]
    return [convex_hull(each[:, :2]) for each in steep[largest]]


def quartiles_of(errors: Array) -> Quartiles:
    """Least size, quartiles and largest size of errors (K, 3)."""
    sizes = np.percentile(np.linalg.norm(errors, axis=1), (0, 25, 50, 75, 100))
    least, first, middle, third, largest = sizes.tolist()
    return least, first, middle, third, largest


def convex_hull(points: Array) -> Array:
    """Corners (n, 2) of the hull of points (m, 2), counter-clockwise."""
    return np.asarray(cv2.convexHull(points.astype(np.float32))[:, 0], dtype=float)


def _draw_height(axes: Axes, flight: LocalizedFlight, colors: Mapping[str, str]) -> None:
    """Height over time; the anchors' heights are dotted."""
    for z in flight.anchors[:, 2]:
        axes.axhline(z, color=ANCHOR["color"], linewidth=0.6, linestyle=(0, (1, 2)))
    for name, path in flight.estimates.items():
        axes.plot(path.t, path.p[:, 2], color=colors[name], linewidth=0.9)
    axes.plot(flight.true.t, flight.true.p[:, 2], **REFERENCE)
    heights = flight.true.p[:, 2]
    limit_times(axes, float(flight.true.t[0]), float(flight.true.t[-1]))
    axes.set_ylim(min(0.0, float(heights.min()) - 0.5), float(heights.max()) + 1.0)
    axes.set(xlabel="time [s]", ylabel=f"height of {flight.body.replace('_', ' ')} [m]")


def draw_boxes(
    axes: Axes, quartiles: Mapping[str, Mapping[str, Quartiles]], colors: Mapping[str, str]
) -> None:
    """Boxes of every method (key of `quartiles`) beside each other, in a group for each body (key in it)."""
    bodies = list(dict.fromkeys(body for each in quartiles.values() for body in each))
    width = 0.8 / max(1, len(quartiles))
    keys = ("whislo", "q1", "med", "q3", "whishi")
    for k, (name, boxes) in enumerate(quartiles.items()):
        line: Style = {"color": colors[name], "linewidth": 0.8}
        face: Style = {"facecolor": colors[name], "edgecolor": colors[name], "linewidth": 0.6}
        at = np.array([bodies.index(body) for body in boxes], dtype=float)
        axes.bxp(
            [dict(zip(keys, box, strict=True)) for box in boxes.values()],
            positions=at + (k - 0.5 * (len(quartiles) - 1)) * width,
            widths=0.8 * width,
            showfliers=False,
            patch_artist=True,
            boxprops={**face, "alpha": 0.75},
            medianprops={"color": "white", "linewidth": 1.0},
            whiskerprops=line,
            capprops=line,
            manage_ticks=False,
        )
    axes.set_xticks(range(len(bodies)), [body.replace("_", " ") for body in bodies])
    axes.set_xlim(-0.5, max(1, len(bodies)) - 0.5)
    axes.set(ylabel="position error [m]", ylim=(0.0, _top(quartiles)))
    axes.grid(visible=False, axis="x")


def _top(quartiles: Mapping[str, Mapping[str, Quartiles]]) -> float:
    """Upper end of the axis of errors [m]."""
    numbers = np.array([box for each in quartiles.values() for box in each.values()])
    if not len(numbers):
        return 1.0
    return 1.06 * float(min(numbers[:, 4].max(), SCALE_LIMIT * np.median(numbers[:, 2])))


def _legend(figure: Figure, flights: Sequence[LocalizedFlight], colors: Mapping[str, str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label="truth", **REFERENCE)]
    handles += [
        Line2D([], [], color=color, linewidth=2.0, label=name.replace("_", " "))
        for name, color in colors.items()
    ]
    if any(len(flight.anchors) for flight in flights):
        handles.append(Line2D([], [], marker="^", label="anchor", **ANCHOR))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(8, len(handles)))
