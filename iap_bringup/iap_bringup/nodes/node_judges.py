# SPDX-License-Identifier: BSD-3-Clause
"""Judges of tasks that nodes fly: those of one process, on what messages say at control instants."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from iap_bringup.nodes.node_modules import NodeModules
from iap_description.signals import Step
from iap_io.runs.topics import LATCHES
from iap_learning.tasks.kinds.platform.flight_judge import FlightJudge
from iap_physics.latching.latches import PHASES, LatchEvent, Phase
from iap_simulation.docking.pilot import DockingInstant, DockingJudge, is_held
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import info_of, make_agent
from iap_simulation.scenario.module_joints import is_coordinated
from iap_simulation.scenario.scenario import Scenario

Last = Callable[[int, str], Any]


class NodeJudge(Protocol):
    """Follows a task by messages, and ends the flight when it is over."""

    @property
    def key(self) -> str:
        """Of metrics.json."""

    @property
    def missed(self) -> str:
        """Outcome of a flight in which the task has not succeeded."""

    @property
    def is_over(self) -> bool:
        """Whether the task is over."""

    @property
    def failure(self) -> str | None:
        """Why it is no success, in a sentence; None of a success."""

    def take(self, ticks: Sequence[Step], last: Last) -> None:
        """Take all vehicles at an instant.

        Args:
            ticks: of them.
            last: returns the value of a vehicle's topic at that instant, or the last one before; None where none came.
        """

    def report(self) -> dict[str, Any]:
        """What metrics.json says of it."""

    def write(self, folder: Path) -> None:
        """Write into a run folder what is kept of it besides."""


class FlownTask(Protocol):
    """What `DockingJudge` and `FlightJudge` have in common."""

    key: str
    missed: str

    @property
    def is_over(self) -> bool:
        """Whether it is."""

    @property
    def failure(self) -> str | None:
        """Why it is no success, in a sentence."""


class _Following:
    """What follows the judge of one process, from the second instant on, at which that one begins.

    Args:
        judge: of the task.
    """

    def __init__(self, judge: FlownTask) -> None:
        self._task = judge

    @property
    def key(self) -> str:
        """Of metrics.json."""
        return self._task.key

    @property
    def missed(self) -> str:
        """Outcome of a flight in which the task has not succeeded."""
        return self._task.missed

    @property
    def is_over(self) -> bool:
        """Whether the task has come to its end."""
        return self._task.is_over

    @property
    def failure(self) -> str | None:
        """Why it is no success."""
        return self._task.failure

    def take(self, ticks: Sequence[Step], last: Last) -> None:
        """Take an instant."""
        if ticks[0].k > 0:
            self._follow(ticks, last)

    def _follow(self, ticks: Sequence[Step], last: Last) -> None:
        raise NotImplementedError

    def write(self, folder: Path) -> None:
        """Nothing is kept besides."""


class NodeDocking(_Following):
    """Judges a docking.

    Latches are known at control instants alone, so that times of what they do are rounded up to these.

    Args:
        scenario: that docks.
        judge: of it.

    Attributes:
        events: what the latch has done.
    """

    def __init__(self, scenario: Scenario, judge: DockingJudge) -> None:
        super().__init__(judge)
        self._judge = judge
        self._number = list(scenario.latches).index(judge.latch)
        self._release = scenario.latches[judge.latch].release
        self._phase, self._caught = Phase.OPEN, 0.0
        self.events: list[LatchEvent] = []

    def _follow(self, ticks: Sequence[Step], last: Last) -> None:
        phases = last(0, LATCHES)
        phase = Phase.OPEN if phases is None else PHASES[phases[self._number]]
        judge = self._judge
        own = [ticks[i] for i in judge.vehicles]
        rows = [tick.x[0] for tick in own]
        t = own[0].t
        self._note(t, phase, rows)
        force = max(_force(tick) for tick in own)
        caught = self._caught if is_held(phase) else None
        judge.take(DockingInstant(t, rows, force, caught))

    def _note(self, t: float, phase: Phase, rows: Sequence[np.ndarray]) -> None:
        """Note what the latch has done since the last instant."""
        if is_held(phase) and not is_held(self._phase):
            self._caught = t
        for what in self._done(t, phase):
            found = self._judge.approach(rows)
            self.events.append(LatchEvent(t, self._judge.latch, what, found))
        self._phase = phase

    def _done(self, t: float, phase: Phase) -> list[str]:
        """Words for a change of phase."""
        before = self._phase
        if phase == before:
            return []
        if is_held(phase):
            caught = [] if is_held(before) else ["caught"]
            return [*caught, "locked"] if phase == Phase.LOCKED else caught
        if not is_held(before):
            return []
        if self._release is not None and t >= self._release:
            return ["released"]
        return ["lost" if before == Phase.CAUGHT else "broken"]

    def report(self) -> dict[str, Any]:
        """Key `docking` of metrics.json."""
        return self._judge.report(self.events)


def _force(tick: Step) -> float:
    """Measured force on a vehicle [N]; all vehicles of a scenario with latches measure it (`Scenario.has_contact`)."""
    assert tick.wrench_record is not None
    return float(np.linalg.norm(tick.wrench_record.raw_P[:3]))


class NodeTask(_Following):
    """Judges the task of a policy that flies the only vehicle.

    Args:
        judge: of it.
    """

    def __init__(self, judge: FlightJudge) -> None:
        super().__init__(judge)
        self._judge = judge

    def _follow(self, ticks: Sequence[Step], last: Last) -> None:  # noqa: ARG002
        self._judge.take(ticks[0].x)

    def report(self) -> dict[str, Any]:
        """Key `task` of metrics.json."""
        return self._judge.report()


def judge_of(flight: Flight) -> tuple[NodeJudge | None, dict[str, Any] | None]:
    """What ends a flight when its task is over, None where it has none; and what flies in place of controllers.

    Raises:
        BadInput: there is no such policy, or it cannot fly this scenario; or nodes cannot be judged by what they tell.
    """
    scenario = flight.scenario
    if is_coordinated(scenario):
        return NodeModules(flight), None
    agent = make_agent(scenario, flight.vehicles)
    info = None if agent is None else info_of(agent, scenario)
    docking = DockingJudge.of(scenario)
    if docking is not None:
        return NodeDocking(scenario, docking), info
    task = getattr(agent, "task", None)
    return (NodeTask(task) if isinstance(task, FlightJudge) else None), info
