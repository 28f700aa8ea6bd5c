# SPDX-License-Identifier: BSD-3-Clause
"""Colours, lines and sizes of the plots, and a plot as a PNG.

matplotlib is imported when the first plot is made, and its global state left alone.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iap_io.runs.run_folder import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Style = dict[str, Any]

REFERENCE: Style = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 0.8}
SIMULATED: Style = {"color": "#1b62a5", "linewidth": 1.4}
REAL: Style = {"color": "#e0780b", "linewidth": 1.0}
DIFFERENCE: Style = {"color": "#7a3b96", "linewidth": 1.0}
RAW: Style = {"color": "#1b62a5", "linewidth": 0.6, "alpha": 0.4}
ESTIMATED: Style = {"color": "#c2185b", "linewidth": 0.8}
BALANCING: Style = {"color": "#7a3b96", "linewidth": 1.4}
LIMIT: Style = {"color": "0.45", "linestyle": (0, (1, 1.5)), "linewidth": 0.9}
FAULT: Style = {"color": "#b00020", "linestyle": (0, (5, 1.5)), "linewidth": 0.8}
OUTSIDE: Style = {"color": "0.94", "linewidth": 0.0, "zorder": 0.1}
FREE = "0.93"
# Of the aircraft one to twelve: neither blue nor orange, and apart for colour-blind eyes.
AIRCRAFT = tuple(
    "#117733 #cc6677 #332288 #999933 #aa4499 #44aa99 #882255 #ddcc77 #661100 #6699cc #888888 #000000".split()
)
WIDTH = 7.16  # of a page with two columns [in]
DPI = 200
STYLE: Any = {  # matplotlib knows its keys as literals only
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "figure.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "0.3",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.88",
    "grid.linewidth": 0.5,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.columnspacing": 1.2,
    "legend.handlelength": 1.8,
    "lines.solid_capstyle": "round",
}


def write_plot(path: Path, draw: Callable[[Figure], None]) -> Path:
    """Draw into an empty figure and write it; returns the path.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    import matplotlib as mpl

    with mpl.rc_context(STYLE), any_letters():
        figure = drawn_figure(draw)
        image = io.BytesIO()
        figure.savefig(image, dpi=DPI, metadata={"Software": None})
    write_file(path, image.getvalue())
    return path


def drawn_figure(draw: Callable[[Figure], None]) -> Figure:
    """A figure that was drawn into, whose words with a ``$`` that begins no formula are taken as they are."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        draw(figure)
        _take_words_as_they_are(figure)
    return figure


def _take_words_as_they_are(figure: Figure) -> None:
    from matplotlib.cbook import is_math_text
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    parser = MathTextParser("path")
    for text in figure.findobj(Text):
        if is_math_text(text.get_text()):
            try:
                parser.parse(text.get_text())
            except ValueError:  # a user's word, such as a file's name
                text.set_parse_math(False)


@contextmanager
def any_letters() -> Iterator[None]:
    """Boxes for letters that the font lacks, without a warning for each: names are the user's."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield
