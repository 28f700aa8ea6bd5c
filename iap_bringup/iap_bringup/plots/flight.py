# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a run, laid out like iap_simulator Figs. 11-16.

One language throughout: the reference is black and dashed, the simulated flight blue, the real
flight orange; what a platform does not control is grey, and so is the time outside the scored
window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plots.flight_curves import ErrorCurves, FlightCurves
from iap_bringup.plots.panels import (
    ANGLES,
    beyond_text,
    grid,
    legend,
    length_unit,
    mark_free,
    mark_limit,
    name_faults,
    panel_legend,
    rmse_text,
    shade_unscored,
    shown_limit,
    title,
    widen,
)
from iap_bringup.plots.path_in_space import draw_path
from iap_description.vehicles.serial_chain import PRISMATIC, REVOLUTE
from iap_io.plots.plot_style import (
    AIRCRAFT,
    DIFFERENCE,
    LIMIT,
    REAL,
    REFERENCE,
    SIMULATED,
    WIDTH,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("joint", "speed", "effort")
TARGET = "commanded: coordinate, speed, torque on top of the servo's"
UNITS = {REVOLUTE: ("rad", "rad/s", "N m"), PRISMATIC: ("m", "m/s", "N")}  # of `COLUMNS`
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
    chain = flight.meta.arm_chain
    kinds = [REVOLUTE] * len(names) if chain is None else chain.kinds
    units = [UNITS[kind] for kind in kinds]
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
            unit = units[i][j]
            axes.set_ylabel(f"{name} {COLUMNS[j]}\n[{unit}]" if j else f"{name} [{unit}]")
            shade_unscored(axes, flight)
    for axes in panels[-1]:
        axes.set_xlabel("time [s]")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    figure.align_ylabels()


LEAST_POSITION, LEAST_ATTITUDE = 1e-3, 0.1  # largest errors that a panel at least shows [m], [deg]
LEAST_SPEED, LEAST_TILT = 0.1, 1.0  # that a panel at least shows [m/s], [deg]
WIDEST, NARROWEST = 1.9, 0.9  # of thrusts, so that those show that are alike [points]
LEAST_THRUST_SHARE = 0.2  # of the largest thrust, which the panel of the overview at least shows


def draw_path3d(figure: Figure, flight: FlightCurves) -> None:
    """The path in space."""
    figure.set_size_inches(5.4, 4.2)
    title(figure, flight)
    axes = draw_path(figure, flight, (0.02, 0.02, 0.98, 0.88))
    figure.legend(
        *axes.get_legend_handles_labels(), loc="upper left", ncols=5, bbox_to_anchor=(0.0, 0.945)
    )


def draw_pose(figure: Figure, flight: FlightCurves) -> None:
    """Position and attitude against the reference."""
    panels = grid(figure, flight)
    for i, axes in enumerate(panels):
        column, axis = divmod(i, 3)
        name = "position" if column == 0 else "angles"
        axes.plot(
            flight.t, getattr(flight.simulated, name)[:, axis], label="simulated", **SIMULATED
        )
        if flight.real is not None:
            values = getattr(flight.real, name)[:, axis]
            axes.plot(flight.real.t, values, label="recorded flight", **REAL)
        if flight.is_followed and (column == 0 or flight.meta.controlled[axis]):
            values = getattr(flight.reference, name)[:, axis]
            axes.plot(flight.reference.t, values, label="reference", **REFERENCE)
        elif flight.is_followed:
            mark_free(axes, flight, axis)
        axes.set_ylabel(f"{'xyz'[axis]} [m]" if column == 0 else f"{ANGLES[axis]} [deg]")
        widen(axes, 0.1 if column == 0 else 2.0)
    legend(figure, panels[0])


def draw_errors(figure: Figure, flight: FlightCurves) -> None:
    """Position and attitude errors against the reference, with their RMSE."""
    curves = [("simulated \u2212 reference", flight.error, SIMULATED)]
    if flight.real_error is not None:
        curves.insert(0, ("real \u2212 reference", flight.real_error, REAL))
    _draw_errors(figure, flight, curves)


def draw_difference(figure: Figure, flight: FlightCurves) -> None:
    """Simulated less real flight."""
    assert flight.difference is not None  # noqa: S101 - drawn in a replay of a known flight only
    _draw_errors(figure, flight, [("simulated \u2212 real", flight.difference, DIFFERENCE)])


def _draw_errors(
    figure: Figure, flight: FlightCurves, curves: list[tuple[str, ErrorCurves, dict[str, Any]]]
) -> None:
    scale, unit = length_unit([errors for _, errors, _ in curves])
    panels = grid(figure, flight)
    limits = (
        shown_limit(
            [(scale * e.position, e.inside) for _, e, _ in curves], scale * LEAST_POSITION
        ),
        shown_limit([(e.attitude, e.inside) for _, e, _ in curves], LEAST_ATTITUDE),
    )
    for i, axes in enumerate(panels):
        column, axis = divmod(i, 3)
        axes.axhline(0.0, color="0.3", linewidth=0.6)
        axes.set_ylim(-1.1 * limits[column], 1.1 * limits[column])
        name, axis_unit = ("xyz"[axis], unit) if column == 0 else (ANGLES[axis], "deg")
        axes.set_ylabel(f"{name} error [{axis_unit}]")
        if column == 1 and not flight.meta.controlled[axis]:
            mark_free(axes, flight, axis)
            axes.set_yticks([])
            continue
        for label, errors, style in curves:
            values = (scale * errors.position if column == 0 else errors.attitude)[:, axis]
            axes.plot(errors.t, values, label=label, **{**style, "linewidth": 0.9})
            rmse = (scale if column == 0 else 1.0) * errors.rmse()[column][axis]
            text = rmse_text(rmse, axis_unit) + beyond_text(values, limits[column], axis_unit)
            axes.plot([], [], label=text, **style)
    for axes in panels:
        if axes.lines[1:]:
            panel_legend(axes)
    legend(figure, panels[0])


def draw_thrusts(figure: Figure, flight: FlightCurves) -> None:
    """Thrust and tilt of every aircraft, with their limits."""
    figure.set_size_inches(WIDTH, 4.0)
    figure.set_layout_engine("constrained")
    title(figure, flight)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for i in range(flight.meta.count):
        style = {"color": AIRCRAFT[i % len(AIRCRAFT)], "linewidth": 0.9}
        upper.plot(flight.t, flight.thrust[:, i], label=f"aircraft {i + 1}", **style)
        lower.plot(flight.t, flight.tilt[:, i], **style)
    for limits in dict.fromkeys(flight.meta.limits):
        for limit, name in zip(limits.thrust, ("lower limit", "limit"), strict=True):
            mark_limit(upper, limit, f"{name} {limit:.3g} N")
    for most in {limits.tilt_max_deg for limits in flight.meta.limits}:
        mark_limit(lower, most, f"limit of commands {most:.3g} deg")
    upper.set_ylabel("thrust [N]")
    lower.set_ylabel("tilt [deg]")
    lower.set_xlabel("time [s]")
    for axes in (upper, lower):
        shade_unscored(axes, flight)
    name_faults(upper, flight)
    figure.align_ylabels()
    figure.legend(loc="outside lower center", ncols=min(flight.meta.count, 6))


def draw_overview(figure: Figure, flight: FlightCurves) -> None:
    """Path, errors and thrusts in one picture."""
    figure.set_size_inches(WIDTH, 3.5)
    title(figure, flight)
    path = draw_path(figure, flight, (0.01, 0.02, 0.52, 0.87))
    names = path.get_legend_handles_labels()
    figure.legend(*names, loc="upper left", ncols=5, bbox_to_anchor=(0.0, 0.955))
    rows = figure.add_gridspec(3, 1, left=0.625, right=0.985, top=0.965, bottom=0.115, hspace=0.16)
    panels = [figure.add_subplot(rows[i]) for i in range(3)]
    draw = _draw_error_panels if flight.is_followed else _draw_motion_panels
    labels = draw(panels[:2], flight)
    _draw_thrust_panel(panels[2], flight)
    for axes, label in zip(panels, (*labels, "thrust of each\naircraft [N]"), strict=True):
        axes.set_ylabel(label)
        shade_unscored(axes, flight)
        axes.tick_params(labelbottom=axes is panels[2])
    panels[2].set_xlabel("time [s]")
    name_faults(panels[2], flight)
    figure.align_ylabels(panels)


def _draw_error_panels(panels: Sequence[Axes], flight: FlightCurves) -> tuple[str, str]:
    """Sizes of the errors against the reference, with their RMSE; returns the panels' labels."""
    scale, unit = length_unit([flight.error])
    position, attitude = flight.error.rmse()
    curves = [
        (scale * flight.error.position, scale * np.sqrt(np.sum(position**2)), unit),
        (flight.error.attitude, np.sqrt(np.nansum(attitude**2)), "deg"),
    ]
    for axes, (values, rmse, name) in zip(panels, curves, strict=True):
        size = np.sqrt(np.nansum(values**2, axis=1))
        least = scale * LEAST_POSITION if axes is panels[0] else LEAST_ATTITUDE
        limit = shown_limit([(size, flight.error.inside)], least)
        label = rmse_text(rmse, name) + beyond_text(size, limit, name)
        axes.plot(flight.error.t, size, label=label, **SIMULATED)
        axes.set_ylim(0.0, 1.1 * limit)
        panel_legend(axes)
    return f"position\nerror [{unit}]", "attitude\nerror [deg]"


def _draw_motion_panels(panels: Sequence[Axes], flight: FlightCurves) -> tuple[str, str]:
    """Speed and tilt of a vehicle whose reference nobody follows; returns the panels' labels."""
    curves = ((flight.speed, LEAST_SPEED), (flight.tilt.max(axis=1), LEAST_TILT))
    for axes, (values, least) in zip(panels, curves, strict=True):
        axes.plot(flight.t, values, **SIMULATED)
        axes.set_ylim(0.0, 1.1 * max(float(np.nanmax(values, initial=0.0)), least))
    return "speed [m/s]", "largest\ntilt [deg]"


def _draw_thrust_panel(axes: Axes, flight: FlightCurves) -> None:
    """Thrusts of all aircraft with their numbers; a hundredth of the weight does not fill the panel."""
    count = flight.meta.count
    axes.plot([], [], label="aircraft", linestyle="none")  # begins the legend's row
    for i, width in enumerate(np.linspace(WIDEST if count > 1 else NARROWEST, NARROWEST, count)):
        color = AIRCRAFT[i % len(AIRCRAFT)]
        axes.plot(flight.t, flight.thrust[:, i], label=str(i + 1), color=color, linewidth=width)
    widen(axes, LEAST_THRUST_SHARE * float(np.nanmax(np.abs(flight.thrust), initial=1.0)))
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    if count > 1:
        axes.legend(
            loc="upper right",
            ncols=count + 1,
            borderaxespad=0.2,
            fontsize=6.0,
            handlelength=1.0,
            columnspacing=0.8,
        )
