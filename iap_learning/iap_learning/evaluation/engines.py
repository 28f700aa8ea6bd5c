# SPDX-License-Identifier: BSD-3-Clause
"""Episodes one after the other in an engine, with the outcomes of those of many worlds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from iap_description.errors import BadInput, FlightFailed
from iap_learning.evaluation.flyers import SCRIPT, EvaluatedAgent
from iap_learning.evaluation.results import Results
from iap_learning.tasks.kind import SingleRun
from iap_learning.tasks.kinds.registry import kind_of
from iap_learning.tasks.task import Task
from iap_physics.engines.engine import RUNNING
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
