# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of worlds as the loops of tasks have it, a lane for each world, see `iap_description.math.lanes`."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import formula
from iap_description.math.lanes import LANES, Index, Lanes, set1

STATE = np.uint64(0)  # of the central body (13)
GOAL = np.uint64(13)  # pose, velocity, angular velocity and acceleration of a reference (16)
THREE = np.uint64(29)  # a term of an observation
REWARD, PRODUCT = np.uint64(32), np.uint64(33)  # of a step; of the factors of one of its terms
OUTSIDE = np.uint64(34)  # how many quantities are not within the bounds of success
BEYOND = np.uint64(35)  # how many are beyond those of failure
MEASURES = np.uint64(36)  # quantities; the reward's factors follow


@formula
def all_lanes() -> Lanes:
    """Every lane of a block."""
    return (np.uint64(0), np.uint64(LANES))


@formula
def put_world(block: Array, lane: Index, row: Array, goal: Array) -> None:
    """Write a world's state (13,) and goal (19+,)."""
    for k in range(13):
        set1(block, STATE, k, lane, row[k])
    for k in range(16):
        set1(block, GOAL, k, lane, goal[k])
