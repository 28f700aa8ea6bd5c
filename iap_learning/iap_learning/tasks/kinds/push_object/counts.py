# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a push on a loose object and its outcome: the same for many worlds, and for single runs in engines."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.kinds.push_object.task import ShoveTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    LOST,
    NEVER_TOUCHED,
    OVERSHOT,
    SLIPPED_OFF,
    TIME_IS_UP,
    TOO_FORCEFUL,
    TOPPLED,
)

FALL = 0.05  # below its start, from which on an object has fallen off [m]
ALONG, ACROSS, HEADING, SPEED, TILT, DROP = range(6)


class ShoveRules(NamedTuple):
    """Rules of a push.

    Attributes:
        near: see `ShoveSuccess`, as all up to `peak`.
        heading: see there [rad].
        speed: see there.
        tilt: see there [rad].
        peak: see there.
        window: control periods for which the object is at its goal.
        last: control periods of an episode.
    """

    near: float
    heading: float
    speed: float
    tilt: float
    peak: float
    window: int
    last: int

    @classmethod
    def of(cls, task: ShoveTask, dt: float) -> Self:
        """Rules of a task with control periods of dt [s]."""
        ends, last = task.success, task.periods(dt)
        heading, tilt = math.radians(ends.heading_deg), math.radians(ends.tilt_deg)
        window = window_of(ends.lasting, dt, last)
        return cls(ends.near, heading, ends.speed, tilt, ends.peak, window, last)


class ShoveCounts(NamedTuple):
    """Counts of B pushes.

    Attributes:
        contact: of any contact on the platform.
        there: (B,) the first period since which the object has been at its goal, or 0.
        measures: (B, 6) of the object: ways left to its goal, forwards and to the left [m], turn [rad], speed [m/s],
            tilt [rad] and way below its start [m].
    """

    contact: ContactCounts
    there: Integers
    measures: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Pushes that have not begun."""
        there = np.zeros(batch, dtype=np.int64)
        return cls(ContactCounts.of(batch), there, np.zeros((batch, DROP + 1)))

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)


@njit(cache=True)
def count(
    forces: Array, measures: Array, status: Integers, rules: ShoveRules, counts: ShoveCounts
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of contacts on the platform, mean over the period [N].
        measures: (B, 6) of objects, see `ShoveCounts`.
        status: (B,) of the worlds.
        rules: of the push.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if feel(counts.contact, b, forces[b], status[b]):
            counts.measures[b] = measures[b]
            is_there = math.hypot(measures[b, ALONG], measures[b, ACROSS]) <= rules.near
            is_there = is_there and measures[b, HEADING] <= rules.heading
            is_there = is_there and measures[b, SPEED] <= rules.speed
            stay(counts.there, b, counts.contact.periods[b], is_there)
            counts.contact.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _outcome(rules: ShoveRules, counts: ShoveCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    contact, measures = counts.contact, counts.measures[b]
    if contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if measures[TILT] > rules.tilt:
        return TOPPLED
    if measures[DROP] > FALL:
        return LOST
    if measures[ALONG] < -rules.near:
        return OVERSHOT
    if counts.there[b] and contact.periods[b] - counts.there[b] + 1 >= rules.window:
        return ARRIVED
    if contact.periods[b] < rules.last:
        return RUNNING
    if contact.touched[b] == 0:
        return NEVER_TOUCHED
    return TIME_IS_UP if contact.touches[b] else SLIPPED_OFF


def measures(counts: ShoveCounts, dt: float) -> dict[str, Array]:
    """Results of pushes, (B,) each; NaN where none.

    They are the largest force [N], distance from the goal [m] and turn [deg] at the end, and time to the goal [s].
    """
    arrival = np.where(counts.there > 0, dt * counts.there, np.nan)
    distance = np.hypot(counts.measures[:, ALONG], counts.measures[:, ACROSS])
    known = {"force_peak": counts.contact.peak.copy(), "goal_distance": distance}
    return {**known, "angle": np.rad2deg(counts.measures[:, HEADING]), "goal_time": arrival}
