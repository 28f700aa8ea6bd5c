# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a push and its outcome: the same for many worlds, and for single runs in engines."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_learning.tasks.contact_counts import (
    FORCE_LAG,
    SETTLED_SHARE,
    ContactCounts,
    begin_anew,
    feel,
    window_of,
)
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FORCE_OFF,
    NEVER_TOUCHED,
    SLIPPED,
    TOO_FORCEFUL,
)


class PushRules(NamedTuple):
    """Rules of a push.

    Attributes:
        desired: force [N].
        force_rmse: see `PushSuccess`, as `peak`, `losses` and `slip`.
        peak: see there.
        losses: see there.
        slip: see there.
        window: control periods at the end that count.
        last: control periods of an episode.
        share: of a period in the smoothed force.
    """

    desired: float
    force_rmse: float
    peak: float
    losses: int
    slip: float
    window: int
    last: int
    share: float

    @classmethod
    def of(cls, task: WallPushTask, desired: float, dt: float) -> Self:
        """Rules of a task with a desired force [N] and control periods of dt [s]."""
        ends, last = task.success, task.periods(dt)
        window, share = window_of(ends.lasting, dt, last), -math.expm1(-dt / FORCE_LAG)
        demands = (ends.force_rmse, ends.peak, ends.losses, ends.slip)
        return cls(desired, *demands, window, last, share)


class PushCounts(NamedTuple):
    """Counts of B pushes.

    Attributes:
        contact: of the wall.
        squares: (B,) sum of the squared errors of the force at the end [N^2].
        smooth: (B,) force, smoothed [N].
        off: (B,) the last period in which that was not near the desired force.
        place: (B, 2) of the tip at its first touch, along the wall [m].
        slip: (B,) furthest from there [m].
    """

    contact: ContactCounts
    squares: Array
    smooth: Array
    off: Integers
    place: Array
    slip: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Pushes that have not begun."""
        off, place = np.zeros(batch, dtype=np.int64), np.zeros((batch, 2))
        squares, smooth, slip = np.zeros((3, batch))
        return cls(ContactCounts.of(batch), squares, smooth, off, place, slip)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)


@njit(cache=True)
def count(
    forces: Array, places: Array, status: Integers, rules: PushRules, counts: PushCounts
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of the wall on the platform, mean over the period [N].
        places: (B, 2) of tips along the wall [m].
        status: (B,) of the worlds.
        rules: of the push.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if feel(counts.contact, b, forces[b], status[b]):
            _count_period(forces[b], places[b], rules, counts, b)
            counts.contact.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _count_period(
    force: float, place: Array, rules: PushRules, counts: PushCounts, b: int
) -> None:
    period, touched = counts.contact.periods[b], counts.contact.touched[b]
    if touched == period:
        counts.place[b] = place
    counts.smooth[b] += rules.share * (force - counts.smooth[b])
    if abs(counts.smooth[b] - rules.desired) > SETTLED_SHARE * rules.desired:
        counts.off[b] = period
    if period > rules.last - rules.window:
        counts.squares[b] += (force - rules.desired) ** 2
    if touched:
        away = math.hypot(place[0] - counts.place[b, 0], place[1] - counts.place[b, 1])
        counts.slip[b] = max(counts.slip[b], away)


@njit(cache=True)
def _outcome(rules: PushRules, counts: PushCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    contact = counts.contact
    if contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if contact.losses[b] > rules.losses:
        return BOUNCED
    if counts.slip[b] > rules.slip:
        return SLIPPED
    if contact.periods[b] < rules.last:
        return RUNNING
    if contact.touched[b] == 0:
        return NEVER_TOUCHED
    return (
        ARRIVED if math.sqrt(counts.squares[b] / rules.window) <= rules.force_rmse else FORCE_OFF
    )


def measures(rules: PushRules, counts: PushCounts, dt: float) -> dict[str, Array]:
    """Results of pushes, (B,) each: peak [N], error at the end [N] and time to the force [s]; NaN where none."""
    ended = counts.contact.periods >= rules.last
    rmse = np.where(ended, np.sqrt(counts.squares / rules.window), np.nan)
    settled = np.where(ended & (counts.off < rules.last), dt * counts.off, np.nan)
    return {
        "force_peak": counts.contact.peak.copy(),
        "force_error": rmse,
        "settling_time": settled,
    }
