# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches of a flight in contact and how its pose yields, laid out like iap_simulator Figs. 15 and 16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.contact_curves import ContactCurves
from iap_bringup.plots.flight_curves import FlightCurves
from iap_bringup.plots.panels import (
    ANGLES,
    END,
    LAST,
    RMSE,
    grid,
    legend,
    limit_times,
    mark,
    mark_free,
    number,
    panel_legend,
    shade_unjudged,
)
from iap_description.arrays import Array
from iap_description.signals import ForceMode
from iap_io.plots.plot_style import (
    AIRCRAFT,
    BALANCING,
    ESTIMATED,
    RAW,
    REAL,
    REFERENCE,
    SIMULATED,
    WIDTH,
)
from iap_simulation.metrics.measured_wrench import wrenches_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = ("x", "y", "z", *ANGLES)
SYMBOLS = ("$f_x$", "$f_y$", "$f_z$", r"$\tau_x$", r"$\tau_y$", r"$\tau_z$")
UNITS = ("N", "N m")
LEAST_WRENCH = (0.4, 0.1)  # heights of panels of forces [N] and torques [N m] ...
LEAST_POSE = (0.005, 0.5)  # ... and of positions [m] and angles [deg], ...
SHARE = 0.2  # ... and all relative to the tallest of their column
HEADROOM = 1.12  # of the axis over the largest of the compared forces
MARGIN = 0.08  # above and below the curves
MILLIMETRES_BELOW = 1.0  # [m]
MIN_RMSE = 1e-4  # an RMSE below this, in its panel's unit, is shown as 0


