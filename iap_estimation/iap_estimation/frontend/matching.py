# SPDX-License-Identifier: BSD-3-Clause
"""Following points: from image to image by Lucas-Kanade, back to their first patches, and into the right image.

Pyramidal Lucas-Kanade goes there and back. Patches that tracks began with are their anchors, so that following
them does not drift.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from iap_description.arrays import Array, Booleans, Pixels, Singles
from iap_description.errors import BadInput
from iap_description.process.extras import cv2
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.frontend.patches import Patches, cut, find, weights_of
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.frontend.track_table import TrackTable

# Scale, or its inverse, and ratio of the axes at which a track is anchored anew.
GROWN, FLAT = 1.5, 2.0
BEHIND = 1.0  # disparity of a point that is surely on one side of the cameras [px]
MIN_POINTS, MAX_BEHIND = 200, 0.8  # such points, and the share behind, that show swapped images
MOST_STEPS, LEAST_STEP = 30, 0.01  # of the flow; the last step in pixels
LEVELS_BACK = 1  # the way back begins at the point itself, so it is short


class ReferencePatches:
    """Finds patches by a front end's settings."""

    def __init__(self, spec: FrontendSpec) -> None:
        self._spec = spec
        self._weights = weights_of(spec.patch)

    def cast(self, image: Pixels, points: Array) -> Patches:
        """Patches (n) of an image around points (n, 2) [px]."""
        return cut(image, points, self._weights)

    def hold(
        self, images: tuple[Pixels, Pixels], patches: Patches, before: Array, guess: Array
    ) -> tuple[Array, Patches, Booleans]:
        """Points (n, 2) [px] in a new image, their patches from now on, and which of them (n,) are found.

        What does not look as where it was anchored any more is anchored anew in the last image; if it
        does not look like that either, it is lost.

        Args:
            images: the last and the new one.
            patches: (n) anchored tracks.
            before: (n, 2) their points in the last image [px].
            guess: (n, 2) about where they are in the new one [px].
        """
        points, shapes, matched = self.seek(images[1], patches, guess)
        lost = np.flatnonzero(~matched)
        patches = patches._replace(shapes=shapes)
        if len(lost):
            again = self.cast(images[0], before[lost])
            points[lost], again_shapes, matched[lost] = self.seek(images[1], again, guess[lost])
            patches = patches.with_others(lost, again._replace(shapes=again_shapes))
        worn = np.flatnonzero(matched & _worn(patches.shapes))
        if len(worn):
            patches = patches.with_others(worn, self.cast(images[1], points[worn]))
        return points, patches, matched

    def seek(self, image: Pixels, patches: Patches, guess: Array) -> tuple[Array, Array, Booleans]:
        """Points (n, 2) [px] and shapes (n, 2, 2) of patches in an image, and which (n,) are found near the guess."""
        points, shapes = guess.copy(), patches.shapes.copy()
        alike = find(image, patches, points, shapes, self._weights)
        near = np.linalg.norm(points - guess, axis=-1) <= self._spec.patch_limit
        return points, shapes, near & (alike >= self._spec.likeness)


def _worn(shapes: Array) -> Booleans:
    """Mask (n,) of the patches that have changed too much to be followed on."""
    a, b, c, d = shapes[:, 0, 0], shapes[:, 0, 1], shapes[:, 1, 0], shapes[:, 1, 1]
    size = np.maximum(a * d - b * c, 1e-6)
    lean = 0.5 * (a * a + b * b + c * c + d * d) / size  # of half the axes' ratio and its inverse
    return (size > GROWN**2) | (size < GROWN**-2) | (lean > 0.5 * (FLAT + 1.0 / FLAT))


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
        self, before: Pixels, after: Pixels, points: Array, guess: Array
    ) -> tuple[Array, Booleans]:
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
        self, before: Pixels, after: Pixels, points: Singles, guess: Singles, levels: int
    ) -> tuple[Singles, Booleans]:
        flow: Any = cv2.calcOpticalFlowPyrLK
        there, tracked, _ = flow(
            before,
            after,
            points[:, None],
            guess[:, None].copy(),
            winSize=self._window,
            maxLevel=levels,
            criteria=(cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, MOST_STEPS, LEAST_STEP),
            flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
        )
        return there[:, 0], tracked[:, 0] > 0


class Matcher:
    """Matches a pair of images."""

    def __init__(self, calibration: StereoCalibration, spec: FrontendSpec) -> None:
        self._calibration, self._spec = calibration, spec
        self._follow, self._patches = FlowTracker(spec), ReferencePatches(spec)
        baseline = float(np.linalg.norm(calibration.p_RL_R))
        self._clear = BEHIND / (baseline * float(calibration.second.focal[0]))  # [1/m]
        self._sides = np.zeros(2, dtype=np.int64)  # points before and behind the cameras

    def __call__(self, left: Pixels, right: Pixels, table: TrackTable) -> tuple[TrackTable, Array]:
        """Tracks with their places in the right image, and these (n, 2) normalised, NaN where there is none.

        Raises:
            BadInput: most points are behind the cameras.
        """
        guess = self._guess(table)
        there, followed = self._follow(left, right, table.points, guess)
        there, _, matched = self._patches.seek(right, table.patches, there)
        xy = self._calibration.second.normalized(there)
        off = self._calibration.epipolar_distance(table.xy, xy)
        gated = followed & matched & (off <= self._spec.row_gate)
        depth = self._calibration.inverse_depth(table.xy, xy)
        self._count(depth[gated])
        unseen = ~(gated & (depth > 0.0) & (depth < 1.0 / self._spec.nearest))
        there[unseen], xy[unseen], depth[unseen] = np.nan, np.nan, np.nan
        return table.matched(there, depth), xy

    def _guess(self, table: TrackTable) -> Array:
        """First guesses (n, 2): at the depth last seen, or at the middle one."""
        known = table.inverse_depth[np.isfinite(table.inverse_depth)]
        middle = float(np.median(known)) if len(known) else 0.0
        depth = np.where(np.isfinite(table.inverse_depth), table.inverse_depth, middle)
        return self._calibration.expected_right(table.xy, depth)

    def _count(self, depth: Array) -> None:
        self._sides += [np.sum(depth > self._clear), np.sum(depth < -self._clear)]
        total, behind = int(self._sides.sum()), int(self._sides[1])
        if total >= MIN_POINTS and behind > MAX_BEHIND * total:
            raise BadInput(
                f"left and right images are swapped: {behind} of {total} matched points"
                " would be behind the cameras"
            )
