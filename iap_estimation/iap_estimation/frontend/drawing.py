# SPDX-License-Identifier: BSD-3-Clause
"""Tracks drawn into an image for people to look at."""

import cv2
import numpy as np
from numpy.typing import NDArray

from iap_estimation.frontend.track_table import Held

Gray = NDArray[np.uint8]
Array = NDArray[np.float64]
OLD = 40  # images after which a track has the last colour
SHIFT = 4  # binary places of the drawn coordinates


def draw_tracks(image: Gray, held: Held) -> Gray:
    """An image (h, w, 3), rgb: tracks from blue, new, to red, old; lines lead to where the right camera has them."""
    canvas = cv2.cvtColor(image, cv2.COLOR_GRAY2RGB)
    shares = np.minimum(held.ages / OLD, 1.0).tolist()
    for point, share, other in zip(held.points, shares, held.right, strict=True):
        colour = _colour(share)
        if np.isfinite(other).all():
            cv2.line(canvas, _place(point), _place(other), colour, 1, cv2.LINE_AA, SHIFT)
        cv2.circle(canvas, _place(point), 3 << SHIFT, colour, 1, cv2.LINE_AA, SHIFT)
    return np.asarray(canvas, dtype=np.uint8)


def _colour(share: float) -> tuple[int, int, int]:
    """From blue over green to red."""
    green = 1.0 - abs(2.0 * share - 1.0)
    return round(255 * share), round(255 * green), round(255 * (1.0 - share))


def _place(point: Array) -> tuple[int, int]:
    u, v = np.round(point * (1 << SHIFT)).astype(int).tolist()
    return u, v
