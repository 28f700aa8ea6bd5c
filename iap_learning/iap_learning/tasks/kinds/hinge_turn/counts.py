# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a turn and its outcome: the same for many worlds, and for single runs in engines."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    HANDLE_SLIPPED,
    LATCH_HELD,
    NEVER_TOUCHED,
    NOT_TURNED,
    REBOUNDED,
    SLIPPED_OFF,
    TIME_IS_UP,
    TOO_FORCEFUL,
)

TURNED_SHARE = 0.05  # share of the angle, from which on it has turned at all


class TurnRules(NamedTuple):
    """Rules of a turn.

    Attributes:
        angle: see `TurnSuccess` [rad].
        peak: see there.
        window: control periods for which the angle is held.
        last: control periods of an episode.
        has_latch: whether a latch holds the object at first.
    """

    angle: float
    peak: float
    window: int
    last: int
    has_latch: bool

    @classmethod
    def of(cls, task: TurnTask, dt: float, *, has_latch: bool = False) -> Self:
        """Rules of a task with control periods of dt [s]."""
        ends, last = task.success, task.periods(dt)
        window = window_of(ends.lasting, dt, last)
        return cls(math.radians(ends.angle_deg), ends.peak, window, last, has_latch)


class TurnCounts(NamedTuple):
    """Counts of B turns.

    Attributes:
        contact: of any contact on the platform.
        there: (B,) the first period since which the object has been far enough, or 0.
        angle: (B,) of the object [rad].
        farthest: (B,) the largest angle so far [rad].
    """

    contact: ContactCounts
    there: Integers
    angle: Array
    farthest: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Turns that have not begun."""
        angle, farthest = np.zeros((2, batch))
        return cls(ContactCounts.of(batch), np.zeros(batch, dtype=np.int64), angle, farthest)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)


@njit(cache=True)
def count(
    forces: Array, angles: Array, status: Integers, rules: TurnRules, counts: TurnCounts
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of contacts on the platform, mean over the period [N].
        angles: (B,) of objects about their hinges [rad].
        status: (B,) of the worlds.
        rules: of the turn.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if feel(counts.contact, b, forces[b], status[b]):
            counts.angle[b] = angles[b]
            counts.farthest[b] = max(counts.farthest[b], angles[b])
            stay(counts.there, b, counts.contact.periods[b], angles[b] >= rules.angle)
            counts.contact.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _outcome(rules: TurnRules, counts: TurnCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    contact = counts.contact
    if contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if counts.there[b] and contact.periods[b] - counts.there[b] + 1 >= rules.window:
        return ARRIVED
    if contact.periods[b] < rules.last:
        return RUNNING
    if contact.touched[b] == 0:
        return NEVER_TOUCHED
    if counts.farthest[b] >= rules.angle > counts.angle[b]:
        return REBOUNDED
    if counts.angle[b] < TURNED_SHARE * rules.angle:
        if rules.has_latch:
            return LATCH_HELD if contact.touches[b] else HANDLE_SLIPPED
        return NOT_TURNED
    return TIME_IS_UP if contact.touches[b] else SLIPPED_OFF


def measures(counts: TurnCounts, dt: float) -> dict[str, Array]:
    """Results of turns, (B,) each: largest force [N], angle [deg] and time to the one asked for [s]; NaN where none."""
    arrival = np.where(counts.there > 0, dt * counts.there, np.nan)
    known = {"force_peak": counts.contact.peak.copy(), "angle": np.rad2deg(counts.angle)}
    return {**known, "turn_time": arrival}
