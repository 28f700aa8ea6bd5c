# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a run, laid out like iap_simulator Figs. 11-16.

One language throughout: the reference is black and dashed, the simulated flight blue, the real
flight orange; what a platform does not control is grey, and so is the time outside the scored
window.

The plot of an arm's joints: coordinates against their targets, speeds and efforts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plots.flight_curves import ErrorCurves, FlightCurves
from iap_bringup.plots.panels import (
    ANGLES,
    RMSE,
    grid,
    legend,
    length_unit,
    mark_free,
    mark_limit,
    name_faults,
    panel_legend,
    shade_unscored,
    share_scale,
    title,
    widen,
)
from iap_description.arrays import Array
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


if TYPE_CHECKING:
    from matplotlib.figure import Figure


LEAST_POSITION, LEAST_ATTITUDE = 1e-3, 0.1  # largest errors that a panel at least shows [m], [deg]
LEAST_SPEED, LEAST_TILT = 0.1, 1.0  # that a panel at least shows [m/s], [deg]
LEAST_THRUST_SHARE = 0.2  # of the largest thrust, which the panel of the overview at least shows


def draw_path3d(figure: Figure, flight: FlightCurves) -> None:
    """The path in space."""
    figure.set_size_inches(5.4, 4.2)
    title(figure, flight)
    axes = figure.add_axes((0.0, 0.0, 0.96, 0.9), projection="3d")
    draw_path(axes, flight, zoom=1.15)
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
    for i, axes in enumerate(panels):
        column, axis = divmod(i, 3)
        axes.axhline(0.0, color="0.3", linewidth=0.6)
        name, axis_unit = ("xyz"[axis], unit) if column == 0 else (ANGLES[axis], "deg")
        axes.set_ylabel(f"{name} error [{axis_unit}]")
        if column == 1 and not flight.meta.controlled[axis]:
            mark_free(axes, flight, axis)
            axes.set_yticks([])
            continue
        for label, errors, style in curves:
            values = scale * errors.position if column == 0 else errors.attitude
            axes.plot(errors.t, values[:, axis], label=label, **{**style, "linewidth": 0.9})
            rmse = (scale if column == 0 else 1.0) * errors.rmse()[column][axis]
            axes.plot([], [], label=f"{RMSE} {rmse:.3g} {axis_unit}", **style)
    share_scale(panels[:3], scale * LEAST_POSITION)
    share_scale([each for each in panels[3:] if each.lines[1:]], LEAST_ATTITUDE)
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
    path = figure.add_axes((-0.005, -0.01, 0.54, 0.96), projection="3d")
    draw_path(path, flight, zoom=0.85)
    figure.legend(*path.get_legend_handles_labels(), loc="upper right", ncols=5)
    rows = figure.add_gridspec(3, 1, left=0.625, right=0.985, top=0.905, bottom=0.115, hspace=0.16)
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
        axes.plot(flight.error.t, size, label=f"{RMSE} {rmse:.3g} {name}", **SIMULATED)
        least = scale * LEAST_POSITION if axes is panels[0] else LEAST_ATTITUDE
        axes.set_ylim(0.0, 1.1 * max(size.max(initial=0.0), least))
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
    for i in range(count):
        color = AIRCRAFT[i % len(AIRCRAFT)]
        axes.plot(flight.t, flight.thrust[:, i], label=str(i + 1), color=color, linewidth=0.9)
    widen(axes, LEAST_THRUST_SHARE * float(np.nanmax(np.abs(flight.thrust), initial=1.0)))
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    if count > 1:
        axes.legend(
            loc="upper right",
            ncols=min(count, 6),
            borderaxespad=0.2,
            title="aircraft",
            title_fontsize=6.0,
            fontsize=6.0,
            handlelength=1.0,
            columnspacing=0.8,
            alignment="right",
        )


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D

