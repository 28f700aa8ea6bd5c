# SPDX-License-Identifier: BSD-3-Clause
"""What a range gate needs to know of a window, and what it does to it."""

import numpy as np
from numpy.typing import NDArray

from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.placed import covariance_in_world
from iap_estimation.virpo.window.range_gate import RangeGate
from iap_estimation.virpo.window.terms import RangeTerms
from iap_estimation.virpo.window.window import Window

Array = NDArray[np.float64]


class AnchorWatch:
    """Takes anchors out of a window whose ranges are wrong for long.

    Args:
        window: whose newest states foresee the ranges.
        ranges: of that window.
        spec: see `VirpoSpec`.
    """

    def __init__(self, window: Window, ranges: RangeTerms, spec: VirpoSpec) -> None:
        self._window, self._ranges = window, ranges
        self._crafts = ranges.crafts
        lasting, width = spec.range_gate, spec.huber.ranges
        self._gate = RangeGate(self._crafts, lasting, width) if lasting is not None else None

    @property
    def left_out(self) -> list[tuple[int, int]]:
        """Aircraft and anchor of all ranges that do not count now."""
        refused = self._gate.refused if self._gate is not None else []
        return [(a, anchor) for a, anchors in enumerate(refused) for anchor in sorted(anchors)]

    def begin(self) -> None:
        """The window begins anew."""
        if self._gate is not None:
            self._gate.begin()

    def look(self, interval: Interval) -> None:
        """Judge by the last interval, where nothing has been estimated from it yet."""
        if self._gate is None:
            return
        states, C = self._window.states, self._window.covariance()
        for a, told in enumerate(self._ranges.newest(states)):
            if a in interval.silent:  # nothing says where it is
                continue
            own = covariance_in_world(C, a, states.x[-2], states.alignment[a])
            self._gate.judge(a, told, interval.span, _after(own, interval.span))
        if any(self._gate.refused):
            self._window.leave_out(self._gate.refused)
            self._ranges.leave_out(self._gate.refused)


def _after(C: Array, span: float) -> Array:
    """Covariance (3, 3) of a place some time [s] after that of a state (15, 15)."""
    drift = span * C[:3, 6:9]
    return C[:3, :3] + drift + drift.T + span**2 * C[6:9, 6:9]
