# SPDX-License-Identifier: BSD-3-Clause
"""Episodes one after the other in an engine, judged by the words of those of many worlds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np

from iap_description.errors import BadInput, FlightFailed
from iap_learning.evaluation.batched import LAST
from iap_learning.evaluation.flyers import SCRIPT, Flyer
from iap_learning.evaluation.module_watch import ModuleWatch
from iap_learning.evaluation.results import Results
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.kinds.platform.flight_judge import FlightJudge
from iap_learning.tasks.kinds.platform.task import Task
from iap_learning.tasks.kinds.registry import AnyTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.docking.pilot import DockingJudge
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import ARRIVED, NOT_CALM, OUTCOMES, TIME_IS_UP, TOO_FORCEFUL

Ending = tuple[
    bool, str, dict[str, float]
]  # whether it is a success, its outcome, and what is known


class Watch(Protocol):
    """Follows one episode."""

    @property
    def outcome(self) -> int:
        """Number in `OUTCOMES`."""

    def look(self) -> None:
        """Take the end of a control period."""

    def ending(self) -> tuple[bool, dict[str, float]]:
        """Whether it is a success, and what is known."""


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
            endings.append(_flown(simulation, task))
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


def _flown(simulation: Simulation, task: AnyTask) -> Ending:
    watch = _watch(simulation, flown_in_engines(task))
    try:
        while watch.outcome == RUNNING:
            simulation.step()
            watch.look()
    except FlightFailed as failure:
        return False, failure.outcome, watch.ending()[1]
    good, known = watch.ending()
    return good, OUTCOMES[watch.outcome], known


def _watch(simulation: Simulation, task: Task | DockingTask | ModuleDockingTask) -> Watch:
    if isinstance(task, DockingTask):
        return DockingWatch.of(simulation, task)
    if isinstance(task, ModuleDockingTask):
        return ModuleWatch.of(simulation, task)
    return PlatformWatch(simulation, task)


class DockingWatch:
    """Follows a docking by its judge.

    Args:
        simulation: at the start.
        task: what is to be done.
        judge: of the simulation's present flight.

    Attributes:
        outcome: number in `OUTCOMES`.
    """

    def __init__(self, simulation: Simulation, task: DockingTask, judge: DockingJudge) -> None:
        self._simulation, self._task, self._judge = simulation, task, judge
        self.outcome = RUNNING

    @classmethod
    def of(cls, simulation: Simulation, task: DockingTask) -> Self:
        """At the start of a flight."""
        found = simulation.task
        if not isinstance(found, DockingJudge):
            raise BadInput(f"scenario '{task.scenario}' docks nothing")
        return cls(simulation, task, found)

    def look(self) -> None:
        """Take the end of a control period."""
        judge = self._judge
        if judge.force_peak > self._task.force:
            self.outcome = TOO_FORCEFUL
        elif judge.succeeded:
            self.outcome = ARRIVED
        elif judge.is_over:
            self.outcome = TIME_IS_UP if judge.end is None else NOT_CALM
        elif self._simulation.t >= self._task.seconds:
            self.outcome = TIME_IS_UP

    def ending(self) -> tuple[bool, dict[str, float]]:
        """Whether it is a success, and what is known."""
        judge = self._judge
        known = {
            "time": judge.end,
            "force_peak": judge.force_peak,
            "closing_speed": judge.closing_speed,
            "latch_time": judge.docked[-1] if judge.docked else None,
        }
        numbers = {key: np.nan if value is None else value for key, value in known.items()}
        return self.outcome == ARRIVED, numbers


class PlatformWatch:
    """Judges one platform's flight.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: Task) -> None:
        self._plant = simulation.plant
        self._last = max(1, round(LAST / (task.repeat * simulation.scenario.dt)))
        self._judge = FlightJudge(task, simulation.scenario, simulation.loop.vehicles[0])

    @property
    def outcome(self) -> int:
        """Number in `OUTCOMES`."""
        return self._judge.outcome

    def look(self) -> None:
        """Take the end of a control period."""
        self._judge.watch(self._plant)

    def ending(self) -> tuple[bool, dict[str, float]]:
        """Whether it is a success, and what is known."""
        last = self._judge.distances[-self._last :]
        error = float(np.mean(last)) if last else np.nan
        return self._judge.succeeded, {"time": self._judge.time, "error": error}
