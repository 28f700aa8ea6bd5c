# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``iap plot`` and ``iap render``, and the plots of a new run."""

import argparse
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from iap_bringup.plots.contact_sheet import write_contact_sheet
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import PLOTS, write_named_plots, write_plots
from iap_bringup.terminal import flight as report
from iap_bringup.terminal.progress import time_bar, work_bar
from iap_description.errors import BadInput
from iap_io.runs.run_folder import CONFIG, new_folder
from iap_io.runs.run_reader import RunReader
from iap_sensors.cameras.make import make_renderer
from iap_simulation.runs.rerender import rerender
from iap_simulation.scenario.resolving import resolve_again


def plot(options: argparse.Namespace) -> int:
    """Draw a run's plots again."""
    console = Console()
    if options.list:
        _list_plots(console, options.folder)
        return 0
    if options.folder is None:
        raise BadInput("plot: which RUN? --list alone names all plots")
    run = RecordedRun(options.folder)
    with work_bar(Console(stderr=True), "drawing") as say:
        if options.html:
            from iap_bringup.plots.interactive import write_pages

            paths = write_pages(run, options.plots)
        elif options.plots:
            paths = write_named_plots(run, options.plots, say)
        else:
            paths = write_plots(run, report=say)
    for path in paths:
        console.print(path, soft_wrap=True)
    return 0


def plot_table(run: RecordedRun | None) -> list[tuple[str, str, str]]:
    """Every plot: its name, what it shows, and whether a run has it, or without a run what it needs."""
    rows = []
    for each in PLOTS:
        needs = each.needs.what
        if run is not None:
            needs = "yes" if each.needs.of(run) else f"no: has not {needs}"
        rows.append((each.name, each.text, needs))
    return rows


def _list_plots(console: Console, folder: Path | None) -> None:
    run = None if folder is None else RecordedRun(folder)
    table = Table(
        "plot", "shows", "needs" if run is None else "this run", box=None, pad_edge=False
    )
    for row in plot_table(run):
        table.add_row(*row)
    console.print(table)


def render(options: argparse.Namespace) -> int:
    """Render a picture of a run."""
    if options.video is not None:
        return _write_video(options)
    if options.sensors is not None or options.scene is not None:
        return _render_again(options)
    from iap_bringup.pictures.render import render_run  # brings in the physics engine's renderer

    out = options.out or options.folder / "plots" / "picture.png"
    with work_bar(Console(stderr=True), "rendering"):
        render_run(options.folder, out, options.time)
    Console().print(out, soft_wrap=True)
    return 0


def _write_video(options: argparse.Namespace) -> int:
    """Write a video of a run, in another scene if one is named."""
    from iap_bringup.films.film import FilmSettings, write_film  # brings in the viewer's scene
    from iap_bringup.viewing.source import RunSource

    if options.time or options.sensors is not None or options.out is not None:
        raise BadInput("--video: goes with neither --time, --sensors nor --out")
    scenario, _ = resolve_again(options.folder / CONFIG, sensors=None, scene=options.scene)
    source, console = RunSource(RecordedRun(options.folder, scenario=scenario)), Console()
    settings = FilmSettings(
        rate=options.rate,
        size=options.size,
        follows=options.follow,
        begin=options.begin,
        end=options.end,
        speed=options.speed,
        plot=options.plot,
    )
    end = source.span[1]
    with time_bar(console, report.flight_text(scenario, end), end) as progress:
        count = write_film(source, options.video, settings, progress)
    console.print(f"{options.video}: {count} pictures")
    return 0


def _render_again(options: argparse.Namespace) -> int:
    """Render all images of a run again."""
    console = Console()
    if options.time:
        raise BadInput(
            "--time: of a picture; all images are rendered again with --sensors or --scene"
        )
    scenario, tree = resolve_again(
        options.folder / CONFIG, sensors=options.sensors, scene=options.scene
    )
    meta = RunReader(options.folder).meta
    duration = scenario.duration or 0.0
    what = report.flight_text(scenario, duration)
    with (
        new_folder(options.out, f"{meta.scenario}_again") as folder,
        closing(make_renderer(scenario.renderer)) as renderer,
    ):
        with time_bar(console, what, duration) as progress:
            cameras = rerender(
                options.folder,
                folder,
                scenario,
                tree,
                renderer=renderer,
                recording=scenario.recording,
                progress=progress,
            )
        sheet = write_contact_sheet(folder)
    console.print(sheet)
    console.print(
        f"{cameras.count} images, {cameras.count / cameras.seconds:.0f} in a second of rendering"
    )
    console.print(f"run folder: {folder}\nlook at it: iap view {folder}", soft_wrap=True)
    return 0
