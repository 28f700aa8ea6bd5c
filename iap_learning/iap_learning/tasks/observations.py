# SPDX-License-Identifier: BSD-3-Clause
"""What a policy may see of every world: terms by name, written by one compiled loop over worlds.

| term | numbers | unit | what it is |
|---|---|---|---|
| `position_error` | 3 | m | from the platform's origin to the goal, in `map` |
| `position_error_P` | 3 | m | the same in P |
| `attitude` | 4 | 1 | the platform's attitude, xyzw |
| `attitude_error` | 3 | rad | rotation vector from its attitude to the goal's, in P |
| `up` | 3 | 1 | the vertical in P |
| `velocity` | 3 | m/s | its velocity in `map` |
| `velocity_P` | 3 | m/s | the same in P |
| `velocity_error` | 3 | m/s | the goal's velocity less its own, in `map` |
| `goal_acceleration` | 3 | m/s^2 | the goal's acceleration in `map` |
| `rates` | 3 | rad/s | its angular velocity in P |
| `aircraft_up` | 3 of each aircraft | 1 | the aircraft's z axis in P |
| `rpm` | 4 of each aircraft | rpm | rotor speeds |
| `action` | as the action has | 1 | the last action |
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.kernels import (
    Vec,
    formula,
    qconj,
    qlog,
    qmul,
    quat_at,
    rotate,
    sub,
    unrotate,
    vec_at,
)

LARGEST = 100.0  # that a number is clipped to, once divided by its term's scale
Layout = tuple[
    tuple[str, int, float], ...
]  # of an observation: terms, their numbers, and by what they are divided
UP = (0.0, 0.0, 1.0)


class Term(NamedTuple):
    """Size of a term.

    Attributes:
        size: that do not depend on the platform.
        per_aircraft: for each aircraft.
        per_action: for each of an action's.
    """

    size: int = 0
    per_aircraft: int = 0
    per_action: int = 0


TERMS = {
    "position_error": Term(3),
    "position_error_P": Term(3),
    "attitude": Term(4),
    "attitude_error": Term(3),
    "up": Term(3),
    "velocity": Term(3),
    "velocity_P": Term(3),
    "velocity_error": Term(3),
    "goal_acceleration": Term(3),
    "rates": Term(3),
    "aircraft_up": Term(per_aircraft=3),
    "rpm": Term(per_aircraft=4),
    "action": Term(per_action=1),
}
NAMES = tuple(TERMS)
(
    POSITION_ERROR,
    POSITION_ERROR_P,
    ATTITUDE,
    ATTITUDE_ERROR,
    UPWARDS,
    VELOCITY,
    VELOCITY_P,
    VELOCITY_ERROR,
    GOAL_ACCELERATION,
    RATES,
    AIRCRAFT_UP,
    RPM,
    ACTION,
) = range(len(TERMS))  # in the order of TERMS


@formula
def three_of(term: int, row: Array, goal: Array) -> Vec:
    """A term of three numbers of one world: of its central body's state (13,) and its goal (19+)."""
    q_WP = quat_at(row, 3)
    if term == POSITION_ERROR:
        return sub(vec_at(goal, 0), vec_at(row, 0))
    if term == POSITION_ERROR_P:
        return unrotate(q_WP, sub(vec_at(goal, 0), vec_at(row, 0)))
    if term == ATTITUDE_ERROR:
        return qlog(qmul(qconj(q_WP), quat_at(goal, 3)))
    if term == UPWARDS:
        return unrotate(q_WP, UP)
    if term == VELOCITY:
        return vec_at(row, 7)
    if term == VELOCITY_P:
        return unrotate(q_WP, vec_at(row, 7))
    if term == VELOCITY_ERROR:
        return sub(vec_at(goal, 7), vec_at(row, 7))
    if term == GOAL_ACCELERATION:
        return vec_at(goal, 13)
    return unrotate(q_WP, vec_at(row, 10))  # RATES


@formula
def seen(number: float, factor: float) -> np.float32:
    """A number as a policy sees it."""
    return np.float32(min(max(number * factor, -LARGEST), LARGEST))


