# SPDX-License-Identifier: BSD-3-Clause
"""Follows corners through images as visual-inertial odometry does."""

import cv2
import numpy as np

CORNERS, QUALITY, SPACING = 300, 0.01, 15
BACK = 1.0  # from a corner to where it is followed back to [pixels]
WINDOW = {"winSize": (21, 21), "maxLevel": 3}


def followed(images):
    """How many corners of the first image are still followed in the last."""
    points = cv2.goodFeaturesToTrack(images[0], CORNERS, QUALITY, SPACING)
    if points is None:
        return 0
    for before, after in zip(images[:-1], images[1:], strict=True):
        there, found, _ = cv2.calcOpticalFlowPyrLK(before, after, points, None, **WINDOW)
        back, returned, _ = cv2.calcOpticalFlowPyrLK(after, before, there, None, **WINDOW)
        kept = (np.linalg.norm(back - points, axis=-1) <= BACK) & (found > 0) & (returned > 0)
        inside = ((there >= 0) & (there < images[0].shape[::-1])).all(axis=-1)
        points = there[(kept & inside)[:, 0]]
        if not len(points):
            return 0
    return len(points)
