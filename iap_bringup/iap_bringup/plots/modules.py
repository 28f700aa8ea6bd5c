# SPDX-License-Identifier: BSD-3-Clause
"""Plot of a flight of modules, after beatle's Figs. 8 to 13: states of joints, their wrenches, errors per axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plots.panels import limit_times
from iap_description.arrays import Array
from iap_io.plots.plot_style import AIRCRAFT, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = {  # of a joint's states; apart it has none
    "alignment": "#9ecae1",
    "approach": "#fdae6b",
    "assembly": "#a1d99b",
    "joined": "#d9d9d9",
    "separation": "#bcbddc",
    "emergency": "#fc9272",
}
ERRORS = ("x [mm]", "y [mm]", "z [mm]", "roll [mrad]", "pitch [mrad]", "yaw [mrad]")
SHOWN_QUANTILE = 0.99  # of the values of a panel, which sets its scale; a text has the largest
MOST_TIMES_USUAL = 3.0  # the median of alike panels' scales, which the one of all of them is
LEAST_ERROR = 1.0  # of the scale of errors, which is one for all axes [mm], [mrad]


def draw_modules(figure: Figure, columns: dict[str, Array]) -> None:
    """States of joints, forces and torques in them, and errors of modules from their own estimates, over time."""
    figure.set_size_inches(WIDTH, 6.6)
    figure.set_layout_engine("constrained")
    t, joints = columns["t"], [str(name) for name in columns["joints"]]
    modules = [f"module {i + 1}" for i in range(columns["errors"].shape[1])]
    grid = figure.add_gridspec(5, 2, height_ratios=[0.25 + 0.16 * len(joints), 1, 1, 1, 1])
    states = figure.add_subplot(grid[0, :])
    _states(states, columns, joints)
    panels = [
        [figure.add_subplot(grid[row, side], sharex=states) for side in (0, 1)]
        for row in range(1, 5)
    ]
    for panel, part, label in zip(
        panels[0],
        (slice(0, 3), slice(3, 6)),
        ("joint force [N]", "joint torque [N m]"),
        strict=True,
    ):
        _lines(
            panel, t, np.linalg.norm(columns["joint_wrenches"][..., part], axis=-1), joints, label
        )
    errors = 1e3 * columns["errors"]
    scales = [_scale(errors[..., axis]) for axis in range(len(ERRORS))]
    for axis, label in enumerate(ERRORS):
        panel, side = panels[1 + axis % 3][axis // 3], axis // 3
        alike = scales[3 * side : 3 * side + 3]
        usual = MOST_TIMES_USUAL * float(np.median(alike))
        scale = max(LEAST_ERROR, *(each for each in alike if each <= usual))
        _lines(panel, t, errors[..., axis], modules, f"error, {label}", scale)
    if len(t):
        limit_times(states, float(t[0]), float(t[-1]))
    for panel in panels[-1]:
        panel.set_xlabel("time [s]")
    for panel in (each for row in panels[:-1] for each in row):
        panel.tick_params(labelbottom=False)
    panels[1][0].legend(ncols=4, loc="upper right")
    if joints:
        panels[0][0].legend(ncols=4, loc="upper right")


def _scale(values: Array) -> float:
    """Largest value that is drawn of (T, n): those few that are far beyond all others are cut off."""
    if not values.size:
        return 1.0
    return 1.3 * max(float(np.quantile(np.abs(values), SHOWN_QUANTILE)), 1e-3)


def _lines(  # noqa: PLR0913, PLR0917
    panel: Any,  # noqa: ANN401
    t: Array,
    values: Array,
    names: list[str],
    label: str,
    scale: float | None = None,
) -> None:
    """Values (T, n) up to a scale, or their own; a text has the largest one that is beyond it."""
    for i, name in enumerate(names):
        panel.plot(t, values[:, i], color=AIRCRAFT[i], linewidth=0.8, label=name)
    panel.set_ylabel(label)
    if not values.size:
        return
    largest, most = np.abs(values).max(), _scale(values) if scale is None else scale
    panel.set_ylim(-most if values.min() < 0.0 else 0.0, most)
    if largest > most:
        panel.text(
            0.01, 0.95, f"up to {largest:.3g}", transform=panel.transAxes, va="top", fontsize=6
        )


def _states(panel: Any, columns: dict[str, Array], joints: list[str]) -> None:  # noqa: ANN401
    """A row of states for each joint."""
    t, named = columns["t"], set[str]()
    states = columns["state_names"][columns["states"].astype(int)]
    for row, of_joint in enumerate(states.T):
        for state, color in COLORS.items():
            edges = np.flatnonzero(np.diff(np.pad((of_joint == state).astype(int), 1)))
            pieces = [(t[a], t[min(b, len(t) - 1)] - t[a]) for a, b in edges.reshape(-1, 2)]
            if pieces:
                label = None if state in named else state
                panel.broken_barh(pieces, (row - 0.4, 0.8), color=color, label=label)
                named.add(state)
    panel.set_ylim(len(joints) - 0.4, -0.6)
    panel.set_yticks(range(len(joints)), joints)
    panel.grid(visible=False)
    if named:
        panel.legend(ncols=len(COLORS), loc="lower left", bbox_to_anchor=(0.0, 1.0))
