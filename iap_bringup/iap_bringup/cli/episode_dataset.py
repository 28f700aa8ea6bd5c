# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap dataset TASK --policy NAME``: episodes of an expert, or of a policy, as a data set of Minari."""

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress

from iap_bringup.cli.arguments.learning import NOMINAL
from iap_bringup.cli.options import check_counts, parsed_settings
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.next_step import show_path
from iap_bringup.terminal.progress import TimeLeft, progress_bar
from iap_learning.datasets.rollouts import AT_ONCE, Rollout, collect
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_simulation.sweeps.statistics import wilson_interval


def run(options: argparse.Namespace) -> int:
    """Fly and write."""
    from iap_learning.datasets.files import free_id, write_dataset
    from iap_learning.registration import spec_of

    check_counts(options, "episodes", "seed", "threads")
    name = options.task if options.preset == NOMINAL else f"{options.task}_{options.preset}"
    settings = parsed_settings(options.assignments)
    task = make_task(name, settings)
    count = min(options.episodes, AT_ONCE)
    episodes = make_episodes(task, count, threads=options.threads)
    expert = agent_of(options.policy, episodes)
    seeds = range(options.seed, options.seed + options.episodes)
    console = make_console(stderr=options.json)
    with _bar(console) as bar:
        task_bar = bar.add_task("", total=len(seeds))
        rollouts = collect(
            episodes, expert, seeds, lambda done: bar.update(task_bar, completed=done)
        )
    policy = Path(options.policy).stem
    dataset_id = free_id(options.out, task.name, policy)
    spec = spec_of(name, settings)
    folder = write_dataset(options.out, dataset_id, rollouts, episodes, policy, spec)
    _show(console, summary(rollouts, episodes), folder, as_json=options.json)
    return 0


def summary(rollouts: Sequence[Rollout], episodes: AnyEpisodes) -> dict[str, Any]:
    """Numbers of episodes and of successes, their mean time [s], and the counts of all outcomes."""
    succeeded = np.array([each.success for each in rollouts])
    seconds = np.array([len(each.actions) for each in rollouts]) * episodes.dt
    outcomes, counts = np.unique([each.outcome for each in rollouts], return_counts=True)
    low, high = wilson_interval(int(succeeded.sum()), len(rollouts))
    return {
        "episodes": len(rollouts),
        "steps": sum(len(each.actions) for each in rollouts),
        "success_rate": float(succeeded.mean()),
        "success_low": low,
        "success_high": high,
        "time_mean_s": float(seconds[succeeded].mean()) if succeeded.any() else None,
        "return_mean": float(np.mean([each.rewards.sum() for each in rollouts])),
        "outcomes": dict(zip(outcomes.tolist(), counts.tolist(), strict=True)),
    }


def _bar(console: Console) -> AbstractContextManager[Progress]:
    columns = (BarColumn(40), MofNCompleteColumn(), TimeLeft())
    return progress_bar(columns, console)


def _show(console: Console, figures: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({**figures, "folder": str(folder)}, allow_nan=False) + "\n")
        return
    low, high, time = figures["success_low"], figures["success_high"], figures["time_mean_s"]
    mean = "-" if time is None else f"{time:.2f} s"
    console.print(
        f"{figures['episodes']} episodes, {figures['steps']} steps;"
        f" success {100 * figures['success_rate']:.1f} %"
        f" (Wilson 95 %: {100 * low:.1f} to {100 * high:.1f}), mean {mean};"
        f" return {figures['return_mean']:.2f}",
        soft_wrap=True,
    )
    console.print(", ".join(f"{name}: {n}" for name, n in figures["outcomes"].items()))
    show_path(console, folder, "folder")
