# SPDX-License-Identifier: BSD-3-Clause
"""The motion that a stream of poses asks for: it may pause, come in bursts, lose poses or return elsewhere.

The stream is differentiated by its own stamps, which tell a gap from a slow flight, and carried on for as long as its
poses usually stay away; then it rests at the last one. What jumps by that is smoothed by a `PoseFollower`.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W, P, Q

MAX_TIME_STEP = 0.1  # a gap between control steps does not make a reference jump [s]
MAX_POSE_STEP = 0.2  # a pose further from where the stream was going is blended in [m], [rad]
VELOCITY_TIME_CONSTANT = 0.05  # of differentiated velocities, half of accelerations' [s]
NOISE_SMOOTHING = 4.0  # time constant without stamps, per time by which poses come late
MISSED = 2.2  # longest intervals of late, after which a pose is overdue: one may be lost
OWN_TIME_CONSTANT = 1.0  # time constant of the size of a stream's own accelerations [s]


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


@dataclass(frozen=True)
class VelocityEstimate:
    """Velocity and acceleration of a place or an attitude.

    Attributes:
        v: (3,) velocity [m/s], [rad/s].
        a: (3,) acceleration [m/s^2], [rad/s^2].
    """

    v: Array
    a: Array


REST = VelocityEstimate(np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class PoseTrack:
    """The motion that the poses up to now ask for, at constant accelerations.

    Attributes:
        received: when the last pose came [s].
        since: when it would have come without delay, at `received` or before [s].
        stamp: of that pose, by a clock of its own [s].
        pose: (7,) the last one.
        linear, angular: low-passed motions, in the world and in the body; at `REST` nothing is known of them.
        smoothing: time constant of their velocities [s].
        end: when another pose is overdue [s].
        is_resting: whether it was, and the last pose is rested at.
    """

    received: float
    since: float
    stamp: float
    pose: Array
    linear: VelocityEstimate = REST
    angular: VelocityEstimate = REST
    smoothing: float = VELOCITY_TIME_CONSTANT
    end: float = np.inf
    is_resting: bool = False

    def fill(self, row: Array, t: float) -> None:
        """Write the reference at a time [s] into a row (19+)."""
        if self.is_resting:
            row[: REF_Q.stop], row[REF_V.start : REF_ALPHA.stop] = self.pose, 0.0
            return
        s = max(min(t, self.end + MAX_TIME_STEP) - self.since, 0.0)
        a, alpha = self.linear.a, self.angular.a
        v = (
            self.linear.v + self.smoothing * a
        )  # without the lag of a low-pass under a constant acceleration
        w = self.angular.v + self.smoothing * alpha
        row[REF_P] = self.pose[P] + s * (v + 0.5 * s * a)
        turn = so3.quaternion_exp(s * (w + 0.5 * s * alpha))
        row[REF_Q] = so3.multiply(self.pose[Q], turn)
        row[REF_V], row[REF_W], row[REF_A], row[REF_ALPHA] = v + s * a, w + s * alpha, a, alpha


class PoseStream:
    """Poses as they come, and the motion that they ask for.

    Args:
        timeout: after longer silence a stream begins anew [s].

    Attributes:
        track: the motion that the poses ask for; None before the first.
        own: (2,) sizes of the stream's own accelerations, linear and angular, as its stamps show them.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self.track: PoseTrack | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._before: PoseTrack | None = None  # of the poses that came before the newest time
        # times of reception, with those since the ones before, and less stamps [s]
        self._intervals: deque[tuple[float, float]] = deque()
        self._delays: deque[tuple[float, float]] = deque()
        self.own = np.zeros(2)

    def take(self, t: float, stamp: float, pose: Array) -> bool:
        """Take a pose (7,); returns whether it is a new beginning: the first, after silence, or elsewhere."""
        last = self.track
        if last is None or t - last.received > self._timeout or self._is_elsewhere(t, stamp, pose):
            self._begin_anew()
            self.track = PoseTrack(t, t, stamp, pose.copy())
            return True
        if t > last.received:
            self._note(self._intervals, t, t - last.received)
            self._before = last
        step = stamp - last.stamp
        if step > 0.0:
            times = t, self._since(t, stamp), stamp
            self.track = self._differentiated(last, times, pose, step, VELOCITY_TIME_CONSTANT)
            self._note_own(step)
        elif self._before is None:
            self.track = replace(last, stamp=stamp, pose=pose.copy())
        else:  # no stamps: of several poses of a time the last one counts, since the time before
            before, noise = self._before, NOISE_SMOOTHING * self._jitter()
            step, smoothing = t - before.received, VELOCITY_TIME_CONSTANT + noise
            self.track = self._differentiated(before, (t, t, stamp), pose, step, smoothing)
        return False

    def _is_elsewhere(self, t: float, stamp: float, pose: Array) -> bool:
        """True if a pose is far from where the stream was going by its stamp; without one, also from where it was."""
        last, is_stamped = self.track, self.track is not None and stamp > self.track.stamp
        if not is_stamped:
            last = self._before or last
        if last is None or last.linear is REST:
            return False
        step = stamp - last.stamp if is_stamped else t - last.received
        ahead = np.concatenate([last.pose[P] + step * last.linear.v, last.pose[Q]])
        ahead[Q] = so3.multiply(last.pose[Q], so3.quaternion_exp(step * last.angular.v))
        near = [ahead] if is_stamped else [ahead, last.pose]
        return min(pose_distance(each, pose) for each in near) > MAX_POSE_STEP

    def _note_own(self, step: float) -> None:
        """Low-pass the sizes of the stream's own accelerations over a step [s]."""
        assert self.track is not None  # noqa: S101 - it was set
        motions = self.track.linear, self.track.angular
        sizes = np.array([np.linalg.norm(each.a) for each in motions])
        self.own = self.own + step / (OWN_TIME_CONSTANT + step) * (sizes - self.own)

    def rest_if_overdue(self, t: float) -> None:
        """Rest at the last pose where another one is overdue at time `t` [s]."""
        if self.track is not None and t > self.track.end and not self.track.is_resting:
            self.track = replace(self.track, is_resting=True)

    def _since(self, t: float, stamp: float) -> float:
        """Time at which a pose received at `t` would have come with the shortest recent delay [s]."""
        self._note(self._delays, t, t - stamp)
        return stamp + min(delay for _, delay in self._delays)

    def _note(self, values: deque[tuple[float, float]], t: float, value: float) -> None:
        """Append a value of a time [s], and forget what is older than the time-out."""
        values.append((t, value))
        while t - values[0][0] > self._timeout:
            values.popleft()

    def _jitter(self) -> float:
        """Time by which poses stay away for longer than usual [s]."""
        intervals = [interval for _, interval in self._intervals]
        return max(intervals) - sum(intervals) / len(intervals)

    def _differentiated(
        self,
        last: PoseTrack,
        times: tuple[float, float, float],
        pose: Array,
        step: float,
        tau: float,
    ) -> PoseTrack:
        """The track that a pose continues which came so long after the last one, by its stamp [s]."""
        turn = so3.multiply(so3.conjugate(last.pose[Q]), pose[Q])
        linear = _followed(last.linear, (pose[P] - last.pose[P]) / step, step, tau)
        angular = _followed(last.angular, so3.quaternion_log(turn) / step, step, tau)
        longest = max((interval for _, interval in self._intervals), default=step)
        end = times[0] + min(MISSED * longest, self._timeout)
        return PoseTrack(*times, pose.copy(), linear, angular, tau, end)


def _followed(motion: VelocityEstimate, v: Array, step: float, tau: float) -> VelocityEstimate:
    """A motion once a velocity (3,) was measured over a step [s], low-passed by a time constant [s]."""
    if motion is REST:
        return VelocityEstimate(v, np.zeros(3))
    dv = step / (tau + step) * (v - motion.v)
    da = step / (2.0 * tau + step) * (dv / step - motion.a)
    return VelocityEstimate(motion.v + dv, motion.a + da)


def pose_distance(have: Array, want: Array) -> float:
    """The larger of the distance [m] and the angle [rad] between two poses (7,)."""
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(have[Q]), want[Q]))
    return max(float(np.linalg.norm(want[P] - have[P])), float(np.linalg.norm(turn)))
