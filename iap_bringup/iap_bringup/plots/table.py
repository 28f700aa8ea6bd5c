# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a run folder: a new one is a function that draws on a figure, and its line in `PLOTS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iap_bringup.plots.contact import draw_compared, draw_contact, draw_integrals, draw_wrench
from iap_bringup.plots.contact_sheet import write_contact_sheet
from iap_bringup.plots.flight import (
    draw_difference,
    draw_errors,
    draw_joints,
    draw_overview,
    draw_path3d,
    draw_pose,
    draw_thrusts,
)
from iap_bringup.plots.identified_flight import draw_path, draw_tracking, draw_velocities
from iap_bringup.plots.insertion import draw_insertion
from iap_bringup.plots.modules import draw_modules
from iap_bringup.plots.plot import (
    ARM,
    CAMERAS,
    COMPARED,
    CONTACT,
    FLIGHT,
    FOLLOWED,
    IDENTIFIED,
    INSERTION,
    INTEGRALS,
    MODULES,
    REAL_FLIGHT,
    ROTORS,
    WRENCHES,
    Plot,
    RenderedPlot,
)
from iap_bringup.plots.recorded_run import RecordedRun, TouchingVehicle
from iap_description.config.alternatives import alternatives
from iap_description.config.plugins import load_named
from iap_description.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "plots"  # of a run
SNAPSHOT = (960, 540)  # [pixels]
AnyPlot = Plot | RenderedPlot


def _draw_compared(figure: Figure, vehicle: TouchingVehicle) -> None:
    """Contact of this flight beside that of the flights it is compared with."""
    draw_compared(figure, vehicle.flight.title, vehicle.compared)


def _draw_insertion(figure: Figure, vehicle: TouchingVehicle) -> None:
    """The tool in its hole: depth, place and tilt."""
    assert vehicle.insertion is not None  # noqa: S101 - as the plot needs it
    draw_insertion(figure, vehicle.flight.title, vehicle.insertion)


def _write_first_contact(path: Path, vehicle: TouchingVehicle) -> None:
    """A rendered picture of the first contact."""
    _write_snapshot(path, vehicle, vehicle.contact.first_tick)


def _write_end(path: Path, vehicle: TouchingVehicle) -> None:
    """A rendered picture of the end."""
    _write_snapshot(path, vehicle, len(vehicle.contact.t) - 1)


def _write_cameras(path: Path, folder: Path) -> None:
    """Images of all cameras at one instant."""
    write_contact_sheet(folder, path)


def _write_snapshot(path: Path, vehicle: TouchingVehicle, tick: int) -> None:
    from iap_bringup.pictures.render import write_picture  # imports the engine's renderer

    run = vehicle.run
    write_picture(path, run.finite_data, run.scenario, tick, SNAPSHOT, of=vehicle.number)


FLIGHT_PLOTS: tuple[Plot, ...] = (
    Plot("overview", FLIGHT, draw_overview),
    Plot("path3d", FLIGHT, draw_path3d),
    Plot("pose", FLIGHT, draw_pose),
    Plot("errors", FOLLOWED, draw_errors),
    Plot("difference", REAL_FLIGHT, draw_difference),
    Plot("thrusts", ROTORS, draw_thrusts),
    Plot("joints", ARM, draw_joints),
    Plot("wrench", WRENCHES, draw_wrench),
    Plot("contact", WRENCHES, draw_contact),
    Plot("integrals", INTEGRALS, draw_integrals),
)
PLOTS: tuple[AnyPlot, ...] = (
    *FLIGHT_PLOTS,
    Plot("modules", MODULES, draw_modules),
    RenderedPlot("cameras", CAMERAS, _write_cameras),
    Plot("compared", COMPARED, _draw_compared),
    Plot("insertion", INSERTION, _draw_insertion),
    RenderedPlot("snapshot_contact", CONTACT, _write_first_contact),
    RenderedPlot("snapshot_end", CONTACT, _write_end),
    Plot("path", IDENTIFIED, draw_path),
    Plot("tracking", IDENTIFIED, draw_tracking),
    Plot("velocities", IDENTIFIED, draw_velocities),
)


def write_plots(
    run: RecordedRun,
    plots: Sequence[AnyPlot] = PLOTS,
    report: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Draw those plots whose needs a run has into its folder; of several vehicles each gets its own.

    Args:
        run: that is drawn.
        plots: that are drawn of it.
        report: called with what is drawn next, as "N of M: NAME".

    Returns:
        The files.

    Raises:
        BadInput: not a run folder.
        RecordingFailed: the disk is full or cannot be written.
    """
    needs = [(plot, end, content) for plot in plots for end, content in plot.needs.of(run).items()]
    paths = []
    for number, (plot, end, content) in enumerate(needs):
        report(f"{number} of {len(needs)}: drawing {plot.name}")
        path = run.folder / FOLDER / f"{plot.name}{end}.png"
        plot.write(path, content)
        paths.append(path)
    return paths


def write_named_plots(
    run: RecordedRun, names: Sequence[str], report: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Draw plots by their names, which may be ``module:PLOT`` of one's own, as `write_plots` does.

    Raises:
        BadInput: a name is unknown, or the run has not what a plot needs.
    """
    plots = [plot_named(name) for name in names]
    for plot in plots:
        if not plot.needs.of(run):
            raise BadInput(f"plot {plot.name}: {run.folder} has not {plot.needs.what}")
    return write_plots(run, plots, report)


def plot_named(name: str) -> AnyPlot:
    """A plot by its name, which may be ``module:PLOT``.

    Raises:
        BadInput: there is none.
    """
    known = {plot.name: plot for plot in PLOTS}
    if ":" not in name:
        if name not in known:
            raise BadInput(f"unknown plot '{name}': {alternatives(name, known)} (or module:PLOT)")
        return known[name]
    plot = load_named(name, key="plot")
    if not isinstance(plot, AnyPlot):
        raise BadInput(f"plot '{name}': is no iap_bringup.plots.plot.Plot")
    return plot