SKETCHES = 9  # of the platform along the path
POINTS = 2000  # of a curve
ELEVATION_DEG, AZIMUTHS_DEG = 24.0, (-58.0, -32.0, -122.0, 58.0, 122.0)  # of views of a path
LEAST_NORMAL, MOST_LENGTH = 0.38, 0.8  # of a view's direction along a path's normal and length


def draw_path(axes: Axes3D, flight: FlightCurves, zoom: float = 1.0) -> None:
    """Reference, simulated and real path, and their shadow on the floor of the box."""
    low, high = _box(flight)
    floor = low[2]
    path = _thinned(flight.simulated.position)
    axes.plot(*path[:, :2].T, floor, color="0.82", linewidth=1.0)
    _sketch(axes, flight)
    axes.plot(*path.T, label="simulated", **SIMULATED)
    if flight.real is not None:
        axes.plot(*_thinned(flight.real.position).T, label="recorded flight", **REAL)
    if flight.is_followed:
        axes.plot(*_thinned(flight.reference.position).T, label="reference", **REFERENCE)
    for point, marker, label in ((path[0], "o", "start"), (path[-1], "s", "end")):
        face = "white" if label == "start" else "black"
        style = {"markerfacecolor": face, "markeredgecolor": "black", "markersize": 4.5}
        axes.plot(*point[:, None], marker, label=label, zorder=10, **style)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=zoom)
    _dress(axes)
    axes.view_init(elev=ELEVATION_DEG, azim=azimuth_deg(path))


def azimuth_deg(points: Array) -> float:
    """Azimuth of the view of a path (n, 3), neither along it nor edge-on to the plane that it lies in."""
    if len(points) < 2:
        return AZIMUTHS_DEG[0]
    _, axes = np.linalg.eigh(np.cov(points, rowvar=False))  # normal first, length last

    def faults(azimuth_deg: float) -> float:
        a, e = np.deg2rad((azimuth_deg, ELEVATION_DEG))
        view = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        normal, length = np.abs(view @ axes)[[0, 2]]
        return max(0.0, LEAST_NORMAL - normal) + max(0.0, length - MOST_LENGTH)

    return min(AZIMUTHS_DEG, key=faults)


def _box(flight: FlightCurves) -> tuple[Array, Array]:
    """Corners of the drawn box, at equal scale, no side thinner than a third of the longest."""
    clouds = [flight.frames.reshape(-1, 3)]
    if flight.is_followed:
        clouds.append(flight.reference.position)
    if flight.real is not None:
        clouds.append(flight.real.position)
    points = np.vstack(clouds)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    half = 1.04 * np.maximum(half, max(half.max() / 3.0, 0.1))
    return middle - half, middle + half


def _sketch(axes: Axes3D, flight: FlightCurves) -> None:
    """The platform as rods from the centre to its aircraft, a few times along the path."""
    if flight.frames.shape[1] == 1:
        return
    for i in np.linspace(0, len(flight.t) - 1, SKETCHES).round().astype(int):
        center, *aircraft = flight.frames[i]
        for position in aircraft:
            axes.plot(*np.column_stack([center, position]), color="0.55", linewidth=0.8)
        axes.plot(*np.array(aircraft).T, "o", color="0.4", markersize=2.4)


def _thinned(points: Array) -> Array:
    """At most `POINTS` of the points (K, 3), with the last one."""
    step = max(1, len(points) // POINTS)
    return np.vstack([points[:-1:step], points[-1:]])


def _dress(axes: Axes3D) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("x [m]", labelpad=-2)
    axes.set_ylabel("y [m]", labelpad=-2)
    axes.set_zlabel("z [m]", labelpad=-4)
    axes.tick_params(pad=-2)
    sides = [
        float(np.ptp(limits)) for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())
    ]
    for axis, side in zip((axes.xaxis, axes.yaxis, axes.zaxis), sides, strict=True):
        axis.set_pane_color((1.0, 1.0, 1.0, 1.0))
        axis.line.set_linewidth(0.5)
        axis.set_major_locator(MaxNLocator(max(2, round(5.0 * side / max(sides)))))
