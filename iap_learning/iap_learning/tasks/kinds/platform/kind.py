# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform as a kind: their monitor, their episode in an engine, and policies that fly them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY
from iap_learning.tasks.kind import (
    ERROR_TIME,
    EngineEpisode,
    FlyingPolicy,
    SingleRun,
    TaskKind,
)
from iap_learning.tasks.kinds.platform.assessment import StepInputs, assess
from iap_learning.tasks.kinds.platform.clearance import FlightClearance
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.observations import NO_PARTS, ObservationInputs
from iap_learning.tasks.kinds.platform.outcome import EpisodeCounts, Rules
from iap_learning.tasks.kinds.platform.platform_policy import PlatformPolicy
from iap_learning.tasks.kinds.platform.rewards import RewardTerms
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.plant_senses import commanded_gripper, senses_of
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.task import DEFAULT_KIND
from iap_learning.tasks.user_inputs import TermInputs
from iap_learning.tasks.user_quantities import UserQuantities
from iap_physics.engines.engine import RUNNING
from iap_physics.plant.plant import Plant
from iap_simulation.loop.agents import SCRIPT
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor
from iap_simulation.tasks.outcomes import ARRIVED, OUTCOMES
from iap_simulation.vehicles.vehicle import Vehicle

NO_OBSERVATION = np.zeros((1, 0), np.float32)
OPEN = np.full(1, np.inf)  # distance from obstacles where there are none, or nobody minds them [m]


class PlatformMonitor(TaskMonitor[ObservedPlant]):
    """Follows a task that one platform flies, and ends the flight when it is over.

    Args:
        task: what is to be done.
        scenario: that is flown.
        vehicle: the only one, at its start.

    Attributes:
        distances: from the goal after every step [m].

    """

    key, missed = "task", "not_arrived"

    def __init__(self, task: PlatformTask, scenario: Scenario, vehicle: Vehicle) -> None:
        self._task, self._vehicle = task, vehicle
        self._dt = task.repeat * scenario.dt
        count = scenario.vehicles[0].platform.count
        self._example = TermInputs.at_rest(count, task.action.size(count))
        self._user = UserQuantities(task.name, task.own_quantities, 1, self._example)
        names = self._user.names
        rules = Rules.of(task, self._dt, names)
        self._of_task = (RewardTerms.of(task.reward, names), rules, NO_PARTS)
        self._clearance = FlightClearance(scenario) if task.minds_obstacles else None
        self._counts = EpisodeCounts.of(1)
        self._zero = np.zeros(1, dtype=np.int64)
        self._k = 0  # control instants so far
        self.distances: list[float] = []

    def observe(self, plant: ObservedPlant) -> None:
        """Observe the present control instant; the last one of every step counts."""
        self._k += 1
        if self._k % self._task.repeat or self.is_over:
            return
        self._assess(plant.state(0), self._distance(plant), self._counts)
        self.distances.append(float(self._counts.distance[0]))

    def warm_up(self) -> None:
        """Compile what assesses a step, on the start."""
        self._assess(self._vehicle.start[None], OPEN, EpisodeCounts.of(1))

    def _assess(self, x: Array, clearance: Array, counts: EpisodeCounts) -> None:
        """Count a step that ends in a state (1, bodies, 13) at a distance (1,) from obstacles [m]."""
        none = np.zeros((1, 1))
        states = ObservationInputs(x, self._goal(), self._zero, none[None], none)
        fates = self._fates(states) if self._user.is_needed else self._zero
        inputs = StepInputs(none, clearance, fates, self._user.values)
        assess(0, 1, states, inputs, self._of_task, counts, np.zeros(1), NO_OBSERVATION)

    def _fates(self, states: ObservationInputs) -> Integers:
        """Status (1,) after the user's quantities that judge; rotor speeds and actions are unknown here, and NaN."""
        rpm, action = (np.full((1, *each.shape), np.nan) for each in self._example[2:])
        judged = (*self._task.success.within, *self._task.fails_beyond)
        self._user.fill(self._zero, states._replace(rpm=rpm, action=action).arrays, judged)
        return self._user.fates(self._zero)

    def _distance(self, plant: ObservedPlant) -> Array:
        return OPEN if self._clearance is None else self._clearance(plant)

    def _goal(self) -> Array:
        if self._task.goal == "present":
            return self._vehicle.reference(self._k).row[None]
        return self._vehicle.timeline.goal[None]

    @property
    def outcome(self) -> int:
        """Number in `iap_simulation.tasks.outcomes.OUTCOMES`."""
        return int(self._counts.outcome[0])

    @property
    def is_over(self) -> bool:
        """True if the task has come to its end."""
        return self.outcome != RUNNING

    @property
    def succeeded(self) -> bool:
        """True if it is a success if it ends here."""
        return bool(self._counts.success[0])

    @property
    def time(self) -> float:
        """Flown so far, in whole steps [s]."""
        return len(self.distances) * self._dt

    @property
    def failure(self) -> str | None:
        """Why the task has failed, or has not succeeded so far, in a sentence; None of a success."""
        if self.succeeded:
            return None
        what = f"task '{self._task.name}' has not succeeded after {self.time:.2f} s"
        return f"{what}: {OUTCOMES[self.outcome]}" if self.is_over else what

    @property
    def success(self) -> str:
        """Time at which the goal was reached."""
        if self.outcome == ARRIVED:
            return f"arrived after {self.time:.2f} s, {self.distances[-1]:.2f} m from the goal"
        return f"task '{self._task.name}' has succeeded"

    def metrics(self, plant: ObservedPlant) -> dict[str, Any]:  # noqa: ARG002 - as of all monitors
        """Key `task` of metrics.json."""
        return {
            "name": self._task.name,
            "success": self.succeeded,
            "outcome": OUTCOMES[self.outcome],
            "time_s": self.time if self.outcome == ARRIVED else None,
            "distance_m": self.distances[-1] if self.distances else None,
        }


