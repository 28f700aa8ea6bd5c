# SPDX-License-Identifier: BSD-3-Clause
"""State rows as seen from other bodies, compiled: joints, transforms between bodies, twists in body axes."""

from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import put, put4, qconj, qmul, quat, sub, unrotate, vec


@njit(cache=True)
def joint_states(x: Array, ends: Integers, q_PB: Array, w_PB_B: Array) -> None:
    """Write attitude and angular velocity of the child B relative to the parent P of every joint.

    Args:
        x: (bodies, 13) state rows.
        ends: (n, 2) rows of parent and child.
        q_PB: (n, 4) written.
        w_PB_B: (n, 3) written, in the child's axes [rad/s].
    """
    for i in range(ends.shape[0]):
        parent, child = x[ends[i, 0]], x[ends[i, 1]]
        put4(q_PB[i], qmul(qconj(quat(parent[3:])), quat(child[3:])))
        put(w_PB_B[i], unrotate(quat(child[3:]), sub(vec(child[10:]), vec(parent[10:]))))


@njit(cache=True)
def relative_pose(parent: Array, child: Array, out: Array) -> None:
    """Write the pose (7,) of the child's row in the parent's frame."""
    inverse = qconj(quat(parent[3:]))
    put(out, unrotate(quat(parent[3:]), sub(vec(child), vec(parent))))
    put4(out[3:], qmul(inverse, quat(child[3:])))


@njit(cache=True)
def body_twist(row: Array, out: Array) -> None:
    """Write the velocity [m/s] and angular velocity [rad/s] (6,) of a row (13,) in its own axes."""
    q = quat(row[3:])
    put(out, unrotate(q, vec(row[7:])))
    put(out[3:], unrotate(q, vec(row[10:])))
