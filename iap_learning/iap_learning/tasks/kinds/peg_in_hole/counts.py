# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a peg and its outcome: the same for many worlds, and for single runs in engines."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
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
        window = min(max(1, round(ends.lasting / dt)), last)
        return cls(ends.depth, ends.steady, ends.peak, window, last)


class PegCounts(NamedTuple):
    """Counts of B pegs.

    Attributes:
        periods: (B,) flown.
        there: (B,) the first period since which the tip has been deep enough, or 0.
        peak: (B,) force [N].
        forces: (B,) sum of the forces at the end [N].
        depth: (B,) of the tip [m].
        outcome: (B,) see `iap_simulation.tasks.outcomes`.
    """

    periods: Integers
    there: Integers
    peak: Array
    forces: Array
    depth: Array
    outcome: Integers

    @classmethod
    def of(cls, batch: int) -> Self:
        """Pegs that have not begun."""
        periods, there, outcome = np.zeros((3, batch), dtype=np.int64)
        peak, forces, depth = np.zeros((3, batch))
        return cls(periods, there, peak, forces, depth, outcome)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        for each in self:
            each[worlds] = 0


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
        if counts.outcome[b] != RUNNING:
            continue
        if status[b] != RUNNING:
            counts.outcome[b] = status[b]
            continue
        counts.periods[b] += 1
        counts.peak[b], counts.depth[b] = max(counts.peak[b], forces[b]), depths[b]
        if depths[b] < rules.depth:
            counts.there[b] = 0
        elif counts.there[b] == 0:
            counts.there[b] = counts.periods[b]
        if counts.periods[b] > rules.last - rules.window:
            counts.forces[b] += forces[b]
        counts.outcome[b] = _outcome(rules, counts, b)


@njit(cache=True)
def _outcome(rules: PegRules, counts: PegCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    if counts.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if counts.periods[b] < rules.last:
        return RUNNING
    if counts.depth[b] < 0.0:
        return MISSED
    if counts.there[b] == 0 or counts.there[b] > rules.last - rules.window:
        return JAMMED
    return ARRIVED if counts.forces[b] <= rules.window * rules.steady else FORCE_OFF


def measures(rules: PegRules, counts: PegCounts, dt: float) -> dict[str, Array]:
    """Results of pegs, (B,) each: peak and steady force [N], depth [m] and time to it [s]; NaN where none."""
    ended = counts.periods >= rules.last
    steady = np.where(ended, counts.forces / rules.window, np.nan)
    arrival = np.where(counts.there > 0, dt * counts.there, np.nan)
    known = {"force_peak": counts.peak.copy(), "force_steady": steady}
    return {**known, "depth": counts.depth.copy(), "depth_time": arrival}
