# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap identify``."""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from iap_bringup.cli.identify_rotorcraft import identify_flights
from iap_bringup.plots.identified_flight import UNITS, draw_log
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.next_step import show_next, show_path
from iap_bringup.terminal.progress import work_bar
from iap_io.plots.plot_style import write_plot
from iap_io.runs.run_folder import new_folder, write_file, write_metrics
from iap_simulation.identification.choosing import DataSplit, split
from iap_simulation.identification.identifying import THIS_FIT, IdentifiedModel, identified
from iap_simulation.identification.settings import load_settings
from iap_simulation.identification.validation import validation

PLANT = "plant.yaml"
DIGITS = 9  # after the point, below which a parameter at its bound of 0 differs from 0


def identify(options: argparse.Namespace) -> int:
    """Identify a model of a kind of `MODELS`; returns the exit code."""
    return MODELS[options.model](options)


def identify_velocities(options: argparse.Namespace) -> int:
    """Identify a model of velocity commands, show it, and keep it in a folder; returns the exit code."""
    console = make_console(stderr=options.json)
    settings = load_settings(tuple(options.assignments))
    logs = split(
        options.logs,
        options.fit,
        options.validate,
        clock=settings.clock,
        units=settings.units,
        force=options.force,
    )
    with work_bar(console, "fitting"):
        model = identified(logs, options.model, options.error, settings)
    metrics = validation(logs, model)
    with new_folder(options.out, "identify") as folder:
        _write(folder, logs, model, metrics, plots=not options.no_plot)
    for log in (*logs.fit, *logs.held_out):
        for note in log.notes:
            console.print(f"{log.name}: {note}", highlight=False, soft_wrap=True)
    show(console, metrics)
    show_path(console, folder / PLANT, "plant")
    show_next(console, "fly it", "run", "arm_path", "--set", f"plant.file={folder / PLANT}")
    if options.json:
        sys.stdout.write(json.dumps(metrics, allow_nan=False) + "\n")
    return 0


def _write(
    folder: Path, logs: DataSplit, model: IdentifiedModel, metrics: dict[str, Any], *, plots: bool
) -> None:
    """Plant, metrics and plots."""
    tree = model.plant.model_dump(mode="json")
    text = yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=120)
    write_file(folder / PLANT, text.encode())
    write_metrics(folder, metrics)
    if plots:
        for log in logs.held_out:
            draw = partial(draw_log, log=log, predictors=model.predictors)
            write_plot(folder / "plots" / f"{log.name}.png", draw)


def show(console: Console, metrics: dict[str, Any]) -> None:
    """Tables of errors and of parameters."""
    console.print(_error_table(metrics))
    console.print(_parameter_table(metrics["parameters"]))
    for name, notes in metrics.get("channel_notes", {}).items():
        text = f"{name}: {'; '.join(notes)}"
        console.print(text, highlight=False, soft_wrap=True)
    norms = metrics.get("equation_error_norm", {})
    for name, norm in norms.items():
        console.print(f"norm of the equation's error on the fitted logs, {name}: {norm:.3f}")


def _error_table(metrics: dict[str, Any]) -> Table:
    names = ", ".join(metrics["validate"])
    kind = "NOT held out: fitted, too" if metrics["validated_on_training"] else "held out"
    table = Table("free-run RMSE", title=f"{names} ({kind}); fitted: {', '.join(metrics['fit'])}")
    columns = {
        **metrics["rmse"],
        "on fitted logs": metrics["training_rmse"],
        "RMS": metrics["rms"],
    }
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("share of RMS", justify="right")
    for channel, size in metrics["rms"].items():
        values = (f"{column[channel]:.4f}" for column in columns.values())
        share = metrics["rmse"][THIS_FIT][channel] / size if size else 0.0
        table.add_row(f"{channel}, {UNITS[channel]}", *values, f"{100.0 * share:.1f} %")
    return table


def _parameter_table(parameters: dict[str, Any]) -> Table:
    table = Table("parameter", "value", "95 % interval, +-")
    for name, (value, half) in parameters.items():
        table.add_row(
            name,
            f"{round(value, DIGITS):.3g}",
            "not determined" if half is None else f"{half:.2g}",
        )
    return table


MODELS = {
    "dynamic": identify_velocities,
    "second_order": identify_velocities,
    "rotorcraft": identify_flights,
}
