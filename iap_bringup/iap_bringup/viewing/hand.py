# SPDX-License-Identifier: BSD-3-Clause
"""References that a person leads by hand, and gives back without a leap."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from iap_bringup.viewing.control import KEY_TIME
from iap_control.responders.pose_follower import Offset
from iap_control.responders.pose_stream import InputLimits
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W, P, Q
from iap_physics.plant.plant import Plant
from iap_simulation.scenario.scenario import Scenario

LIMITS = InputLimits()  # of a reference that a person leads, or gives back, as of other inputs
PLACE, TURN = (REF_P, REF_V, REF_A), (REF_Q, REF_W, REF_ALPHA)


def hindrance_of(scenario: Scenario) -> str:
    """Why nobody can lead the vehicles of a scenario by hand; empty where one can."""
    if scenario.policy is None or scenario.modules is not None:
        return ""
    from iap_learning.learned_agents import flies_by_references  # slow to import

    if flies_by_references(scenario):
        return ""
    return "A policy commands the vehicles: they follow no reference."


class Order(NamedTuple):
    """An order of a person.

    Attributes:
        text: that says what it is.
        do: it, to the plant.
        is_slid: whether it comes of a slider, which gives many on its way.
    """

    text: str
    do: Callable[[Plant], object]
    is_slid: bool = False


class Hand:
    """A goal that a person drags or flies for one vehicle, and the reference that follows it within limits.

    The reference is the goal and an offset, which takes what the goal jumps by and fades out. Once it is given back,
    the vehicle's own reference is the goal, and nothing but the offset is left of the hand.

    Args:
        row: reference (19+) to begin from.

    Attributes:
        goal: pose (7,).
    """

    def __init__(self, row: Array) -> None:
        self._row = row
        self.goal = row[:7].copy()
        self._followed = self.goal
        self._place, self._turn = Offset(), Offset()
        self._place.take(np.zeros(3), row[REF_V], row[REF_A])
        self._turn.take(np.zeros(3), row[REF_W], row[REF_ALPHA])
        self._twist, self._until = np.zeros(4), 0.0
        self._is_returned = self._returns = False

    def fly(self, twist: Array) -> None:
        """Fly the goal for `KEY_TIME` with a twist (4,): velocity along the heading [m/s], yaw rate [rad/s]."""
        self._twist, self._until = twist, time.perf_counter() + KEY_TIME

    def give_back(self) -> None:
        """Let the vehicle's own reference be followed again."""
        self._is_returned = True

    @property
    def is_returned(self) -> bool:
        """True if it was given back; the reference may be on its way still."""
        return self._is_returned

    @property
    def is_over(self) -> bool:
        """True if the reference is the vehicle's own again."""
        return self._returns and not (self._place.e.any() or self._turn.e.any())

    def reference(self, nominal: Array, dt: float) -> Array:
        """The reference (19+) so long after the last one [s], where the vehicle's own one is (19+)."""
        if self._is_returned:
            return self._returning(nominal, dt)
        if time.perf_counter() < self._until:
            self._fly_goal(dt)
        goal, row = self.goal, self._row
        back = so3.multiply(so3.conjugate(goal[Q]), self._followed[Q])
        self._place.take(self._followed[P] - goal[P], np.zeros(3), np.zeros(3))
        self._turn.take(so3.quaternion_log(back), np.zeros(3), np.zeros(3))
        self._followed = goal
        self._place.advance(dt, LIMITS.acceleration)
        self._turn.advance(dt, LIMITS.angular_acceleration)
        place, turn = self._place, self._turn
        row[REF_P], row[REF_V], row[REF_A] = goal[P] + place.e, place.rate, place.a
        row[REF_Q] = so3.multiply(goal[Q], so3.quaternion_exp(turn.e))
        row[REF_W], row[REF_ALPHA] = turn.rate, turn.a
        return row

    def _returning(self, nominal: Array, dt: float) -> Array:
        """The vehicle's own reference with what is left of the offset."""
        if not self._returns:
            self._leave(nominal, dt)
        self._place.advance(dt, LIMITS.acceleration)
        self._turn.advance(dt, LIMITS.angular_acceleration)
        row, q_e = nominal.copy(), so3.quaternion_exp(self._turn.e)
        row[REF_Q] = so3.multiply(nominal[REF_Q], q_e)
        for part, offset in zip(
            PLACE, (self._place.e, self._place.rate, self._place.a), strict=True
        ):
            row[part] += offset
        for part, offset in zip(TURN[1:], (self._turn.rate, self._turn.a), strict=True):
            row[part] = so3.rotate(so3.conjugate(q_e), nominal[part]) + offset
        self._row = row
        return row

    def _leave(self, nominal: Array, dt: float) -> None:
        """Make what parts the last reference from the vehicle's own one the offset."""
        self._returns, last = True, self._row
        before = nominal.copy()  # where its own reference was one period ago
        before[REF_P] -= dt * nominal[REF_V]
        before[REF_Q] = so3.multiply(nominal[REF_Q], so3.quaternion_exp(-dt * nominal[REF_W]))
        turned = so3.multiply(so3.conjugate(before[REF_Q]), last[REF_Q])
        back = so3.conjugate(turned)
        self._place, self._turn = Offset(), Offset()
        self._place.take(*(last[part] - before[part] for part in PLACE))
        rates = (last[part] - so3.rotate(back, before[part]) for part in TURN[1:])
        self._turn.take(so3.quaternion_log(turned), *rates)

    def _fly_goal(self, dt: float) -> None:
        """Move the goal by the twist."""
        p, q = self.goal[P], self.goal[Q]
        x, y, z, rate = (dt * self._twist).tolist()
        ahead = so3.rotate(q, np.array([1.0, 0.0, 0.0]))
        yaw = np.arctan2(ahead[1], ahead[0])
        c, s = np.cos(yaw), np.sin(yaw)
        turned = so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, rate])), q)
        self.goal = np.concatenate([p + [c * x - s * y, s * x + c * y, z], turned])
