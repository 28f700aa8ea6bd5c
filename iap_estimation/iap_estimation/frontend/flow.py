# SPDX-License-Identifier: BSD-3-Clause
"""Following points from one image to another: pyramidal Lucas-Kanade, there and back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_estimation.frontend.spec import FrontendSpec

Points = NDArray[np.float32]
Flags = Booleans
Gray = NDArray[np.uint8]
STOP = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 30, 0.01)  # steps, and the last one [px]
LEVELS_BACK = 1  # the way back begins at the point itself, so it is short


@contextmanager
def one_thread() -> Iterator[None]:
    """OpenCV computes in the caller's thread alone: its own threads cost more than such small images gain."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


class FlowTracker:
    """Follows points by a front end's settings."""

    def __init__(self, spec: FrontendSpec) -> None:
        self._spec = spec
        self._window = (spec.window, spec.window)

    def __call__(
        self, before: Gray, after: Gray, points: Array, guess: Array
    ) -> tuple[Array, Flags]:
        """Places of points (n, 2) of an image in another one, and which of them (n,) were found there [px].

        Args:
            before: image.
            after: image.
            points: (n, 2) in the first.
            guess: (n, 2) where to begin in the second.
        """
        if not len(points):
            return points.copy(), np.zeros(0, dtype=bool)
        start = points.astype(np.float32)
        levels = self._spec.levels
        there, tracked = self._flow(before, after, start, guess.astype(np.float32), levels)
        last = np.array([after.shape[1] - 1, after.shape[0] - 1])
        tracked &= np.all((there >= 0.0) & (there <= last), axis=-1)
        back, returned = self._flow(after, before, there, start, min(LEVELS_BACK, levels))
        off = np.linalg.norm(back - start, axis=-1)
        return there.astype(float), tracked & returned & (off <= self._spec.back_limit)

    def _flow(
        self, before: Gray, after: Gray, points: Points, guess: Points, levels: int
    ) -> tuple[Points, Flags]:
        flow: Any = cv2.calcOpticalFlowPyrLK
        there, tracked, _ = flow(
            before,
            after,
            points[:, None],
            guess[:, None].copy(),
            winSize=self._window,
            maxLevel=levels,
            criteria=STOP,
            flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
        )
        return there[:, 0], tracked[:, 0] > 0
