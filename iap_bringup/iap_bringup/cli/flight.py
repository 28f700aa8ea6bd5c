# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap run``, and a flight with what is shown and drawn of it."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.markup import escape

from iap_bringup.cli.live_pages import live_pages
from iap_bringup.cli.options import scenario_options
from iap_bringup.terminal import flight as report
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import time_bar, work_bar
from iap_description.errors import BadInput, IapError
from iap_description.process import interrupts
from iap_description.process.extras import install_line
from iap_io.recording.disk_use import disk_use, free_space
from iap_io.runs.run_folder import COMPARED, empty_folder, new_folder, write_metrics
from iap_io.runs.run_meta import COMPLETED
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import Progress, RunOptions
from iap_simulation.runs.run import Result, execute
from iap_simulation.scenario.resolving import resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.unused_keys import IdleKeys, idle_notes, keys_of_file

Resolved = tuple[Scenario, dict[str, Any]]
GAINS = "control.gains"  # key of a vehicle
OF_CONTROLLERS = (GAINS, "control.law", "control.yaw", "control.admittance", "control.wrench_mode")
SHOWN = (
    "outcome",
    "duration_s",
    "position_rmse_m",
    "force_max_n",
    "force_steady_n",
    "settled_pitch_deg",
    "depth_m",
    "arm",
)


def run(options: argparse.Namespace) -> int:
    """Fly a scenario."""
    choices = scenario_options(options)
    scenario, tree = resolve(options.scenario, choices)

    compared = {  # which is refused before anything is flown
        name: resolve(options.scenario, choices.and_set(("compare={}", *assignments)))
        for name, assignments in scenario.compare.items()
    }
    return fly(scenario, tree, options, compared)


def fly(
    scenario: Scenario,
    tree: dict[str, Any],
    options: argparse.Namespace,
    compared: Mapping[str, Resolved] = MappingProxyType({}),
) -> int:
    """Fly a resolved scenario, and what it is compared with; returns the exit code."""
    console = make_console(stderr=options.json)
    flight = Flight.of(scenario)
    lines = [escape(line) for each in flight.recorded if each for line in each.about.lines()]
    lines += map(escape, (*_untouched(scenario), *_unused_keys(scenario, options)))
    lines += _recording_lines(flight, options.out or Path("runs"))
    what = "\n".join([*lines, report.flight_text(scenario, flight.duration)])
    with new_folder(options.out, scenario.scenario) as folder:
        with time_bar(console, what, flight.duration) as progress:
            how = RunOptions(
                progress,
                say=partial(report.show_notice, console),
                realtime=options.realtime and options.view != "web",  # the page keeps pace itself
                view=options.view == "pybullet",
            )
            if options.view == "web":
                result = _fly_in_browser(flight, folder, tree, options, console, how)
            else:
                result = execute(flight, folder, tree, how)
            result = _fly_compared(result, compared, folder, progress)
        has_page = not options.no_view and find_spec("viser") is not None
        if has_page or not options.no_plot:
            with work_bar(console, "drawing") as say:
                _draw(folder, say, plots=not options.no_plot, page=has_page)
    if not (has_page or options.no_view):
        console.print(f"no view.html, which needs viser: {install_line('view')}", soft_wrap=True)
    report.show(console, result)
    if options.json:
        sys.stdout.write(json.dumps(result.metrics, allow_nan=False) + "\n")
    return _exit_code(result)


def _fly_in_browser(
    flight: Flight,
    folder: Path,
    tree: dict[str, Any],
    options: argparse.Namespace,
    console: Console,
    how: RunOptions,
) -> Result:
    """Fly while a browser shows it; a flight that is begun again takes the folder of the one before.

    Pages that are open at its end stay until they are closed, so that one sees how it ended.
    """
    from iap_bringup.viewing.live_flight import LiveFlight

    live = LiveFlight(flight, is_paced=options.realtime)
    with live_pages(options, live, console) as viewer:
        while True:
            result = execute(flight, folder, tree, replace(how, viewer=live))
            if not (live.wants_reset or result.interrupted):
                with suppress(KeyboardInterrupt):  # ends the wait, and no flight
                    viewer.linger(_news(result), lambda: live.wants_reset)
            if not live.wants_reset or result.interrupted:
                return result
            empty_folder(folder)
            flight = Flight.of(flight.scenario)
            live.begin(flight)


