# SPDX-License-Identifier: BSD-3-Clause
"""Judges of tasks that nodes fly: those of one process, on what messages say at control instants."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np

from iap_description.signals import Step
from iap_learning.policies.flight_judge import FlightJudge
from iap_physics.latches import LatchEvent, Phase
from iap_simulation.docking.pilot import DockingInstant, DockingJudge, is_held
from iap_simulation.flight import Flight
from iap_simulation.pilots import make_pilot
from iap_simulation.scenario.scenario import Scenario

PHASES = tuple(Phase)  # by their numbers in messages


class NodeJudge(Protocol):
    """Follows a task by messages, and ends the flight when it is over."""

    key: str  # of metrics.json
    missed: str  # outcome of a flight in which the task has not succeeded

    @property
    def is_over(self) -> bool:
        """Whether it is."""

    @property
    def failure(self) -> str | None:
        """Why it is no success, in a sentence; None of a success."""

    def take(self, ticks: Sequence[Step], phases: Sequence[int]) -> None:
        """Take all vehicles at an instant after the first, and the phases of latches by their numbers."""

    def report(self) -> dict[str, Any]:
        """What metrics.json says of it."""


class NodeDocking:
    """Judges a docking.

    Latches are known at control instants alone, so that times of what they do are rounded up to these.

    Args:
        scenario: that docks.
        judge: of it.

    Attributes:
        events: what the latch has done.
    """

    def __init__(self, scenario: Scenario, judge: DockingJudge) -> None:
        self._judge, self.key, self.missed = judge, judge.key, judge.missed
        self._number = list(scenario.latches).index(judge.latch)
        self._release = scenario.latches[judge.latch].release
        self._phase, self._caught = Phase.OPEN, 0.0
        self.events: list[LatchEvent] = []

    @classmethod
    def of(cls, scenario: Scenario) -> Self | None:
        """The judge of a scenario that docks, else None."""
        judge = DockingJudge.of(scenario)
        return None if judge is None else cls(scenario, judge)

    @property
    def is_over(self) -> bool:
        """Whether the docking has succeeded, or its time is up."""
        return self._judge.is_over

    @property
    def failure(self) -> str | None:
        """Why it is no success."""
        return self._judge.failure

    def take(self, ticks: Sequence[Step], phases: Sequence[int]) -> None:
        """Take an instant."""
        judge, phase = self._judge, PHASES[phases[self._number]]
        own = [ticks[i] for i in judge.vehicles]
        rows = [tick.x[0] for tick in own]
        t = own[0].t
        self._note(t, phase, rows)
        felt = [tick.wrench_record.raw_P[:3] for tick in own if tick.wrench_record is not None]
        force = max(float(np.linalg.norm(each)) for each in felt)
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


class NodeTask:
    """Judges the task of a policy that flies the only vehicle.

    Args:
        judge: of it.
    """

    def __init__(self, judge: FlightJudge) -> None:
        self._judge, self.key, self.missed = judge, judge.key, judge.missed

    @property
    def is_over(self) -> bool:
        """Whether the task has come to its end."""
        return self._judge.is_over

    @property
    def failure(self) -> str | None:
        """Why it is no success."""
        return self._judge.failure

    def take(self, ticks: Sequence[Step], phases: Sequence[int]) -> None:  # noqa: ARG002
        """Take an instant."""
        self._judge.take(ticks[0].x)

    def report(self) -> dict[str, Any]:
        """Key `task` of metrics.json."""
        return self._judge.report()


def judge_of(flight: Flight) -> tuple[NodeJudge | None, dict[str, Any] | None]:
    """What ends a flight when its task is over, None where it has none; and what flies in place of controllers.

    Raises:
        BadInput: there is no such policy, or it cannot fly this scenario.
    """
    pilot = make_pilot(flight.scenario, flight.vehicles)
    info = None if pilot is None else dict(pilot.info)
    docking = NodeDocking.of(flight.scenario)
    if docking is not None or pilot is None or not isinstance(pilot.judge, FlightJudge):
        return docking, info
    return NodeTask(pilot.judge), info
