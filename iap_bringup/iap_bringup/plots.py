# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a run, laid out like iap_simulator Figs. 11-14.

One language throughout: the reference is black and dashed, the simulated flight blue, the real
flight orange; what a platform does not control is grey, and so is the time outside the scored
window. Matplotlib is imported when the first figure is made; its global state is left alone.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plot_series import Errors, Flight, flight
from iap_bringup.plot_style import (
    AIRCRAFT,
    DIFFERENCE,
    DPI,
    FREE,
    LIMIT,
    OUTSIDE,
    REAL,
    REFERENCE,
    SIMULATED,
    STYLE,
    WIDTH,
)
from iap_bringup.plots_3d import draw_path
from iap_bringup.run_meta import COMPLETED
from iap_bringup.runfolder import RunData, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANGLES = ("roll", "pitch", "yaw")
RMSE = "RMSE"  # begins the labels that belong into their own panel
SMALL = 0.3  # position errors below this [m] are drawn in millimetres


def write_plots(
    folder: Path, run: RunData, metrics: Mapping[str, Any] | None = None
) -> list[Path]:
    """Draw a run; of several vehicles each gets its own set of files.

    Args:
        folder: where the pictures go; made if it is missing.
        run: the recording.
        metrics: metrics.json; an outcome other than `COMPLETED` is shown in the title.

    Returns:
        The files written.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    written = []
    outcome = (metrics or {}).get("outcome", COMPLETED)
    for vehicle in run.vehicles:
        flown = flight(run.meta, vehicle, outcome)
        if not len(flown.t):
            continue  # not one state was a number, as metrics.json says
        suffix = f"_{vehicle.meta.name}" if len(run.vehicles) > 1 else ""
        for name, draw in FIGURES.items():
            if name != "difference" or flown.difference is not None:
                path = folder / f"{name}{suffix}.png"
                write_file(path, _png(draw, flown))
                written.append(path)
    return written


def _png(draw: Callable[[Figure, Flight], None], flown: Flight) -> bytes:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        draw(figure, flown)
        image = io.BytesIO()
        figure.savefig(image, dpi=DPI, metadata={"Software": None})
    return image.getvalue()


def draw_path3d(figure: Figure, flown: Flight) -> None:
    """The path in space."""
    figure.set_size_inches(5.4, 4.2)
    _title(figure, flown)
    axes = figure.add_axes((0.0, 0.0, 0.96, 0.9), projection="3d")
    draw_path(axes, flown, zoom=1.15)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="upper left", ncols=5, bbox_to_anchor=(0.0, 0.945)
    )


def draw_pose(figure: Figure, flown: Flight) -> None:
    """Position and attitude against the reference."""
    panels = _grid(figure, flown)
    for i, axes in enumerate(panels):
        column, axis = divmod(i, 3)
        name = "position" if column == 0 else "angles"
        axes.plot(flown.t, getattr(flown.simulated, name)[:, axis], label="simulated", **SIMULATED)
        if flown.real is not None:
            values = getattr(flown.real, name)[:, axis]
            axes.plot(flown.real.t, values, label="real flight", **REAL)
        if column == 0 or flown.meta.controlled[axis]:
            values = getattr(flown.reference, name)[:, axis]
            axes.plot(flown.reference.t, values, label="reference", **REFERENCE)
        else:
            _mark_free(axes, flown, axis)
        axes.set_ylabel(f"{'xyz'[axis]} [m]" if column == 0 else f"{ANGLES[axis]} [deg]")
        _widen(axes, 0.1 if column == 0 else 2.0)
    _legend(figure, panels[0])


def draw_errors(figure: Figure, flown: Flight) -> None:
    """Position and attitude errors against the reference, with their RMSE."""
    curves = [("simulated \u2212 reference", flown.error, SIMULATED)]
    if flown.real_error is not None:
        curves.insert(0, ("real \u2212 reference", flown.real_error, REAL))
    _draw_errors(figure, flown, curves)


def draw_difference(figure: Figure, flown: Flight) -> None:
    """Simulated less real flight."""
    assert flown.difference is not None  # noqa: S101 - drawn in a replay of a known flight only
    _draw_errors(figure, flown, [("simulated \u2212 real", flown.difference, DIFFERENCE)])


def _draw_errors(
    figure: Figure, flown: Flight, curves: list[tuple[str, Errors, dict[str, Any]]]
) -> None:
    scale, unit = _length_unit([errors for _, errors, _ in curves])
    panels = _grid(figure, flown)
    for i, axes in enumerate(panels):
        column, axis = divmod(i, 3)
        axes.axhline(0.0, color="0.3", linewidth=0.6)
        name, own_unit = ("xyz"[axis], unit) if column == 0 else (ANGLES[axis], "deg")
        axes.set_ylabel(f"{name} error [{own_unit}]")
        if column == 1 and not flown.meta.controlled[axis]:
            _mark_free(axes, flown, axis)
            axes.set_yticks([])
            continue
        for label, errors, style in curves:
            values = scale * errors.position if column == 0 else errors.attitude
            axes.plot(errors.t, values[:, axis], label=label, **{**style, "linewidth": 0.9})
            rmse = (scale if column == 0 else 1.0) * errors.rmse()[column][axis]
            axes.plot([], [], label=f"{RMSE} {rmse:.3g} {own_unit}", **style)
        _widen(axes, 1e-3)
        _rmse_legend(axes)
    _legend(figure, panels[0])


def draw_thrusts(figure: Figure, flown: Flight) -> None:
    """Thrust and tilt of every aircraft, with their limits."""
    figure.set_size_inches(WIDTH, 4.0)
    figure.set_layout_engine("constrained")
    _title(figure, flown)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for i in range(flown.meta.count):
        style = {"color": AIRCRAFT[i % len(AIRCRAFT)], "linewidth": 0.9}
        upper.plot(flown.t, flown.thrust[:, i], label=f"aircraft {i + 1}", **style)
        lower.plot(flown.t, flown.tilt[:, i], **style)
    for limit, name in zip(flown.meta.thrust_limits, ("smallest", "largest"), strict=True):
        _mark_limit(upper, limit, f"{name} {limit:.3g} N")
    _mark_limit(
        lower, flown.meta.tilt_max_deg, f"largest command {flown.meta.tilt_max_deg:.3g} deg"
    )
    upper.set_ylabel("thrust [N]")
    lower.set_ylabel("tilt [deg]")
    lower.set_xlabel("time [s]")
    for axes in (upper, lower):
        _shade(axes, flown)
    figure.align_ylabels()
    figure.legend(loc="outside lower center", ncols=min(flown.meta.count, 6))


def draw_overview(figure: Figure, flown: Flight) -> None:
    """Path, errors and thrusts in one picture."""
    figure.set_size_inches(WIDTH, 3.9)
    _title(figure, flown)
    path = figure.add_axes((-0.015, 0.02, 0.5, 0.9), projection="3d")
    draw_path(path, flown, zoom=0.9)
    figure.legend(*path.get_legend_handles_labels(), loc="upper right", ncols=5)
    grid = figure.add_gridspec(3, 1, left=0.615, right=0.985, top=0.91, bottom=0.105, hspace=0.16)
    panels = [figure.add_subplot(grid[i]) for i in range(3)]
    scale, unit = _length_unit([flown.error])
    position, attitude = flown.error.rmse()
    curves = [
        (scale * flown.error.position, scale * np.sqrt(np.sum(position**2)), unit),
        (flown.error.attitude, np.sqrt(np.nansum(attitude**2)), "deg"),
    ]
    for axes, (values, rmse, name) in zip(panels, curves, strict=False):
        size = np.sqrt(np.nansum(values**2, axis=1))
        axes.plot(flown.error.t, size, label=f"{RMSE} {rmse:.3g} {name}", **SIMULATED)
        axes.set_ylim(0.0, 1.35 * max(size.max(initial=0.0), 1e-3))
        _rmse_legend(axes)
    for i in range(flown.meta.count):
        panels[2].plot(
            flown.t, flown.thrust[:, i], color=AIRCRAFT[i % len(AIRCRAFT)], linewidth=0.9
        )
    labels = (f"position\nerror [{unit}]", "attitude\nerror [deg]", "thrust of each\naircraft [N]")
    for axes, label in zip(panels, labels, strict=True):
        axes.set_ylabel(label)
        _shade(axes, flown)
        axes.tick_params(labelbottom=axes is panels[2])
    panels[2].set_xlabel("time [s]")
    figure.align_ylabels(panels)


FIGURES: dict[str, Callable[[Figure, Flight], None]] = {
    "overview": draw_overview,
    "path3d": draw_path3d,
    "pose": draw_pose,
    "errors": draw_errors,
    "difference": draw_difference,
    "thrusts": draw_thrusts,
}


def _grid(figure: Figure, flown: Flight) -> list[Axes]:
    """Panels x, y, z, roll, pitch, yaw in two columns, with a shared time axis."""
    figure.set_size_inches(WIDTH, 4.6)
    figure.set_layout_engine("constrained")
    _title(figure, flown)
    panels = figure.subplots(3, 2, sharex=True)
    for axes in panels[2]:
        axes.set_xlabel("time [s]")
    for axes in panels.flat:
        _shade(axes, flown)
    figure.align_ylabels(panels[:, 0])
    figure.align_ylabels(panels[:, 1])
    return list(panels.T.flat)


def _title(figure: Figure, flown: Flight) -> None:
    """At the left, so that a legend fits beside it."""
    figure.suptitle(flown.title, x=0.01, ha="left", fontweight="bold")


def _shade(axes: Axes, flown: Flight) -> None:
    """Grey out the time that is not scored."""
    first, last = float(flown.t[0]), max(float(flown.t[-1]), float(flown.t[0]) + 1e-3)
    axes.set_xlim(first, last)
    start, stop = flown.window
    for begin, end in ((first, min(start, last)), (max(stop, first), last)):
        if end > begin:
            axes.axvspan(begin, end, **OUTSIDE)


def _mark_free(axes: Axes, flown: Flight, axis: int) -> None:
    """Say that an angle is not controlled."""
    reason = "free" if flown.meta.free_axis == axis else "follows from the thrust"
    axes.set_facecolor(FREE)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.2 * (high - low))
    text = f"{ANGLES[axis]} is {reason}" if reason == "free" else f"{ANGLES[axis]} {reason}"
    axes.text(0.5, 0.95, text, transform=axes.transAxes, ha="center", va="top", color="0.35")


def _mark_limit(axes: Axes, value: float, label: str) -> None:
    """Draw a limit if it is near the curves, and name it at the edge otherwise."""
    low, high = axes.get_ylim()
    near = low - 1.0 * (high - low) <= value <= high + 1.0 * (high - low)
    if near:
        axes.axhline(value, **LIMIT)
    position = (0.995, value) if near else (0.995, high if value > high else low)
    below = value > 0.5 * (low + high)
    offset = (0, -3 if below and not near else 3 if not below else 2)
    axes.annotate(
        label + ("" if near else " (off scale)"),
        position,
        xycoords=axes.get_yaxis_transform(),
        xytext=offset,
        textcoords="offset points",
        ha="right",
        va="top" if below and not near else "bottom",
        color=LIMIT["color"],
        fontsize=7.0,
        bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0.0, "pad": 1.0},
    )


def _widen(axes: Axes, least: float) -> None:
    """Keep a constant from filling its panel with rounding noise."""
    low, high = axes.get_ylim()
    if high - low < least:
        middle = 0.5 * (low + high)
        axes.set_ylim(middle - 0.5 * least, middle + 0.5 * least)


def _length_unit(errors: list[Errors]) -> tuple[float, str]:
    largest = max((np.abs(e.position).max(initial=0.0) for e in errors), default=0.0)
    return (1e3, "mm") if largest < SMALL else (1.0, "m")


def _legend(figure: Figure, axes: Axes) -> None:
    """One legend for the whole figure, beside the title."""
    handles, labels = axes.get_legend_handles_labels()
    chosen = [(h, n) for h, n in zip(handles, labels, strict=True) if not n.startswith(RMSE)]
    figure.legend(*zip(*chosen, strict=True), loc="outside upper right", ncols=len(chosen))


def _rmse_legend(axes: Axes) -> None:
    """The RMSE of each curve, inside the panel and above the curves."""
    handles, labels = axes.get_legend_handles_labels()
    own = [(h, n) for h, n in zip(handles, labels, strict=True) if n.startswith(RMSE)]
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    axes.legend(*zip(*own, strict=True), loc="upper right", ncols=2, borderaxespad=0.2)