def _news(result: Result) -> str:
    """Sentence for a flight's pages: its end."""
    return f"{(result.failure or 'The flight is over').rstrip('.')}."


def _draw(folder: Path, say: Callable[[str], None], *, plots: bool, page: bool) -> None:
    """Draw the plots and the page of a run that is complete without them.

    Raises:
        IapError: they cannot be drawn.
    """
    # matplotlib and viser are slow to import
    from iap_bringup.plots.recorded_run import RecordedRun

    run = RecordedRun(folder)
    try:
        if plots:
            from iap_bringup.plots.table import write_plots

            write_plots(run, report=say)
        if page:
            say("the page for browsers")
            from iap_bringup.viewing.page import PAGE, write_page
            from iap_bringup.viewing.source import RunSource

            write_page(RunSource(run), folder / PAGE)
    except BadInput as error:
        raise IapError(f"{error}; the run without its plots is in {folder}") from error


def _fly_compared(
    result: Result, scenarios: Mapping[str, Resolved], folder: Path, progress: Progress
) -> Result:
    """Fly what the key `compare` names, each into its own folder, and add it to the flight's metrics.json.

    Returns:
        The flight's result; where one of the others was interrupted, it counts as interrupted, too.
    """
    if not scenarios or result.interrupted:
        return result
    compared = {}
    for name, (other, tree) in scenarios.items():
        subfolder = folder / COMPARED / name
        subfolder.mkdir(parents=True)
        beside = execute(Flight.of(other), subfolder, tree, RunOptions(progress))
        compared[name] = {key: beside.metrics[key] for key in SHOWN if key in beside.metrics}
        if beside.interrupted:
            failure = f"compare.{name}: {beside.failure}"
            result = replace(result, interrupted=True, failure=failure)
            break
    result.metrics["compare"] = compared
    write_metrics(folder, result.metrics)
    return result


def _untouched(scenario: Scenario) -> list[str]:
    """A note on objects that vehicles pass through."""
    names = ", ".join(scenario.untouched)
    reason = f"since engine {scenario.engine.name} has no contact"
    return [f"note: {names}: vehicles pass through, {reason}"] if names else []


def _unused_keys(scenario: Scenario, options: argparse.Namespace) -> list[str]:
    """Notes on keys of the command line and of the user's file that act on nothing."""
    keys = {"--gains": GAINS} if options.gains else {}
    keys |= {each: each for each in (path.partition("=")[0] for path in options.assignments)}
    file = Path(getattr(options, "scenario", ""))
    if file.is_file():
        keys |= {each: each for each in keys_of_file(file)}
    return idle_notes(scenario, keys, _rules_of_policy(scenario))


def _rules_of_policy(scenario: Scenario) -> list[IdleKeys]:
    """The keys of controllers, where a policy commands vehicles without them."""
    if scenario.policy is None or scenario.modules is not None:
        return []
    from iap_learning.learned_agents import flies_by_references  # slow to import

    if flies_by_references(scenario):
        return []
    reason = f"which policy '{scenario.policy}' commands without the vehicles' controllers"
    return [IdleKeys(OF_CONTROLLERS, lambda _scenario, _vehicle: True, reason)]


def _recording_lines(flight: Flight, parent: Path) -> list[str]:
    """Lines of sensors: rates that are not what was asked for, and the space that their recording takes on the disk.

    Raises:
        BadInput: the disk has not enough space.
    """
    meta, recording = flight.meta, flight.scenario.recording
    size, free = disk_use(meta, recording, flight.duration), free_space(parent)
    space = report.space_text(size, free)
    if size > free:
        raise BadInput(f"the disk is too small, {space}: fly shorter, or record less")
    return [*flight.sensors.suite.notes, space] if meta.sensors else []


def _exit_code(result: Result) -> int:
    if result.interrupted:
        sys.stderr.write(f"iap: {result.failure}; what was flown is kept\n")
        return interrupts.exit_code()
    if result.metrics["outcome"] != COMPLETED:
        sys.stderr.write(f"iap: {result.failure or result.metrics['outcome']}\n")
        return 1
    return 0
