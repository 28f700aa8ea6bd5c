# SPDX-License-Identifier: BSD-3-Clause
"""Commands to an arm's joints that come in messages: points in time, between which the motors' targets move."""

from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput

LATER = "header.stamp: later than the present state"


@dataclass(frozen=True)
class JointTrajectory:
    """Points of a motion of n joints.

    Attributes:
        t: (M,) simulation times of the points [s], increasing.
        points: (M, 3, n) coordinates, velocities, and torques on top of the servos'.
    """

    t: Array
    points: Array

    def at(self, t: float) -> Array:
        """Target (3, n) at a time [s]: cubic between points, at rest behind the last unless it is the only one."""
        i = int(np.searchsorted(self.t, t, side="right")) - 1
        if i < 0 or i >= len(self.t) - 1:
            out = self.points[max(i, 0)].copy()
            if len(self.t) > 1 and (i < 0 or t > self.t[-1]):
                out[1] = 0.0
            return out
        return _cubic(self.t[i : i + 2], self.points[i : i + 2], t)


def _cubic(times: Array, points: Array, t: float) -> Array:
    """Hermite's polynomial of coordinates and velocities, and the torques between two points."""
    T = times[1] - times[0]
    s = (t - times[0]) / T
    (q0, v0, e0), (q1, v1, e1) = points
    a, b = T * v0 - (q1 - q0), -T * v1 + (q1 - q0)
    q = (1.0 - s) * q0 + s * q1 + s * (1.0 - s) * ((1.0 - s) * a + s * b)
    rate = (q1 - q0) + (1.0 - 2.0 * s) * ((1.0 - s) * a + s * b) + s * (1.0 - s) * (b - a)
    return np.stack([q, rate / T, (1.0 - s) * e0 + s * e1])


class GripperCommands:
    """Commands to a gripper, by the numbers of states.

    Attributes:
        newest: number of the state from which the newest command counts; -1 before.
        closes: whether it shall close; it is open before the first command.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing has come."""
        self.newest, self.closes = -1, False

    def offer(self, number: int, k: int, *, closes: bool) -> None:
        """Take a command that counts from state `number` on, at the time of state k.

        Raises:
            BadInput: it is later than the present state.
        """
        if number > k:
            raise BadInput(LATER)
        if number >= self.newest:
            self.newest, self.closes = number, closes


class ArmCommands:
    """Targets of one arm's motors, by the numbers of states.

    Attributes:
        newest: number of the state from which the newest command counts; -1 before.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing has come."""
        self.newest = -1
        self._trajectory: JointTrajectory | None = None

    def offer(self, number: int, k: int, trajectory: JointTrajectory) -> None:
        """Take a command that counts from state `number` on, at the time of state k.

        Raises:
            BadInput: it is later than the present state.
        """
        if number > k:
            raise BadInput(LATER)
        if number >= self.newest:
            self.newest, self._trajectory = number, trajectory

    def target(self, t: float) -> Array | None:
        """(3, n) at a time [s]; None before the first command."""
        return None if self._trajectory is None else self._trajectory.at(t)
