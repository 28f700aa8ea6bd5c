# SPDX-License-Identifier: BSD-3-Clause
"""A plot as a PNG; matplotlib is imported when the first is made, and its global state left alone."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from iap_bringup.plots.plot_style import DPI, STYLE
from iap_io.runs.run_folder import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_plot(path: Path, draw: Callable[[Figure], None]) -> Path:
    """Draw into an empty figure and write it; returns the path.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        draw(figure)
        image = io.BytesIO()
        figure.savefig(image, dpi=DPI, metadata={"Software": None})
    write_file(path, image.getvalue())
    return path
