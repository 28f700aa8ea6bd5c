# SPDX-License-Identifier: BSD-3-Clause
"""Stretches of which timelines are made, on the control grid."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iap_control.references.rows import approach
from iap_control.responders.inputs import at_rest
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import REF_P, Level

MAX_DURATION = (
    2.0**31
)  # that a part of a flight can last, since stamps count seconds in 32 bits [s]


@dataclass(frozen=True)
class TimelinePart:
    """A stretch of a timeline.

    Attributes:
        count: control instants in it.
        made: (T, 19) reference rows at the instants (T,), counted from the part's own first one.
        level: of all its rows.
    """

    count: int
    made: Callable[[Array], Array]
    level: Level = Level.POSE

    def rows(self, start: int, stop: int) -> Array:
        """The rows (stop - start, 19) of the instants from `start` to before `stop`.

        A single row is made as one of two, since numpy sums up a single row in another order: the last bit of a row
        shall not depend on how many are made at once.
        """
        k = np.arange(start, max(stop, start + 2), dtype=np.float64)
        return self.made(np.minimum(k, stop - 1))[: stop - start]

    def row(self, k: int) -> Array:
        """The row (19,) at one instant."""
        return np.asarray(self.rows(k, k + 1)[0])


def period_count(key: str, duration: float, dt: float) -> int:
    """Control periods in a duration [s]."""
    if not duration < MAX_DURATION:
        raise BadInput(f"key '{key}': lasts {duration:g} s, must be below {MAX_DURATION:.0f} s")
    return round(duration / dt)


def approach_part(key: str, start: Array, end: Array, duration: float, dt: float) -> TimelinePart:
    """Rows from rest at `start` towards `end`, whose own row is left to what follows."""
    count = max(1, period_count(key, duration, dt))
    return TimelinePart(count, lambda k: approach(k * dt, count * dt, start, end))


def level_at(row: Array, height: float) -> Array:
    """A pose at rest, level, with the yaw of `row`, at a height."""
    out = row.copy()
    at_rest(row, out)
    out[REF_P.stop - 1] = height
    return out


def reversed_approach(rest: Array, moving: Array, duration: float, dt: float) -> TimelinePart:
    """Rows from a moving row to rest: the approach to the row run backwards in time."""
    mirrored = moving.copy()
    mirrored[7:13] *= -1.0  # velocities change sign with time, accelerations do not
    there = approach_part("reference", rest, mirrored, duration, dt)

    def rows(k: Array) -> Array:
        out = there.made(there.count - 1 - k)
        out[:, 7:13] *= -1.0
        return out

    return TimelinePart(there.count, rows)
