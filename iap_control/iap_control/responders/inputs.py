# SPDX-License-Identifier: BSD-3-Clause
"""References from the simple ways in: poses that are streamed or set, velocities, accelerations.

All end in a pose reference with its derivatives, which is what keeps a platform in one place when the
input falls silent. Times are simulation times of reception; the stamps of poses may be of any clock (a bag's).
"""

from typing import Literal

import numpy as np

from iap_control.responders.pose_follower import PoseFollower
from iap_control.responders.pose_stream import MAX_TIME_STEP, InputLimits
from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W, P, Q

Kind = Literal["pose", "twist", "accel"]


class SimpleInputs:
    """Turns simple inputs into reference rows, one for each control step.

    Args:
        count: number of aircraft N.
        limits: what the inputs cannot exceed.
    """

    def __init__(self, count: int, limits: InputLimits) -> None:
        self._limits = limits
        self._row = np.zeros(REF_FIXED + count)
        self.reset()

    def reset(self) -> None:
        """Forget all that came."""
        self.kind: Kind | None = None
        self._poses = PoseFollower(self._limits)
        self._rates = np.zeros(6)
        self._received = 0.0
        self._t: float | None = None

    def take_pose(self, t: float, stamp: float, pose: Array) -> None:
        """Take a pose (7,) of `base_link` in the world; `stamp` [s] may be of any clock, 0 is none."""
        if self.kind != "pose":
            self._poses = PoseFollower(self._limits)
        self._poses.take(t, stamp, pose)
        self.kind = "pose"

    def take_rates(self, t: float, kind: Kind, rates: Array) -> None:
        """Take a velocity (kind twist) or an acceleration (6,): linear in the world, angular in the body's frame."""
        self.kind, self._received, self._rates = kind, t, rates.copy()

    def row(self, t: float, x: Array) -> Array:
        """The reference (19 + N) for the control step at time `t` and the state row `x` (13,); overwritten."""
        if self._t is None:
            self._row[REF_P], self._row[REF_Q] = x[P], x[Q]
            self._row[REF_V.start : REF_FIXED] = 0.0
        dt = 0.0 if self._t is None else min(max(t - self._t, 0.0), MAX_TIME_STEP)
        self._t = t
        if self.kind == "pose":
            self._poses.fill(self._row, t, dt)
        else:
            self._move(t, dt, x)
        return self._row

    def _move(self, t: float, dt: float, x: Array) -> None:
        """Move the reference with the velocity that is asked for, as fast as the limits let it change."""
        row, limits = self._row, self._limits
        rates = self._rates if t - self._received <= limits.timeout else np.zeros(6)
        if self.kind == "accel" and rates.any():
            row[REF_A], row[REF_ALPHA] = rates[:3], rates[3:]
        else:
            goal = np.zeros(6) if self.kind == "accel" else rates
            row[REF_A] = _slew(row[REF_V], goal[:3], limits.acceleration, dt)
            row[REF_ALPHA] = _slew(row[REF_W], goal[3:], limits.angular_acceleration, dt)
        row[REF_V] = _bounded(row[REF_V] + dt * row[REF_A])
        row[REF_W] = _bounded(row[REF_W] + dt * row[REF_ALPHA])
        row[REF_P] = _bounded(row[REF_P] + dt * row[REF_V])
        row[REF_Q] = so3.normalized(so3.multiply(row[REF_Q], so3.quaternion_exp(dt * row[REF_W])))


def _bounded(vector: Array) -> Array:
    """A vector (3,), cut at what messages may say, so that what is asked for again and again stays a reference."""
    return np.clip(vector, -MAX_SI_NUMBER, MAX_SI_NUMBER)


def world_rates(rates: Array, q_WB: Array, *, in_body: bool) -> Array:
    """Linear and angular rates (6,), both given in the body or both in the world, as linear in W, angular in B."""
    linear, angular = rates[:3], rates[3:]
    if in_body:
        return np.concatenate([so3.rotate(q_WB, linear), angular])
    return np.concatenate([linear, so3.rotate(so3.conjugate(q_WB), angular)])


def at_rest(x: Array, row: Array) -> None:
    """Write into a reference row (19+) the rest at the position and yaw of a row `x` (7+), level."""
    yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(x[Q]))[2]
    row[REF_P], row[REF_Q] = x[P], so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    row[REF_V.start : REF_FIXED] = 0.0


def _slew(value: Array, goal: Array, limit: float, dt: float) -> Array:
    """The rate (3,) that brings a value towards what is wanted in this step, at most `limit` long."""
    if dt <= 0.0:
        return np.zeros(3)
    rate = (goal - value) / dt
    length = float(np.linalg.norm(rate))
    return rate if length <= limit else rate * (limit / length)
