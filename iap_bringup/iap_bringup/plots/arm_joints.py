# SPDX-License-Identifier: BSD-3-Clause
"""The plot of an arm's joints: coordinates against their targets, speeds and efforts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iap_bringup.plots.flight_curves import FlightCurves
from iap_bringup.plots.panels import shade_unscored, title, widen
from iap_io.plots.plot_style import LIMIT, REFERENCE, SIMULATED, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("joint", "speed", "effort")
TARGET = "told: coordinate, speed, torque on top of the servo's"
MIN_RANGE = (0.02, 0.05, 0.01)  # range of a panel
HEIGHT = 1.25  # of a joint's row of panels [in]


def draw_joints(figure: Figure, flight: FlightCurves) -> None:
    """A row for each joint: coordinate and speed against what its motor is told, and the motor's effort."""
    arm = flight.arm
    names = [each.removeprefix("arm_") for each in flight.meta.arm_joints]
    assert arm is not None  # noqa: S101 - drawn of vehicles with an arm only
    figure.set_size_inches(WIDTH, 0.9 + HEIGHT * len(names))
    figure.set_layout_engine("constrained")
    title(figure, flight)
    panels = figure.subplots(len(names), len(COLUMNS), sharex=True, squeeze=False)
    for i, name in enumerate(names):
        values = (arm.q, arm.v, arm.efforts)
        for j, axes in enumerate(panels[i]):
            axes.plot(flight.t, values[j][:, i], label="simulated", **SIMULATED)
            axes.plot(flight.t, arm.target[:, j, i], label=TARGET, **REFERENCE)
            widen(axes, MIN_RANGE[j])
            low, high = axes.get_ylim()
            for limit in flight.meta.arm_limits[i] if j == 0 else ():
                if low < limit < high:
                    axes.axhline(limit, **LIMIT)
            unit = ("rad, m", "rad/s, m/s", "N m, N")[j]
            axes.set_ylabel(f"{name} {COLUMNS[j]}\n[{unit}]" if j else f"{name} [{unit}]")
            shade_unscored(axes, flight)
    for axes in panels[-1]:
        axes.set_xlabel("time [s]")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    figure.align_ylabels()
