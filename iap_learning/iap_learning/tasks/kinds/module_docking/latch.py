# SPDX-License-Identifier: BSD-3-Clause
"""The latch between two modules as episodes have it: a low-pass of poses, and thresholds at which it catches."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.modules.settings import FACES, ModuleJointSpec, ModulesSpec
from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import (
    Vec,
    qconj,
    qlog,
    qmul,
    quat_at,
    sub,
    unrotate,
    vec,
    vec_at,
)
from iap_description.vehicles.face_latch import CatchLimits, catches, gap_and_offset

FILTERED = 6  # columns of what the latch goes by: offset and angles


class LatchThresholds(NamedTuple):
    """Thresholds of the low-passed pose of the follower at which the latch catches.

    Attributes:
        home_L: (3,) place of its CoM in the leader's frame once joined [m].
        normal_L: (3,) out of the leader's face.
        share: of a new pose in the low-pass.
        limits: below which it catches.
    """

    home_L: Array
    normal_L: Array
    share: float
    limits: CatchLimits


def latch_of(spec: ModulesSpec, joint: ModuleJointSpec) -> LatchThresholds:
    """The latch of a joint, by the thresholds of its machine."""
    normal_L, machine = np.array(FACES[joint.face]), spec.machine
    share = float(-np.expm1(-1.0 / (spec.rate * machine.alignment.filter_time)))
    limits = machine.approach.catch_limits
    return LatchThresholds(spec.size * normal_L, normal_L, share, limits)


@njit(cache=True)
def offset_and_angles(leader: Array, follower: Array, home_L: Array) -> tuple[Vec, Vec]:
    """Offset [m] and rotation vector [rad] of a follower's row (13,) to a leader's, see the module."""
    q_L = quat_at(leader, 3)
    p_LF_L = unrotate(q_L, sub(vec_at(follower, 0), vec_at(leader, 0)))
    turn = qlog(qmul(qconj(q_L), quat_at(follower, 3)))
    return sub(p_LF_L, vec(home_L)), turn


@njit(cache=True)
def follow_latch(
    indices: Integers,
    leader: Array,
    follower: Array,
    starts: bool,
    latch: LatchThresholds,
    filtered: Array,
    fits: Booleans,
) -> None:
    """Move the low-passed poses (B, 6) of some worlds on by one period, and say where the latch catches.

    Args:
        indices: worlds.
        leader: (B, 13) as measured.
        follower: (B, 13) as measured.
        starts: whether this is the first pose.
        latch: thresholds.
        filtered: (B, 6) moved on.
        fits: (B,) whether it catches; written.
    """
    for b in indices:
        offset, angles = offset_and_angles(leader[b], follower[b], latch.home_L)
        for k in range(3):
            for column, value in ((k, offset[k]), (3 + k, angles[k])):
                if starts:
                    filtered[b, column] = value
                else:
                    filtered[b, column] += latch.share * (value - filtered[b, column])
        gap, across = gap_and_offset(vec_at(filtered[b], 0), vec(latch.normal_L))
        fits[b] = catches(gap, across, vec_at(filtered[b], 3), latch.limits)
