# SPDX-License-Identifier: BSD-3-Clause
"""Stereo matching: points of the left image in the right one."""

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.frontend.flow import Follower
from iap_estimation.frontend.reference_patches import Anchors
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.frontend.track_table import Held

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Gray = NDArray[np.uint8]
BEHIND = 1.0  # disparity of a point that is surely on one side of the cameras [px]
MIN_POINTS, MAX_BEHIND = (
    200,
    0.8,
)  # such points, and the share of them behind, that tell of swapped images


class Matcher:
    """Matches a pair of images.

    Args:
        calibration: of the pair.
        spec: of the front end.
    """

    def __init__(self, calibration: StereoCalibration, spec: FrontendSpec) -> None:
        self._calibration, self._spec = calibration, spec
        self._follow, self._anchors = Follower(spec), Anchors(spec)
        baseline = float(np.linalg.norm(calibration.p_RL_R))
        self._clear = BEHIND / (baseline * float(calibration.right.focal[0]))  # [1/m]
        self._sides = np.zeros(2, dtype=np.int64)  # points before and behind the cameras

    def __call__(self, left: Gray, right: Gray, held: Held) -> tuple[Held, Array]:
        """Tracks with their places in the right image, and these (n, 2) normalised, NaN where there is none.

        Raises:
            BadInput: most points are behind the cameras.
        """
        guess = self._guess(held)
        there, followed = self._follow(left, right, held.points, guess)
        there, _, found = self._anchors.seek(right, held.patches, there)
        xy = self._calibration.right.normalized(there)
        off = self._calibration.epipolar_distance(held.xy, xy)
        gated = followed & found & (off <= self._spec.row_gate)
        depth = self._calibration.inverse_depth(held.xy, xy)
        self._count(depth[gated])
        unseen = ~(gated & (depth > 0.0) & (depth < 1.0 / self._spec.nearest))
        there[unseen], xy[unseen], depth[unseen] = np.nan, np.nan, np.nan
        return held.matched(there, depth), xy

    def _guess(self, held: Held) -> Array:
        """First guesses (n, 2): at the depth last seen, or at the middle one."""
        known = held.inverse_depth[np.isfinite(held.inverse_depth)]
        middle = float(np.median(known)) if len(known) else 0.0
        depth = np.where(np.isfinite(held.inverse_depth), held.inverse_depth, middle)
        return self._calibration.expected_right(held.xy, depth)

    def _count(self, depth: Array) -> None:
        self._sides += [np.sum(depth > self._clear), np.sum(depth < -self._clear)]
        total, behind = int(self._sides.sum()), int(self._sides[1])
        if total >= MIN_POINTS and behind > MAX_BEHIND * total:
            raise BadInput(
                f"left and right images are swapped: {behind} of {total} matched points"
                " would be behind the cameras"
            )