def check_alone(scenario: Scenario) -> None:
    """Refuse scenarios of several vehicles.

    Raises:
        BadInput: there are more than one.
    """
    count = len(scenario.vehicles)
    if count != 1:
        raise BadInput(f"{KEY}: '{scenario.policy}' flies one vehicle, not {count}")


def platform_pilot(
    policy: Policy, task: PlatformTask, scenario: Scenario, vehicles: Sequence[Vehicle]
) -> "PlatformPilot":
    """The pilot of a scenario's first vehicle; the others are flown by their controllers.

    Raises:
        BadInput: the policy is of another platform, rate or layout.
    """
    vehicle = vehicles[0]
    flown = PlatformPolicy(policy, task, scenario, vehicle)
    monitor = PlatformMonitor(task, scenario, vehicle) if task.success.ends else None
    followers = range(0 if task.goal == "present" else 1, len(vehicles))
    return PlatformPilot(flown, vehicle, task=monitor, followers=followers)


class PlatformPilot:
    """A policy flies one platform in the loop of its scenario.

    Args:
        flown: the policy.
        vehicle: the only one.
        task: monitor of a task that ends with its success; None of others.
        followers: the vehicle, where its reference is what the policy shall follow.

    Attributes:
        task: as given.
        followers: as given.
        sinks: receive the readings that the policy acts on.
    """

    def __init__(
        self,
        flown: FlyingPolicy,
        vehicle: Vehicle,
        *,
        task: TaskMonitor[ObservedPlant] | None,
        followers: Collection[int],
    ) -> None:
        self._flown, self._vehicle, self.task = flown, vehicle, task
        self.followers = followers
        self.sinks = flown.inputs

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return self._flown.info

    def command(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """The command at control instant k."""
        vehicle = self._vehicle
        x = vehicle.known_state(plant.state(0)[0])
        senses = senses_of(plant, self._flown.asks_for)
        if Sense.MEASURED in self._flown.asks_for:
            senses = senses._replace(measured=vehicle.measurement)
        assert senses.wrench is not None  # noqa: S101 - every plant has one
        output = self._flown(k, x, plant.propulsion[0].rpm[0], references[0].row, senses)
        if self._flown.closes is not None:
            commanded_gripper(plant).closes = self._flown.closes
        if not self._flown.gives_references:
            return {0: cast(Command, output)}
        return {0: vehicle.command(plant.t, x, senses.wrench, cast(Reference, output))}


class PlatformEngineEpisode(EngineEpisode):
    """An episode of one platform in an engine, by the compiled step of those in many worlds.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: PlatformTask) -> None:
        scenario = simulation.scenario
        self._plant = simulation.plant
        self._last = max(1, round(ERROR_TIME / (task.repeat * scenario.dt)))
        self._monitor = PlatformMonitor(task, scenario, simulation.loop.vehicles[0])

    def observe(self) -> None:
        """Observe the end of a control period."""
        self._monitor.observe(self._plant)
        self.outcome = self._monitor.outcome

    @property
    def succeeded(self) -> bool:
        """True if it is a success if it ends here."""
        return self._monitor.succeeded

    @property
    def measures(self) -> Mapping[str, float]:
        """Time flown [s], and the mean distance from the goal at its end [m]."""
        last = self._monitor.distances[-self._last :]
        error = float(np.mean(last)) if last else np.nan
        return {"time": self._monitor.time, "error": error}


def _duration(task: PlatformTask) -> float | None:
    """Length of a run [s]; None of a goal that is the scenario's last reference, which a shorter one would move."""
    return task.seconds if task.goal == "present" else None


PLATFORM = TaskKind(
    name=DEFAULT_KIND,
    task=PlatformTask,
    episodes=PlatformEpisodes,
    single_run=SingleRun(
        PlatformEngineEpisode, engine="closed_form", script=SCRIPT, duration=_duration
    ),
    policy_agent=platform_pilot,
    flying_policy=PlatformPolicy,
)
