# SPDX-License-Identifier: BSD-3-Clause
"""Follows the task of one platform, by the compiled step of many; actions count for no success."""

from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.states import P
from iap_description.world.distances import Surroundings
from iap_learning.tasks.kinds.platform.assessment import StepInputs, assess
from iap_learning.tasks.kinds.platform.observations import ObservationInputs, Parts
from iap_learning.tasks.kinds.platform.outcome import Counted, Rules
from iap_learning.tasks.kinds.platform.rewards import RewardTerms
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor
from iap_simulation.tasks.outcomes import ARRIVED, OUTCOMES
from iap_simulation.vehicles.vehicle import Vehicle

NO_PARTS = Parts(np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0))  # of observations
NO_OBSERVATION = np.zeros((1, 0), np.float32)


class PlatformMonitor(TaskMonitor[ObservedPlant]):
    """Follows a task that one platform flies, and ends the flight when it is over.

    Args:
        task: what is to be done.
        scenario: that is flown.
        vehicle: the only one, at its start.

    Attributes:
        distances: from the goal after every step [m].

    Raises:
        BadInput: the task minds obstacles, and one moves.
    """

    key, missed = "task", "not_arrived"

    def __init__(self, task: PlatformTask, scenario: Scenario, vehicle: Vehicle) -> None:
        self._task, self._vehicle = task, vehicle
        self._dt = task.repeat * scenario.dt
        self._of_task = (RewardTerms.of(task.reward), Rules.of(task, self._dt), NO_PARTS)
        self._around = Surroundings([placed_world(scenario)]) if task.minds_obstacles else None
        self._counted = Counted.of(1)
        self._zero = np.zeros(1, dtype=np.int64)
        self._k = 0  # control instants so far
        self.distances: list[float] = []

    def observe(self, plant: ObservedPlant) -> None:
        """Observe the present control instant; the last one of every step counts."""
        self._k += 1
        if self._k % self._task.repeat or self.is_over:
            return
        x, action = plant.state(0), np.zeros((1, 1))
        states = ObservationInputs(x, self._goal(), self._zero, action[None], action)
        inputs = StepInputs(action, self._clearance(x), self._zero)
        assess(0, 1, states, inputs, self._of_task, self._counted, np.zeros(1), NO_OBSERVATION)
        self.distances.append(float(self._counted.distance[0]))

    def _clearance(self, x: Array) -> Array:
        return np.full(1, np.inf) if self._around is None else self._around.distances(x[:, 0, P])

    def _goal(self) -> Array:
        vehicle = self._vehicle
        k = self._k if self._task.goal == "present" else vehicle.timeline.last
        return vehicle.reference(k).row[None]

    @property
    def outcome(self) -> int:
        """Number in `iap_simulation.tasks.outcomes.OUTCOMES`."""
        return int(self._counted.outcome[0])

    @property
    def is_over(self) -> bool:
        """True if the task has come to its end."""
        return self.outcome != RUNNING

    @property
    def succeeded(self) -> bool:
        """True if it is a success if it ends here."""
        return bool(self._counted.success[0])

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

    def metrics(self, plant: ObservedPlant) -> dict[str, Any]:  # noqa: ARG002 - as of all monitors
        """Key `task` of metrics.json."""
        return {
            "name": self._task.name,
            "success": self.succeeded,
            "outcome": OUTCOMES[self.outcome],
            "time_s": self.time if self.outcome == ARRIVED else None,
            "distance_m": self.distances[-1] if self.distances else None,
        }
