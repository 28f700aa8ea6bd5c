# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a film: rendered ones with paths, balls and arrows, and plots with a line where the time is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_bringup.plots.plot import Plot
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import plot_named
from iap_bringup.viewing.stage import Rgb
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.process.extras import cv2
from iap_io.plots.plot_style import STYLE, any_letters, drawn_figure
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.spec import PICTURE_RANGE_M

Picture = NDArray[np.uint8]
FOCAL = 0.9  # focal length over the picture's width
DEPTH_SHRINK = 3  # pixels of the picture along each axis that share one depth
DEPTH_SLACK = 0.04  # by which a line may lie behind a surface and is still seen [m]
ARROW_TIP, MIN_ARROW_PIXELS = 0.14, 4.0  # share of the arrow
WIDER, LOWER = 1.35, 0.75  # than the plot on a page, so that it leaves room for the picture
CURSOR = (176, 0, 32)
TIME_AXIS = "time"  # begins the label of an axis over time


class View(NamedTuple):
    """The place of the film's camera.

    Attributes:
        p_WC_W: (3,) its position [m].
        R_WC: (3, 3) attitude of its optical frame: x right, y down, z ahead.
    """

    p_WC_W: Array
    R_WC: Array

    @classmethod
    def towards(cls, position: Array, target: Array) -> "View":
        """From a position to a target (3,) that is not straight above or below [m]."""
        ahead = (target - position) / np.linalg.norm(target - position)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return cls(position, np.stack([right, np.cross(ahead, right), ahead], axis=1))


class FilmPicture:
    """A rendered picture that is drawn on.

    Args:
        pixels: (h, w, 3) RGB.
        depth: of fewer pixels, along the view [m].
        model: of the camera.
        view: its place.
    """

    def __init__(self, pixels: Picture, depth: Array, model: CameraModel, view: View) -> None:
        self.pixels = np.ascontiguousarray(pixels)
        self._depth, self._model, self._view = depth, model, view

    def _in_camera(self, points_W: Array) -> Array:
        return (points_W - self._view.p_WC_W) @ self._view.R_WC

    def _visible(self, points_C: Array, pixels: Array) -> NDArray[np.bool_]:
        """True (n,) for points (n, 3) in front of all surfaces."""
        inside = np.isfinite(pixels).all(axis=1) & (points_C[:, 2] > PICTURE_RANGE_M[0])
        height, width = self._depth.shape
        places = np.where(inside[:, None], pixels, 0.0) / DEPTH_SHRINK
        column = np.clip(places[:, 0], 0, width - 1).astype(int)
        row = np.clip(places[:, 1], 0, height - 1).astype(int)
        visible: NDArray[np.bool_] = inside & (
            points_C[:, 2] < self._depth[row, column] + DEPTH_SLACK
        )
        return visible

    def draw_path(self, points_W: Array, color: Rgb, width: int, *, dashed: bool = False) -> None:
        """Draw those legs of a path (n, 3) that nothing hides [m]; dashed: every other few."""
        if len(points_W) < 2:
            return
        points_C = self._in_camera(points_W)
        pixels = self._model.project(points_C)
        visible = self._visible(points_C, pixels)
        legs = visible[1:] & visible[:-1]
        if dashed:
            legs &= np.arange(len(legs)) // 3 % 2 == 0
        places = np.rint(8.0 * np.clip(np.nan_to_num(pixels), -1e4, 1e4)).astype(np.int32)
        lines = np.stack([places[:-1], places[1:]], axis=1)[legs]
        cv2.polylines(self.pixels, list(lines), False, color, width, cv2.LINE_AA, 3)

    def draw_line(self, ends_W: Array, color: Rgb, width: int = 2) -> None:
        """Draw a line between ends (2, 3) whatever is before it [m]."""
        pixels = self._pixels(ends_W)
        if pixels is not None:
            first, second = pixels
            cv2.line(self.pixels, first, second, color, width, cv2.LINE_AA)

    def draw_ball(self, center_W: Array, radius: float, color: Rgb) -> None:
        """Draw a ball around a centre (3,), unless something hides that [m]."""
        points_C = self._in_camera(center_W[None])
        pixels = self._model.project(points_C)
        if self._visible(points_C, pixels)[0]:
            size = max(2, round(radius * FOCAL * self._model.width / points_C[0, 2]))
            u, v = np.rint(pixels[0]).astype(int).tolist()
            cv2.circle(self.pixels, (u, v), size, color, cv2.FILLED, cv2.LINE_AA)

    def draw_points(self, points_W: Array, color: Rgb) -> None:
        """Draw those of some points (n, 3) that nothing hides [m]."""
        points_C = self._in_camera(points_W)
        pixels = self._model.project(points_C)
        for u, v in np.rint(pixels[self._visible(points_C, pixels)]).astype(int).tolist():
            cv2.circle(self.pixels, (u, v), 2, color, cv2.FILLED)

    def draw_arrow(self, foot_W: Array, head_W: Array, color: Rgb) -> None:
        """Draw an arrow from a foot to a head, (3,) each [m]."""
        pixels = self._pixels(np.stack([foot_W, head_W]))
        if pixels is None:
            return
        first, second = pixels
        if np.hypot(second[0] - first[0], second[1] - first[1]) >= MIN_ARROW_PIXELS:
            cv2.arrowedLine(self.pixels, first, second, color, 2, cv2.LINE_AA, 0, ARROW_TIP)

    def _pixels(self, points_W: Array) -> list[tuple[int, int]] | None:
        """Places of points (n, 3); None if one is behind the camera or far outside."""
        pixels = self._model.project(self._in_camera(points_W))
        if not (np.abs(pixels) < 1e4).all():
            return None
        return [(int(u), int(v)) for u, v in np.rint(pixels)]


