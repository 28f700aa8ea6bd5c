# SPDX-License-Identifier: BSD-3-Clause
"""Outcome of a task of one platform: when it has succeeded, when it has failed, and why, compiled."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import choose, formula, norm, sub, vec_at
from iap_description.math.lanes import Index, Lanes, get, set1, world_in
from iap_learning.tasks.kinds.platform.block import BEYOND, OUTSIDE, REWARD, all_lanes
from iap_learning.tasks.kinds.platform.observations import ObservationInputs
from iap_learning.tasks.kinds.platform.quantities import (
    CLEARANCE,
    DISTANCE,
    QUANTITIES,
    measured,
)
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, COLLIDED, OUT_OF_BOUNDS, TIME_IS_UP


class Rules(NamedTuple):
    """Limits of a task, with the rewards of its ends.

    Attributes:
        within: (quantities,) bounds of success, infinite where there is none; of the user's own behind all others.
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
    def of(cls, task: PlatformTask, step: float, user: Sequence[str] = ()) -> Self:
        """The rules of a task with steps of a length [s] and such quantities of the user's own."""
        success = task.success
        return cls(
            _bounds(success.within, user),
            _bounds(task.fails_beyond, user),
            0.0 if task.clearance is None else task.clearance,
            max(1, round(success.lasting / step)),
            success.ends,
            max(1, round(task.seconds / step)),
            task.reward.failure,
            task.reward.arrival,
        )


def _bounds(limits: Mapping[str, float], user: Sequence[str]) -> Array:
    return np.array([limits.get(name, np.inf) for name in (*QUANTITIES, *user)])


class EpisodeCounts(NamedTuple):
    """Counts and outcomes of B episodes, written with every step.

    Attributes:
        steps: (B,) so far.
        kept: (B,) steps for which the bounds of success have been kept to.
        distance: (B,) from the goal after the last step [m].
        outcome: (B,) see `OUTCOMES`.
        success: (B,) whether it is a success if it ends here.
    """

    steps: Integers
    kept: Integers
    distance: Array
    outcome: Integers
    success: Booleans

    @classmethod
    def of(cls, worlds: int) -> Self:
        """Episodes that have not begun."""
        steps, kept, outcome = np.zeros((3, worlds), dtype=np.int64)
        return cls(steps, kept, np.zeros(worlds), outcome, np.zeros(worlds, bool))


@njit(cache=True, error_model="numpy")
def begin(worlds: Integers, inputs: ObservationInputs, counts: EpisodeCounts) -> None:
    """Let nothing have been kept to yet in worlds that stand at their start, and see how far their goals are.

    Args:
        worlds: their numbers.
        inputs: their states and goals.
        counts: of all worlds; written.
    """
    for b in worlds:
        away_W = sub(vec_at(inputs.x[b, 0], 0), vec_at(inputs.goals[inputs.at[b]], 0))
        counts.distance[b] = norm(away_W)
        counts.kept[b], counts.success[b] = 0, False


class PlatformInstant(NamedTuple):
    """An episode at the end of a step.

    Attributes:
        status: ``RUNNING``, or why the flight has ended, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        has_collided: whether the platform is closer to an obstacle than it may come.
        is_beyond: whether a quantity is beyond its bound of failure.
        kept: steps for which the bounds of success have been kept to.
        steps: of the episode.
    """

    status: int
    has_collided: bool
    is_beyond: bool
    kept: int
    steps: int


@formula
def outcome(now: PlatformInstant, rules: Rules) -> int:
    """Outcome of an episode at the end of a step, see `iap_simulation.tasks.outcomes`."""
    if now.status != RUNNING:
        return now.status
    if now.has_collided:
        return COLLIDED
    if now.is_beyond:
        return OUT_OF_BOUNDS
    if rules.arrives and now.kept >= rules.lasting:
        return ARRIVED
    return TIME_IS_UP if now.steps >= rules.limit else RUNNING


@formula
def write_outcomes(
    block: Array, first: int, count: int, status: Integers, rules: Rules, counts: EpisodeCounts
) -> None:
    """Count a step of a block's worlds, and write the outcomes of their episodes.

    Args:
        block: with quantities and rewards; where an episode fails or arrives, its reward is changed.
        first: number of the world in the first lane.
        count: of worlds.
        status: (B,) of all worlds.
        rules: of the task.
        counts: what has become of the episodes; written.
    """
    steps, kept, distance, outcomes, success = counts
    _write_exceeded(block, OUTSIDE, rules.within, all_lanes())
    _write_exceeded(block, BEYOND, rules.beyond, all_lanes())
    for lane in range(np.uint64(count)):
        b = np.uint64(world_in(first, lane))
        steps[b] += 1
        kept[b] = kept[b] + 1 if get(block, OUTSIDE, 0, lane) == 0.0 else 0
        distance[b] = measured(block, DISTANCE, lane)
        has_collided = measured(block, CLEARANCE, lane) < rules.clearance
        is_beyond = get(block, BEYOND, 0, lane) > 0.0
        now = PlatformInstant(status[b], has_collided, is_beyond, kept[b], steps[b])
        outcomes[b] = outcome(now, rules)
        success[b] = False
        if outcomes[b] not in (RUNNING, ARRIVED, TIME_IS_UP):
            set1(block, REWARD, 0, lane, rules.failure)
            continue
        success[b] = kept[b] >= rules.lasting
        if outcomes[b] == ARRIVED:
            set1(block, REWARD, 0, lane, get(block, REWARD, 0, lane) + rules.arrival)


@formula
def _write_exceeded(block: Array, row: Index, bounds: Array, lanes: Lanes) -> None:
    """Write how many quantities of each world are not below their bounds, as what is no number is not."""
    for lane in range(lanes[0], lanes[1]):
        set1(block, row, 0, lane, 0.0)
    for k in range(len(bounds)):
        for lane in range(lanes[0], lanes[1]):
            more = choose(measured(block, k, lane) <= bounds[k], 0.0, 1.0)
            set1(block, row, 0, lane, get(block, row, 0, lane) + more)
