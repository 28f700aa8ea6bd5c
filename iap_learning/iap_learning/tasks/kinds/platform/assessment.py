# SPDX-License-Identifier: BSD-3-Clause
"""A step of many worlds as a task has it: reward, outcome and observation of one block of worlds after the other."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import formula
from iap_description.math.lanes import LANES, get, set1, world_at, world_in
from iap_learning.tasks.kinds.platform.block import MEASURES, REWARD, all_lanes, put_world
from iap_learning.tasks.kinds.platform.observations import ObservationInputs, Parts, observe_block
from iap_learning.tasks.kinds.platform.outcome import EpisodeCounts, Rules, write_outcomes
from iap_learning.tasks.kinds.platform.quantities import (
    APPROACH,
    CLEARANCE,
    measure,
    put_action,
)
from iap_learning.tasks.kinds.platform.rewards import (
    FACTORS,
    RewardTerms,
    add_up,
    rows_for,
)


class StepInputs(NamedTuple):
    """Actions, obstacles and fates of B worlds in a step that has been flown.

    Attributes:
        before: (B, n) actions of the step before, in [-1, 1].
        clearance: (B,) distance from the nearest obstacle, which may be infinite [m].
        status: (B,) of the worlds.
        user: (B, K) quantities of the user's own.
    """

    before: Array
    clearance: Array
    status: Integers
    user: Array


@njit(cache=True, nogil=True, error_model="numpy")
def assess(
    begin: int,
    end: int,
    inputs: ObservationInputs,
    step: StepInputs,
    task: tuple[RewardTerms, Rules, Parts],
    counts: EpisodeCounts,
    reward: Array,
    out: NDArray[np.float32],
) -> None:
    """Reward worlds, write their outcomes and observe them: `begin` to `end` - 1.

    Args:
        begin: the first of them.
        end: the one behind the last of them.
        inputs: states, goals and actions at the end of the step.
        step: what else is rewarded and judged.
        task: terms of the reward, rules of success and end, and parts of an observation.
        counts: what has become of the episodes; written.
        reward: (B,) written.
        out: (B, numbers) observations; written.
    """
    terms, rules, parts = task
    block, which = np.empty(rows_for(terms) * LANES), np.empty(LANES, np.int64)
    for first in range(begin, end, LANES):
        count = min(LANES, end - first)
        _load(block, first, end, inputs, step, counts.distance, which)
        measure(block, all_lanes())
        add_up(block, terms, all_lanes())
        write_outcomes(block, first, count, step.status, rules, counts)
        for lane in range(np.uint64(count)):
            reward[world_in(first, lane)] = get(block, REWARD, 0, lane)
        observe_block(block, which[:count], inputs, parts, out[first:])


@formula
def _load(
    block: Array,
    first: int,
    end: int,
    inputs: ObservationInputs,
    step: StepInputs,
    distance: Array,
    which: Integers,
) -> None:
    """Read a block's worlds, and write which they are; the last one fills lanes that are left."""
    x, goals, at = inputs.x, inputs.goals, inputs.at
    for lane in range(np.uint64(LANES)):
        b = np.uint64(world_at(first, lane, end))
        which[lane] = b
        put_world(block, lane, x[b, 0], goals[np.uint64(at[b])])
        put_action(block, lane, inputs.action[b], step.before[b])
        set1(block, MEASURES, APPROACH, lane, distance[b])
        set1(block, MEASURES, CLEARANCE, lane, step.clearance[b])
        for k in range(step.user.shape[1]):
            set1(block, FACTORS, k, lane, step.user[b, k])
