# SPDX-License-Identifier: BSD-3-Clause
"""A step of many worlds as a task has it: quantities, reward and verdict of one world after the other."""

from typing import NamedTuple

from numba import njit

from iap_description.arrays import Array, Integers
from iap_learning.tasks.quantities import measure
from iap_learning.tasks.rewards import Terms, add_up
from iap_learning.tasks.verdicts import Counted, Rules, judge


class Flown(NamedTuple):
    """States, goals and actions of B worlds at the end of a step.

    Attributes:
        x: (B, bodies, 13) states.
        goals: (K, 19+) reference rows.
        at: (B,) row of each world's goal.
        action: (B, n) of this step, in [-1, 1].
        before: (B, n) of the step before.
        clearance: (B,) distance from the nearest obstacle, which may be infinite [m].
        status: (B,) of the worlds.
    """

    x: Array
    goals: Array
    at: Integers
    action: Array
    before: Array
    clearance: Array
    status: Integers


@njit(cache=True, nogil=True)
def assess(
    begin: int,
    end: int,
    flown: Flown,
    terms: Terms,
    rules: Rules,
    measures: Array,
    counted: Counted,
    reward: Array,
) -> None:
    """Reward and judge worlds `begin` to `end` - 1.

    Args:
        begin: the first of them.
        end: the one behind the last of them.
        flown: at the end of the step.
        terms: of the reward.
        rules: of success and end.
        measures: (B, quantities) written.
        counted: what has become of the episodes; written.
        reward: (B,) written.
    """
    goals, at, clearance = flown.goals, flown.at, flown.clearance
    for b in range(begin, end):
        away = (counted.distance[b], clearance[b])
        given = (flown.x[b, 0], goals[at[b]], flown.action[b], flown.before[b])
        measure(*given, *away, measures[b])
    add_up(begin, end, measures, terms, reward)
    judge(begin, end, flown.status, measures, rules, counted, reward)
