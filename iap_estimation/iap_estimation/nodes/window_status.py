# SPDX-License-Identifier: BSD-3-Clause
"""Diagnostics of the windows of estimation nodes."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from iap_estimation.virpo.localizer import LOST
from iap_estimation.virpo.window.estimator import Estimator
from iap_io.ros.node import ERROR, OK, WARN
from iap_io.ros.statistics import RecentValues

FAULT_TIME = 5.0  # how long it is reported that an estimator began anew [s of wall time]


class WindowStatus:
    """Watches the windows of a node.

    Attributes:
        failure: why the estimators have ended; empty while they go on.
        frames: messages of tracks that came.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log, self._took_ms = log, RecentValues(500)
        self.reset()

    def reset(self) -> None:
        """Time began anew."""
        self.failure, self.frames, self.keyframes = "", 0, 0
        self._faults: dict[int, int] = {}  # number that is known, by estimator
        self._since, self._tracks = -np.inf, 0
        self._text = ""

    def saw(self, tracks: int) -> None:
        """A message of tracks came."""
        self.frames += 1
        self._tracks = tracks

    def update(self, give: Callable[[], bool], estimators: Sequence[Estimator]) -> bool:
        """Give the estimators something; whether there is a new estimate from it."""
        if self.failure:
            return False
        began = time.perf_counter()
        try:
            is_new = give()
        except LOST as error:
            self.failure = f"the estimator has ended: {error}"
            self._log(self.failure)
            return False
        if is_new:
            self.keyframes += 1
            self._took_ms.add(1e3 * (time.perf_counter() - began))
        for number, each in enumerate(estimators):
            for fault in each.faults[self._faults.get(number, 0) :]:
                self._since = time.monotonic()
                self._text = f"began anew at {fault.t:.3f} s: {fault.reason}"
                self._log(self._text)
            self._faults[number] = len(each.faults)
        return is_new

    def problem(self, estimators: Sequence[Estimator]) -> tuple[bytes, str]:
        """Level and text where something is wrong; else an empty text."""
        if self.failure:
            return ERROR, self.failure
        if time.monotonic() - self._since < FAULT_TIME:
            return ERROR, self._text
        if not all(each.is_running for each in estimators):
            missing = "tracks" if not self.frames else "where the aircraft are"
            return WARN, f"waiting for {missing}"
        return OK, ""

    def values(self, estimators: Sequence[Estimator]) -> dict[str, object]:
        """Figures of the windows; of several, the largest misfit."""
        running = [each.window.chi_square for each in estimators if each.is_running]
        chi = max(running) if running else float("nan")
        return {
            "keyframes": self.keyframes,
            "keyframe_ms": self._took_ms.percentile(50),
            "keyframe_ms_p95": self._took_ms.percentile(95),
            "frames": self.frames,
            "tracks": self._tracks,
            "chi_square": chi,
            "faults": sum(self._faults.values()),
            "late": sum(each.late for each in estimators),
        }
