# SPDX-License-Identifier: BSD-3-Clause
"""Whether episodes go on, have succeeded, or are over, and why."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_learning.tasks.quantities import CLEARANCE, QUANTITIES, Quantity
from iap_learning.tasks.task import Task
from iap_physics.engines.engine import DIVERGED, FAR, INVALID_COMMAND, RUNNING, UPSIDE_DOWN

# Outcomes of episodes; the first of them are the statuses of worlds.
OUT_OF_BOUNDS = 5
ARRIVED = 6
TIME_IS_UP = 7
COLLIDED = 8
CRASHED = 9  # on the ground or upside down, of a docking
TOO_FORCEFUL = 10
NOT_CALM = 11  # docked, and too fast or tilted at the end of the coupled flight
TOO_FAST = 12  # caught, at too high a closing speed, of modules
OUTCOMES = {
    RUNNING: "running",
    DIVERGED: "diverged",
    INVALID_COMMAND: "invalid_command",
    UPSIDE_DOWN: "upside_down",
    FAR: "far",
    OUT_OF_BOUNDS: "out_of_bounds",
    ARRIVED: "arrived",
    TIME_IS_UP: "time",
    COLLIDED: "collided",
    CRASHED: "crashed",
    TOO_FORCEFUL: "too_forceful",
    NOT_CALM: "not_calm",
    TOO_FAST: "too_fast",
}


class Rules(NamedTuple):
    """What a task says of success and end, as the compiled loop takes it.

    Attributes:
        within: (quantities,) bounds of success, infinite where there is none.
        beyond: (quantities,) bounds of failure.
        clearance: least distance from obstacles [m].
        lasting: steps for which success must last, at least one.
        arrives: whether success ends an episode.
        limit: steps of an episode.
        failure: reward of the step of a failure.
        arrival: reward added in the step of an arrival.
    """

    within: Array
    beyond: Array
    clearance: float
    lasting: int
    arrives: bool
    limit: int
    failure: float
    arrival: float

    @classmethod
    def of(cls, task: Task, step: float) -> Self:
        """The rules of a task with steps of a length [s]."""
        success = task.success
        return cls(
            _bounds(success.within),
            _bounds(task.fails_beyond),
            0.0 if task.clearance is None else task.clearance,
            max(1, round(success.lasting / step)),
            success.ends,
            max(1, round(task.seconds / step)),
            task.reward.failure,
            task.reward.arrival,
        )


def _bounds(given: dict[Quantity, float]) -> Array:
    return np.array([given.get(name, np.inf) for name in QUANTITIES])


@njit(cache=True)
def judge(
    status: Integers,
    measures: Array,
    within: Array,
    beyond: Array,
    clearance: float,
    lasting: int,
    arrives: bool,
    limit: int,
    failure: float,
    arrival: float,
    steps: Integers,
    kept: Integers,
    reward: Array,
    outcome: Integers,
    success: Booleans,
) -> None:
    """Count a step of every world, and say what becomes of its episode.

    Args:
        status: (B,) of the worlds.
        measures: (B, quantities).
        within: see `Rules`, and so are all up to `arrival`.
        beyond: see there.
        clearance: see there.
        lasting: see there.
        arrives: see there.
        limit: see there.
        failure: see there.
        arrival: see there.
        steps: (B,) of the episodes so far; counted on.
        kept: (B,) steps for which the bounds of success have been kept to; counted on.
        reward: (B,) of the step; changed where an episode fails or arrives.
        outcome: (B,) see `OUTCOMES`; written.
        success: (B,) whether the episode is a success if it ends here; written.
    """
    for b in range(len(status)):
        steps[b] += 1
        kept[b] = kept[b] + 1 if _all_below(measures[b], within) else 0
        success[b] = False
        has_collided = measures[b, CLEARANCE] < clearance
        if status[b] != RUNNING or has_collided or not _all_below(measures[b], beyond):
            why = COLLIDED if has_collided else OUT_OF_BOUNDS
            outcome[b] = status[b] if status[b] != RUNNING else why
            reward[b] = failure
            continue
        success[b] = kept[b] >= lasting
        if arrives and success[b]:
            outcome[b] = ARRIVED
            reward[b] += arrival
        else:
            outcome[b] = TIME_IS_UP if steps[b] >= limit else RUNNING


@njit(cache=True)
def _all_below(values: Array, bounds: Array) -> bool:
    """Whether no value is above its bound; what is no number is."""
    for k in range(len(values)):
        if not values[k] <= bounds[k]:
            return False
    return True
