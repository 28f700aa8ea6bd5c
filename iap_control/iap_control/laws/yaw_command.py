# SPDX-License-Identifier: BSD-3-Clause
"""Yaw command of a rigid multirotor: the heading of its reference, or the sum of its turn rates."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.laws.tracking import (
    ACCELERATION,
    POSE,
    ReferenceMotion,
    reference_motion_at,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    choose,
    formula,
    rotate,
)


class YawMemory(NamedTuple):
    """Memory of the yaw command.

    Attributes:
        yaw: (1,) the last one [rad].
        rate: (1,) its rate [rad/s].
        is_known: (1,) 1 where there is one, else 0.
    """

    yaw: Array
    rate: Array
    is_known: Array

    @classmethod
    def empty(cls) -> "YawMemory":
        """Memory of a controller that has not run yet."""
        return cls(np.zeros(1), np.zeros(1), np.zeros(1))


class Yaw(NamedTuple):
    """`YawMemory` in numbers."""

    yaw: float
    rate: float
    is_known: bool


@formula
def yaw_after(
    target: ReferenceMotion,
    level: float,
    heading: float,
    mount_yaw: float,
    follows: bool,
    dt: float,
    memory: Yaw,
) -> Yaw:
    """The yaw command: the heading's, or the sum of the turn rates where no pose is tracked.

    Args:
        target: of the reference.
        level: what is tracked of it.
        heading: of the first aircraft [rad].
        mount_yaw: the same in P at rest [rad].
        follows: whether the headings follow the platform's yaw.
        dt: control period [s].
        memory: of the last one.
    """
    summed = memory.rate + dt * rotate(target.q, target.alpha)[2]
    rate = choose(level == ACCELERATION, summed, rotate(target.q, target.w)[2])
    is_given = (not memory.is_known) | (level == POSE) | (not follows)
    return Yaw(choose(is_given, heading - mount_yaw, memory.yaw + dt * rate), rate, True)


@njit(cache=True)
def yaw_command(
    row: Array,
    level: int,
    heading: float,
    mount_yaw: float,
    follows: bool,
    dt: float,
    memory: YawMemory,
) -> float:
    """Yaw [rad] of `yaw_after` for a reference row (19+); the memory is advanced in place."""
    last = Yaw(memory.yaw[0], memory.rate[0], memory.is_known[0] > 0.0)
    after = yaw_after(reference_motion_at(row), level, heading, mount_yaw, follows, dt, last)
    memory.yaw[0], memory.rate[0], memory.is_known[0] = after.yaw, after.rate, 1.0
    return after.yaw
