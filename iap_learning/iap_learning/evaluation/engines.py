# SPDX-License-Identifier: BSD-3-Clause
"""Episodes one after the other in an engine, with the outcomes of those of many worlds, and recordings of failures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.errors import BadInput, FlightFailed
from iap_learning.evaluation.flyers import SCRIPT, EvaluatedAgent
from iap_learning.evaluation.results import Results
from iap_learning.tasks.kind import SingleRun
from iap_learning.tasks.kinds.registry import kind_of
from iap_learning.tasks.task import Task
from iap_physics.engines.engine import RUNNING
from iap_simulation.runs.run import record
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import OUTCOMES

Ending = tuple[bool, str, Mapping[str, float]]  # success, outcome and measures


def fly_in_engine(
    task: Task,
    flyer: EvaluatedAgent,
    engine: str,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
) -> Results:
    """Fly an episode of each seed.

    Args:
        task: what is to be done.
        flyer: who flies.
        engine: its name.
        seeds: of the episodes.
        progress: is told how many are over.

    Raises:
        BadInput: the scenario cannot be flown there, or the flyer flies no single run of it.
    """
    endings = []
    with simulation_of(task, flyer, engine, seeds[0]) as simulation:
        for seed in seeds:
            simulation.reset(seed)
            endings.append(_fly(simulation, task))
            progress(len(endings))
    measures = {name: np.array([known[name] for *_, known in endings]) for name in endings[0][2]}
    success = np.array([good for good, *_ in endings])
    words = [outcome for _, outcome, _ in endings]
    return Results(np.array(seeds, dtype=np.int64), success, words, measures)


def simulation_of(task: Task, flyer: EvaluatedAgent, engine: str, seed: int) -> Simulation:
    """The single run of a task's seed.

    Raises:
        BadInput: there is none.
    """
    single_run_of(task)
    settings = run_settings(task, flyer)
    return Simulation.of(
        task.scenario, settings=settings, engine=engine, seed=seed, platform=task.platform_name
    )


def single_run_of(task: Task) -> SingleRun:
    """Single runs that stand for a task's episodes in engines.

    Raises:
        BadInput: its kind has none.
    """
    run: SingleRun = kind_of(task).part("single_run", f"task '{task.name}', with --engine")
    return run


def run_settings(task: Task, flyer: EvaluatedAgent) -> Mapping[str, Any]:
    """A scenario's keys by which a flyer flies single runs of a task.

    Raises:
        BadInput: it flies none.
    """
    if not flyer.flies_alone:
        raise BadInput(f"'{flyer.name}' flies episodes alone, with --engine batched")
    policy = single_run_of(task).script if flyer.policy == SCRIPT else flyer.policy or None
    return {**task.settings, "policy": policy}


def _fly(simulation: Simulation, task: Task) -> Ending:
    """Fly one episode from the simulation's start."""
    episode = single_run_of(task).episode(simulation, task)
    try:
        while episode.outcome == RUNNING:
            simulation.step()
            episode.observe()
    except FlightFailed as failure:
        return False, failure.outcome, episode.measures
    return episode.succeeded, OUTCOMES[episode.outcome], episode.measures


FOLDER = "failures"


class Recording(NamedTuple):
    """A failure that was flown again.

    Attributes:
        folder: of the run; None where the flight ended before anything was recorded.
        engine: that flew it.
        outcome: of the run, which may differ from the episode's where another engine flew that.
    """

    folder: Path | None
    engine: str
    outcome: str


def record_failures(
    results: Results, task: Task, flyer: EvaluatedAgent, engine: str, folder: Path
) -> dict[str, Recording]:
    """Record the first failure of each cause, by causes.

    Args:
        results: of the evaluation.
        task: that was judged.
        flyer: who flies single runs.
        engine: that flies them.
        folder: in which the run folders are made.

    Raises:
        BadInput: the flyer flies no single run, or the task has none.
    """
    single_run, settings = single_run_of(task), run_settings(task, flyer)
    duration = single_run.duration(task)
    options: dict[str, Any] = {"platform": task.platform_name}
    options |= {} if duration is None else {"duration": duration}
    out = {}
    for cause, seed in results.first_failures.items():
        place = folder / FOLDER / cause
        try:
            run = record(
                task.scenario, folder=place, settings=settings, seed=seed, engine=engine, **options
            )
        except FlightFailed as failure:
            out[cause] = Recording(None, engine, failure.outcome)
            continue
        out[cause] = Recording(run.folder, engine, str(run.metrics["outcome"]))
    return out


def recording_engine(task: Task, engine: str) -> str:
    """The engine of single runs that stand for episodes: the same, or for those of many worlds the closest one."""
    if engine != "batched":
        return engine
    return single_run_of(task).engine
