# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of one aircraft at and between all keyframes of a recording, cut as its window cuts them."""

from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, ImuSample, Ranges, Tracks
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.buffers import MeetingBuffer
from iap_estimation.virpo.window.estimator import Estimator
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.measurement_queue import MeasurementQueue


@dataclass(frozen=True, eq=False)
class Keyframe:
    """One keyframe.

    Attributes:
        estimate: of the window, at its time.
        tracks: that are seen in it; None without images.
        interval: that ends with it; None of the first.
        is_silent: whether inertial samples of the interval did not come, so that it says next to nothing.
        is_still: whether the window took the aircraft to stand still.
    """

    estimate: Estimate
    tracks: Tracks | None
    interval: Interval | None
    is_silent: bool
    is_still: bool

    @property
    def t(self) -> float:
        """Its time [s]."""
        return self.estimate.t

    @property
    def x(self) -> Array:
        """(16,) state in `map`, as a row of `States.x`."""
        one = self.estimate
        return np.concatenate([one.p_WB_W, one.q_WB, one.v_WB_W, one.gyro_bias, one.accel_bias])


class KeyframeLog:
    """All keyframes of one aircraft, in order of time.

    Args:
        fleet: that aircraft alone.
        spec: see `VirpoSpec`.

    Attributes:
        keyframes: so far.
    """

    def __init__(self, fleet: Fleet, spec: VirpoSpec) -> None:
        nobody = MeetingBuffer(np.zeros((1, 3)), 0)
        self._queue = MeasurementQueue(fleet, spec, nobody, needs_tilts=False)
        self._tracks: dict[float, Tracks] = {}
        self.keyframes: list[Keyframe] = []

    def imu(self, sample: ImuSample) -> None:
        """Take an inertial sample."""
        self._queue.samples[0].add(sample)

    def tracks(self, tracks: Tracks) -> None:
        """Take what is seen."""
        self._tracks[tracks.t] = tracks

    def ranges(self, measured: Ranges) -> None:
        """Take a round of ranges."""
        self._queue.ranges(0, measured)

    def keep(self, window: Estimator) -> None:
        """Note the window's newest keyframe, and what was measured since the one before it."""
        (estimate,) = window.estimates()
        tracks_then = self._tracks.pop(estimate.t, None)
        self._tracks = {t: one for t, one in self._tracks.items() if t > estimate.t}
        interval, is_silent = self._interval(estimate.t, window)
        self.keyframes.append(
            Keyframe(estimate, tracks_then, interval, is_silent, window.is_still(0))
        )

    def _interval(self, t: float, window: Estimator) -> tuple[Interval | None, bool]:
        """Measurements since the last keyframe, and whether inertial samples are missing."""
        if not self.keyframes:
            self._queue.samples[0].take(t)
            return None, False
        is_gap = self._queue.end_of_gap() is not None
        last = self.keyframes[-1]
        interval = self._queue.interval(last.t, t, last.x[None]).without(window.refused)
        return interval, is_gap or bool(interval.silent)
