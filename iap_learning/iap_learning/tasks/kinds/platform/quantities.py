# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of every world by which tasks reward and judge; none of them is negative but `approach` and `below`.

A task's file may also name a function of the user's own as ``module:function``, see `iap_learning.tasks.user_terms`.

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
| `clearance` | m | of the platform's origin from the nearest object or other vehicle, at most 10 |
| `action` | 1 | length of the action |
| `action_change` | 1 | length of the difference to the action before |
"""

import math
from typing import Literal, get_args

from iap_description.arrays import Array
from iap_description.math.elementary import turn_of
from iap_description.math.kernels import (
    formula,
    least,
    norm,
    qconj,
    qmul,
    rotate,
    sub,
    unrotate,
)
from iap_description.math.lanes import Index, Lanes, get, get3, get4, set1
from iap_learning.tasks.kinds.platform.block import GOAL, MEASURES, STATE
from iap_learning.tasks.user_terms import UserFunctionName

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
AnyQuantity = Quantity | UserFunctionName
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)  # in the order of their columns
(
    DISTANCE,
    BELOW,
    HEIGHT,
    SPEED,
    ANGLE,
    TILT,
    RATE,
    APPROACH,
    CLEARANCE,
    ACTION,
    ACTION_CHANGE,
) = range(len(QUANTITIES))
OPEN = 10.0  # clearance beyond which obstacles do not matter [m]


@formula
def measured(block: Array, quantity: int, lane: Index) -> float:
    """A quantity of one world."""
    return get(block, MEASURES, quantity, lane)


@formula
def put_action(block: Array, lane: Index, action: Array, before: Array) -> None:
    """Write the squares of one world's action (n,), and of its difference to the one before."""
    size, change = 0.0, 0.0
    for k in range(len(action)):
        size += action[k] * action[k]
        change += (action[k] - before[k]) * (action[k] - before[k])
    set1(block, MEASURES, ACTION, lane, size)
    set1(block, MEASURES, ACTION_CHANGE, lane, change)


@formula
def measure(block: Array, lanes: Lanes) -> None:
    """Write the quantities of states and goals.

    `APPROACH` is to hold the distance at the step before, `CLEARANCE` that from the nearest obstacle, `ACTION` and
    `ACTION_CHANGE` their squares.
    """
    for lane in range(lanes[0], lanes[1]):
        q_WP, q_goal = get4(block, STATE, 3, lane), get4(block, GOAL, 3, lane)
        away_W = sub(get3(block, STATE, 0, lane), get3(block, GOAL, 0, lane))
        v_W = sub(get3(block, STATE, 7, lane), get3(block, GOAL, 7, lane))
        w_P = sub(unrotate(q_WP, get3(block, STATE, 10, lane)), get3(block, GOAL, 10, lane))
        distance = norm(away_W)
        set1(block, MEASURES, DISTANCE, lane, distance)
        set1(block, MEASURES, BELOW, lane, -away_W[2])
        set1(block, MEASURES, HEIGHT, lane, abs(away_W[2]))
        set1(block, MEASURES, SPEED, lane, norm(v_W))
        set1(block, MEASURES, ANGLE, lane, turn_of(qmul(qconj(q_goal), q_WP)))
        set1(block, MEASURES, TILT, lane, 1.0 - rotate(q_WP, (0.0, 0.0, 1.0))[2])
        set1(block, MEASURES, RATE, lane, norm(w_P))
        set1(block, MEASURES, APPROACH, lane, measured(block, APPROACH, lane) - distance)
        set1(block, MEASURES, CLEARANCE, lane, least(measured(block, CLEARANCE, lane), OPEN))
        for k in (ACTION, ACTION_CHANGE):
            set1(block, MEASURES, k, lane, math.sqrt(measured(block, k, lane)))
