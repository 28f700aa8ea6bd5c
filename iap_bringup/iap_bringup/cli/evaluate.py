# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap evaluate``."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from iap_bringup.cli.arguments.learning import BATCHED, NOMINAL
from iap_bringup.cli.options import check_counts
from iap_bringup.plots import docking_approach as figures
from iap_bringup.terminal import evaluation as report
from iap_bringup.terminal.progress import TimeLeft, progress_bar, work_bar
from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput
from iap_io.runs.run_folder import new_folder, write_file
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.engines import (
    Recording,
    fly_in_engine,
    record_failures,
    recording_engine,
    simulation_of,
)
from iap_learning.evaluation.flyers import (
    BASELINES,
    EvaluatedAgent,
    baseline,
    is_agent_file,
    of_policy,
)
from iap_learning.evaluation.results import Results
from iap_learning.evaluation.video import write_video
from iap_learning.policies import onnx
from iap_learning.policies.policy import SUFFIX, Policy, shipped_policies
from iap_learning.tasks.kinds.registry import kind_of, make_task, task_of_policy
from iap_learning.tasks.task import TASKS, Task

APPROACH = "approach.png"


class EvaluatedPolicy(NamedTuple):
    """A policy or a baseline, and the task that it is evaluated on.

    Attributes:
        task: what is to be done.
        flyer: who does it.
        policy: that flies; None for a baseline.
    """

    task: Task
    flyer: EvaluatedAgent
    policy: Policy | None


def run(options: argparse.Namespace) -> int:
    """Judge a policy."""
    check_counts(options, "episodes", "seed", "threads")
    console = Console(stderr=options.json)
    subject = subject_of(options.policy, options.task, options.preset)
    _hand_out(options, subject, console)
    results = _fly(options, subject, console)
    with new_folder(options.out, subject.flyer.name, Path("evaluations")) as folder:
        with work_bar(console, "flying failures again"):
            recordings = _recorded(options, subject, results, folder)
        if subject.task.kind == "docking" and subject.flyer.flies_alone and not options.no_plot:
            with work_bar(console, "drawing"):
                _draw(options, subject, folder)
        tree = _tree(options, subject, results, recordings)
        _write(folder, tree, results)
    title = f"{subject.flyer.name} on {subject.task.name}, {options.engine}"
    report.show(console, title, results, recordings)
    console.print(f"folder: {folder}", soft_wrap=True)
    if options.json:
        sys.stdout.write(json.dumps(tree, allow_nan=False) + "\n")
    return 0


def subject_of(name: str, task: str | None, preset: str | None) -> EvaluatedPolicy:
    """The policy or baseline of a name, and its task.

    Args:
        name: of a policy, its file, a task, or a baseline.
        task: that is flown; None takes the policy's.
        preset: of the task.

    Raises:
        BadInput: there is no such one, or a baseline without a task.
    """
    if name in BASELINES or is_agent_file(name):
        if task is None:
            raise BadInput(
                f"evaluate {name}: --task is missing (tasks: {', '.join(TASKS.names())})"
            )
        return EvaluatedPolicy(make_task(preset_of(task, preset)), baseline(name), None)
    known = (*TASKS.names(), *shipped_policies(), *BASELINES)
    if name not in known and not name.endswith(SUFFIX):
        raise BadInput(
            f"no policy '{name}', nor task or baseline: {alternatives(name, known)} (or an {SUFFIX} file)"
        )
    policy = Policy.load(_policy_name(name, preset))
    header = policy.header
    policy_task = name if name in TASKS.names() else header.task
    task_name = task or (policy_task if preset is None else base_of(policy_task))
    if task_name == header.task and preset is None:
        made = task_of_policy(policy)
    else:
        made = make_task(preset_of(task_name, preset), header.settings)
    return EvaluatedPolicy(made, of_policy(policy), policy)


def _policy_name(name: str, preset: str | None) -> str:
    """The policy that stands for a task, or the name itself.

    Raises:
        BadInput: the task has no such preset.
    """
    if name not in TASKS.names():
        return name
    preset_of(name, preset)
    policy = f"{name}_{preset or NOMINAL}"
    return policy if policy in shipped_policies() else name


def base_of(task: str) -> str:
    """The task of which another one is a preset: docking of docking_hard; itself where it is none."""
    presets = [each for each in TASKS.names() if task.startswith(f"{each}_")]
    return max(presets, key=len, default=task)


def preset_of(task: str, preset: str | None) -> str:
    """Name of a task's preset.

    Raises:
        BadInput: there is none.
    """
    if preset in (None, NOMINAL):
        return task
    if f"{task}_{preset}" not in TASKS.names():
        presets = [each for each in TASKS.names() if each.startswith(f"{task}_")]
        known = ", ".join([NOMINAL, *(each.removeprefix(f"{task}_") for each in presets)])
        raise BadInput(f"--preset {preset}: task '{task}' has {known}")
    return f"{task}_{preset}"


def _hand_out(options: argparse.Namespace, subject: EvaluatedPolicy, console: Console) -> None:
    """Write what was asked for besides figures."""
    if options.export is not None:
        if subject.policy is None:
            raise BadInput(f"--export {options.export}: '{subject.flyer.name}' is no network")
        onnx.export(subject.policy, options.export)
        console.print(f"exported: {options.export}", soft_wrap=True)
    if options.video is not None:
        count = write_video(options.video, subject.task, subject.flyer, [options.seed])
        console.print(f"video: {options.video}, {count} pictures", soft_wrap=True)


def _fly(options: argparse.Namespace, subject: EvaluatedPolicy, console: Console) -> Results:
    """Fly all episodes below a bar."""
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
        return fly_in_engine(*subject[:2], options.engine, seeds, progress)


def _recorded(
    options: argparse.Namespace, subject: EvaluatedPolicy, results: Results, folder: Path
) -> dict[str, Recording]:
    has_runs = subject.flyer.flies_alone and kind_of(subject.task).single_run is not None
    if options.no_record or not has_runs:
        return {}
    engine = recording_engine(subject.task, options.engine)
    return record_failures(results, subject.task, subject.flyer, engine, folder)


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
            "recorded": str(recordings[cause].folder) if cause in recordings else None,
        }
        for cause, count in results.causes.items()
    }
    return {
        "policy": {"name": subject.flyer.name, "sha256": digest},
        "task": subject.task.name,
        "engine": options.engine,
        "seed": options.seed,
        **results.figures,
        "failures": causes,
    }


def _write(folder: Path, tree: Mapping[str, Any], results: Results) -> None:
    text = json.dumps(tree, indent=2, allow_nan=False) + "\n"
    write_file(folder / "evaluation.json", text.encode())
    rows: Sequence[Mapping[str, Any]] = results.rows
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    write_file(folder / "episodes.csv", table.getvalue().encode())
