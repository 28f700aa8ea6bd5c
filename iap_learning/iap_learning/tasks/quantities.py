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

from iap_description.arrays import Array
from iap_description.kernels import (
    formula,
    half_turn,
    norm,
    qconj,
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


@formula
def measure(
    row: Array,
    goal: Array,
    action: Array,
    action_before: Array,
    distance_before: float,
    clearance: float,
    out: Array,
) -> None:
    """Write the quantities of one world.

    Args:
        row: (13,) state of the central body.
        goal: (19+,) reference row.
        action: (n,) of this step, in [-1, 1].
        action_before: (n,) of the step before.
        distance_before: `distance` after the step before [m].
        clearance: distance from the nearest obstacle, which may be infinite [m].
        out: (quantities,).
    """
    q_WP, q_goal = quat_at(row, 3), quat_at(goal, 3)
    away = sub(vec_at(row, 0), vec_at(goal, 0))
    sine, cosine = half_turn(qmul(qconj(q_goal), q_WP))
    out[0] = norm(away)
    out[1] = -away[2]
    out[2] = abs(away[2])
    out[3] = norm(sub(vec_at(row, 7), vec_at(goal, 7)))
    out[4] = 2.0 * math.atan2(sine, cosine)
    out[5] = 1.0 - rotate(q_WP, (0.0, 0.0, 1.0))[2]
    out[6] = norm(sub(unrotate(q_WP, vec_at(row, 10)), vec_at(goal, 10)))
    out[7] = distance_before - out[0]
    out[8] = min(clearance, OPEN)
    out[9], out[10] = _lengths(action, action_before)


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
