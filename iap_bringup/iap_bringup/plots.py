# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a run, laid out like iap_simulator Figs. 11-14.

One language throughout: the reference is black and dashed, the simulated flight blue, the real
flight orange; what a platform does not control is grey; time outside the scored window is shaded.
Matplotlib is imported when the first figure is made, and its global state is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from iap_bringup import flight_series
from iap_bringup.flight_series import Flight, Series
from iap_bringup.runfolder import RunData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
REFERENCE: dict[str, Any] = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 0.9}
SIMULATED: dict[str, Any] = {"color": "#1b62a5", "linewidth": 1.2}
REAL: dict[str, Any] = {"color": "#e0780b", "linewidth": 1.0}
GREY = "0.55"
WIDTH = 7.16  # of a page with two columns [in]
DPI = 220
STYLE = {
    "font.family": "sans-serif",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "0.3",
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "lines.solid_capstyle": "round",
    "mathtext.default": "regular",
}


def write_plots(folder: Path, run: RunData) -> list[Path]:
    """Draw a run into ``folder/plots``; of several vehicles each gets its own set of files.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    home = folder / "plots"
    written = []
    for vehicle in run.vehicles:
        flown = flight(run.meta, vehicle)
        if not len(flown.t):
            continue  # not one state was a number; metrics.json says so
        suffix = f"_{vehicle.meta.name}" if len(run.vehicles) > 1 else ""
        for name, draw in FIGURES.items():
            if name != "difference" or flown.difference is not None:
                written.append(_save(home / f"{name}{suffix}.png", draw, flown))
    return written


def _save(path: Path, draw: Callable[[Figure, Flight], None], flown: Flight) -> Path:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure, flown)
        try:
            path.parent.mkdir(exist_ok=True)
            figure.savefig(path, dpi=DPI, metadata={"Software": None})
        except OSError as error:
            raise RecordingFailed(f"{path}: cannot be written: {error.strerror}") from error
    return path


def draw_pose(figure: Figure, flown: Flight) -> None:
    """Position and attitude against the reference."""
    panels = _grid(figure, flown, 4.6)
    for i, axes in enumerate(panels):
        column, axis = divmod(i, 3)
        name = "position" if column == 0 else "angles"
        if column == 0 or flown.meta.controlled[axis]:
            axes.plot(flown.reference.t, getattr(flown.reference, name)[:, axis], **REFERENCE)
        else:
            _mark_free(axes, flown, axis)
        if flown.real is not None:
            axes.plot(flown.real.t, getattr(flown.real, name)[:, axis], **REAL)
        axes.plot(flown.t, getattr(flown.simulated, name)[:, axis], zorder=1.9, **SIMULATED)
        axes.set_ylabel(f"{'xyz'[axis]} [m]" if column == 0 else f"{ANGLES[axis]} [deg]")
        _widen(axes, 0.05 if column == 0 else 1.0)
    _legend(figure, panels[0], flown.real is not None)