class _Panel(NamedTuple):
    """A panel over time.

    Attributes:
        left, right: its edges [pixels].
        top, bottom: likewise.
        first, last: times at its left and right edges [s].
    """

    left: float
    right: float
    top: int
    bottom: int
    first: float
    last: float


class FilmPlot:
    """A plot of a run over time.

    Args:
        run: of which it is.
        name: of the plot, or ``module:PLOT``.
        width: of the picture [pixels].

    Raises:
        BadInput: no such plot, the run has not what it needs, or it is none over time.
    """

    def __init__(self, run: RecordedRun, name: str, width: int) -> None:
        plot = plot_named(name)
        content = next(iter(plot.needs.of(run).values()), None)
        if content is None:
            raise BadInput(f"plot {plot.name}: {run.folder} has not {plot.needs.what}")
        if not isinstance(plot, Plot):
            raise BadInput(f"plot {plot.name}: is a picture, and no plot over time")
        self._picture, self._panels = _drawn(plot, content, width)
        if not self._panels:
            raise BadInput(f"plot {plot.name}: no plot over time")

    @property
    def height(self) -> int:
        """[pixels]."""
        return len(self._picture)

    def at(self, t: float) -> Picture:
        """The plot with lines at a time [s]."""
        picture = self._picture.copy()
        for each in self._panels:
            share = (t - each.first) / (each.last - each.first)
            if 0.0 <= share <= 1.0:
                x = round(each.left + share * (each.right - each.left))
                cv2.line(picture, (x, each.top), (x, each.bottom), CURSOR, 1)
        return picture


def _drawn(plot: Plot, content: object, width: int) -> tuple[Picture, list[_Panel]]:
    """The picture, of even height, and its panels over time."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE), any_letters():
        figure = drawn_figure(lambda empty: plot.draw(empty, content))
        canvas: Any = figure.canvas  # of Agg
        across, tall = figure.get_size_inches() * (WIDER, LOWER)
        figure.set_size_inches(across, tall)
        figure.set_dpi(width / across)
        canvas.draw()
        picture = np.array(canvas.buffer_rgba())[:, :width, :3]
        panels = []
        over_time = [a for a in figure.axes if a.get_xlabel().startswith(TIME_AXIS)]
        shared = {id(b) for a in over_time for b in a.get_shared_x_axes().get_siblings(a)}
        for axes in figure.axes:
            box = axes.get_window_extent()
            label = axes.get_xlabel().startswith(TIME_AXIS)
            is_alike = any(
                axes.get_xlim() == other.get_xlim() and axes.name == other.name
                for other in over_time
            )
            if label or id(axes) in shared or is_alike:
                first, last = axes.get_xlim()
                top, bottom = (round(len(picture) - y) for y in (box.y1, box.y0))
                panels.append(_Panel(box.x0, box.x1, top, bottom, first, last))
    even = picture[: len(picture) // 2 * 2]
    if even.shape[1] < width:
        even = np.pad(even, ((0, 0), (0, width - even.shape[1]), (0, 0)), constant_values=255)
    return even, panels
