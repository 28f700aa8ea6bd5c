# SPDX-License-Identifier: BSD-3-Clause
"""From a wrench on the platform to thrust vectors, and from a thrust vector to attitude and thrust."""

import math

import numpy as np
from numba import njit

from iap_description import so3
from iap_description.arrays import Array
from iap_description.kernels import Quat, Vec, quat_from_axes

RANK_TOLERANCE = 1e-6


def allocation_matrix(p_PJ_P: Array) -> Array:
    """B (6, 3N) of iap_simulator eq. (6): thrust vectors at joints (N, 3) [m] in P to the wrench about P's origin."""
    return np.vstack([np.hstack([np.eye(3)] * len(p_PJ_P)), np.hstack(list(so3.hat(p_PJ_P)))])


def allocation_rank(p_PJ_P: Array) -> int:
    """Rank of B: 6 is fully actuated, 5 is collinear after iap_simulator eq. (8), 3 is a single joint.

    Offsets are normalised by their span, so that the answer does not depend on the platform's size.
    """
    offsets = p_PJ_P - p_PJ_P.mean(axis=0)
    span = np.linalg.norm(offsets, axis=1).max()
    if span == 0.0:
        return 3
    return int(np.linalg.matrix_rank(allocation_matrix(offsets / span), tol=RANK_TOLERANCE))


def minimum_norm(B: Array) -> Array:
    """Moore-Penrose inverse of the allocation matrix, iap_simulator eq. (17)."""
    return np.asarray(np.linalg.pinv(B, rcond=RANK_TOLERANCE), dtype=np.float64)


@njit(cache=True)
def limited_thrust(f_W: Vec, thrust_min: float, thrust_max: float, tan_tilt_max: float) -> Vec:
    """A thrust vector [N] within the aircraft's thrust and tilt limits; height is kept before direction."""
    z = min(max(f_W[2], thrust_min), thrust_max)
    horizontal = math.hypot(f_W[0], f_W[1])
    allowed = min(z * tan_tilt_max, math.sqrt(thrust_max**2 - z**2))
    s = 1.0 if horizontal <= allowed else allowed / horizontal
    return (s * f_W[0], s * f_W[1], z)


@njit(cache=True)
def attitude_of_thrust(f_W: Vec, yaw: float) -> Quat:
    """Attitude q_WB whose z axis lies along a thrust vector at a given yaw, iap_simulator eq. (18) in ENU/FLU.

    With R = Rz(yaw) Ry(pitch) Rx(roll), the vector turned back by the yaw gives sin(roll) = -y and tan(pitch) = x / z.
    """
    c, s = math.cos(yaw), math.sin(yaw)
    x, y, z = c * f_W[0] + s * f_W[1], -s * f_W[0] + c * f_W[1], f_W[2]
    length = math.sqrt(x * x + y * y + z * z)
    xz = math.hypot(x, z)
    sin_pitch, cos_pitch = x / xz, z / xz
    sin_roll, cos_roll = -y / length, xz / length
    return quat_from_axes(
        (c * cos_pitch, s * cos_pitch, -sin_pitch),
        (
            c * sin_pitch * sin_roll - s * cos_roll,
            s * sin_pitch * sin_roll + c * cos_roll,
            cos_pitch * sin_roll,
        ),
        (
            c * sin_pitch * cos_roll + s * sin_roll,
            s * sin_pitch * cos_roll - c * sin_roll,
            cos_pitch * cos_roll,
        ),
    )
