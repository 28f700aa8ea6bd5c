# SPDX-License-Identifier: BSD-3-Clause
"""Headings of recorded attitudes, also of those beyond a right angle.

Yaw, pitch and roll turn the yaw by 180 deg where the pitch passes 90 deg. The heading goes on instead: it is the
yaw up to 60 deg of tilt. Beyond, it is the turn about the vertical that is left when the shortest tilt is taken
off (swing and twist [Dobrowolski2015]), moved by what differs between the two at the ends.
"""

from dataclasses import replace

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.trajectories.recorded import RecordedTrajectory

_STEEP = np.cos(np.radians(60.0))


def largest_tilt(q: Array) -> float:
    """Largest angle of the z axes of attitudes (K, 4) off upwards [rad]."""
    up = so3.matrix_from_quaternion(q)[:, 2, 2]
    return float(np.arccos(np.clip(up.min(), -1.0, 1.0)))


def headings(t: Array, q: Array) -> Array:
    """Continuous headings (K,) of attitudes (K, 4), which are continuous in sign, at times (K,) [rad]."""
    R = so3.matrix_from_quaternion(q)
    twist = np.unwrap(2.0 * np.arctan2(q[:, 2], q[:, 3]), period=2.0 * np.pi)
    calm = R[:, 2, 2] >= _STEEP
    if not calm.any():
        return twist
    yaw = so3.euler_from_matrix(R)[:, 2]
    apart = np.unwrap((yaw - twist)[calm])
    return np.asarray(np.unwrap(twist + np.interp(t, t[calm], apart)))


def with_heading_alone(recorded: RecordedTrajectory) -> RecordedTrajectory:
    """The recording with level attitudes of the same headings."""
    half = 0.5 * headings(recorded.t, recorded.q_WP)
    zero = np.zeros(len(half))
    q = np.stack([zero, zero, np.sin(half), np.cos(half)], axis=1)
    return replace(recorded, q_WP=q, w_WP_P=None, alpha_WP_P=None)