def draw_wrench(figure: Figure, flight: FlightCurves) -> None:
    """Forces and torques of the environment on the platform, against what is asked for."""
    contact = _contact(flight)
    panels = grid(figure, flight, shade_unjudged)
    curves = [contact.filtered, contact.desired, contact.estimated]
    measured = contact.measured
    if measured is not None:
        curves.append(wrenches_at(contact.t, measured.t, measured.wrenches))
    ends = _limits(np.stack(curves), contact, LEAST_WRENCH)
    rmse = contact.rmse(contact.filtered - contact.desired)
    for i, axes in enumerate(panels):
        axes.plot(contact.t, contact.raw[:, i], label="raw", **RAW)
        axes.plot(contact.t, contact.estimated[:, i], label="estimated", **ESTIMATED)
        axes.plot(contact.t, contact.filtered[:, i], label="filtered", **SIMULATED)
        if contact.mode != ForceMode.NONE:
            axes.plot(contact.t, contact.desired[:, i], label="desired", **REFERENCE)
        if measured is not None:
            axes.plot(measured.t, measured.wrenches[:, i], label="measured", **REAL)
        axes.set_ylim(*ends[i])
        axes.set_ylabel(f"{SYMBOLS[i]} [{UNITS[i // 3]}]")
        _label_rmse(axes, rmse[i], UNITS[i // 3])
    legend(figure, panels[0])


def draw_contact(figure: Figure, flight: FlightCurves) -> None:
    """Deviations of the pose, and of the command as revised, from the command as given."""
    contact = _contact(flight)
    curves = [(contact.deviation, "simulated \u2212 command", SIMULATED)]
    if contact.yielded is not None:
        curves.append((contact.yielded, "revised \u2212 given command", REFERENCE))
    values = np.stack([curve for curve, _, _ in curves])
    largest = np.nanmax(np.abs(values[:, contact.shown, :3]), initial=0.0)
    scale, unit = (1e3, "mm") if largest < MILLIMETRES_BELOW else (1.0, "m")
    scales = np.repeat([scale, 1.0], 3)
    ends = scales[:, None] * _limits(values, contact, LEAST_POSE)
    rmse = scales * contact.rmse(contact.deviation)
    panels = grid(figure, flight, shade_unjudged)
    for i, axes in enumerate(panels):
        axis_unit = unit if i < 3 else "deg"
        axes.axhline(0.0, color="0.3", linewidth=0.6)
        axes.set_ylabel(
            f"{NAMES[i]} deviation\n{f'in {contact.frame} ' if i < 3 else ''}[{axis_unit}]"
        )
        if i >= 3 and not flight.meta.controlled[i - 3]:
            mark_free(axes, flight, i - 3)
            axes.set_yticks([])
            continue
        for curve, label, style in curves:
            axes.plot(contact.t, scales[i] * curve[:, i], label=label, **style)
        axes.set_ylim(*ends[i])
        if contact.by_wrench[i]:
            mark(axes, f"{NAMES[i]} is left to the wrench")
        elif contact.yielded is not None:
            _label_steady(axes, contact, scales[i] * contact.yielded[:, i], axis_unit)
        else:
            _label_rmse(axes, rmse[i], axis_unit)
    legend(figure, panels[0])


def draw_integrals(figure: Figure, flight: FlightCurves) -> None:
    """The compromise of pose and wrench: where one integral ends against the other's negative."""
    contact = _contact(flight)
    panels = grid(figure, flight, shade_unjudged)
    values = np.stack([contact.integrals[:, 0], -contact.integrals[:, 1]])
    ends = _limits(values, contact, LEAST_WRENCH)
    labels = "integral of the pose error", "\u2212 integral of the wrench error"
    for i, axes in enumerate(panels):
        unit = UNITS[i // 3]
        for curve, label, style in zip(values, labels, (SIMULATED, BALANCING), strict=True):
            axes.plot(contact.t, curve[:, i], label=label, **style)
            axes.plot([], [], label=f"{END} {number(curve[-1, i], 2)} {unit}", **style)
        axes.set_ylabel(f"share of {SYMBOLS[i]} [{unit}]")
        axes.set_ylim(*ends[i])
        panel_legend(axes)
    legend(figure, panels[0])


def draw_compared(figure: Figure, title: str, flights: Mapping[str, ContactCurves]) -> None:
    """Size of the filtered contact force, the flight itself first, with peaks and last seconds."""
    figure.set_size_inches(WIDTH, 2.5)
    figure.set_layout_engine("constrained")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    axes = figure.subplots()
    colors = (SIMULATED["color"], *AIRCRAFT)
    largest = 0.0
    for k, ((name, contact), color) in enumerate(zip(flights.items(), colors, strict=False)):
        force = np.linalg.norm(contact.filtered[:, :3], axis=1)
        steady = force[contact.steady].mean()
        figures = f"peak {force.max():.1f} N, last {contact.steady_s:.3g} s {steady:.1f} N"
        style = {**SIMULATED, "color": color, "zorder": 3.0 - 0.1 * k}
        axes.plot(contact.t, force, label=f"{name}: {figures}", **style)
        largest = max(largest, float(force.max()))
    contacts = flights.values()
    limit_times(axes, min(c.start for c in contacts), max(float(c.t[-1]) for c in contacts))
    axes.set_ylim(0.0, HEADROOM * max(largest, 0.1))
    axes.set(xlabel="time [s]", ylabel="contact force, filtered [N]")
    figure.legend(loc="outside lower center", ncols=2)


def _contact(flight: FlightCurves) -> ContactCurves:
    assert flight.contact is not None  # noqa: S101 - drawn for flights with contact only
    return flight.contact


def _limits(curves: Array, contact: ContactCurves, least: tuple[float, float]) -> Array:
    """Ends (6, 2) of panels that hold curves (n, K, 6), in two columns with a least height each."""
    shown = curves[:, contact.shown]
    low = np.nanmin(shown, axis=(0, 1), initial=0.0)
    high = np.nanmax(shown, axis=(0, 1), initial=0.0)
    tallest = np.repeat([(high - low)[:3].max(), (high - low)[3:].max()], 3)
    height = np.maximum(np.maximum(high - low, SHARE * tallest), np.repeat(least, 3))
    middle, half = 0.5 * (low + high), (0.5 + MARGIN) * height
    return np.stack([middle - half, middle + half], axis=-1)


def _label_rmse(axes: Axes, rmse: float, unit: str) -> None:
    if np.isfinite(rmse):
        text = f"{rmse:.3g}" if rmse >= MIN_RMSE else "0"
        axes.plot([], [], label=f"{RMSE} {text} {unit}", **SIMULATED)
        panel_legend(axes)


def _label_steady(axes: Axes, contact: ContactCurves, values: Array, unit: str) -> None:
    """Settled value of the revised command, as mean and standard deviation."""
    settled_values = values[contact.steady]
    digits = 1 if unit == "mm" else 2
    settled = f"{number(settled_values.mean(), digits)} \u00b1 {number(settled_values.std(), digits)} {unit}"
    axes.plot([], [], label=f"{LAST} {contact.steady_s:.3g} s: {settled}", **REFERENCE)
    panel_legend(axes)
