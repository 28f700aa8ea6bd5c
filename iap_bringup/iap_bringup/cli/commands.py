# SPDX-License-Identifier: BSD-3-Clause
"""What each command of the command line does."""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from iap_bringup.cli import report
from iap_bringup.cli.comparison import Resolve, fly_compared
from iap_bringup.experiments.experiments import run_experiment
from iap_bringup.experiments.options import ExperimentOptions
from iap_control.gains import PRESETS as GAINS
from iap_description.errors import BadInput
from iap_description.vehicles.platform import load_platform, platform_names
from iap_description.world.scene_names import scene_names
from iap_io.runs.disk_use import disk_use
from iap_io.runs.run_folder import CONFIG, METRICS, create_run_folder, load_run, read_metrics
from iap_io.runs.run_meta import COMPLETED, RunMeta
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.sensor_presets import set_names
from iap_simulation.run import Flight, Result, execute
from iap_simulation.scenario.scenario import (
    SCENARIOS,
    Options,
    Scenario,
    resolve,
    resolve_again,
    resolve_replay,
)


def run(options: argparse.Namespace) -> int:
    """Fly a scenario."""
    given = _options(options)
    scenario, tree = resolve(options.scenario, given)

    def resolve_anew(more: tuple[str, ...]) -> tuple[Scenario, dict[str, Any]]:
        return resolve(options.scenario, given.and_set(more))

    return _fly(scenario, tree, options, resolve_anew)


def replay(options: argparse.Namespace) -> int:
    """Fly the commands of a recording."""
    recorded = {
        "path": options.recording,
        "topic": options.topic,
        "actual_topic": options.actual_topic,
        "convention": options.convention,
    }
    scenario, tree = resolve_replay(recorded, _options(options))
    return _fly(scenario, tree, options)


def _options(options: argparse.Namespace) -> Options:
    if options.duration is not None and not options.duration > 0.0:
        raise BadInput(f"--duration {options.duration}: must be above 0")
    return Options(
        platform=options.platform,
        gains=options.gains,
        seed=options.seed,
        duration=options.duration,
        sensors=options.sensors,
        scene=options.scene,
        state_source=options.state_source,
        assignments=tuple(options.assignments),
    )


def _fly(
    scenario: Scenario,
    tree: dict[str, Any],
    options: argparse.Namespace,
    resolve_anew: Resolve | None = None,
) -> int:
    console = Console(stderr=options.json)
    flight = Flight.of(scenario)
    _announce(console, flight.meta, scenario, flight.senses.notes, flight.duration)
    folder = create_run_folder(options.out, scenario.scenario)
    with report.progress_bar(console, scenario, flight.duration) as progress:
        try:
            result = execute(
                flight,
                folder,
                tree,
                progress=progress,
                realtime=options.realtime,
                view=options.view,
            )
        except BadInput:  # what cannot begin leaves nothing behind
            shutil.rmtree(folder)
            raise
        if resolve_anew is not None:
            fly_compared(result, scenario, resolve_anew, folder, progress)
    if not options.no_plot:
        with console.status("drawing"):
            _draw(folder)
    report.show(console, result.metrics, folder)
    if options.json:
        sys.stdout.write(json.dumps(result.metrics, allow_nan=False) + "\n")
    return _exit_code(result)


def _announce(
    console: Console, meta: RunMeta, scenario: Scenario, notes: Sequence[str], duration: float
) -> None:
    """Say what recording sensors takes, before it begins.

    Raises:
        BadInput: the disk has not enough space.
    """
    if not meta.sensors:
        return
    size, free = disk_use(meta, scenario.recording, duration), shutil.disk_usage(".").free
    report.show_sensors(console, notes, size, free)
    if size > free:
        raise BadInput("the disk is too small for this recording: fly shorter, or record less")


def _exit_code(result: Result) -> int:
    if result.interrupted:
        sys.stderr.write(f"iap: {result.failure}; what was flown is kept\n")
        return 130
    if result.metrics["outcome"] != COMPLETED:
        sys.stderr.write(f"iap: {result.failure or result.metrics['outcome']}\n")
        return 1
    return 0


def _draw(folder: Path) -> list[Path]:
    from iap_bringup.pictures.run_pictures import draw_run  # matplotlib is slow to import

    judged = (folder / METRICS).exists()  # a run that was killed has no metrics
    return draw_run(folder, read_metrics(folder) if judged else None)


def localize(options: argparse.Namespace) -> int:
    """Estimate where recorded aircraft were."""
    from iap_bringup.cli.localize import run_command  # evo is slow to import

    return run_command(options)


def list_all(_: argparse.Namespace) -> int:
    """Say what there is to fly, where, and with which sensors."""
    scenarios = [(name, SCENARIOS.tree(name)) for name in SCENARIOS.names()]
    platforms = [(name, load_platform(name).description) for name in platform_names()]
    described = [(n, t.get("description", "")) for n, t in scenarios]
    names = {"Gains": GAINS.names(), "Sensors": set_names(), "Scenes": scene_names()}
    report.show_list(Console(), described, platforms, names)
    return 0


def plot(options: argparse.Namespace) -> int:
    """Draw a run's plots again."""
    console = Console()
    for path in _draw(options.folder):
        console.print(path)
    return 0


def render(options: argparse.Namespace) -> int:
    """Render a picture of a run."""
    if options.sensors is not None or options.scene is not None:
        return _render_again(options)
    from iap_bringup.pictures.render import render_run  # brings in the physics engine's renderer

    out = options.out or options.folder / "plots" / "picture.png"
    render_run(options.folder, out, options.time)
    Console().print(out)
    return 0


def _render_again(options: argparse.Namespace) -> int:
    """Render all images of a run again."""
    from iap_bringup.pictures.contact_sheet import write_contact_sheet
    from iap_simulation.rerender import rerender

    console = Console()
    if options.time is not None:
        raise BadInput(
            "--time: of a picture; all images are rendered again with --sensors or --scene"
        )
    scenario, tree = resolve_again(
        options.folder / CONFIG, sensors=options.sensors, scene=options.scene
    )
    meta = load_run(options.folder).meta
    folder = create_run_folder(options.out, f"{meta.scenario}_again")
    renderer = make_renderer(scenario.renderer)
    duration = scenario.duration or 0.0
    try:
        with report.progress_bar(console, scenario, duration) as progress:
            eyes = rerender(
                options.folder,
                folder,
                scenario,
                tree,
                renderer=renderer,
                recording=scenario.recording,
                progress=progress,
            )
    except BadInput:
        shutil.rmtree(folder)
        raise
    finally:
        renderer.close()
    console.print(write_contact_sheet(folder))
    console.print(f"{eyes.count} images, {eyes.count / eyes.seconds:.0f} in a second of rendering")
    console.print(f"run folder: {folder}", soft_wrap=True)
    return 0


def experiment(options: argparse.Namespace) -> int:
    """Run a study and show its table."""
    run_experiment(options.name, ExperimentOptions(options.quick, options.flights, options.out))
    return 0


def bench(options: argparse.Namespace) -> int:
    """Run the benchmarks of the source tree."""
    folder = Path("benchmarks")
    for parent in Path(__file__).resolve().parents:
        if (parent / "benchmarks").is_dir():
            folder = parent / "benchmarks"
            break
    if not folder.is_dir():
        raise BadInput("bench: no benchmarks here; run it from a checkout")
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(folder),
        "--benchmark-only",
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
    ]
    return subprocess.call(command + (["-k", options.name] if options.name else []))
