# SPDX-License-Identifier: BSD-3-Clause
"""Errors of simulated wrenches against those that were measured on a real aircraft, axis by axis in P."""

from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_io.runs.columns import Columns, WrenchColumns
from iap_io.runs.run_meta import WrenchTrack
from iap_simulation.metrics.contact import ESTIMATED, FILTERED
from iap_simulation.metrics.errors import TOLERANCE, ErrorSums

SIMULATED = {
    "contact": FILTERED,
    "estimated": ESTIMATED,
}  # rows of the recorded wrenches, by their keys


class MeasuredWrenchScores:
    """Judges wrenches that come piece by piece, at the times at which others were measured.

    Args:
        track: what was measured.
    """

    def __init__(self, track: WrenchTrack) -> None:
        self._track = track
        self._before: tuple[Array, Array] | None = None  # the last time and wrenches that came
        self._errors = {key: ErrorSums(6) for key in SIMULATED}

    def add(self, c: Columns, record: WrenchColumns) -> None:
        """Take the next rows, at least one."""
        t, wrenches, at_least = c.t, record.wrenches, c.t[0] - TOLERANCE
        if self._before is not None:
            at_least = self._before[0][0] + TOLERANCE
            t, wrenches = (
                np.concatenate(each) for each in zip(self._before, (t, wrenches), strict=True)
            )
        self._before = t[-1:].copy(), wrenches[-1:].copy()
        there = (self._track.t > at_least) & (self._track.t <= t[-1] + TOLERANCE)
        for key, row in SIMULATED.items():
            simulated = wrenches_at(self._track.t[there], t, wrenches[:, row])
            self._errors[key].add(simulated - self._track.wrenches[there])

    def metrics(self) -> dict[str, Any]:
        """RMSE of forces [N] and torques [N m] of x, y and z."""
        rmse = {key: errors.rmse for key, errors in self._errors.items()}
        return {
            f"{key}_{what}_rmse_{unit}": each[part]
            for key, each in rmse.items()
            for what, unit, part in (("force", "n", slice(3)), ("torque", "nm", slice(3, 6)))
        }


def wrenches_at(times: Array, t: Array, wrenches: Array) -> Array:
    """Wrenches (M, 6) at times (M,), between samples (K, 6) at times (K,) [s]."""
    columns = [np.interp(times, t, wrenches[:, i]) for i in range(6)]
    return np.stack(columns, axis=1).reshape(-1, 6)
