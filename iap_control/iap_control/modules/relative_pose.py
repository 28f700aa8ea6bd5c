# SPDX-License-Identifier: BSD-3-Clause
"""A follower's pose and setpoint in its leader's frame, and its misalignment before a face."""

import math
from typing import NamedTuple, Self

import numpy as np

from iap_control.modules.settings import DrogueLimits
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q


class RelativePose(NamedTuple):
    """The follower's CoM and attitude in the leader's frame L.

    Attributes:
        p_LF_L: (3,) [m].
        angles: (3,) rotation vector from the leader's attitude to the follower's [rad].
    """

    p_LF_L: Array
    angles: Array

    @classmethod
    def of(cls, leader: Array, follower: Array) -> "RelativePose":
        """Pose of a follower in its leader's frame L: p = R_WL' (p_F - p_L) [m] and log(q_L^-1 q_F) [rad].

        Args:
            leader: (13,) state row in W.
            follower: (13,) state row in the same frame.
        """
        back = so3.conjugate(leader[Q])
        p_L = so3.rotate(back, follower[P] - leader[P])
        return cls(p_L, so3.quaternion_log(so3.multiply(back, follower[Q])))


class Setpoint(NamedTuple):
    """Place of the follower's CoM in the leader's frame [m], and how it moves there [m/s, m/s^2]."""

    p_LF_L: Array
    v_LF_L: Array
    a_LF_L: Array

    @classmethod
    def at(cls, p_LF_L: Array) -> Self:
        """At rest at a place (3,)."""
        return cls(np.array(p_LF_L), np.zeros(3), np.zeros(3))

    def towards(self, goal_L: Array, speed: float, acceleration: float, dt: float) -> Self:
        """Setpoint one period later on a straight line to a goal, at which it comes to rest.

        The speed is min(speed, sqrt(2 a d), d / dt) at a distance d, and changes by a dt at most.

        Args:
            goal_L: (3,) position in the leader's frame [m].
            speed: largest one [m/s].
            acceleration: a [m/s^2].
            dt: period [s].
        """
        way = goal_L - self.p_LF_L
        length = float(np.linalg.norm(way))
        fastest = min(speed, math.sqrt(2.0 * acceleration * length), length / dt)
        velocity = way * (fastest / length) if length > 0.0 else np.zeros(3)
        change = velocity - self.v_LF_L
        size = float(np.linalg.norm(change))
        change *= min(1.0, acceleration * dt / size) if size > 0.0 else 0.0
        v_L = self.v_LF_L + change
        return type(self)(self.p_LF_L + dt * v_L, v_L, change / dt)


class Misalignment(NamedTuple):
    """Misalignment of a follower before a leader's face.

    Attributes:
        gap: between the faces along the axis, negative where they overlap [m].
        offset: (3,) across the axis [m].
        angles: (3,) [rad].
    """

    gap: float
    offset: Array
    angles: Array

    @classmethod
    def of(cls, pose: RelativePose, normal_L: Array, size: float) -> "Misalignment":
        """Misalignment of a follower before a face: gap p.n - size, offset p - (p.n) n [m], and angles [rad].

        Args:
            pose: p of the follower's centre in the leader's frame.
            normal_L: (3,) unit normal n of the face.
            size: distance between centres of modules that touch [m].
        """
        along = float(pose.p_LF_L @ normal_L)
        return cls(along - size, pose.p_LF_L - along * normal_L, pose.angles)

    @property
    def largest_offset(self) -> float:
        """Of all axes [m]."""
        return float(np.abs(self.offset).max())

    @property
    def largest_angle(self) -> float:
        """About all axes [rad]."""
        return float(np.abs(self.angles).max())


def check_drogue(name: str, misalignment: Misalignment, drogue: DrogueLimits) -> None:
    """Refuse to join what a drogue cannot take.

    Raises:
        BadInput: gap, offset or angle are beyond it.
    """
    values = {
        "a gap": (abs(misalignment.gap), drogue.gap, "m"),
        "an offset": (misalignment.largest_offset, drogue.offset, "m"),
        "an angle": (misalignment.largest_angle, drogue.angle, "rad"),
    }
    for what, (value, limit, unit) in values.items():
        if value > limit:
            raise BadInput(
                f"joint '{name}': {what} of {value:.3f} {unit} is beyond the drogue's {limit:g} {unit}"
            )
