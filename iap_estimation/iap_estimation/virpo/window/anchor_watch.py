# SPDX-License-Identifier: BSD-3-Clause
"""Range gate of a window: residuals in, left-out anchors out."""

import numpy as np
from numpy.typing import NDArray

from iap_estimation.virpo.messages import LeftOut
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.range_gate import RangeGate
from iap_estimation.virpo.window.terms import RangeTerms
from iap_estimation.virpo.window.window import Window
from iap_estimation.virpo.window.world_frame import covariance_in_world

Array = NDArray[np.float64]


class AnchorWatch:
    """Takes anchors out of a window whose ranges are wrong for long.

    Args:
        window: whose newest states foresee the ranges.
        ranges: of that window.
        spec: see `VirpoSpec`.

    Attributes:
        left_out: what was left out so far, once for every time that it began to be.
    """

    def __init__(self, window: Window, ranges: RangeTerms, spec: VirpoSpec) -> None:
        self._window, self._ranges = window, ranges
        lasting, width = spec.range_gate, spec.huber.ranges
        self._gate = (
            RangeGate(ranges.aircraft_count, lasting, width) if lasting is not None else None
        )
        self.left_out: list[LeftOut] = []

    def begin(self) -> None:
        """The window begins anew."""
        if self._gate is not None:
            self._gate.begin()

    def look(self, t: float, interval: Interval) -> None:
        """Judge by the last interval, which ends at t and from which nothing has been estimated yet."""
        if self._gate is None:
            return
        states = self._window.states
        heard = self._ranges.newest(states)
        if not any(map(len, heard)) and not self._gate.knows_any:
            return
        C = self._window.covariance()
        for a, measured in enumerate(heard):
            if a in interval.silent:  # nothing says where it is
                continue
            own = covariance_in_world(C, a, states.x[-2], states.alignment[a])
            before = self._gate.refused[a]
            self._gate.judge(a, measured, interval.span, _after(own, interval.span))
            new = sorted(self._gate.refused[a] - before)
            self.left_out += [LeftOut(t, a, anchor) for anchor in new]
        if any(self._gate.refused):
            self._window.leave_out(self._gate.refused)
            self._ranges.leave_out(self._gate.refused)


def _after(C: Array, span: float) -> Array:
    """Covariance (3, 3) of a place some time [s] after that of a state (15, 15)."""
    drift = span * C[:3, 6:9]
    return C[:3, :3] + drift + drift.T + span**2 * C[6:9, 6:9]
