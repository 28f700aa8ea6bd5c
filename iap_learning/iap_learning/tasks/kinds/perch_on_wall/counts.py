# SPDX-License-Identifier: BSD-3-Clause
"""Counts of a perch and its outcome: the same for many worlds, and for single runs in engines."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.vehicles.latch import Latch
from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.kinds.perch_on_wall.task import PerchTask
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.kernel import LOCKED
from iap_physics.latching.latches import LatchEvent
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FELL,
    MISSED,
    NEVER_TOUCHED,
    SLID,
    TIME_IS_UP,
    TOO_FORCEFUL,
)


class PerchRules(NamedTuple):
    """Rules of a perch.

    Attributes:
        peak: see `PerchSuccess`.
        window: control periods for which the lock holds.
        last: control periods of an episode.
    """

    peak: float
    window: int
    last: int

    @classmethod
    def of(cls, task: PerchTask, dt: float) -> Self:
        """Rules of a task with control periods of dt [s]."""
        last = task.periods(dt)
        return cls(task.success.peak, window_of(task.success.lasting, dt, last), last)


class PerchCounts(NamedTuple):
    """Counts of B perches.

    Attributes:
        contact: of any contact on the platform, latch included.
        held: (B,) the first period since which the lock has held, or 0.
        closing: (B,) closing speed where the patch touched the wall [m/s]; NaN before.
    """

    contact: ContactCounts
    held: Integers
    closing: Array

    @classmethod
    def of(cls, batch: int) -> Self:
        """Perches that have not begun."""
        held = np.zeros(batch, dtype=np.int64)
        return cls(ContactCounts.of(batch), held, np.full(batch, np.nan))

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        begin_anew(self, worlds)
        self.closing[worlds] = np.nan


def ending_of(event: LatchEvent, latch: Latch) -> int:
    """Outcome that an event of a latch brings about; `RUNNING` for one that does not end an episode."""
    if event.what == "lost":
        return BOUNCED
    if event.what == "broken":
        return FELL
    if event.what != "missed" or latch.face is None:
        return RUNNING
    if event.probe.radius > latch.radius:
        return MISSED
    return SLID if event.slip > latch.face.slip else BOUNCED


@njit(cache=True)
def count(
    forces: Array,
    phases: Integers,
    endings: Integers,
    status: Integers,
    rules: PerchRules,
    counts: PerchCounts,
) -> None:
    """Count a control period of every world whose episode goes on, and write outcomes.

    Args:
        forces: (B,) of contacts and latch on the platform, mean over the period [N].
        phases: (B,) of latches, numbers of `iap_physics.latching.kernel`.
        endings: (B,) outcomes that latches have brought about, see `ending_of`.
        status: (B,) of the worlds.
        rules: of the perch.
        counts: changed in place.
    """
    for b in range(len(forces)):
        if feel(counts.contact, b, forces[b], status[b]):
            stay(counts.held, b, counts.contact.periods[b], phases[b] == LOCKED)
            counts.contact.outcome[b] = _outcome(endings[b], rules, counts, b)


@njit(cache=True)
def _outcome(ending: int, rules: PerchRules, counts: PerchCounts, b: int) -> int:
    """Outcome of an episode after a period."""
    contact = counts.contact
    if contact.peak[b] > rules.peak:
        return TOO_FORCEFUL
    if ending != RUNNING:
        return ending
    if counts.held[b] and contact.periods[b] - counts.held[b] + 1 >= rules.window:
        return ARRIVED
    if contact.periods[b] < rules.last:
        return RUNNING
    return TIME_IS_UP if contact.touched[b] else NEVER_TOUCHED


def measures(counts: PerchCounts, dt: float) -> dict[str, Array]:
    """Results, (B,) each: largest force [N], speed at the touch [m/s], time to the lock [s]; NaN where none."""
    locked = np.where(counts.held > 0, dt * counts.held, np.nan)
    known = {"force_peak": counts.contact.peak.copy(), "closing_speed": counts.closing.copy()}
    return {**known, "lock_time": locked}
