# SPDX-License-Identifier: BSD-3-Clause
"""Episodes one after the other in an engine, with the outcomes of those of many worlds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from iap_description.errors import BadInput, FlightFailed
from iap_learning.evaluation.flyers import SCRIPT, Flyer
from iap_learning.evaluation.results import Results
from iap_learning.tasks.engine_episode import EngineEpisode
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.kinds.docking.engine_episode import DockingEngineEpisode
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.kinds.module_docking.engine_episode import ModuleDockingEngineEpisode
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.kinds.platform.engine_episode import PlatformEngineEpisode
from iap_learning.tasks.kinds.platform.task import Task
from iap_learning.tasks.kinds.registry import AnyTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import OUTCOMES

Ending = tuple[bool, str, Mapping[str, float]]  # success, outcome and measures


def fly_in_engine(
    task: AnyTask,
    flyer: Flyer,
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


def simulation_of(task: AnyTask, flyer: Flyer, engine: str, seed: int) -> Simulation:
    """The single run of a task's seed.

    Raises:
        BadInput: there is none.
    """
    flown, settings = flown_in_engines(task), run_settings(task, flyer)
    return Simulation.of(
        flown.scenario, settings=settings, engine=engine, seed=seed, platform=flown.platform
    )


def flown_in_engines(task: AnyTask) -> Task | DockingTask | ModuleDockingTask:
    """The same task, whose scenario has single runs in engines.

    Raises:
        BadInput: it has none.
    """
    if isinstance(task, ArmReachTask):
        raise BadInput(f"task '{task.name}' flies an identified plant, with --engine batched")
    return task


def run_settings(task: AnyTask, flyer: Flyer) -> Mapping[str, Any]:
    """A scenario's keys by which a flyer flies single runs of a task.

    Raises:
        BadInput: it flies none.
    """
    if not flyer.flies_alone:
        raise BadInput(f"'{flyer.name}' flies episodes alone, with --engine batched")
    is_coordinated = isinstance(task, ModuleDockingTask) and flyer.policy == SCRIPT
    return {**task.settings, "policy": None if is_coordinated else flyer.policy or None}


def _fly(simulation: Simulation, task: AnyTask) -> Ending:
    """Fly one episode from the simulation's start."""
    episode = _episode(simulation, flown_in_engines(task))
    try:
        while episode.outcome == RUNNING:
            simulation.step()
            episode.observe()
    except FlightFailed as failure:
        return False, failure.outcome, episode.measures
    return episode.succeeded, OUTCOMES[episode.outcome], episode.measures


def _episode(
    simulation: Simulation, task: Task | DockingTask | ModuleDockingTask
) -> EngineEpisode:
    if isinstance(task, DockingTask):
        return DockingEngineEpisode(simulation, task)
    if isinstance(task, ModuleDockingTask):
        return ModuleDockingEngineEpisode(simulation, task)
    return PlatformEngineEpisode(simulation, task)
