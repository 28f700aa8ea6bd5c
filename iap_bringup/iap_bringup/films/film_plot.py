# SPDX-License-Identifier: BSD-3-Clause
"""A plot below a film's pictures, with a line where the time is."""

from typing import NamedTuple

import numpy as np

from iap_bringup.films.film_picture import Picture
from iap_bringup.plots.plot import Plot
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import plot_named
from iap_description.errors import BadInput
from iap_description.process.extras import cv2
from iap_io.plots.plot_style import STYLE

WIDER, LOWER = 1.35, 0.75  # than the plot on a page, so that it leaves room for the picture
CURSOR = (176, 0, 32)
TIME_AXIS = "time"  # begins the label of an axis over time


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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure()
        canvas = FigureCanvasAgg(figure)
        plot.draw(figure, content)
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
