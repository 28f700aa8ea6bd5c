# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of every world by which tasks reward and judge; none of them is negative but `approach` and `below`.

| quantity | unit | what it is |
|---|---|---|
| `distance` | m | of the platform's origin from the goal |
| `below` | m | how far it is below the goal |
| `height` | m | how far it is below or above it |
| `speed` | m/s | its velocity relative to the goal's |
| `angle` | rad | between its attitude and the goal's |
| `tilt` | 1 | 1 - cos of the angle between its z axis and the vertical |
| `rate` | rad/s | its angular velocity relative to the goal's |
| `approach` | m | how much closer to the goal it has come in this step |
| `clearance` | m | of the platform's origin from the nearest obstacle, at most 10 |
| `action` | 1 | length of the action |
| `action_change` | 1 | length of the difference to the action before |
"""

import math
from typing import Literal, get_args

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.kernels import (
    formula,
    norm,
    qconj,
    qlog,
    qmul,
    quat_at,
    rotate,
    sub,
    unrotate,
    vec_at,
)

Quantity = Literal[
    "distance",
    "below",
    "height",
    "speed",
    "angle",
    "tilt",
    "rate",
    "approach",
    "clearance",
    "action",
    "action_change",
]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)  # in the order of their columns
DISTANCE = QUANTITIES.index("distance")
CLEARANCE = QUANTITIES.index("clearance")
OPEN = 10.0  # clearance beyond which obstacles do not matter [m]


@njit(cache=True)
def measure(
    x: Array,
    goals: Array,
    action: Array,
    action_before: Array,
    distance_before: Array,
    clearance: Array,
    out: Array,
) -> None:
    """Write the quantities of every world.

    Args:
        x: (B, bodies, 13) states.
        goals: (B, 19+) reference rows.
        action: (B, n) of this step, in [-1, 1].
        action_before: (B, n) of the step before.
        distance_before: (B,) `distance` after the step before [m].
        clearance: (B,) distance from the nearest obstacle, which may be infinite [m].
        out: (B, quantities).
    """
    for b in range(len(x)):
        row, goal = x[b, 0], goals[b]
        q_WP, q_goal = quat_at(row, 3), quat_at(goal, 3)
        away = sub(vec_at(row, 0), vec_at(goal, 0))
        up = rotate(q_WP, (0.0, 0.0, 1.0))
        out[b, 0] = norm(away)
        out[b, 1] = -away[2]
        out[b, 2] = abs(away[2])
        out[b, 3] = norm(sub(vec_at(row, 7), vec_at(goal, 7)))
        out[b, 4] = norm(qlog(qmul(qconj(q_goal), q_WP)))
        out[b, 5] = 1.0 - up[2]
        out[b, 6] = norm(sub(unrotate(q_WP, vec_at(row, 10)), vec_at(goal, 10)))
        out[b, 7] = distance_before[b] - out[b, 0]
        out[b, 8] = min(clearance[b], OPEN)
        out[b, 9], out[b, 10] = _lengths(action[b], action_before[b])


@formula
def _lengths(a: Array, before: Array) -> tuple[float, float]:
    """Length of an action, and of its difference to another."""
    size, change = 0.0, 0.0
    for k in range(len(a)):
        size += a[k] * a[k]
        change += (a[k] - before[k]) * (a[k] - before[k])
    return math.sqrt(size), math.sqrt(change)


def empty(worlds: int) -> Array:
    """Room for the quantities of so many worlds."""
    return np.zeros((worlds, len(QUANTITIES)))
