# SPDX-License-Identifier: BSD-3-Clause
"""Raw measurements between two keyframes, kept as long as both are in the window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_estimation.virpo.factors.ranging import (
    AIRCRAFT,
    ANCHOR,
    NAME,
    RANGE,
    SIGMA,
    WIDTH,
    waypoints,
)

# columns of a measured range: time since the first keyframe [s], the anchor's place (3), range, deviation [m], anchor
RANGE_COLUMNS = 7


@dataclass(frozen=True, eq=False)
class Interval:
    """Measurements between two keyframes.

    Attributes:
        samples: of each aircraft (S, 7): length [s], w, f of inertial samples.
        silent: aircraft whose samples did not all come, and were made up.
        ranges: of each aircraft (n, 7): see `RANGE_COLUMNS`; times ascend.
        turns: (S, 4) of the central body: length [s], w [rad/s]; none where it is not estimated.
        tilt: (0 or 1, 4) attitude of the central body at the end, as its autopilot says, xyzw.
        meetings: (m, c) instants with what neighbours showed, their first column the time since the first keyframe [s].
    """

    samples: tuple[Array, ...]
    silent: frozenset[int]
    ranges: tuple[Array, ...]
    turns: Array
    tilt: Array
    meetings: Array

    @property
    def span(self) -> float:
        """Its length [s]."""
        return float(self.samples[0][:, 0].sum())

    def joined(self, later: "Interval") -> "Interval":
        """This interval and the one that follows it as one."""
        shift = self.span
        ranges = (
            np.concatenate([mine, _later(theirs, shift)])
            for mine, theirs in zip(self.ranges, later.ranges, strict=True)
        )
        samples = map(np.concatenate, zip(self.samples, later.samples, strict=True))
        return Interval(
            tuple(samples),
            self.silent | later.silent,
            tuple(ranges),
            np.concatenate([self.turns, later.turns]),
            later.tilt,
            np.concatenate([self.meetings, _later(later.meetings, shift)]),
        )

    def without(self, refused: Sequence[set[int]]) -> "Interval":
        """The same without the ranges to some anchors, of every aircraft."""
        kept = (
            measured[~np.isin(measured[:, 6], list(names))]
            for measured, names in zip(self.ranges, refused, strict=True)
        )
        return replace(self, ranges=tuple(kept))

    def keeping(self, a: int, kept: Booleans) -> "Interval":
        """The same with those ranges of an aircraft that are to be kept (n,)."""
        ranges = [rows[kept] if i == a else rows for i, rows in enumerate(self.ranges)]
        return replace(self, ranges=tuple(ranges))

    def range_rows(self, biases: Array, antennas: Array, gravity: float) -> Array:
        """Rows (n, 13) for `iap_estimation.virpo.factors.ranging`, their keyframe left at 0.

        Args:
            biases: (A, 6) of the inertial units.
            antennas: (A, 3) places of the tags on their aircraft [m].
            gravity: [m/s^2].
        """
        parts = []
        for a, measured in enumerate(self.ranges):
            rows = np.zeros((len(measured), WIDTH))
            if len(measured):
                times = np.ascontiguousarray(measured[:, 0])
                waypoints(self.samples[a], biases[a], times, antennas[a], gravity, rows)
                rows[:, AIRCRAFT] = a
                rows[:, ANCHOR : ANCHOR + 3] = measured[:, 1:4]
                rows[:, RANGE], rows[:, SIGMA], rows[:, NAME] = measured[:, 4:].T
            parts.append(rows)
        return np.concatenate(parts)


def _later(rows: Array, shift: float) -> Array:
    shifted = rows.copy()
    shifted[:, 0] += shift
    return shifted
