# SPDX-License-Identifier: BSD-3-Clause
"""What a policy may see of every world: terms by name, each a compiled loop over all worlds.

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

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.kernels import (
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
Loop = Callable[[Array, Array, Array, Array, Array], None]
Layout = tuple[
    tuple[str, int, float], ...
]  # of an observation: terms, their numbers, and by what they are divided


@njit(cache=True)
def _position_error(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = sub(vec_at(goals[b], 0), vec_at(x[b, 0], 0))


@njit(cache=True)
def _position_error_P(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        error_W = sub(vec_at(goals[b], 0), vec_at(x[b, 0], 0))
        out[b, 0], out[b, 1], out[b, 2] = unrotate(quat_at(x[b, 0], 3), error_W)


@njit(cache=True)
def _attitude(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2], out[b, 3] = quat_at(x[b, 0], 3)


@njit(cache=True)
def _attitude_error(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        turn = qmul(qconj(quat_at(x[b, 0], 3)), quat_at(goals[b], 3))
        out[b, 0], out[b, 1], out[b, 2] = qlog(turn)


@njit(cache=True)
def _up(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = unrotate(quat_at(x[b, 0], 3), (0.0, 0.0, 1.0))


@njit(cache=True)
def _velocity(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = vec_at(x[b, 0], 7)


@njit(cache=True)
def _velocity_P(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = unrotate(quat_at(x[b, 0], 3), vec_at(x[b, 0], 7))


@njit(cache=True)
def _velocity_error(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = sub(vec_at(goals[b], 7), vec_at(x[b, 0], 7))


@njit(cache=True)
def _goal_acceleration(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = vec_at(goals[b], 13)


@njit(cache=True)
def _rates(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        out[b, 0], out[b, 1], out[b, 2] = unrotate(quat_at(x[b, 0], 3), vec_at(x[b, 0], 10))


@njit(cache=True)
def _aircraft_up(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    count = rpm.shape[1]
    first = x.shape[1] - count  # an aircraft alone is the central body
    for b in range(len(x)):
        for n in range(count):
            up_W = rotate(quat_at(x[b, first + n], 3), (0.0, 0.0, 1.0))
            up_P = unrotate(quat_at(x[b, 0], 3), up_W)
            for k in range(3):
                out[b, 3 * n + k] = up_P[k]


@njit(cache=True)
def _rpm(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        for n in range(rpm.shape[1]):
            for r in range(4):
                out[b, 4 * n + r] = rpm[b, n, r]


@njit(cache=True)
def _action(x: Array, goals: Array, rpm: Array, action: Array, out: Array) -> None:
    for b in range(len(x)):
        for k in range(action.shape[1]):
            out[b, k] = action[b, k]


class Term(NamedTuple):
    """A term of an observation.

    Attributes:
        write: fills (B, numbers) from states (B, bodies, 13), goals (B, 19+), rotor speeds (B, N, 4) and last
            actions (B, n).
        size: numbers that do not depend on the platform.
        per_aircraft: numbers for each aircraft.
        per_action: numbers for each of an action's.
    """

    write: Loop
    size: int = 0
    per_aircraft: int = 0
    per_action: int = 0


TERMS = {
    "position_error": Term(_position_error, 3),
    "position_error_P": Term(_position_error_P, 3),
    "attitude": Term(_attitude, 4),
    "attitude_error": Term(_attitude_error, 3),
    "up": Term(_up, 3),
    "velocity": Term(_velocity, 3),
    "velocity_P": Term(_velocity_P, 3),
    "velocity_error": Term(_velocity_error, 3),
    "goal_acceleration": Term(_goal_acceleration, 3),
    "rates": Term(_rates, 3),
    "aircraft_up": Term(_aircraft_up, per_aircraft=3),
    "rpm": Term(_rpm, per_aircraft=4),
    "action": Term(_action, per_action=1),
}


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
            _, size, per_aircraft, per_action = TERMS[name]
            last = self.size + size + aircraft * per_aircraft + actions * per_action
            self.columns[name], self.size = slice(self.size, last), last
        self._factors = np.empty(self.size)
        for name, scale in scales.items():
            self._factors[self.columns[name]] = 1.0 / scale
        self.layout: Layout = tuple(
            (name, at.stop - at.start, scales[name]) for name, at in self.columns.items()
        )
        self._loops = [(TERMS[name].write, at) for name, at in self.columns.items()]

    def __call__(self, x: Array, goals: Array, rpm: Array, action: Array) -> NDArray[np.float32]:
        """Observations (B, size), new ones every time, see `Term`."""
        raw = np.empty((len(x), self.size))
        for write, at in self._loops:
            write(x, goals, rpm, action, raw[:, at])
        seen = np.empty(raw.shape, np.float32)
        np.multiply(raw, self._factors, out=seen, casting="same_kind")
        return np.clip(seen, -LARGEST, LARGEST, out=seen)