class Seen(NamedTuple):
    """States, goals, rotor speeds and actions, of which observations of B worlds are made.

    Attributes:
        x: (B, bodies, 13) states.
        goals: (K, 19+) reference rows.
        at: (B,) row of each world's goal.
        rpm: (B, N, 4) rotor speeds [rpm].
        action: (B, m) the last ones.
    """

    x: Array
    goals: Array
    at: Integers
    rpm: Array
    action: Array


@njit(cache=True, nogil=True)
def observe(
    which: Integers,
    given: Seen,
    terms: Integers,
    columns: Integers,
    factors: Array,
    out: NDArray[np.float32],
) -> None:
    """Write observations of some worlds.

    Args:
        which: (n,) the worlds.
        given: what they are made of.
        terms: numbers in `NAMES`.
        columns: the first one of each term.
        factors: that multiplies the numbers of each.
        out: (n, numbers).
    """
    x, goals, at = given.x, given.goals, given.at
    for t in range(len(terms)):
        term, column, factor = terms[t], columns[t], factors[t]
        if term in (ATTITUDE, AIRCRAFT_UP, RPM, ACTION):
            _write_many(term, which, given, column, factor, out)
            continue
        for i in range(len(which)):
            b = which[i]
            _put(three_of(term, x[b, 0], goals[at[b]]), factor, out, i, column)


@njit(cache=True, nogil=True)
def _write_many(
    term: int,
    which: Integers,
    given: Seen,
    column: int,
    factor: float,
    out: NDArray[np.float32],
) -> None:
    """Write a term of another number of numbers than three."""
    x, rpm, action = given.x, given.rpm, given.action
    count = rpm.shape[1]
    first = x.shape[1] - count  # an aircraft alone is the central body
    for i in range(len(which)):
        b = which[i]
        if term == ACTION:
            for k in range(action.shape[1]):
                out[i, column + k] = seen(action[b, k], factor)
        elif term == ATTITUDE:
            for k in range(4):
                out[i, column + k] = seen(x[b, 0, 3 + k], factor)
        elif term == RPM:
            for k in range(4 * count):
                out[i, column + k] = seen(rpm[b, k // 4, k % 4], factor)
        else:
            for n in range(count):
                up_W = rotate(quat_at(x[b, first + n], 3), UP)
                _put(unrotate(quat_at(x[b, 0], 3), up_W), factor, out, i, column + 3 * n)


@formula
def _put(v: Vec, factor: float, out: NDArray[np.float32], i: int, column: int) -> None:
    """Write three numbers as a policy sees them."""
    for k in range(3):
        out[i, column + k] = seen(v[k], factor)


class Observer:
    """Makes observations of worlds.

    Args:
        scales: of each term, by which its numbers are divided.
        aircraft: of a platform, N.
        actions: numbers of an action.

    Attributes:
        size: numbers of an observation.
        columns: where each term stands in it.
        layout: terms, their sizes and scales.
    """

    def __init__(self, scales: Mapping[str, float], *, aircraft: int, actions: int) -> None:
        self.columns: dict[str, slice] = {}
        self.size = 0
        for name in scales:
            size, per_aircraft, per_action = TERMS[name]
            last = self.size + size + aircraft * per_aircraft + actions * per_action
            self.columns[name], self.size = slice(self.size, last), last
        self.layout: Layout = tuple(
            (name, at.stop - at.start, scales[name]) for name, at in self.columns.items()
        )
        terms = [NAMES.index(name) for name in scales]
        first_columns = [at.start for at in self.columns.values()]
        self._terms, self._first_columns = np.array([terms, first_columns], dtype=np.int64)
        self._factors = 1.0 / np.array(list(scales.values()))

    def __call__(self, given: Seen, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations (B, size) of all worlds, or (chosen, size) of some; new ones every time."""
        which = np.arange(len(given.x)) if chosen is None else chosen
        out = np.empty((len(which), self.size), np.float32)
        observe(which, given, self._terms, self._first_columns, self._factors, out)
        return out
