# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a slide and its outcome: the same for many worlds, and for single runs in engines."""

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
    stay,
    window_of,
)
from iap_learning.tasks.kinds.slide_along_wall.task import SlideTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FORCE_OFF,
    NEVER_TOUCHED,
    OFF_PATH,
    STUCK,
    TOO_FORCEFUL,
)

SETTLING = 0.2  # time for which the force is near the desired one when it is settled [s]


class SlideRules(NamedTuple):
    """Rules of a slide.

    Attributes:
        desired: force [N].
        length: see `SlideSuccess`, as all up to `losses`.
        run_in: see there.
        force_rmse: see there.
        path_rmse: see there.
        peak: see there.
        losses: see there.
        last: control periods of an episode.
        share: of a period in the smoothed force.
        settling: control periods for which that is near the desired force when it is settled.
    """

    desired: float
    length: float
    run_in: float
    force_rmse: float
    path_rmse: float
    peak: float
    losses: int
    last: int
    share: float
    settling: int

    @classmethod
    def of(cls, task: SlideTask, desired: float, dt: float) -> Self:
        """Rules of a task with a desired force [N] and control periods of dt [s]."""
        ends, last = task.success, task.periods(dt)
        demands = (ends.length, ends.run_in, ends.force_rmse, ends.path_rmse)
        times = (last, -math.expm1(-dt / FORCE_LAG), window_of(SETTLING, dt, last))
        return cls(desired, *demands, ends.peak, ends.losses, *times)


class SlideCounts(NamedTuple):
    """Counts of B slides.

    Attributes:
        contact: of the wall.
        smooth: (B,) force, smoothed [N].
        near: (B,) the first period since which that has been near the desired force, or 0.
        settled: (B,) the first period since which it was so for long enough, or 0.
        progress: (B,) furthest of the tip along the path [m].
        slid: (B,) periods in which it was beyond the path's beginning.
        squares: (B, 2) sums over these of the squared errors of the force [N^2], and of the tip across the path [m^2].
    """

    contact: ContactCounts
    smooth: Array
    near: Integers
    settled: Integers
    progress: Array
    slid: Integers
    squares: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Slides that have not begun."""
        smooth, progress = np.zeros((2, batch))
        near, settled, slid = np.zeros((3, batch), dtype=np.int64)
        squares = np.zeros((batch, 2))
        return cls(ContactCounts.of(batch), smooth, near, settled, progress, slid, squares)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)


@njit(cache=True)
def count(
    forces: Array, places: Array, status: Integers, rules: SlideRules, counts: SlideCounts
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of the wall on the platform, mean over the period [N].
        places: (B, 2) of tips along the path and across it [m].
        status: (B,) of the worlds.
        rules: of the slide.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if feel(counts.contact, b, forces[b], status[b]):
            _count_period(forces[b], places[b], rules, counts, b)
            counts.contact.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _count_period(
    force: float, place: Array, rules: SlideRules, counts: SlideCounts, b: int
) -> None:
    period = counts.contact.periods[b]
    counts.smooth[b] += rules.share * (force - counts.smooth[b])
    off = abs(counts.smooth[b] - rules.desired)
    stay(counts.near, b, period, off <= SETTLED_SHARE * rules.desired)
    if counts.settled[b] == 0 and counts.near[b] and period - counts.near[b] >= rules.settling:
        counts.settled[b] = counts.near[b]
    counts.progress[b] = max(counts.progress[b], place[0])
    if counts.progress[b] > rules.run_in:
        counts.slid[b] += 1
        counts.squares[b, 0] += (force - rules.desired) ** 2
        counts.squares[b, 1] += place[1] ** 2


@njit(cache=True)
def _outcome(rules: SlideRules, counts: SlideCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    contact = counts.contact
    if contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if contact.losses[b] > rules.losses:
        return BOUNCED
    if counts.progress[b] >= rules.length:
        if counts.squares[b, 0] > counts.slid[b] * rules.force_rmse**2:
            return FORCE_OFF
        return ARRIVED if counts.squares[b, 1] <= counts.slid[b] * rules.path_rmse**2 else OFF_PATH
    if contact.periods[b] < rules.last:
        return RUNNING
    return STUCK if contact.touched[b] else NEVER_TOUCHED


def measures(counts: SlideCounts, dt: float) -> dict[str, Array]:
    """Results of slides, (B,) each; NaN where none.

    They are the largest force [N], errors of force [N] and path [m] while it slides, and times to force and end [s].
    """
    slid = np.where(counts.slid > 0, counts.slid, np.nan)
    force, path = np.sqrt(counts.squares / slid[:, None]).T
    settled = np.where(counts.settled > 0, dt * counts.settled, np.nan)
    errors = {"force_peak": counts.contact.peak.copy(), "force_error": force, "path_error": path}
    return {**errors, "settling_time": settled}
