# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap evaluate``."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from iap_bringup.cli.arguments.learning import BATCHED
from iap_bringup.cli.live_pages import live_pages
from iap_bringup.cli.options import check_counts, parsed_settings
from iap_bringup.plots import docking_approach as figures
from iap_bringup.terminal import evaluation as report
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.next_step import show_path, show_view
from iap_bringup.terminal.progress import TimeLeft, progress_bar, work_bar
from iap_description.errors import BadInput
from iap_description.process import interrupts
from iap_io.runs.run_folder import new_folder, write_file
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.engines import (
    FOLDER,
    Recording,
    episode_flight,
    fly_in_engine,
    record_failures,
    recording_engine,
    simulation_of,
)
from iap_learning.evaluation.flyers import is_agent_file
from iap_learning.evaluation.pairing import Pairing
from iap_learning.evaluation.results import Results
from iap_learning.evaluation.subjects import EvaluatedPolicy, subject_of
from iap_learning.evaluation.video import write_video
from iap_learning.policies.exports import export
from iap_learning.policies.policy import SUFFIX
from iap_learning.tasks.kinds.registry import kind_of, make_episodes

APPROACH = "approach.png"


def run(options: argparse.Namespace) -> int:
    """Judge a policy."""
    check_counts(options, "episodes", "seed", "threads")
    console = make_console(stderr=options.json)
    settings = parsed_settings(options.assignments)
    subject = subject_of(options.policy, options.task, options.preset, settings)
    if options.view is not None and options.engine == BATCHED:
        options.engine = recording_engine(subject.task, BATCHED)
        console.print(f"--view: episodes fly one by one, in {options.engine}")
    rival = _rival(options, subject, settings)
    _hand_out(options, subject, console)
    results = _fly(options, subject, console, has_viewer=options.view is not None)
    against = None
    if rival is not None:
        others = _fly(options, rival, console, has_viewer=False)
        against = rival.flyer.name, Pairing.of(results, others)
    with new_folder(options.out, subject.flyer.name, Path("evaluations")) as folder:
        with work_bar(console, "flying failures again") as say:
            recordings = _recorded(options, subject, results, folder, say)
        if subject.task.kind == "docking" and subject.flyer.flies_alone and not options.no_plot:
            with work_bar(console, "drawing"):
                _draw(options, subject, folder)
        tree = _tree(options, subject, results, recordings)
        if against is not None:
            tree["against"] = {"name": against[0], **against[1].tree}
        _write(folder, tree, results)
    title = f"{subject.flyer.name} on {subject.task.name}, {options.engine}"
    report.show(console, title, results, recordings)
    if against is not None:
        report.show_pairing(console, (subject.flyer.name, against[0]), against[1])
    show_path(console, folder, "folder")
    show_view(console, folder)
    if options.json:
        sys.stdout.write(json.dumps(tree, allow_nan=False) + "\n")
    return 0


def _rival(
    options: argparse.Namespace, subject: EvaluatedPolicy, settings: Mapping[str, Any]
) -> EvaluatedPolicy | None:
    """The agent of ``--against`` on the same task.

    Raises:
        BadInput: there is no such one, or it is a policy of another task.
    """
    if options.against is None:
        return None
    rival = subject_of(options.against, subject.task.name, None, settings)
    rival.flyer.acting(make_episodes(subject.task, 1))  # refused before anything is flown
    return rival._replace(task=subject.task)


def _hand_out(options: argparse.Namespace, subject: EvaluatedPolicy, console: Console) -> None:
    """Write what was asked for besides figures."""
    if options.export is not None:
        if subject.policy is None:
            raise BadInput(f"--export {options.export}: '{subject.flyer.name}' is no network")
        export(subject.policy, options.export)
        show_path(console, options.export, "exported")
    if options.video is not None:
        count = write_video(options.video, subject.task, subject.flyer, [options.seed])
        show_path(console, f"{options.video}, {count} pictures", "video")


