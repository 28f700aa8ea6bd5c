# SPDX-License-Identifier: BSD-3-Clause
"""References that follow a stream of poses: no step of pose, velocity or acceleration, whatever the stream does.

What the motion of a `PoseStream` jumps by stays in the reference as an offset, which fades out within the limits.
"""

from dataclasses import dataclass, field

import numpy as np

from iap_control.responders.blend import Blend
from iap_control.responders.pose_stream import (
    MAX_POSE_STEP,
    InputLimits,
    PoseStream,
    PoseTrack,
    pose_distance,
)
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W

MAX_FREQUENCY = 8.0  # of offsets that fade out within the limits [rad/s]
MIN_FREQUENCY = 0.5  # of them, in any case [rad/s]
RISE = 0.4  # time in which offsets may reach the limit of acceleration [s]
AT_REST = 1e-5  # offsets that are smaller, with their rates, are gone [m], [m/s], [rad], [rad/s]


@dataclass
class Offset:
    r"""Rest of jumps of a goal in its reference: it fades out smoothly.

    The jerk is :math:`-f^3 e - 3 f^2 \dot e - 3 f \ddot e`, three poles at -f; f is such that neither the limit of
    acceleration a nor the jerk a / `RISE` is exceeded by much.

    Attributes:
        e: (3,) offset, rate: (3,) its rate, a: (3,) its acceleration.
    """

    e: Array = field(default_factory=lambda: np.zeros(3))
    rate: Array = field(default_factory=lambda: np.zeros(3))
    a: Array = field(default_factory=lambda: np.zeros(3))

    def take(self, step: Array, rate: Array, a: Array) -> None:
        """Take what the goal has jumped by, of place, rate and acceleration (3,)."""
        self.e, self.rate, self.a = self.e + step, self.rate + rate, self.a + a

    def advance(self, dt: float, limit: float) -> None:
        """Let a time pass [s], within a limit of accelerations."""
        if max(np.linalg.norm(self.e), np.linalg.norm(self.rate)) < AT_REST:
            self.e, self.rate, self.a = np.zeros(3), np.zeros(3), np.zeros(3)
            return
        f = self._frequency(limit)
        j = self._jerk(f, dt)
        while np.linalg.norm(j) > limit / RISE and f > MIN_FREQUENCY:
            f *= 0.8
            j = self._jerk(f, dt)
        self.e = self.e + dt * (self.rate + 0.5 * dt * self.a)
        self.rate = self.rate + dt * (self.a + 0.5 * dt * j)
        self.a = self.a + dt * j

    def _jerk(self, f: float, dt: float) -> Array:
        """The jerk of three poles at -f, implicit in time so that they are stable at any step."""
        j = f**3 * (self.e + dt * self.rate) + 3.0 * f * f * self.rate + 3.0 * f * self.a
        return np.asarray(-j / (1.0 + f * dt) ** 3)

    def _frequency(self, limit: float) -> float:
        """The f at which neither limit is exceeded from rest at `e`, or at zero with the rate."""
        size, speed = (float(np.linalg.norm(each)) for each in (self.e, self.rate))
        f, jerk = MAX_FREQUENCY, limit / RISE
        if size > 0.0:
            f = min(f, (jerk / size) ** (1.0 / 3.0), (limit / size) ** 0.5)
        if speed > 0.0:
            f = min(f, (jerk / (3.0 * speed)) ** 0.5, limit / speed)
        return f


class PoseFollower:
    """Reference rows that follow a stream of poses without steps.

    A pose at the beginning, or far from where the stream was going, is blended in by a `Blend`; a nearer step fades
    out as an `Offset`, which velocities always do.

    Args:
        limits: of whatever is not the stream's own motion.
    """

    def __init__(self, limits: InputLimits) -> None:
        self._limits = limits
        self._stream = PoseStream(limits.timeout)
        self._followed: PoseTrack | None = None
        self._blend: Blend | None = None
        self._is_restarted = False
        self._offsets = Offset(), Offset()  # of place and turn

    def take(self, t: float, stamp: float, pose: Array) -> None:
        """Take a pose (7,), received at simulation time `t` [s] and stamped by any clock [s]; 0 is no stamp."""
        self._is_restarted |= self._stream.take(t, stamp, pose)

    def fill(self, row: Array, t: float, dt: float) -> None:
        """Write the reference at time `t`, so long after the last one, into a row (19+) that has the last one."""
        limits, stream = self._limits, self._stream
        stream.rest_if_overdue(t)
        self._offsets[0].advance(dt, limits.acceleration + stream.own[0])
        self._offsets[1].advance(dt, limits.angular_acceleration + stream.own[1])
        if self._followed is not stream.track:
            self._change_track(row, t)
        self._write(stream.track, row, t)
        self._add_offsets(row)

    def _write(self, track: PoseTrack | None, row: Array, t: float) -> None:
        """Write a track with the present blend into a row (19+)."""
        assert track is not None  # noqa: S101 - a pose was taken before
        track.fill(row, t)
        if self._blend is not None:
            self._blend.add_to(row, t)

    def _change_track(self, row: Array, t: float) -> None:
        """Follow the stream's present track; what jumps by that goes into blend and offsets."""
        old, new, before = row.copy(), row.copy(), self._followed
        if before is not None:
            self._write(before, old, t)
        self._followed, self._is_restarted, is_new = self._stream.track, False, self._is_restarted
        self._write(self._followed, new, t)
        if is_new or pose_distance(old, new) > MAX_POSE_STEP:
            self._blend = None
            self._write(self._followed, new, t)
            self._blend = Blend.between(t, old, new)
            self._write(self._followed, new, t)
        self._take_jump(old, new)

    def _take_jump(self, old: Array, new: Array) -> None:
        """Let the offsets take what a row jumps by."""
        turn = so3.quaternion_log(so3.multiply(so3.conjugate(new[REF_Q]), old[REF_Q]))
        back = so3.quaternion_exp(-turn)  # from the old attitude's axes to the new one's
        w, alpha = (so3.rotate(so3.conjugate(back), old[part]) for part in (REF_W, REF_ALPHA))
        place = [old[part] - new[part] for part in (REF_P, REF_V, REF_A)]
        jumps = place, [turn, w - new[REF_W], alpha - new[REF_ALPHA]]
        for offset, jump in zip(self._offsets, jumps, strict=True):
            offset.take(*jump)

    def _add_offsets(self, row: Array) -> None:
        """Add the offsets to a row (19+)."""
        place, turn = self._offsets
        row[REF_P] += place.e
        row[REF_V] += place.rate
        row[REF_A] += place.a
        q_e = so3.quaternion_exp(turn.e)
        row[REF_Q] = so3.multiply(row[REF_Q], q_e)
        for part, more in ((REF_W, turn.rate), (REF_ALPHA, turn.a)):
            row[part] = so3.rotate(so3.conjugate(q_e), row[part]) + more
