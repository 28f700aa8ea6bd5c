# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that wait for the next keyframe, and when there are enough for it."""

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.states import vertical
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Ranges, SharedOdometry, Tracks
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.buffers import (
    MeetingBuffer,
    RangeBuffer,
    SampleBuffer,
    TiltBuffer,
)
from iap_estimation.virpo.window.interval import Interval

BRIEF = 0.02  # time without samples that the next one covers as well [s]
PIECE = 0.005  # length of a sample that is made up [s]
STAMP_TOLERANCE = 1e-3  # stamps of images that differ by less are of one time [s]


class MeasurementQueue:
    """Measurements of some aircraft on their way into a window.

    Args:
        fleet: the aircraft of the window.
        spec: see `VirpoSpec`.
        meetings: takes what neighbours show.
        needs_tilts: whether nothing begins without the attitude of the central body.

    Attributes:
        samples: of each aircraft's inertial unit.
        tilts: what the central body's autopilot says.
    """

    def __init__(
        self, fleet: Fleet, spec: VirpoSpec, meetings: MeetingBuffer, *, needs_tilts: bool
    ) -> None:
        self._needs_tilts = needs_tilts
        self._spec, self._gravity, self._meetings = spec, fleet.gravity, meetings
        self._seeing = [a for a, model in enumerate(fleet.aircraft) if model.rig is not None]
        self.samples = [SampleBuffer() for _ in fleet.aircraft]
        self.tilts = TiltBuffer()
        self._ranges = [RangeBuffer(spec.range_deviation) for _ in fleet.aircraft]
        self._images: dict[float, dict[int, Tracks]] = {}
        self._latest = [-np.inf] * len(fleet.aircraft)  # stamps of the last images
        self._patience = spec.patience

    def tracks(self, aircraft: int, tracks: Tracks) -> None:
        """Add what an aircraft sees."""
        self._latest[aircraft] = max(self._latest[aircraft], tracks.t)
        same = [t for t in self._images if abs(t - tracks.t) < STAMP_TOLERANCE]
        self._images.setdefault(same[0] if same else tracks.t, {})[aircraft] = tracks

    def came_late(self, tracks: Tracks) -> None:
        """Wait for longer from now on: what is always late would never be seen."""
        lag = max(buffer.t for buffer in self.samples) - tracks.t
        self._patience = max(self._patience, min(1.2 * lag, self._spec.most_patience))

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """Add a round of ranges."""
        self._ranges[aircraft].add(measured)

    def neighbour(self, shared: SharedOdometry) -> None:
        """Add what a neighbour shows."""
        self._meetings.add(shared)

    def due(self, last: float) -> float | None:
        """Time of the next update, if its measurements are there.

        Args:
            last: time of the newest keyframe [s]; minus infinity before the first.
        """
        now = self._now(last)
        if self._images:
            t = min(self._images)
            missing = [a for a in self._seeing if a not in self._images[t] and self._latest[a] < t]
            is_due = now >= t and (not missing or now > t + self._patience)
            return t if is_due else None
        t = last + 1.0 / self._spec.rate
        return t if np.isfinite(last) and now > t + self._patience else None

    def _now(self, last: float) -> float:
        """Time that all inertial units have reached, the central body's too, but for those that have fallen silent.

        So it does not matter which of the samples of one time comes first.
        """
        stamps = [buffer.t for buffer in self.samples]
        if not np.isfinite(last):
            return min([*stamps, self.tilts.t] if self._needs_tilts else stamps)
        stamps.append(self.tilts.t)
        return min(t for t in stamps if t >= max(stamps) - self._spec.patience)

    def tracks_at(self, t: float) -> dict[int, Tracks]:
        """Remove and return what is seen at a time."""
        return self._images.pop(t, {})

    def end_of_gap(self) -> float | None:
        """End of the last time without samples that is too long to be bridged; None where there is none."""
        gaps = [buffer.end_of_gap(self._spec.failure.gap) for buffer in self.samples]
        return max((end for end in gaps if end is not None), default=None)

    def interval(self, since: float, until: float, x: Array) -> Interval:
        """Remove and return what was measured between two keyframes.

        Args:
            since: of the first [s].
            until: of the second [s].
            x: (A, 16) states at the first.
        """
        intervals = [self._samples_of(a, since, until, x[a]) for a in range(len(self.samples))]
        tilt = self.tilts.at(until)
        return Interval(
            samples=tuple(rows for rows, _ in intervals),
            silent=frozenset(a for a, (_, is_silent) in enumerate(intervals) if is_silent),
            ranges=tuple(buffer.take(since, until) for buffer in self._ranges),
            turns=self.tilts.take(until)[:, :4],
            tilt=np.zeros((0, 4)) if tilt is None else tilt.q_WB0[None],
            meetings=self._meetings.take(since, until, self.tilts),
        )

    def _samples_of(self, a: int, since: float, until: float, x: Array) -> tuple[Array, bool]:
        """An aircraft's samples, and whether some did not come: there it hung still."""
        buffer = self.samples[a]
        samples = buffer.take(until)
        missing = until - since - float(samples[:, 0].sum())
        if missing < BRIEF and len(samples):
            samples[0, 0] += missing  # as at the beginning, before the first sample
            return samples, False
        if buffer.t < until:
            buffer.skip(until)
        pieces = 1 + int(missing / PIECE)
        still = [x[10:13], self._gravity * vertical(x[3:7]) + x[13:16]]
        row = np.concatenate([[missing / pieces], *still])
        return np.vstack([np.tile(row, (pieces, 1)), samples]), True

    def skip_ranges(self, until: float) -> None:
        """Remove the ranges up to a time."""
        for buffer in self._ranges:
            buffer.take(until, until)
