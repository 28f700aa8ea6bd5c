# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a peg and its outcome: the same for many worlds, and for single runs in engines."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.kinds.peg_in_hole.task import PegTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, FORCE_OFF, JAMMED, MISSED, TOO_FORCEFUL


class PegRules(NamedTuple):
    """Rules of a peg.

    Attributes:
        depth: see `PegSuccess`, as `steady` and `peak`.
        steady: see there.
        peak: see there.
        window: control periods at the end that count.
        last: control periods of an episode.
    """

    depth: float
    steady: float
    peak: float
    window: int
    last: int

    @classmethod
    def of(cls, task: PegTask, dt: float) -> Self:
        """Rules of a task with control periods of dt [s]."""
        ends, last = task.success, task.periods(dt)
        window = window_of(ends.lasting, dt, last)
        return cls(ends.depth, ends.steady, ends.peak, window, last)


class PegCounts(NamedTuple):
    """Counts of B pegs.

    Attributes:
        contact: of any contact on the platform.
        there: (B,) the first period since which the tip has been deep enough, or 0.
        forces: (B,) sum of the forces at the end [N].
        depth: (B,) of the tip [m].
    """

    contact: ContactCounts
    there: Integers
    forces: Array
    depth: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Pegs that have not begun."""
        there = np.zeros(batch, dtype=np.int64)
        return cls(ContactCounts.of(batch), there, *np.zeros((2, batch)))

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)


@njit(cache=True)
def count(
    forces: Array, depths: Array, status: Integers, rules: PegRules, counts: PegCounts
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of contacts on the platform, mean over the period [N].
        depths: (B,) of tips in the bores [m].
        status: (B,) of the worlds.
        rules: of the peg.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if not feel(counts.contact, b, forces[b], status[b]):
            continue
        counts.depth[b], period = depths[b], counts.contact.periods[b]
        stay(counts.there, b, period, depths[b] >= rules.depth)
        if period > rules.last - rules.window:
            counts.forces[b] += forces[b]
        counts.contact.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _outcome(rules: PegRules, counts: PegCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    if counts.contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if counts.contact.periods[b] < rules.last:
        return RUNNING
    if counts.depth[b] < 0.0:
        return MISSED
    if counts.there[b] == 0 or counts.there[b] > rules.last - rules.window:
        return JAMMED
    return ARRIVED if counts.forces[b] <= rules.window * rules.steady else FORCE_OFF


def measures(rules: PegRules, counts: PegCounts, dt: float) -> dict[str, Array]:
    """Results of pegs, (B,) each: peak and steady force [N], depth [m] and time to it [s]; NaN where none."""
    ended = counts.contact.periods >= rules.last
    steady = np.where(ended, counts.forces / rules.window, np.nan)
    arrival = np.where(counts.there > 0, dt * counts.there, np.nan)
    known = {"force_peak": counts.contact.peak.copy(), "force_steady": steady}
    return {**known, "depth": counts.depth.copy(), "depth_time": arrival}
