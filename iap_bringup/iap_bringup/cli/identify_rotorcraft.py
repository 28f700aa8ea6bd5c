# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap identify --model rotorcraft``: a platform from flight logs and runs."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.horizons import horizon_metrics, horizon_table
from iap_bringup.terminal.next_step import show_next, show_path
from iap_bringup.terminal.progress import work_bar
from iap_description.errors import BadInput
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.run_folders import is_run, read_run
from iap_io.runs.run_folder import new_folder, write_file, write_metrics
from iap_io.trajectories.logged_bags import open_any
from iap_simulation.identification.choosing import choose_paths
from iap_simulation.identification.rotorcraft.estimate import Parameter
from iap_simulation.identification.rotorcraft.fleet import identify_fleet
from iap_simulation.identification.rotorcraft.log_checks import checked_log
from iap_simulation.identification.rotorcraft.platform_file import (
    PLATFORM,
    Scale,
    fleet_files,
    platform_files,
)
from iap_simulation.identification.rotorcraft.rotorcraft import Rotorcraft, identify_rotorcraft
from iap_simulation.identification.settings import load_settings


def identify_flights(options: argparse.Namespace) -> int:
    """Identify a rotorcraft, show it, and keep it in a folder; returns the exit code."""
    console = make_console(stderr=options.json)
    settings = load_settings(tuple(options.assignments)).rotorcraft
    if options.error is not None:
        raise BadInput("--error: the model rotorcraft has no choice of an error")
    fleet = _fleet(options)
    if fleet:
        return identify_platform(options, fleet)
    fit, held_out = ([checked_log(log) for log in logs] for logs in _split(options))
    scale = Scale(settings.mass, settings.arm)
    unscaled = scale.reasons(settings.start)
    with work_bar(console, "fitting"):
        model = identify_rotorcraft(fit, held_out)
    files = platform_files(model, settings.start, scale, fit)
    model = replace(model, refusals={**model.refusals, **unscaled})
    metrics = _metrics(model, fit, held_out)
    with new_folder(options.out, "identify") as folder:
        for name, text in files.items():
            write_file(folder / name, text.encode())
        write_metrics(folder, metrics)
    _show(console, model, fit)
    show_path(console, folder / PLATFORM, "platform")
    show_next(console, "fly it", "run", "hover", "--platform", folder / PLATFORM)
    if options.json:
        sys.stdout.write(json.dumps(metrics, allow_nan=False) + "\n")
    return 0


def identify_platform(options: argparse.Namespace, logs: list[FlightLog]) -> int:
    """Identify the aircraft of one platform by a run of all, show them and keep them; returns the exit code."""
    console = make_console(stderr=options.json)
    settings = load_settings(tuple(options.assignments)).rotorcraft
    start = settings.start
    for key in ("mass", "arm"):
        if getattr(settings, key) is not None:
            raise BadInput(
                f"key 'rotorcraft.{key}': aircraft on joints take masses and arms of rotorcraft.start"
            )
    with work_bar(console, "fitting"):
        model = identify_fleet(logs)
    files = fleet_files(model, start, logs)
    metrics = {
        "model": "rotorcraft",
        "fit": [logs[0].path.name],
        "aircraft": [log.vehicle for log in logs],
        **_parameters(model.parameters),
        "not_determined": model.refusals,
    }
    with new_folder(options.out, "identify") as folder:
        for name, text in files.items():
            write_file(folder / name, text.encode())
        write_metrics(folder, metrics)
    _show_parameters(console, model.parameters, model.refusals, logs[:1])
    show_path(console, folder / PLATFORM, "platform")
    if options.json:
        sys.stdout.write(json.dumps(metrics, allow_nan=False) + "\n")
    return 0


def _fleet(options: argparse.Namespace) -> list[FlightLog]:
    """The logs of a single run of several aircraft on joints; none of all others."""
    paths = [*options.logs, *options.fit, *options.validate]
    if len(paths) != 1 or not is_run(Path(paths[0])):
        return []
    logs = read_run(Path(paths[0]))
    return logs if len(logs) > 1 else []


def _split(options: argparse.Namespace) -> tuple[list[FlightLog], list[FlightLog]]:
    """Logs to fit and to hold out: by default the first one, and all others."""
    fit, held_out = choose_paths(options.logs, options.fit, options.validate)
    both = next((each for each in held_out if each.resolve() in {x.resolve() for x in fit}), None)
    if both is not None and not options.force:
        raise BadInput(f"{both}: fitted and held out; --force allows it")
    return [read_single(each) for each in fit], [read_single(each) for each in held_out]


def read_single(path: Path) -> FlightLog:
    """A flight log, or the recording of a run of one aircraft.

    Raises:
        BadInput: it cannot be read, or is of several aircraft.
    """
    if not is_run(path):
        return open_any(path)
    logs = read_run(path)
    if len(logs) > 1:
        raise BadInput(
            f"{path}: a recording of {len(logs)} aircraft; one that flies alone is expected"
        )
    return logs[0]


def _metrics(
    model: Rotorcraft, fit: Sequence[FlightLog], held_out: Sequence[FlightLog]
) -> dict[str, Any]:
    """metrics.json of an identification."""
    return {
        "model": "rotorcraft",
        "fit": [log.path.name for log in fit],
        "validate": [log.path.name for log in held_out] or ["the last part of the fitted flight"],
        **_parameters(model.parameters),
        "not_determined": model.refusals,
        "notes": {log.path.name: list(log.notes) for log in (*fit, *held_out) if log.notes},
        "held_out": {name: [horizon_metrics(each) for each in rows] for name, rows in model.held_out.items()},
        "attitude_setpoints_deg": {
            name: {"response": each.response, "tilt": each.tilt}
            for name, each in model.tilts.items() if each is not None
        },
    }  # fmt: skip


def _parameters(parameters: dict[str, Parameter]) -> dict[str, Any]:
    return {
        "parameters": {name: [x.value, x.half_width] for name, x in parameters.items()},
        "units": {name: x.unit for name, x in parameters.items()},
        "methods": {name: x.method for name, x in parameters.items()},
    }


def _show_parameters(
    console: Console,
    parameters: dict[str, Parameter],
    refusals: dict[str, str],
    fit: Sequence[FlightLog],
) -> None:
    """Parameters with their intervals, notes on the logs, and what is not determined."""
    table = Table("parameter", title=f"fitted: {', '.join(log.path.name for log in fit)}")
    for title in ("value", "95 %, +-"):
        table.add_column(title, justify="right")
    table.add_column("unit")
    for name, each in parameters.items():
        table.add_row(name, f"{each.value:.4g}", f"{each.half_width:.2g}", each.unit)
    console.print(table)
    for log in fit:
        for note in log.notes:
            text = f"{log.path.name}: {note}"
            console.print(text, highlight=False, soft_wrap=True)
    for name, reason in refusals.items():
        console.print(f"not determined: {name}: {reason}", highlight=False, soft_wrap=True)


def _show(console: Console, model: Rotorcraft, fit: Sequence[FlightLog]) -> None:
    """Parameters, what is not determined, and errors of predictions."""
    _show_parameters(console, model.parameters, model.refusals, fit)
    for name, rows in model.held_out.items():
        part = "last part, not fitted" if model.is_part else "held out"
        console.print(horizon_table(f"open loop over {name} ({part}), RMS error", rows))
        tilt = model.tilts[name]
        if tilt is not None:
            console.print(
                f"attitude set-points replayed: {tilt.response:.2f} deg of {tilt.tilt:.2f} deg of tilt"
            )
