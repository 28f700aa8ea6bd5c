# SPDX-License-Identifier: BSD-3-Clause
"""States of a window in `map`: from an aircraft's frame L by its alignment."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description import so3
from iap_description.kernels import add, put, put4, qmul, quat, rotate, vec
from iap_estimation.virpo.algebra.matrices import qexp
from iap_estimation.virpo.algebra.states import AIRCRAFT, ALIGNMENT

Array = NDArray[np.float64]
UP = np.array([0.0, 0.0, 1.0])


@njit(cache=True)
def in_world(x: Array, place: Array) -> Array:
    """The state (16,) in `map` of one in L, whose place and yaw there are (4,)."""
    turn = qexp((0.0, 0.0, place[3]))
    out = x.copy()
    put(out, add(rotate(turn, vec(x)), vec(place)))
    put4(out[3:7], qmul(turn, quat(x[3:7])))
    put(out[7:10], rotate(turn, vec(x[7:10])))
    return out


def covariance_in_world(C: Array, a: int, x: Array, place: Array) -> Array:
    """Covariance (15, 15) of an aircraft's newest state in `map`.

    Args:
        C: of the newest keyframe and the alignments, in the order of a step.
        a: index of the aircraft.
        x: (A, 16) newest states.
        place: (4,) its alignment.
    """
    at = len(C) - ALIGNMENT * (len(x) - a)
    places = np.r_[AIRCRAFT * a : AIRCRAFT * (a + 1), at : at + ALIGNMENT]
    R = so3.matrix_from_quaternion(so3.quaternion_exp(place[3] * UP))
    J = np.zeros((AIRCRAFT, AIRCRAFT + ALIGNMENT))
    J[:, :AIRCRAFT] = np.eye(AIRCRAFT)
    J[0:3, 0:3] = J[6:9, 6:9] = R
    J[0:3, AIRCRAFT : AIRCRAFT + 3] = np.eye(3)
    J[0:3, -1] = np.cross(UP, R @ x[a, :3])
    J[3:6, -1] = so3.rotate(so3.conjugate(x[a, 3:7]), UP)
    J[6:9, -1] = np.cross(UP, R @ x[a, 7:10])
    return J @ C[np.ix_(places, places)] @ J.T
