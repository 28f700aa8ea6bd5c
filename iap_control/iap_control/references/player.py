# SPDX-License-Identifier: BSD-3-Clause
"""Plays a timeline to states as they come: from the start of a simulation, or into a flight that is under way."""

import numpy as np

from iap_control.references.timeline import Timeline
from iap_control.responders.blend import Blend
from iap_description.arrays import Array
from iap_description.states import REF_FIXED, REF_Q, Level

START_TOLERANCE = 1e-6  # a platform that is nearer to the flight's start is there [m], [rad]


class Player:
    """Gives the reference for every state; a state that is older than the last one starts it again.

    A platform that is not where the flight starts is brought from where it is to the timeline.

    Args:
        timeline: what is played, with the aircraft's headings.
        start: (13,) where the flight starts, which may be drawn beside the first reference.
    """

    def __init__(self, timeline: Timeline, start: Array) -> None:
        self._timeline, self._home = timeline, start
        self._row = np.empty(timeline.width)
        self._t = np.inf  # of the last state [s]
        self._start = 0.0
        self._blend: Blend | None = None

    def reference(self, t: float, x: Array) -> tuple[Array, Level]:
        """Reference row (19 + N), overwritten by the next one, and its level.

        Args:
            t: simulation time of the state [s].
            x: (13,) state row of the central body.
        """
        line = self._timeline
        if t < self._t:
            self._start = t
            is_home = Blend.between(t, x, self._home).way < START_TOLERANCE
            self._blend = None if is_home else Blend.between(t, x, line.row(0))
        self._t = t
        k = round((t - self._start) / line.dt)
        at = min(k, line.last)
        self._row[:] = line.row(at)
        if k > at:  # the pose is held
            self._row[REF_Q.stop : REF_FIXED] = 0.0
        if self._blend is not None:
            self._blend.add_to(self._row, t)
        return self._row, line.level(at)

    def is_over(self, t: float) -> bool:
        """True if time `t` [s] is past the timeline's end."""
        return t > self._start + self._timeline.duration + 0.5 * self._timeline.dt