def _fly(
    options: argparse.Namespace,
    subject: EvaluatedPolicy,
    console: Console,
    *,
    has_viewer: bool,
) -> Results:
    """Fly all episodes below a bar, and in a browser where there is one."""
    seeds = range(options.seed, options.seed + options.episodes)
    columns = (
        BarColumn(40),
        TextColumn("{task.completed:.0f} of {task.total:.0f} episodes"),
        TimeElapsedColumn(),
        TimeLeft(),
    )
    with progress_bar(columns, console) as bar:
        task = bar.add_task("", total=len(seeds))

        def progress(done: int) -> None:
            bar.update(task, completed=done)

        if options.engine == BATCHED:
            threads = options.threads
            return fly_batched(*subject[:2], seeds, threads=threads, progress=progress)
        if has_viewer:
            return _fly_in_browser(options, subject, seeds, progress, console)
        return fly_in_engine(*subject[:2], options.engine, seeds, progress)


def _fly_in_browser(
    options: argparse.Namespace,
    subject: EvaluatedPolicy,
    seeds: Sequence[int],
    progress: Callable[[int], None],
    console: Console,
) -> Results:
    """Fly all episodes while a browser shows them; one that is begun again counts as it ends at last."""
    from iap_bringup.viewing.live_flight import LiveFlight

    task, flyer = subject[:2]
    live = LiveFlight(
        episode_flight(task, flyer, options.engine, seeds[0]), is_paced=options.realtime
    )
    with live_pages(options, live, console):
        return fly_in_engine(task, flyer, options.engine, seeds, progress, viewer=live)


def _recorded(
    options: argparse.Namespace,
    subject: EvaluatedPolicy,
    results: Results,
    folder: Path,
    report: Callable[[str], None],
) -> dict[str, Recording]:
    has_runs = subject.flyer.flies_alone and kind_of(subject.task).single_run is not None
    if options.no_record or not has_runs:
        return {}
    engine = recording_engine(subject.task, options.engine)
    return record_failures(results, subject.task, subject.flyer, engine, folder, report)


def _draw(options: argparse.Namespace, subject: EvaluatedPolicy, folder: Path) -> None:
    """Draw the first docking as it goes in an engine."""
    engine = recording_engine(subject.task, options.engine)
    with simulation_of(subject.task, subject.flyer, engine, options.seed) as simulation:
        spec = simulation.scenario.docking
        assert spec is not None
        rows = figures.approach_rows(simulation)
        depth = simulation.scenario.latches[spec.latch].depth
    name = f"{subject.flyer.name}, {engine}, seed {options.seed}"
    figures.draw_approach(folder / APPROACH, {name: rows}, depth)


def _tree(
    options: argparse.Namespace,
    subject: EvaluatedPolicy,
    results: Results,
    recordings: Mapping[str, Recording],
) -> dict[str, Any]:
    """The content of evaluation.json."""
    digest = None if subject.policy is None else subject.policy.digest
    causes = {
        cause: {
            "episodes": count,
            "first_seed": results.first_failures[cause],
            "recorded": _place_of(recordings, cause),
        }
        for cause, count in results.causes.items()
    }
    return {
        "policy": {"name": subject.flyer.name, "sha256": digest},
        "task": subject.task.name,
        "arguments": _arguments(options),
        "engine": options.engine,
        "seed": options.seed,
        **results.figures,
        "failures": causes,
    }


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments by which `subject_of` finds the same policy and task again."""
    name = options.policy
    is_file = name.endswith(SUFFIX) or is_agent_file(name)
    return {
        "name": str(Path(name).absolute()) if is_file else name,
        "task": options.task,
        "preset": options.preset,
        "settings": parsed_settings(options.assignments),
    }


def _place_of(recordings: Mapping[str, Recording], cause: str) -> str | None:
    """The run folder of a failure within the evaluation's; None where nothing was recorded."""
    is_recorded = cause in recordings and recordings[cause].folder is not None
    return f"{FOLDER}/{cause}" if is_recorded else None


def _write(folder: Path, tree: Mapping[str, Any], results: Results) -> None:
    """Write tables; that of figures is the last file of a whole evaluation."""
    text = json.dumps(tree, indent=2, allow_nan=False) + "\n"
    rows: Sequence[Mapping[str, Any]] = results.rows
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    write_file(folder / "episodes.csv", table.getvalue().encode())
    interrupts.let_finish()
    write_file(folder / "evaluation.json", text.encode())
