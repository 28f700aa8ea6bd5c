# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that wait for the keyframe that follows them."""

import math
from bisect import bisect_left, insort
from collections import deque
from operator import attrgetter

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.factors.neighbours import (
    EACH,
    FIRST,
    MEASURED,
    joint_of,
    measured_columns,
)
from iap_estimation.virpo.factors.preintegration import SAMPLE
from iap_estimation.virpo.messages import ImuSample, Ranges, SharedOdometry, Tilt
from iap_estimation.virpo.window.interval import RANGE_COLUMNS

MAX_PIECE_TIME = 0.02  # piece of a sample [s]
MAX_PIECES = 5000  # of a sample: estimators begin anew after such a gap, and it may be of years
MAX_TILTS = 1000  # samples of the central body's attitude
TILT_TOLERANCE = 0.02  # from a keyframe, at which one of them still holds [s]
stamp = attrgetter("t")


class SampleBuffer:
    """Inertial samples, each from the stamp of the one before it to its own.

    Args:
        longest: piece into which a sample is cut [s].

    Attributes:
        t: end of the last sample [s]; minus infinity before the first.
    """

    def __init__(self, longest: float = MAX_PIECE_TIME) -> None:
        self._longest = longest
        self._rows: deque[tuple[float, Array]] = deque()  # end and row (7,) of each
        self._gaps: list[tuple[float, float]] = []  # end and length of long ones
        self.t, self._is_first = -np.inf, True

    def add(self, sample: ImuSample) -> None:
        """Add a sample; the first one only marks the begin of the next, and one behind a later one is left out."""
        if sample.t <= self.t:
            return
        if not self._is_first:
            self._keep(self.t, sample)
        self.t, self._is_first = sample.t, False

    def _keep(self, since: float, sample: ImuSample) -> None:
        """Keep a sample; a long one in pieces, since one alone leaves place and velocity wholly correlated."""
        length = sample.t - since
        pieces = max(1, min(MAX_PIECES, math.ceil(length / self._longest - 1e-6)))
        row = np.concatenate([[length / pieces], sample.w_B, sample.f_B])
        for piece in range(1, pieces + 1):
            self._rows.append((since + piece * length / pieces, row.copy()))
        if pieces > 1:
            self._gaps.append((sample.t, length))

    def take(self, until: float) -> Array:
        """Remove and return the samples (S, 7) until a time; one that goes on beyond it is cut in two."""
        rows = []
        while self._rows and self._rows[0][0] - self._rows[0][1][0] < until - 1e-9:
            end, row = self._rows.popleft()
            if end > until + 1e-9:
                rest = row.copy()
                rest[0] = end - until
                row[0] -= rest[0]
                self._rows.appendleft((end, rest))
            rows.append(row)
        self._gaps = [gap for gap in self._gaps if gap[0] > until + 1e-9]
        return np.array(rows).reshape(-1, SAMPLE)

    def waiting(self) -> Array:
        """The samples (S, 7) that are left."""
        return np.array([row for _, row in self._rows]).reshape(-1, SAMPLE)

    def skip(self, until: float) -> None:
        """Wait no longer for samples before a time; the next one only marks the begin of the one after it."""
        self._rows.clear()
        self._gaps.clear()
        self.t, self._is_first = max(self.t, until), True

    def end_of_gap(self, longest: float) -> float | None:
        """End of the last sample that is left and longer than that [s]; None where there is none."""
        ends = [end for end, length in self._gaps if length > longest]
        return ends[-1] if ends else None


class TiltBuffer:
    """Samples of the central body's inertial unit, and attitudes of its autopilot."""

    def __init__(self) -> None:
        self._samples = SampleBuffer(math.inf)  # whose turns know long ones
        self._tilts: list[Tilt] = []  # in order of time

    @property
    def t(self) -> float:
        """Time of the newest [s]; minus infinity before the first."""
        return self._samples.t

    def add(self, measured: Tilt) -> None:
        """Add what it says."""
        self._samples.add(ImuSample(measured.t, measured.w_B0, measured.f_B0))
        insort(self._tilts, measured, key=stamp)
        if len(self._tilts) > 2 * MAX_TILTS:
            del self._tilts[:MAX_TILTS]

    def take(self, until: float) -> Array:
        """Remove and return the samples (S, 7) until a time: length [s], angular velocity, specific force of each."""
        return self._samples.take(until)

    def at(self, t: float) -> Tilt | None:
        """The tilt nearest to a time; None where that is too far from it."""
        k = bisect_left(self._tilts, t, key=stamp)
        around = self._tilts[max(0, k - 1) : k + 1]
        near = min(around, key=lambda measured: abs(measured.t - t), default=None)
        return near if near is not None and abs(near.t - t) < TILT_TOLERANCE else None


class MeetingBuffer:
    """Odometry of neighbours.

    Args:
        arms: (A, 3) place of each aircraft's joint in its body [m].
        aircraft: index of the aircraft that looks at them.
    """

    def __init__(self, arms: Array, aircraft: int) -> None:
        self._arms = arms
        self._others = [a for a in range(len(arms)) if a != aircraft]
        self._waiting: dict[int, dict[int, SharedOdometry]] = {}  # by time [ms] and aircraft
        self._closed = -np.inf

    def add(self, shared: SharedOdometry) -> None:
        """Add what a neighbour shows, unless its interval has closed."""
        if shared.t > self._closed:
            self._waiting.setdefault(round(1e3 * shared.t), {})[shared.aircraft] = shared

    def take(self, since: float, until: float, tilts: TiltBuffer) -> Array:
        """Remove and return what is known of instants of an interval: time in it, and a row's measured columns."""
        self._closed = until
        rows = [np.zeros((0, 1 + FIRST - MEASURED + EACH * len(self._others)))]
        for key in sorted(self._waiting):
            measured = self._waiting[key]
            t = next(iter(measured.values())).t
            if t > until:
                break
            del self._waiting[key]
            if t > since:
                joints = [
                    joint_of(measured[o], self._arms[o]) if o in measured else None
                    for o in self._others
                ]
                rows.append(
                    np.concatenate([[t - since], measured_columns(tilts.at(t), joints)])[None]
                )
        return np.concatenate(rows)


class RangeBuffer:
    """Rounds of ranges.

    Args:
        deviation: of every range, in place of what the tag says [m].
    """

    def __init__(self, deviation: float | None) -> None:
        self._deviation = deviation
        self._rounds: deque[Ranges] = deque()
        self._closed = -np.inf

    def add(self, measured: Ranges) -> None:
        """Add a round, unless its interval has closed."""
        if measured.t > self._closed and len(measured.ranges):
            self._rounds.append(measured)

    def take(self, since: float, until: float) -> Array:
        """Remove and return the ranges (n, 7) of an interval; see `RANGE_COLUMNS`."""
        self._closed = until
        parts = [np.zeros((0, RANGE_COLUMNS))]
        later: deque[Ranges] = deque()
        for measured in self._rounds:
            if measured.t > until:
                later.append(measured)
            elif measured.t > since:
                parts.append(self._rows(measured, since))
        self._rounds = later
        rows = np.concatenate(parts)
        return rows[np.argsort(rows[:, 0], kind="stable")]

    def _rows(self, measured: Ranges, since: float) -> Array:
        rows = np.empty((len(measured.ranges), RANGE_COLUMNS))
        rows[:, 0] = measured.t - since
        rows[:, 1:4] = measured.p_W
        rows[:, 4] = measured.ranges
        rows[:, 5] = measured.deviations if self._deviation is None else self._deviation
        rows[:, 6] = measured.anchors
        return rows
