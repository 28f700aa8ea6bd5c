# SPDX-License-Identifier: BSD-3-Clause
"""References from the simple ways in: poses that are streamed or set, velocities, accelerations.

All end in a pose reference with its derivatives, which is what keeps a platform in one place when the
input falls silent. Times are simulation times of reception; the stamps of poses, which may be of any
clock (a bag's), count from the first one and are used to differentiate, never to judge an age.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from iap_control.responders.blend import Blend
from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W, P, Q

Kind = Literal["pose", "twist", "accel"]

VELOCITY_TIME_CONSTANT = 0.05  # time constant of differentiated velocities [s]
MAX_POSE_STEP = 0.2  # a pose further from where the stream was going is blended in [m], [rad]
MAX_TIME_STEP = 0.1  # a gap between control steps does not make a reference jump [s]


@dataclass(frozen=True)
class InputLimits:
    """Limits of simple inputs.

    Attributes:
        timeout: an input that is silent for longer stands still [s].
        acceleration: with which velocities are followed, and lost again [m/s^2].
        angular_acceleration: the same [rad/s^2].
    """

    timeout: float = 0.5
    acceleration: float = 2.0
    angular_acceleration: float = 3.0


class PoseStream:
    """Poses as they come, and where they are going.

    The velocity is that between the last two poses, by their stamps, smoothed over `VELOCITY_TIME_CONSTANT`; it
    carries the last pose on for the time of two poses.

    Args:
        timeout: after longer silence a stream starts again [s].
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._received: float | None = None
        self._stamp = 0.0
        self._reach = 0.0
        self._pose = np.zeros(7)
        self._v, self._w = np.zeros(3), np.zeros(3)

    def take(self, t: float, stamp: float, pose: Array) -> bool:
        """Take a pose (7,); returns whether it is a new beginning: the first, after silence, or elsewhere."""
        last, step = self._received, stamp - self._stamp
        goes_on = last is not None and t - last <= self._timeout
        goes_on = goes_on and _distance(self._pose_at(t), pose) <= MAX_POSE_STEP
        if last is not None and goes_on:
            self._differentiate(pose, step if step > 0.0 else t - last)
        else:
            self._v[:], self._w[:], self._reach = 0.0, 0.0, 0.0
        self._received, self._stamp, self._pose = t, stamp, pose.copy()
        return not goes_on

    def fill(self, row: Array, t: float) -> None:
        """Write the reference at time `t` into a row (19+); a pose was taken before."""
        row[REF_P.start : REF_Q.stop] = self._pose_at(t)
        row[REF_V.start : REF_FIXED] = 0.0
        if self._received is not None and t - self._received <= self._reach:
            row[REF_V], row[REF_W] = self._v, self._w

    def _differentiate(self, pose: Array, step: float) -> None:
        if step <= 0.0:  # the same pose again
            return
        share = step / (VELOCITY_TIME_CONSTANT + step)
        turn = so3.multiply(so3.conjugate(self._pose[Q]), pose[Q])
        self._v += share * ((pose[P] - self._pose[P]) / step - self._v)
        self._w += share * (so3.quaternion_log(turn) / step - self._w)
        self._reach = min(2.0 * step, self._timeout)

    def _pose_at(self, t: float) -> Array:
        ahead = min(max(t - (self._received or 0.0), 0.0), self._reach)
        out = np.empty(7)
        out[P] = self._pose[P] + ahead * self._v
        out[Q] = so3.multiply(self._pose[Q], so3.quaternion_exp(ahead * self._w))
        return out


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
        self._poses = PoseStream(self._limits.timeout)
        self._blend: Blend | None = None
        self._is_restarted = False
        self._rates = np.zeros(6)
        self._received = 0.0
        self._t: float | None = None

    def take_pose(self, t: float, stamp: float, pose: Array) -> None:
        """Take a pose (7,) of `base_link` in the world; `stamp` [s] may be of any clock, 0 is none."""
        if self.kind != "pose":
            self._poses = PoseStream(self._limits.timeout)
        self._is_restarted |= self._poses.take(t, stamp, pose)
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
            self._follow_poses(t)
        else:
            self._move(t, dt, x)
        return self._row

    def _follow_poses(self, t: float) -> None:
        """Follow the stream; what it leaves to jump is blended in from the present reference."""
        here = self._row[: REF_Q.stop].copy()
        self._poses.fill(self._row, t)
        if self._is_restarted:
            self._blend = Blend.between(t, here, self._row)
            self._is_restarted = False
        if self._blend is not None:
            self._blend.add_to(self._row, t)

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


def _distance(have: Array, want: Array) -> float:
    """The larger of the distance [m] and the angle [rad] between two poses (7,)."""
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(have[Q]), want[Q]))
    return max(float(np.linalg.norm(want[P] - have[P])), float(np.linalg.norm(turn)))
