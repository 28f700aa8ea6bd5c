# SPDX-License-Identifier: BSD-3-Clause
"""Counts that tasks of touch share: contact, the largest force, and how episodes end."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_physics.engines.engine import RUNNING

SETTLED_SHARE = 0.1  # share of the desired force, within which it is settled
FORCE_LAG = 0.05  # time constant of the force that is looked at for that [s]


class ContactCounts(NamedTuple):
    """Counts of B episodes.

    Attributes:
        periods: (B,) control periods flown.
        touched: (B,) the period of the first touch, or 0.
        touches: (B,) whether it touched in the last period.
        losses: (B,) of contact.
        peak: (B,) largest force, each a mean over a control period [N].
        outcome: (B,) see `iap_simulation.tasks.outcomes`.
    """

    periods: Integers
    touched: Integers
    touches: Integers
    losses: Integers
    peak: Array
    outcome: Integers

    @classmethod
    def of(cls, batch: int) -> Self:
        """Counts of episodes that have not begun."""
        periods, touched, touches, losses, outcome = np.zeros((5, batch), dtype=np.int64)
        return cls(periods, touched, touches, losses, np.zeros(batch), outcome)


def begin_anew(counts: Iterable[Any], worlds: Integers) -> None:
    """Set the counts of some worlds to zero: arrays (B, ...), and tuples of such."""
    for each in counts:
        if hasattr(each, "_fields"):
            begin_anew(each, worlds)
        else:
            each[worlds] = 0


def window_of(lasting: float, dt: float, last: int) -> int:
    """Control periods of dt [s] in a time [s]: one at least, and those of an episode at most."""
    return min(max(1, round(lasting / dt)), last)


@njit(cache=True)
def feel(contact: ContactCounts, b: int, force: float, status: int) -> bool:
    """Count the contact of a world in a control period.

    Args:
        contact: changed in place.
        b: index of the world.
        force: mean over the period [N].
        status: of the world, its outcome if it does not run.

    Returns:
        Whether the episode goes on.
    """
    if contact.outcome[b] != RUNNING:
        return False
    if status != RUNNING:
        contact.outcome[b] = status
        return False
    contact.periods[b] += 1
    touches = 1 if force > 0.0 else 0
    if touches and contact.touched[b] == 0:
        contact.touched[b] = contact.periods[b]
    contact.losses[b] += contact.touches[b] > touches
    contact.touches[b] = touches
    contact.peak[b] = max(contact.peak[b], force)
    return True


@njit(cache=True)
def stay(since: Integers, b: int, period: int, is_there: bool) -> None:
    """Note in a world's `since` the first period since which it has been there; 0 where it is not."""
    if not is_there:
        since[b] = 0
    elif since[b] == 0:
        since[b] = period
