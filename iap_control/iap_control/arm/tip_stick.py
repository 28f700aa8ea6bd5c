# SPDX-License-Identifier: BSD-3-Clause
"""An end effector flown by hand: a stick's twist moves its reference, and (27) platform and joints after it."""

from itertools import pairwise
from typing import Literal

import numpy as np
from pydantic import model_validator

from iap_control.arm.tip_guidance import TipGuidance, TipMotion
from iap_control.laws.end_effector import HEADING, level
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Degrees, NonNegative, Positive, Vec3
from iap_description.vehicles.mounted_arm import MountedArm


class StickDemand(Record):
    """Command of a recorded stick, from a time on."""

    t: NonNegative  # [s] from the motion's start
    velocity: (
        Vec3  # of the end effector, along the axes of its heading (x forward, y left, z up) [m/s]
    )
    turn_deg: Degrees  # of its heading [deg/s]


class TipStick(TipMotion):
    """The end effector is flown by hand: by a recorded stick, or by twists that come as messages."""

    type: Literal["tip_stick"]
    demands: tuple[StickDemand, ...]  # each until the next; none: messages on reference/tip
    leash: Positive  # the reference never leads the end effector by more [m]
    timeout: Positive  # after which a message no longer counts [s]

    @model_validator(mode="after")
    def _time_goes_on(self) -> "TipStick":
        if any(b.t <= a.t for a, b in pairwise(self.demands)):
            raise ValueError("key 'demands': the times must increase")
        return self

    def guide(self, arm: MountedArm, lead: float, dt: float) -> TipGuidance:
        """The guidance of a flight whose motion begins at `lead` [s], at a control period [s]."""
        return TipGuidance(self, Stick(self), arm, lead, dt)


class Stick:
    """The reference of an end effector that a pilot moves, a `TipSource`.

    Its velocity goes towards what is asked for by no more than the motion's accelerations.

    Args:
        motion: how the stick moves it.
    """

    def __init__(self, motion: TipStick) -> None:
        self._motion = motion
        self._times = np.array([each.t for each in motion.demands])
        asked = [[*each.velocity, np.deg2rad(each.turn_deg)] for each in motion.demands]
        self._asked = np.array([*asked, np.zeros(4)])  # the last for before the first
        self.reset()

    @property
    def listens(self) -> bool:
        """True if twists come as messages."""
        return not self._motion.demands

    def reset(self) -> None:
        """A flight begins; what was asked for is forgotten."""
        self._now: Array | None = None  # (4,) the reference, where the end effector is at first
        self._next, self._t, self._period = np.zeros(4), 0.0, 1.0
        self._v = np.zeros(4)  # along the axes of the reference's heading
        self._twist: tuple[Array, bool] | None = None  # the newest (4,), and if in `map`
        self._since: float | None = None  # time from which on it counts, once that is known [s]

    def take(self, twist: Array, *, in_map: bool) -> None:
        """Ask for a twist (6,) of the end effector, of whose turns that about the vertical counts, from now on.

        Args:
            twist: velocity [m/s] and angular velocity [rad/s].
            in_map: along the axes of `map`, not of the end effector's heading.
        """
        self._twist, self._since = (np.append(twist[:3], twist[5]), in_map), None

    def __call__(self, t: float, period: float, r: Array) -> tuple[Array, Array]:
        """The reference (4,) at a time, and its rates (4,) one period later, see `TipSource`."""
        now = r.copy() if self._now is None else self._next
        motion, before = self._motion, level(now[HEADING])
        change = self._demand(t, before) - self._v
        most = period * motion.acceleration
        change[:3] *= min(1.0, most / max(float(np.linalg.norm(change[:3])), most))
        most = period * motion.turn_acceleration
        v = self._v + np.append(change[:3], np.clip(change[HEADING], -most, most))
        heading = now[HEADING] + 0.5 * period * (self._v[HEADING] + v[HEADING])
        after = level(heading)
        position = now[:3] + 0.5 * period * (before @ self._v[:3] + after @ v[:3])
        leashed = self._on_leash(position, now[:3], r[:3])
        if leashed is not position:
            v[:3] = after.T @ ((leashed - now[:3]) / period)
        self._now, self._next, self._v = now, np.append(leashed, heading), v
        self._t, self._period = t, period
        return now, np.append(after @ v[:3], v[HEADING])

    def reference(self, t: float) -> Array | None:
        """(3,) where the end effector should be at a time within the present period [s]; None before the first."""
        if self._now is None:
            return None
        share = (t - self._t) / self._period
        return np.asarray(self._now[:3] + share * (self._next - self._now)[:3])

    def _demand(self, t: float, turn: Array) -> Array:
        """The command (4,) at a time, along the axes of the reference's heading, whose attitude is `turn`."""
        if not self.listens:
            return self._asked[int(np.searchsorted(self._times, t + 1e-9, side="right")) - 1]
        if self._twist is None:
            return np.zeros(4)
        if self._since is None:
            self._since = t
        if t - self._since > self._motion.timeout:
            return np.zeros(4)
        twist, in_map = self._twist
        return np.append(turn.T @ twist[:3], twist[HEADING]) if in_map else twist

    def _on_leash(self, position: Array, now: Array, tip: Array) -> Array:
        """`position` itself where it is near enough to the end effector, otherwise the leash's end."""
        reach = max(self._motion.leash, float(np.linalg.norm(now - tip)))
        away = position - tip
        size = float(np.linalg.norm(away))
        return position if size <= reach else tip + away * (reach / size)
