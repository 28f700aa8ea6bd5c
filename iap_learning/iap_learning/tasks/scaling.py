# SPDX-License-Identifier: BSD-3-Clause
"""What goes into a step of many worlds, and what comes out."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING


class Step(NamedTuple):
    """What a step of B worlds has brought.

    Attributes:
        observation: (B, n) at its end.
        reward: (B,).
        terminated: (B,) whether the episode has failed or arrived.
        truncated: (B,) whether its time is up.
        success: (B,) whether it is a success if it ends here.
    """

    observation: NDArray[np.float32]
    reward: Array
    terminated: Booleans
    truncated: Booleans
    success: Booleans


def taken(
    actions: ArrayLike, middle: Array, half: Array, status: Integers, action: Array
) -> Array:
    """Actions as SI units mean them, (B, n); one that is no number ends its world.

    Args:
        actions: (B, n) in [-1, 1], and clipped to it.
        middle: (n,) what zero stands for.
        half: (n,) what one adds.
        status: (B,) of the worlds.
        action: (B, n) the clipped ones, written.

    Raises:
        BadInput: they have another shape.
    """
    given = np.ascontiguousarray(actions, dtype=np.float64)
    if given.shape != action.shape:
        raise BadInput(
            f"action: has shape {given.shape}; {action.shape} is expected, a row for each world"
        )
    values = np.empty(given.shape)
    _take(given, middle, half, status, action, values)
    return values


@njit(cache=True)
def _take(
    given: Array, middle: Array, half: Array, status: Integers, action: Array, values: Array
) -> None:
    """Write actions (B, n) clipped to [-1, 1], and what they mean in SI units.

    What is no number is remembered as zero, and ends its world.
    """
    for b in range(len(given)):
        for k in range(len(middle)):
            number = given[b, k]
            if math.isnan(number):
                number = 0.0
                if status[b] == RUNNING:
                    status[b] = INVALID_COMMAND
            action[b, k] = min(max(number, -1.0), 1.0)
            values[b, k] = middle[k] + half[k] * action[b, k]
