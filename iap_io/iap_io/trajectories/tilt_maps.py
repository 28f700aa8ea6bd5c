# SPDX-License-Identifier: BSD-3-Clause
"""Maps between two sequences of level directions: what turns, mirrors or scales one into the other."""

import numpy as np

from iap_description.arrays import Array

FITS = 0.15  # share of the variance of n that attitudes leave where a reading is right; real flights come to 0.14
SIZES = 0.6, 1.6  # of accelerations over what tilts make, as wind and drag explain
EVEN = 0.6  # least ratio of a map's sizes along two axes
_TURN = 0.25  # least difference of a map from the identity


def map_between(n: Array, pushed: Array) -> str:
    """The map of directions (B, 2) that explains others, in words; empty where none does, or nothing has to."""
    n, pushed = (x - x.mean(axis=0) for x in (n, pushed))
    A = np.linalg.lstsq(pushed, n, rcond=None)[0].T
    U, sizes, V = np.linalg.svd(A)
    rigid, size = U @ V, float(sizes.mean())
    is_same = np.abs(rigid - np.eye(2)).max() < _TURN
    if share(n, pushed @ A.T) > FITS or sizes[1] < EVEN * sizes[0]:
        return ""
    if is_same:
        return "" if SIZES[0] < size < SIZES[1] else f"{size:.2g} times as large as its tilts say"
    if sizes[1] < 0.7 or sizes[0] > 1.4:
        return ""
    if np.linalg.det(rigid) < 0.0:
        return "mirrored against its attitudes (as by a roll or pitch of the opposite sign)"
    angle = np.degrees(np.arctan2(rigid[1, 0], rigid[0, 0]))
    return f"turned by {angle:.0f} deg about the vertical against its attitudes"


def share(n: Array, pushed: Array) -> float:
    """Share of the variance of n that others leave."""
    return float(np.sum((n - pushed) ** 2) / np.sum(n**2))
