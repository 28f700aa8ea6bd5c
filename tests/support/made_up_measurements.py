# SPDX-License-Identifier: BSD-3-Clause
"""Tracks and ranges of aircraft, without a flight."""

import numpy as np

from iap_estimation.virpo.messages import Ranges, Tracks


def tracks(t, count=4):
    """Tracks of a time."""
    return Tracks(t, np.arange(count), np.zeros((count, 4)), np.ones(count, bool))


def ranges(t, anchors=(0, 1, 2)):
    """Ranges of a time to some anchors."""
    n = len(anchors)
    return Ranges(t, np.array(anchors), np.zeros((n, 3)), np.arange(n) + 2.0, np.full(n, 0.1))


def events():
    """Tracks and ranges of two aircraft, once a second for 20 s."""
    return [
        (who, make(float(t))) for t in range(20) for who in (0, 1) for make in (tracks, ranges)
    ]


def of(kind, found, who=None):
    """Measurements of a kind, of one aircraft or of all."""
    return [m for each, m in found if isinstance(m, kind) and who in (None, each)]
