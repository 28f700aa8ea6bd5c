# SPDX-License-Identifier: BSD-3-Clause
"""Whether the velocities that a recording carries are those of its pose.

Many recordings leave them unset, or express them in other axes than their type defines; fed
forward, either would be worse than none. The test is the mean over half a second, which noise in
the pose hardly reaches.
"""

import logging
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_io.trajectories.recorded import Recorded

Array = NDArray[np.float64]

_log = logging.getLogger(__name__)

_WINDOW = 0.5  # [s]
# Accepted error of the means, RMS: a share of their RMS, or this where that is less.
_SHARE = 0.2
_LINEAR = 0.05  # [m/s]
_ANGULAR = 0.1  # [rad/s]


def without_contradictions(recorded: Recorded) -> Recorded:
    """The recording less velocities that contradict its pose, and less their derivatives."""
    q = recorded.q_WP
    moved = np.diff(recorded.p_WP_W, axis=0)
    turned = so3.quaternion_log(so3.multiply(so3.conjugate(q[:-1]), q[1:]))
    if not _agrees(recorded, "linear", recorded.v_WP_W, moved, _LINEAR):
        recorded = replace(recorded, v_WP_W=None, a_WP_W=None)
    if not _agrees(recorded, "angular", recorded.w_WP_P, turned, _ANGULAR):
        recorded = replace(recorded, w_WP_P=None, alpha_WP_P=None)
    return recorded


def _agrees(
    recorded: Recorded, name: str, velocity: Array | None, steps: Array, tolerance: float
) -> bool:
    """Whether a velocity (K, 3) agrees with the steps (K - 1, 3) from sample to sample."""
    if velocity is None:
        return True
    intervals = np.diff(recorded.t)
    integrated = 0.5 * (velocity[1:] + velocity[:-1]) * intervals[:, None]
    starts = np.unique(np.floor(recorded.t[:-1] / _WINDOW), return_index=True)[1]
    time = np.add.reduceat(intervals, starts)[:, None]
    actual, error = (_rms(np.add.reduceat(x, starts) / time) for x in (steps, integrated - steps))
    if error <= max(tolerance, _SHARE * actual):
        return True
    text = "%s: the %s velocity contradicts the pose (by %.2g, of %.2g RMS) and is not used"
    _log.warning(text, recorded.source, name, error, actual)
    return False


def _rms(vectors: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
