# SPDX-License-Identifier: BSD-3-Clause
"""Plot of a flight of modules, after beatle's Figs. 8 to 13: joints' wrenches, errors, and states as bands."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_description.arrays import Array
from iap_io.plots.plot_style import AIRCRAFT, WIDTH, write_plot
from iap_simulation.modules.record import FILE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDS = {  # of states on the way
    "alignment": "#dcecf7",
    "approach": "#fbe8c8",
    "assembly": "#d9f0d9",
    "separation": "#ece0f2",
    "emergency": "#f7d4d4",
}


def draw_modules_run(folder: Path) -> list[Path]:
    """Draw the plot of a run's folder into its folder ``plots``; nothing where no modules flew.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    if not (folder / FILE).is_file():
        return []
    with np.load(folder / FILE) as file:
        columns = {name: file[name] for name in file.files}
    return [write_plot(folder / "plots" / "modules.png", partial(draw_modules, columns=columns))]


def draw_modules(figure: Figure, columns: dict[str, Array]) -> None:
    """Forces and torques in joints, and errors of modules from their own estimates, over time."""
    figure.set_size_inches(WIDTH, 6.0)
    figure.set_layout_engine("constrained")
    panels = figure.subplots(4, 1, sharex=True)
    t, names = columns["t"], [str(name) for name in columns["joints"]]
    modules = [f"module {i + 1}" for i in range(columns["errors"].shape[1])]
    _lines(panels[0], t, columns["joint_wrenches"][..., :3], names, "joint force (N)")
    _lines(panels[1], t, columns["joint_wrenches"][..., 3:], names, "joint torque (N m)")
    _lines(panels[2], t, 1e3 * columns["errors"][..., :3], modules, "position error (mm)")
    _lines(panels[3], t, 1e3 * columns["errors"][..., 3:], modules, "attitude error (mrad)")
    for panel in panels:
        _bands(panel, columns)
    bands = [patch for patch in panels[0].patches if patch.get_label() in BANDS]
    if bands:
        figure.legend(handles=bands, loc="outside upper center", ncols=len(BANDS))
    panels[-1].set_xlabel("time (s)")


def _lines(panel: Any, t: Array, vectors: Array, names: list[str], label: str) -> None:  # noqa: ANN401
    """Norms of vectors (T, n, 3), up to what all but a hundredth of them reach."""
    sizes = np.linalg.norm(vectors, axis=-1)
    for i, name in enumerate(names):
        panel.plot(t, sizes[:, i], color=AIRCRAFT[i], linewidth=0.8, label=name)
    if sizes.size and sizes.max() > 0.0:
        panel.set_ylim(0.0, 1.3 * max(np.quantile(sizes, 0.99), 1e-3))
        panel.legend(ncols=4, loc="upper right")
    panel.set_ylabel(label)


def _bands(panel: Any, columns: dict[str, Array]) -> None:  # noqa: ANN401
    """The times at which a joint is on its way."""
    t, named = columns["t"], set[str]()
    states = columns["state_names"][columns["states"].astype(int)]
    for of_joint in states.T:
        for state in BANDS:
            edges = np.flatnonzero(np.diff(np.pad((of_joint == state).astype(int), 1)))
            for start, stop in edges.reshape(-1, 2):
                label = None if state in named else state
                end = t[min(stop, len(t) - 1)]
                panel.axvspan(t[start], end, color=BANDS[state], zorder=0.2, label=label)
                named.add(state)
