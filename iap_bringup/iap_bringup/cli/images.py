# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``iap plot`` and ``iap render``, and the plots of a new run."""

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_bringup.cli.options import check_exists
from iap_bringup.plots.contact_sheet import write_contact_sheet
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import PLOTS, write_named_plots, write_plots
from iap_bringup.terminal import flight as report
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.next_step import show_path, show_view
from iap_bringup.terminal.progress import time_bar, work_bar
from iap_description.errors import BadInput
from iap_io.runs.run_folder import CONFIG, load_run, new_folder
from iap_io.runs.run_reader import RunReader
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.renderer import Renderer
from iap_simulation.runs.rerender import rerender
from iap_simulation.scenario.resolving import resolve_again
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.sweeps.process_pool import ProcessPool
from iap_simulation.sweeps.spread_rendering import (
    FrameFolder,
    KeptFrames,
    chunks_of_run,
    spread,
)

TRACER = "mitsuba"  # the renderer that traces paths


def plot(options: argparse.Namespace) -> int:
    """Draw a run's plots again."""
    console = make_console()
    check_exists(*filter(None, [options.folder]))
    if options.list:
        _list_plots(console, options.folder)
        return 0
    if options.folder is None:
        raise BadInput("plot: which RUN? --list alone names all plots")
    run = RecordedRun(options.folder)
    with work_bar(make_console(stderr=True), "drawing") as say:
        if options.html:
            from iap_bringup.plots.interactive import write_pages

            paths = write_pages(run, options.plots)
        elif options.plots:
            paths = write_named_plots(run, options.plots, say)
        else:
            paths = write_plots(run, report=say)
    for path in paths:
        show_path(console, path)
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
    check_exists(options.folder)
    if options.video is not None:
        return _write_video(options)
    if _changes(options) or options.workers is not None:
        return _render_again(options)
    out: Path = options.out or options.folder / "plots" / "picture.png"
    if out.suffix.lower() != ".png":  # it would replace whatever is there
        raise BadInput(f"--out {out}: a picture's file ends in .png")
    with work_bar(make_console(stderr=True), "rendering"):
        _draw_picture(options.folder, out, options.time or [])
    show_path(make_console(), out)
    return 0


def _draw_picture(folder: Path, out: Path, times: Sequence[float]) -> None:
    """Draw a run at some times [s]: in its scene as a film does, and else over a chequered ground."""
    from iap_bringup.pictures.render import picture_size, picture_times, render_run, write_sheet

    run = RecordedRun(folder)
    if run.scenario.world.scene is None:
        render_run(load_run(folder), run.scenario, out, times)
        return
    from iap_bringup.films.film import film_pictures
    from iap_bringup.viewing.source import RunSource

    times = picture_times(times, run.data.vehicles[0].columns.t)
    write_sheet(out, film_pictures(RunSource(run), times, picture_size(len(times))))


def _write_video(options: argparse.Namespace) -> int:
    """Write a video of a run, in another scene if one is named."""
    from iap_bringup.films.film import FilmSettings, write_film  # brings in the viewer's scene
    from iap_bringup.viewing.source import RunSource

    if options.time or options.sensors is not None or options.out is not None:
        raise BadInput("--video: goes with neither --time, --sensors nor --out")
    if options.workers is not None:
        raise BadInput("--workers: of images of cameras, not of videos")
    scenario, _ = _resolved_again(options)
    source, console = RunSource(RecordedRun(options.folder, scenario=scenario)), make_console()
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


def _changes(options: argparse.Namespace) -> bool:
    """True if images are rendered of other cameras, or of something else."""
    options_changed = options.sensors, options.scene, options.renderer, options.spp
    return any(each is not None for each in options_changed) or bool(options.assignments)


def _resolved_again(options: argparse.Namespace) -> tuple[Scenario, dict[str, Any]]:
    """The scenario of a run with what the options change."""
    path = options.folder / CONFIG
    sets = list(options.assignments)
    if options.renderer is not None:
        sets.append(f"renderer={options.renderer}")
    if options.spp is not None:
        scenario, _ = resolve_again(path, sensors=None, scene=None, assignments=sets)
        if scenario.renderer != TRACER:
            raise BadInput(f"--spp: of renderer {TRACER}, and this one is {scenario.renderer}")
        light = scenario.world.light
        paths = {} if light is None else light.path_tracing.model_dump()
        tree = {} if light is None else light.model_dump(mode="json", exclude_none=True)
        tree["path_tracing"] = {**paths, "spp": options.spp}
        sets.append(f"world.light={json.dumps(tree)}")
    return resolve_again(path, sensors=options.sensors, scene=options.scene, assignments=sets)


def _render_again(options: argparse.Namespace) -> int:
    """Render all images of a run again."""
    console = make_console()
    if options.time:
        raise BadInput("--time: of a picture; all images of a run are rendered again here")
    scenario, tree = _resolved_again(options)
    if options.workers is not None:
        return _spread(options, console, scenario, tree)
    with closing(make_renderer(scenario.renderer)) as renderer:
        return _write_again(options, console, scenario, tree, renderer)


def _spread(
    options: argparse.Namespace, console: Console, scenario: Scenario, tree: dict[str, Any]
) -> int:
    """Render images with several processes; what was done before is kept, in a folder that is gone at the end."""
    if options.workers < 1:
        raise BadInput(f"--workers {options.workers}: at least one is expected")
    base = options.out or options.folder
    folder = FrameFolder(base.with_name(f"{base.resolve().name}_frames"))
    chunks = chunks_of_run(options.folder, scenario, tree)
    started = time.perf_counter()
    try:
        with work_bar(make_console(stderr=True), "rendering") as say:
            images = spread(chunks, folder, ProcessPool(options.workers), say)
    except KeyboardInterrupt as stop:
        stop.args = (f"the same command goes on: what is rendered is in {folder.path}",)
        raise
    rate = _rate(images, time.perf_counter() - started)
    code = _write_again(options, console, scenario, tree, KeptFrames(folder, chunks))
    console.print(f"rendered now: {images}{rate} by {options.workers} processes")
    shutil.rmtree(folder.path)
    return code


def _rate(images: int, seconds: float) -> str:
    """The rate at which images were rendered, as it stands behind their number."""
    return f", {images / seconds:.2g} in a second of rendering"


def _write_again(
    options: argparse.Namespace,
    console: Console,
    scenario: Scenario,
    tree: dict[str, Any],
    renderer: Renderer,
) -> int:
    """Write a run again with the images of a renderer."""
    meta = RunReader(options.folder).meta
    duration = scenario.duration or 0.0
    what = report.flight_text(scenario, duration)
    with new_folder(options.out, f"{meta.scenario}_again") as folder:
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
    show_path(console, sheet)
    rate = _rate(cameras.count, cameras.seconds)
    console.print(f"{cameras.count} images{rate if options.workers is None else ''}")
    show_path(console, folder, "run folder")
    show_view(console, folder)
    return 0
