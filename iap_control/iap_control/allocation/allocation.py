# SPDX-License-Identifier: BSD-3-Clause
"""From a wrench on the platform to thrust vectors, and from a thrust vector to attitude and thrust."""

import math

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import Quat, Vec, choose, formula, least, most, quat_from_axes

RANK_TOLERANCE = 1e-6
TINY = 1e-300  # in place of a length of zero that is divided by


def allocation_matrix(p_PJ_P: Array) -> Array:
    """B (6, 3N) of iap_simulator eq. (6): thrust vectors at joints (N, 3) [m] in P to the wrench about P's origin."""
    return np.vstack([np.hstack([np.eye(3)] * len(p_PJ_P)), np.hstack(list(so3.hat(p_PJ_P)))])


def minimum_norm(B: Array) -> Array:
    """Moore-Penrose inverse of the allocation matrix, iap_simulator eq. (17)."""
    return np.asarray(np.linalg.pinv(B, rcond=RANK_TOLERANCE), dtype=np.float64)


@formula
def limited_thrust(f_W: Vec, thrust_min: float, thrust_max: float, tan_tilt_max: float) -> Vec:
    """A thrust vector [N] within the aircraft's thrust and tilt limits; height is kept before direction."""
    limits = (thrust_min, thrust_max, tan_tilt_max)
    return thrust_within(f_W, math.hypot(f_W[0], f_W[1]), *limits)


@formula
def thrust_within(
    f_W: Vec, horizontal: float, thrust_min: float, thrust_max: float, tan_tilt_max: float
) -> Vec:
    """`limited_thrust` of a vector whose horizontal length [N] is known."""
    z = least(most(f_W[2], thrust_min), thrust_max)
    room = most(thrust_max * thrust_max - z * z, 0.0)
    allowed = least(z * tan_tilt_max, math.sqrt(room))
    s = choose(horizontal <= allowed, 1.0, allowed / most(horizontal, TINY))
    return (s * f_W[0], s * f_W[1], z)


@formula
def attitude_of_thrust(f_W: Vec, yaw: float) -> Quat:
    """Attitude q_WB whose z axis lies along a thrust vector at a given yaw, iap_simulator eq. (18) in ENU/FLU.

    With R = Rz(yaw) Ry(pitch) Rx(roll), the vector turned back by the yaw gives sin(roll) = -y and tan(pitch) = x / z.
    """
    c, s = math.cos(yaw), math.sin(yaw)
    return attitude_along(f_W, c, s, math.hypot(c * f_W[0] + s * f_W[1], f_W[2]))


@formula
def attitude_along(f_W: Vec, c: float, s: float, xz: float) -> Quat:
    """`attitude_of_thrust` at a yaw of cosine c and sine s, of a vector whose part across the pitch axis is xz [N]."""
    x, y, z = c * f_W[0] + s * f_W[1], -s * f_W[0] + c * f_W[1], f_W[2]
    length = math.sqrt(x * x + y * y + z * z)
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
