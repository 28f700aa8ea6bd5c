# SPDX-License-Identifier: BSD-3-Clause
"""Episodes one after the other in an engine, with the outcomes of those of many worlds, and recordings of failures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from iap_description.errors import BadInput, FlightFailed
from iap_learning.evaluation.flyers import SCRIPT, EvaluatedAgent
from iap_learning.evaluation.results import Results
from iap_learning.tasks.kind import SingleRun
from iap_learning.tasks.kinds.registry import kind_of
from iap_learning.tasks.task import Task
from iap_physics.engines.engine import RUNNING
from iap_physics.engines.make import AUTO, default_engine
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import Viewer
from iap_simulation.runs.run import Result, record
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import OUTCOMES


class EpisodeViewer(Viewer, Protocol):
    """Shows episodes one after the other.

    Attributes:
        wants_reset: whether an episode has ended because it shall begin again.
    """

    wants_reset: bool

    def begin(self, flight: Flight) -> None:
        """Show another episode from its start."""

    def allow(self, k: int, most: int) -> int:
        """Wait until an episode may go on, see `Pacing`."""


Ending = tuple[bool, str, Mapping[str, float]]  # success, outcome and measures


def fly_in_engine(
    task: Task,
    flyer: EvaluatedAgent,
    engine: str,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
    viewer: EpisodeViewer | None = None,
) -> Results:
    """Fly an episode of each seed.

    Args:
        task: what is to be done.
        flyer: who flies.
        engine: its name.
        seeds: of the episodes.
        progress: is told how many are over.
        viewer: shows them.

    Raises:
        BadInput: the scenario cannot be flown there, or the flyer flies no single run of it.
    """
    if task.own.fails_beyond:
        raise BadInput(
            f"task '{task.name}': key 'own.fails_beyond': many worlds alone are judged by it: leave --engine out"
        )
    endings = []
    with simulation_of(task, flyer, engine, seeds[0]) as simulation:
        if viewer is not None:
            simulation.begin(observers=[viewer], sinks=[viewer], guidance=[viewer])
        for seed in seeds:
            simulation.reset(seed)
            endings.append(
                _fly(simulation, task) if viewer is None else _show(simulation, task, viewer)
            )
            progress(len(endings))
    measures = {name: np.array([known[name] for *_, known in endings]) for name in endings[0][2]}
    success = np.array([good for good, *_ in endings])
    words = [outcome for _, outcome, _ in endings]
    return Results(np.array(seeds, dtype=np.int64), success, words, measures)


def episode_flight(task: Task, flyer: EvaluatedAgent, engine: str, seed: int) -> Flight:
    """The single run of a task's seed, made ready to fly.

    Raises:
        BadInput: there is none.
    """
    single_run_of(task)
    options = {"engine": engine, "seed": seed, "platform": task.platform_name}
    return Flight.of(resolved(task.scenario, run_settings(task, flyer), options)[0])


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
    run = single_run_of(task)
    if flyer.policy in ("", SCRIPT):
        return {**task.settings, "policy": run.script if flyer.policy == SCRIPT else None}
    return {**task.settings, **run.by_policy, "policy": flyer.policy}


def _show(simulation: Simulation, task: Task, viewer: EpisodeViewer) -> Ending:
    """Fly one episode while it is shown; it begins again as often as somebody wants it to."""
    while True:
        viewer.begin(simulation.flight)
        viewer.attach(simulation)
        ending = _fly(simulation, task, lambda: viewer.allow(simulation.loop.k, 1))
        if not viewer.wants_reset:
            return ending
        simulation.reset()


def _fly(simulation: Simulation, task: Task, wait: Callable[[], object] = lambda: None) -> Ending:
    """Fly one episode from the simulation's start; `wait` is called before each period."""
    episode = single_run_of(task).episode(simulation, task)
    try:
        while episode.outcome == RUNNING:
            wait()
            simulation.step()
            episode.observe()
    except FlightFailed as failure:
        return False, failure.outcome, episode.measures
    return episode.succeeded, OUTCOMES[episode.outcome], episode.measures


FOLDER = "failures"


def record_episode(
    task: Task, flyer: EvaluatedAgent, engine: str, seed: int, folder: Path
) -> Result:
    """Record the single run of a task's seed into a folder that is empty or new.

    Raises:
        BadInput: the flyer flies no single run, or the task has none.
        FlightFailed: it ended before anything was recorded.
    """
    duration = single_run_of(task).duration(task)
    options: dict[str, Any] = {"platform": task.platform_name}
    options |= {} if duration is None else {"duration": duration}
    settings = run_settings(task, flyer)
    return record(
        task.scenario, folder=folder, settings=settings, seed=seed, engine=engine, **options
    )


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
    results: Results,
    task: Task,
    flyer: EvaluatedAgent,
    engine: str,
    folder: Path,
    report: Callable[[str], None] = lambda _: None,
) -> dict[str, Recording]:
    """Record the first failure of each cause, by causes.

    Args:
        results: of the evaluation.
        task: that was judged.
        flyer: who flies single runs.
        engine: that flies them.
        folder: in which the run folders are made.
        report: is told which cause is flown, and how many there are.

    Raises:
        BadInput: the flyer flies no single run, or the task has none.
    """
    run_settings(task, flyer)
    out = {}
    for number, (cause, seed) in enumerate(results.first_failures.items()):
        report(f"{number} of {len(results.first_failures)}: {cause}")
        place = folder / FOLDER / cause
        try:
            run = record_episode(task, flyer, engine, seed, place)
        except FlightFailed as failure:
            out[cause] = Recording(None, engine, failure.outcome)
            continue
        out[cause] = Recording(run.folder, engine, str(run.metrics["outcome"]))
    return out


def recording_engine(task: Task, engine: str) -> str:
    """The engine of single runs that stand for episodes: the same, or for those of many worlds the closest one."""
    if engine != "batched":
        return engine
    closest = single_run_of(task).engine
    return default_engine() if closest == AUTO else closest
