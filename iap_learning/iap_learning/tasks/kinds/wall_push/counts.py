# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a push and its outcome: the same for many worlds, and for single runs in engines."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
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

SETTLED_SHARE = 0.1  # share of the desired force, within which it is settled
SMOOTHING = 0.05  # time constant of the force that is looked at for that [s]


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
        window, share = round(ends.lasting / dt), -math.expm1(-dt / SMOOTHING)
        demands = (ends.force_rmse, ends.peak, ends.losses, ends.slip)
        return cls(desired, *demands, min(max(1, window), last), last, share)


class PushCounts(NamedTuple):
    """Counts of B pushes.

    Attributes:
        periods: (B,) flown.
        touched: (B,) the period of the first touch, or 0.
        touches: (B,) whether it touched in the last period.
        losses: (B,) of contact.
        peak: (B,) force [N].
        squares: (B,) sum of the squared errors of the force at the end [N^2].
        smooth: (B,) force, smoothed [N].
        off: (B,) the last period in which that was not near the desired force.
        place: (B, 2) of the tip at its first touch, along the wall [m].
        slip: (B,) furthest from there [m].
        outcome: (B,) see `iap_simulation.tasks.outcomes`.
    """

    periods: Integers
    touched: Integers
    touches: Integers
    losses: Integers
    peak: Array
    squares: Array
    smooth: Array
    off: Integers
    place: Array
    slip: Array
    outcome: Integers

    @classmethod
    def of(cls, batch: int) -> Self:
        """Pushes that have not begun."""
        periods, touched, touches, losses, off, outcome = np.zeros((6, batch), dtype=np.int64)
        peak, squares, smooth, slip = np.zeros((4, batch))
        place = np.zeros((batch, 2))
        contact = (periods, touched, touches, losses)
        return cls(*contact, peak, squares, smooth, off, place, slip, outcome)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        for each in self:
            each[worlds] = 0


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
        if counts.outcome[b] != RUNNING:
            continue
        if status[b] != RUNNING:
            counts.outcome[b] = status[b]
            continue
        _count_period(forces[b], places[b], rules, counts, b)
        counts.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _count_period(
    force: float, place: Array, rules: PushRules, counts: PushCounts, b: int
) -> None:
    counts.periods[b] += 1
    touches = 1 if force > 0.0 else 0
    if touches and counts.touched[b] == 0:
        counts.touched[b], counts.place[b] = counts.periods[b], place
    counts.losses[b] += counts.touches[b] > touches
    counts.touches[b] = touches
    counts.peak[b] = max(counts.peak[b], force)
    counts.smooth[b] += rules.share * (force - counts.smooth[b])
    if abs(counts.smooth[b] - rules.desired) > SETTLED_SHARE * rules.desired:
        counts.off[b] = counts.periods[b]
    if counts.periods[b] > rules.last - rules.window:
        counts.squares[b] += (force - rules.desired) ** 2
    if counts.touched[b]:
        away = math.hypot(place[0] - counts.place[b, 0], place[1] - counts.place[b, 1])
        counts.slip[b] = max(counts.slip[b], away)


@njit(cache=True)
def _outcome(rules: PushRules, counts: PushCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    if counts.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if counts.losses[b] > rules.losses:
        return BOUNCED
    if counts.slip[b] > rules.slip:
        return SLIPPED
    if counts.periods[b] < rules.last:
        return RUNNING
    if counts.touched[b] == 0:
        return NEVER_TOUCHED
    return (
        ARRIVED if math.sqrt(counts.squares[b] / rules.window) <= rules.force_rmse else FORCE_OFF
    )


def measures(rules: PushRules, counts: PushCounts, dt: float) -> dict[str, Array]:
    """Results of pushes, (B,) each: peak [N], error at the end [N] and time to the force [s]; NaN where none."""
    ended = counts.periods >= rules.last
    rmse = np.where(ended, np.sqrt(counts.squares / rules.window), np.nan)
    settled = np.where(ended & (counts.off < rules.last), dt * counts.off, np.nan)
    return {"force_peak": counts.peak.copy(), "force_error": rmse, "settling_time": settled}
