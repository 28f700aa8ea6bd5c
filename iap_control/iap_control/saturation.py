# SPDX-License-Identifier: BSD-3-Clause
"""What is given up first when actuators saturate.

On rotors yaw torque, then thrust, then roll and pitch torque; on aircraft the platform's force, then its torque.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.kernels import Vec, dot

Array = NDArray[np.float64]
LEAST_FORCE = 0.5  # share of the wanted force that is kept before torque is touched


@njit(cache=True)
def share_out(
    lift: Array, tilt: Array, yaw: Array, lowest: float, highest: float, out: Array
) -> bool:
    """Rotor thrusts (R,) within [lowest, highest] [N] from their three parts; True if something was given up.

    The parts are those of the collective thrust, of roll and pitch torque, and of yaw torque; arrays or tuples.
    Roll and pitch shrink only if they alone do not fit, thrust moves to make room for them, and yaw takes what is left.
    """
    count = out.shape[0]
    least, most = tilt[0], tilt[0]
    for r in range(1, count):
        least, most = min(least, tilt[r]), max(most, tilt[r])
    fit = min(1.0, (highest - lowest) / max(most - least, 1e-12))
    up, down = -1e30, 1e30
    for r in range(count):
        out[r] = lift[r] + fit * tilt[r]
        up, down = max(up, lowest - out[r]), min(down, highest - out[r])
    shift = min(max(0.0, up), down)
    share = 1.0
    for r in range(count):
        out[r] += shift
        room = (highest if yaw[r] > 0.0 else lowest) - out[r]
        if abs(yaw[r]) > 1e-12:
            share = min(share, max(0.0, room / yaw[r]))
    for r in range(count):
        out[r] = min(max(out[r] + share * yaw[r], lowest), highest)
    return fit < 1.0 or shift != 0.0 or share < 1.0


@njit(cache=True)
def force_share(force: Vec, torque: Vec, limit: float) -> float:
    """Largest s in [`LEAST_FORCE`, 1] that keeps the length of s force + torque within the limit.

    Args:
        force: an aircraft's part of the thrust that makes the platform's force [N].
        torque: its part that makes the torque [N].
        limit: largest thrust [N].
    """
    a, b, c = dot(force, force), dot(force, torque), dot(torque, torque) - limit * limit
    if a + 2.0 * b + c <= 0.0:
        return 1.0
    root = b * b - a * c
    if c > 0.0 or root < 0.0:
        return LEAST_FORCE
    return min(1.0, max(LEAST_FORCE, (-b + math.sqrt(root)) / a))
