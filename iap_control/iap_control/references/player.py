# SPDX-License-Identifier: BSD-3-Clause
"""Plays timelines to states as they come: from the start of a simulation, or into a flight that is under way."""

from collections.abc import Callable

import numpy as np

from iap_control.references.timeline import Timeline
from iap_control.responders.blend import Blend
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, REF_P, REF_Q, REF_V, REF_W, Level, P, Q, V, W

START_TOLERANCE = 1e-6  # a platform that is nearer to the flight's start is there [m], [rad]


class Player:
    """Gives the reference for every state; a state that is older than the last one starts it again.

    A platform that is not where the flight starts is brought from where it is to the timeline. A maneuver takes the
    timeline's place until time starts again.

    Args:
        timeline: what is played, with the aircraft's headings.
        start: (13,) where the flight starts, which may be drawn beside the first reference.
        plays: whether it is played by itself; else its first row is held until a maneuver begins.
    """

    def __init__(self, timeline: Timeline, start: Array, *, plays: bool = True) -> None:
        self._first, self._plays = timeline if plays else timeline.cut(0.0), plays
        self._timeline, self._home = self._first, start
        self._row = np.empty(timeline.width)
        self._moving = np.zeros(REF_FIXED)
        self._t = np.inf  # of the last state [s]
        self._start = 0.0
        self._blend: Blend | None = None

    def reference(self, t: float, x: Array) -> tuple[Array, Level]:
        """Reference row (19 + N), overwritten by the next one, and its level.

        Args:
            t: simulation time of the state [s].
            x: (13,) state row of the central body.
        """
        if t < self._t:
            self._start, self._timeline = t, self._first
            is_home = Blend.between(t, x, self._home).way < START_TOLERANCE
            self._blend = None if is_home else Blend.between(t, x, self._timeline.row(0))
        self._t, line = t, self._timeline
        # A state that is sent again after a maneuver has begun is before the start.
        k = max(0, round((t - self._start) / line.dt))
        at = min(k, line.last)
        self._row[:] = line.row(at)
        if k > at:  # the pose is held
            self._row[REF_Q.stop : REF_FIXED] = 0.0
        if self._blend is not None:
            self._blend.add_to(self._row, t)
        level = line.level(at)
        self._keep_motion(x, level)
        return self._row, level

    def _keep_motion(self, x: Array, level: Level) -> None:
        """Keep the motion from which a maneuver can begin: the reference's, or the platform's without a pose."""
        self._moving[:] = self._row[:REF_FIXED]
        if level != Level.POSE:
            self._moving[REF_P], self._moving[REF_Q] = x[P], x[Q]
            self._moving[REF_V], self._moving[REF_W] = x[V], x[W]
            self._moving[REF_W.stop : REF_FIXED] = 0.0

    def begin(self, plan: Callable[[Array], Timeline], *, blends: bool = False) -> None:
        """Play a maneuver from the next state on.

        Args:
            plan: makes it of the row (19,) with which the present reference moves.
            blends: whether the present reference fades into it; else it begins where that is.

        Raises:
            BadInput: no state has come yet, or the maneuver cannot be flown.
        """
        if np.isinf(self._t):
            raise BadInput("no state has come yet")
        line = plan(self._moving.copy())
        self._timeline, self._start, self._blend = line, self._t + line.dt, None
        if blends:
            self._blend = Blend.between(self._start, self._moving, line.row(0))

    def is_over(self, t: float) -> bool:
        """True if time `t` [s] is past the end of what is played."""
        is_played = self._plays or self._timeline is not self._first
        return is_played and t > self._start + self._timeline.duration + 0.5 * self._timeline.dt
