# SPDX-License-Identifier: BSD-3-Clause
"""State rows out of what PyBullet reports."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.kernels import put, put4, qconj, qmul, quat, vec

Array = NDArray[np.float64]

FAR = 1e4  # a coordinate or velocity beyond this is divergence [m, m/s, rad/s]


@njit(cache=True)
def settle(raw: Array, q_BC: Array, x: Array) -> int:
    """Take over PyBullet's rows (bodies, 13), which give the attitude of the principal axes C.

    Quaternions keep the sign of the rows `x` they replace, so that they are continuous in time.

    Returns:
        The first body whose row is not finite or is beyond `FAR`, or -1.
    """
    failed = -1
    for i in range(x.shape[0]):
        row = raw[i]
        q = qmul(quat(row[3:7]), qconj(quat(q_BC[i])))
        if q[0] * x[i, 3] + q[1] * x[i, 4] + q[2] * x[i, 5] + q[3] * x[i, 6] < 0.0:
            q = (-q[0], -q[1], -q[2], -q[3])
        put(x[i, 0:3], vec(row[0:3]))
        put4(x[i, 3:7], q)
        put(x[i, 7:10], vec(row[7:10]))
        put(x[i, 10:13], vec(row[10:13]))
        for k in range(13):
            if not abs(x[i, k]) < FAR and failed < 0:
                failed = i
    return failed
