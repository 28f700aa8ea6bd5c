# SPDX-License-Identifier: BSD-3-Clause
"""Panels, legends and marks that the plots share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.flight_curves import ErrorCurves, FlightCurves
from iap_description.arrays import Array, Booleans
from iap_io.plots.plot_style import FAULT, FREE, LIMIT, OUTSIDE, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANGLES = ("roll", "pitch", "yaw")
RMSE, LAST, END = "RMSE", "last", "ends at"
PANEL_LABELS = (RMSE, LAST, END)  # begin the labels that belong into their own panel
ABOVE, BELOW = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"  # where a limit lies that is not drawn
MOST_BEYOND = 3.0  # that errors outside the scored window may be of those within it, and are drawn
LEAST_RMSE = 0.001  # that is written out, of any unit
SHORTEST = 1e-3  # time that panels show [s]
MILLIMETRE_LIMIT = 0.3  # position errors below this [m] are drawn in millimetres


def grid(
    figure: Figure, flight: FlightCurves, shade: Callable[[Axes, FlightCurves], None] | None = None
) -> list[Axes]:
    """Panels x, y, z, roll, pitch, yaw in two columns, with a shared time axis.

    Args:
        figure: an empty one.
        flight: the flight.
        shade: greys out what does not count and sets the time axis; `shade_unscored` by default.
    """
    figure.set_size_inches(WIDTH, 4.6)
    figure.set_layout_engine("constrained")
    title(figure, flight)
    panels = figure.subplots(3, 2, sharex=True)
    for axes in panels[2]:
        axes.set_xlabel("time [s]")
    for axes in panels.flat:
        (shade or shade_unscored)(axes, flight)
    name_faults(panels[0, 0], flight)
    figure.align_ylabels(panels[:, 0])
    figure.align_ylabels(panels[:, 1])
    return list(panels.T.flat)


def title(figure: Figure, flight: FlightCurves) -> None:
    """At the left, so that a legend fits beside it."""
    figure.suptitle(flight.title, x=0.01, ha="left", fontweight="bold")


def limit_times(axes: Axes, first: float, last: float) -> float:
    """Show the times from the first to the last [s], or a little more of one instant; the last that is shown."""
    last = max(last, first + SHORTEST)
    axes.set_xlim(first, last)
    return last


def shade_unscored(axes: Axes, flight: FlightCurves) -> None:
    """Grey out the time that is not scored."""
    first = float(flight.t[0])
    last = limit_times(axes, first, float(flight.t[-1]))
    start, stop = flight.window
    for begin, end in ((first, min(start, last)), (max(stop, first), last)):
        if end > begin:
            axes.axvspan(begin, end, **OUTSIDE)
    _mark_faults(axes, flight)


def shade_unjudged(axes: Axes, flight: FlightCurves) -> None:
    """Grey out the time in which contact is not judged; the time axis begins where it matters."""
    contact = flight.contact
    assert contact is not None  # noqa: S101 - drawn for flights with contact only
    last = limit_times(axes, contact.start, float(contact.t[-1]))
    edges = np.flatnonzero(np.diff(contact.judged.astype(int), prepend=1, append=1))
    times = np.append(contact.t, last)
    for begin, end in zip(times[edges[::2]], times[edges[1::2]], strict=True):
        if end > contact.start:
            axes.axvspan(max(begin, contact.start), end, **OUTSIDE)
    _mark_faults(axes, flight)


def _mark_faults(axes: Axes, flight: FlightCurves) -> None:
    """Draw a line where a fault strikes, and where one ends."""
    first, last = axes.get_xlim()
    times = {t for fault in flight.meta.faults for t in (fault.at, fault.until)}
    for t in sorted(t for t in times if first <= t <= last):
        axes.axvline(t, **FAULT)


def name_faults(axes: Axes, flight: FlightCurves) -> None:
    """Write beside the lines what strikes."""
    first, last = axes.get_xlim()
    for t in sorted({fault.at for fault in flight.meta.faults if first <= fault.at <= last}):
        text = "\n".join(str(fault) for fault in flight.meta.faults if fault.at == t)
        is_late = t > 0.5 * (first + last)
        axes.annotate(
            text,
            (t, 0.04),
            xycoords=axes.get_xaxis_transform(),
            xytext=(-3 if is_late else 3, 0),
            textcoords="offset points",
            ha="right" if is_late else "left",
            va="bottom",
            color=FAULT["color"],
            fontsize=6.0,
            zorder=5.0,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0.0, "pad": 0.8},
        )


def mark_free(axes: Axes, flight: FlightCurves, axis: int) -> None:
    """Say that an angle is not controlled."""
    is_free = flight.meta.free_axis == axis
    mark(axes, f"{ANGLES[axis]} {'is free' if is_free else 'follows from the thrust'}")


def mark(axes: Axes, text: str) -> None:
    """Grey out a panel and say why, above the curves."""
    axes.set_facecolor(FREE)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.2 * (high - low))
    axes.text(0.5, 0.95, text, transform=axes.transAxes, ha="center", va="top", color="0.35")


def mark_limit(axes: Axes, value: float, label: str) -> None:
    """Draw a limit if it is near the curves; else name it at the edge, with an arrow to where it lies."""
    low, high = axes.get_ylim()
    near = low - 1.0 * (high - low) <= value <= high + 1.0 * (high - low)
    if near:
        axes.axhline(value, **LIMIT)
    position = (0.995, value) if near else (0.995, high if value > high else low)
    below = value > 0.5 * (low + high)
    offset = (0, -3 if below and not near else 3 if not below else 2)
    axes.annotate(
        label if near else f"{label} {ABOVE if value > high else BELOW}",
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


def rmse_text(value: float, unit: str) -> str:
    """A root mean square error with its unit; below what a plot shows it is not told."""
    return (
        f"{RMSE} {value:.3g} {unit}" if not value < LEAST_RMSE else f"{RMSE} < {LEAST_RMSE} {unit}"
    )


def widen(axes: Axes, least: float) -> None:
    """Keep a constant from filling its panel with rounding noise."""
    low, high = axes.get_ylim()
    if high - low < least:
        middle = 0.5 * (low + high)
        axes.set_ylim(middle - 0.5 * least, middle + 0.5 * least)


def shown_limit(curves: Sequence[tuple[Array, Booleans]], least: float) -> float:
    """Largest size of errors that panels of equal meaning show.

    Errors outside the scored window are cut where they would flatten those within it.

    Args:
        curves: errors (K,) or (K, n), and which of their rows lie in the window; NaN counts as none.
        least: what a panel shows at least.
    """
    scored = max(least, *(_largest(values[inside]) for values, inside in curves))
    largest = max(least, *(_largest(values) for values, _ in curves))
    is_cut = largest > MOST_BEYOND * scored and all(inside.any() for _, inside in curves)
    return scored if is_cut else largest


def beyond_text(values: Array, limit: float, unit: str) -> str:
    """Note on the largest error beyond what is shown; empty where all are shown."""
    largest = _largest(values)
    return f", in grey up to {largest:.3g} {unit}" if largest > limit else ""


def _largest(values: Array) -> float:
    return float(np.nanmax(np.abs(values), initial=0.0))


def length_unit(errors: list[ErrorCurves]) -> tuple[float, str]:
    """Scale and name of the unit in which position errors [m] are drawn."""
    largest = max((np.abs(e.position).max(initial=0.0) for e in errors), default=0.0)
    return (1e3, "mm") if largest < MILLIMETRE_LIMIT else (1.0, "m")


def legend(figure: Figure, axes: Axes) -> None:
    """One legend for the whole figure, beside the title."""
    handles, labels = axes.get_legend_handles_labels()
    shared = [
        (h, n) for h, n in zip(handles, labels, strict=True) if not n.startswith(PANEL_LABELS)
    ]
    figure.legend(*zip(*shared, strict=True), loc="outside upper right", ncols=len(shared))


def panel_legend(axes: Axes) -> None:
    """Figures of the panel's curves, inside it and above the curves."""
    handles, labels = axes.get_legend_handles_labels()
    inside = [(h, n) for h, n in zip(handles, labels, strict=True) if n.startswith(PANEL_LABELS)]
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    drawn = axes.legend(*zip(*inside, strict=True), loc="upper right", ncols=2, borderaxespad=0.2)
    drawn.set_frame_on(True)  # a curve that leaves the panel passes behind it
    drawn.get_frame().set(facecolor="white", alpha=0.75, linewidth=0.0)


def number(value: float, digits: int) -> str:
    """Fixed digits, never minus zero, and the sign as the axes print it."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "\u2212")
