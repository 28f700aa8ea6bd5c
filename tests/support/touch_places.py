# SPDX-License-Identifier: BSD-3-Clause
"""A line, bores and a goal of tasks that touch, turned by a quarter."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_learning.tasks.kinds.peg_in_hole.holes import Holes
from iap_learning.tasks.kinds.push_object.goals import Goals
from iap_learning.tasks.push_line import PushLine

TIP = np.array([0.5, 0.1, 0.2])


def yaw(angle: float) -> Array:
    """Attitude (4,) turned about z [rad]."""
    return so3.quaternion_exp(np.array([0.0, 0.0, angle]))


def state(
    place: tuple[float, ...], turn: float = 0.0, v: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> Array:
    """State row (13,) without rates."""
    return np.array([*place, *yaw(turn), *v, 0.0, 0.0, 0.0])


def line() -> PushLine:
    """A line towards y, from (1, 2, 3) on, of a platform that looks along it."""
    axes = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    attitude = yaw(np.pi / 2)
    start_tip = so3.rotate(attitude, TIP)
    start, wall = np.array([1.0, 2.0, 3.0]), np.array([7.0, 4.0, 3.0])
    return PushLine(5.0, axes, TIP, start, attitude, start_tip, wall)


def holes() -> Holes:
    """Two bores, along x and along y."""
    positions = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    attitudes = np.array([yaw(0.0), yaw(np.pi / 2)])
    return Holes(positions, attitudes, TIP, np.zeros(3))


def goals(count: int = 1) -> Goals:
    """Goals half a metre ahead of an object that looks along y."""
    axes = np.array([[0.0, 1.0], [-1.0, 0.0]])
    ways = np.tile([0.5, 0.1], (count, 1))
    return Goals(1, TIP, np.array([1.0, 2.0, 0.5]), np.pi / 2, axes, ways)
