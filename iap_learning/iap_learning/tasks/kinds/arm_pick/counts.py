# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a pick and its outcome: the same for many worlds, and for single runs in engines."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.kinds.arm_pick.task import PickTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    DRAGGED,
    DROPPED,
    LOST,
    MISPLACED,
    MISSED,
    TIME_IS_UP,
    TOO_FORCEFUL,
    TOPPLED,
)

FALL = 0.05  # below its start, from which on an object has fallen off [m]
DISTANCE, RISE, SPEED, TILT = range(4)


class PickRules(NamedTuple):
    """Rules of a pick.

    Attributes:
        near: see `PickSuccess`, as all up to `peak`.
        speed: see there.
        lift: see there.
        drop: see there.
        tilt: see there [rad].
        peak: see there.
        window: control periods for which the object rests at its goal.
        last: control periods of an episode.
    """

    near: float
    speed: float
    lift: float
    drop: float
    tilt: float
    peak: float
    window: int
    last: int

    @classmethod
    def of(cls, task: PickTask, dt: float) -> Self:
        """Rules of a task with control periods of dt [s]."""
        ends, last = task.success, task.periods(dt)
        demands = (ends.near, ends.speed, ends.lift, ends.drop, math.radians(ends.tilt_deg))
        return cls(*demands, ends.peak, window_of(ends.lasting, dt, last), last)


class PickCounts(NamedTuple):
    """Counts of B picks.

    Attributes:
        contact: of any contact on the platform.
        taken: (B,) the first period in which the gripper held the object, or 0.
        held: (B,) whether it did in the last one.
        lifted: (B,) largest height of the object over its start while it was held [m].
        there: (B,) the first period since which the object has rested at its goal, let go, or 0.
        measures: (B, 4) of the object: level distance from its goal [m], height over its start [m], speed [m/s] and
            tilt [rad].
    """

    contact: ContactCounts
    taken: Integers
    held: Integers
    lifted: Array
    there: Integers
    measures: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Picks that have not begun."""
        taken, held, there = np.zeros((3, batch), dtype=np.int64)
        numbers = np.zeros(batch), there, np.zeros((batch, TILT + 1))
        return cls(ContactCounts.of(batch), taken, held, *numbers)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)


@njit(cache=True)
def count(
    forces: Array,
    holds: Booleans,
    measures: Array,
    status: Integers,
    rules: PickRules,
    counts: PickCounts,
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of contacts on the platform, mean over the period [N].
        holds: (B,) whether grippers hold the object.
        measures: (B, 4) of objects, see `PickCounts`.
        status: (B,) of the worlds.
        rules: of the pick.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if feel(counts.contact, b, forces[b], status[b]):
            was_held, period = counts.held[b], counts.contact.periods[b]
            counts.measures[b], counts.held[b] = measures[b], holds[b]
            if holds[b]:
                counts.lifted[b] = max(counts.lifted[b], measures[b, RISE])
                if counts.taken[b] == 0:
                    counts.taken[b] = period
            rests = not holds[b] and measures[b, SPEED] <= rules.speed
            rests = rests and abs(measures[b, RISE]) <= rules.near
            is_there = rests and measures[b, DISTANCE] <= rules.near
            stay(counts.there, b, period, is_there and counts.lifted[b] >= rules.lift)
            dropped = was_held and not holds[b] and measures[b, RISE] > rules.drop
            counts.contact.outcome[b] = DROPPED if dropped else _outcome(rules, counts, b)


@njit(cache=True)
def _outcome(rules: PickRules, counts: PickCounts, b: int) -> int:
    """Outcome of an episode after a period in which nothing was dropped."""
    contact, measures = counts.contact, counts.measures[b]
    if contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if measures[TILT] > rules.tilt:
        return TOPPLED
    if measures[RISE] < -FALL:
        return LOST
    if counts.there[b] and contact.periods[b] - counts.there[b] + 1 >= rules.window:
        return ARRIVED
    if contact.periods[b] < rules.last:
        return RUNNING
    if counts.taken[b] == 0:
        return MISSED
    if counts.held[b]:
        return TIME_IS_UP
    is_near = measures[DISTANCE] <= rules.near
    return DRAGGED if is_near and counts.lifted[b] < rules.lift else MISPLACED


def measures(counts: PickCounts, dt: float) -> dict[str, Array]:
    """Results of picks, (B,) each; NaN where none.

    They are the largest force [N], time of the first hold [s], distance from the goal at the end [m], time to it [s].
    """
    taken, arrival = (
        np.where(since > 0, dt * since, np.nan) for since in (counts.taken, counts.there)
    )
    known = {"force_peak": counts.contact.peak.copy(), "take_time": taken}
    return {**known, "goal_distance": counts.measures[:, DISTANCE].copy(), "goal_time": arrival}
