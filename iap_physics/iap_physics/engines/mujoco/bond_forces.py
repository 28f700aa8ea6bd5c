# SPDX-License-Identifier: BSD-3-Clause
"""Loads of joints that are added in flight, compiled, for one world and for many.

A joint that would bear more than its limit yields: the limit acts in its place, in the direction of what it would bear.
"""

import math

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import add, cross, vec


@njit(cache=True)
def borne(force: Array, is_weld: bool, frame_W: Array, wrench: Array) -> None:  # noqa: FBT001
    """Write the wrench (6,) on a joint's first body, force and torque about the joint in world axes.

    Args:
        force: (3+,) of its constraint: a force in world axes, and of a weld along half a turn of the second body.
        is_weld: whether it is one.
        frame_W: (9,) attitude of the second body.
        wrench: overwritten.
    """
    for k in range(3):
        wrench[k], wrench[3 + k] = force[k], 0.0
    if is_weld:
        for k in range(3):
            row = frame_W[3 * k] * force[3] + frame_W[3 * k + 1] * force[4]
            wrench[3 + k] = 0.5 * (row + frame_W[3 * k + 2] * force[5])


@njit(cache=True)
def yields(wrench: Array, limit: float) -> bool:
    """Tell if a joint of a force limit [N] yields to a wrench (6,), which is cut to the limit then."""
    size = math.sqrt(wrench[0] ** 2 + wrench[1] ** 2 + wrench[2] ** 2)
    if size <= limit:
        return False
    for k in range(6):
        wrench[k] *= limit / size
    return True


@njit(cache=True)
def pull(
    load: Array, frame_W: Array, offset_W: Array, place: Array, wrench_W: Array, sign: float
) -> None:
    """Add a joint's wrench (6,), or its opposite by the sign, to the load (6,) on a body about its CoM.

    Args:
        load: changed.
        frame_W: (9,) attitude of the body.
        offset_W: (3,) its frame from its CoM [m].
        place: (3,) of the joint in the body's frame [m].
        wrench_W: on the first body.
        sign: 1 for the first body, -1 for the second.
    """
    turned = (
        frame_W[0] * place[0] + frame_W[1] * place[1] + frame_W[2] * place[2],
        frame_W[3] * place[0] + frame_W[4] * place[1] + frame_W[5] * place[2],
        frame_W[6] * place[0] + frame_W[7] * place[1] + frame_W[8] * place[2],
    )
    lever = cross(add(turned, vec(offset_W)), vec(wrench_W))
    for k in range(3):
        load[k] += sign * wrench_W[k]
        load[3 + k] += sign * (wrench_W[3 + k] + lever[k])
