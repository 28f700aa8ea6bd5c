# SPDX-License-Identifier: BSD-3-Clause
"""All pictures of a run folder: its plots and, where there was contact, sections and snapshots."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from iap_bringup.plots.contact import draw_compared
from iap_bringup.plots.contact_curves import Contact
from iap_bringup.plots.contact_sheet import write_contact_sheet
from iap_bringup.plots.flight import DRAWN, write_plots
from iap_bringup.plots.flight_curves import flight
from iap_bringup.plots.hole_outlines import Insertion, insertion
from iap_bringup.plots.insertion import draw_insertion
from iap_bringup.plots.modules import draw_modules_run
from iap_description.config.plain_yaml import read_yaml
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_io.plots.plot_style import write_plot
from iap_io.runs.run_folder import COMPARED, CONFIG, METRICS, RunData, load_run, read_metrics
from iap_io.runs.run_meta import COMPLETED
from iap_simulation.metrics.errors import finite
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.scenario import Scenario

SNAPSHOT = (960, 540)  # [pixels]


def draw_run(folder: Path) -> list[Path]:
    """Draw all pictures of a run into its folder ``plots``; returns the files.

    A snapshot takes some seconds; flights without contact have none.

    Raises:
        BadInput: not a run folder.
        RecordingFailed: the disk is full or cannot be written.
    """
    run, plots = load_run(folder, at_most=DRAWN), folder / "plots"
    was_judged = (folder / METRICS).exists()  # unless it was killed
    metrics = read_metrics(folder) if was_judged else {}
    written = [*write_plots(plots, run, metrics), *draw_modules_run(folder)]
    if any(isinstance(sensor, CameraSensorInfo) for sensor in run.meta.sensors):
        written.append(write_contact_sheet(folder))
    whole = (replace(each, columns=finite(each.columns)) for each in run.vehicles)
    run = RunData(run.meta, tuple(whole))
    outcome = metrics.get("outcome", COMPLETED)
    flights = [
        (i, flight(run.meta, vehicle, outcome))
        for i, vehicle in enumerate(run.vehicles)
        if len(vehicle.columns.t)
    ]
    touching = [(i, f, f.contact) for i, f in flights if f.contact and f.contact.first is not None]
    if not touching or not (folder / CONFIG).exists():
        return written
    scenario = scenario_of(read_yaml(folder / CONFIG), str(folder / CONFIG))
    for i, flown, contact in touching:
        suffix = f"_{flown.meta.name}" if len(run.vehicles) > 1 else ""
        compared = _compared(folder, i, contact)
        if len(compared) > 1:
            draw = partial(draw_compared, title=flown.title, flights=compared)
            written.append(write_plot(plots / f"compared{suffix}.png", draw))
        put = _inserted(run, scenario, i, contact)
        if put is not None:
            draw = partial(draw_insertion, title=flown.title, put=put)
            written.append(write_plot(plots / f"insertion{suffix}.png", draw))
        written += _snapshots(run, scenario, i, contact, plots, suffix)
    return written


def _compared(folder: Path, i: int, contact: Contact) -> dict[str, Contact]:
    """Contact of vehicle i, here and in the flights in the run's folder `COMPARED`."""
    flights = {"this flight": contact}
    for other in sorted((folder / COMPARED).glob("*/")):
        run = load_run(other)
        there = flight(run.meta, run.vehicles[i]).contact
        if there is not None:
            flights[other.name] = there
    return flights


def _inserted(run: RunData, scenario: Scenario, i: int, contact: Contact) -> Insertion | None:
    """The hole that the tool of vehicle i is in at the end, if any."""
    tool, tip_P = scenario.vehicles[i].platform.tool, run.vehicles[i].meta.tool_tip_P
    if tool is None or tip_P is None:
        return None
    columns = run.vehicles[i].columns.rows(slice(contact.first_tick, None))
    return insertion(scenario.world, tool, np.array(tip_P), columns)


def _snapshots(
    run: RunData, scenario: Scenario, i: int, contact: Contact, plots: Path, suffix: str
) -> list[Path]:
    """Pictures of the first contact and of the end."""
    from iap_bringup.pictures.render import write_picture  # imports the engine's renderer

    written = []
    for name, tick in (("contact", contact.first_tick), ("end", len(contact.t) - 1)):
        path = plots / f"snapshot_{name}{suffix}.png"
        write_picture(path, run, scenario, tick, SNAPSHOT, of=i)
        written.append(path)
    return written
