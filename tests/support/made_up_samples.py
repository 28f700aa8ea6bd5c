# SPDX-License-Identifier: BSD-3-Clause
"""Samples of poses by hand, as a recording has them."""

from typing import Any

import numpy as np

from iap_description.math import so3
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.samples import Samples

NS = 10**9
NOTHING_SAID = PoseReading()
T = np.arange(0.0, 4.0, 0.02)


def samples_of(p: Any, q: Any = (0.0, 0.0, 0.0, 1.0), **fields: Any) -> Samples:
    """Samples at positions (K, 3), with attitudes (4,) or (K, 4)."""
    p = np.asarray(p, dtype=float)
    about = RecordingSummary("table", **fields.pop("about", {}))
    q = np.broadcast_to(np.asarray(q, dtype=float), (len(p), 4))
    stamps = {"header_ns": None, "bag_ns": None, **fields}
    return Samples("table.csv", about, p=p, q=q, **stamps)


def stamps_of(t: Any) -> np.ndarray:
    """Stamps [ns] of times [s]."""
    return np.round(np.asarray(t) * NS).astype(np.int64)


def east(x: Any, q: Any = (0.0, 0.0, 0.0, 1.0)) -> Samples:
    """Samples at places (K,) along x [m]."""
    x = np.asarray(x, dtype=float)
    return samples_of(np.stack([x, 0.0 * x, 0.0 * x], axis=1), q)


def yawed(degrees: Any) -> np.ndarray:
    """Attitudes (K, 4) of headings (K,) [deg]."""
    return so3.quaternion_exp(
        np.radians(np.asarray(degrees, dtype=float))[:, None] * [0.0, 0.0, 1.0]
    )
