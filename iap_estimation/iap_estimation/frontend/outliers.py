# SPDX-License-Identifier: BSD-3-Clause
"""Tracks that do not move as the others do.

The search (Barath et al., "MAGSAC++", 2020) refines its motions, so that a narrow limit does not cost
good tracks, as it does where motions of the fewest points are taken as they are.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
FEWEST = 8  # points that a fundamental matrix is found from
SURE = 0.99  # how sure the search is of having met a sample without outliers


def move_as_one(before: Array, after: Array, limit: float) -> Flags:
    """Which points (n,) fit one motion of the camera in a world that stands still.

    Args:
        before: (n, 2) in the last image, without distortion [px].
        after: (n, 2) in this one.
        limit: distance from the epipolar line [px].
    """
    everything = np.ones(len(before), dtype=bool)
    if len(before) < FEWEST:
        return everything
    try:
        _, inliers = cv2.findFundamentalMat(before, after, cv2.USAC_MAGSAC, limit, SURE)
    except cv2.error:  # which OpenCV 5 raises where no sample gives a model: nothing moves as one
        return ~everything
    return everything if inliers is None else np.asarray(inliers)[:, 0] > 0
