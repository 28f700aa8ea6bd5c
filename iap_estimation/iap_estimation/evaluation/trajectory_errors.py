# SPDX-License-Identifier: BSD-3-Clause
r"""Errors between trajectories of poses, and their summaries. Angles in radians, quaternions xyzw.

Attitude errors are rotation vectors in the axes of the reference attitude. Which part of the error
counts depends on what the vehicle can control: all of it, only where one of its axes points, or
only its heading.
"""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3

ALL = (True, True, True)
HEADING = (False, False, True)  # tilt follows from the thrust (rank 4)


def attitude_error(R_ref: Array, R: Array) -> Array:
    r"""Error (..., 3) of attitudes: :math:`\log(R_{ref}^T R)` [rad] in reference axes."""
    return so3.log(np.swapaxes(R_ref, -1, -2) @ R)


def axis_error(R_ref: Array, R: Array, axis: int = 0) -> Array:
    r"""Smallest turn (..., 3) [rad] from a commanded body axis to the real one, in reference axes.

    The attitude error of a body that may turn freely about that axis: :math:`\angle(a_{ref}, a)\,
    a_{ref} \times a / |a_{ref} \times a|`. Its component along the axis is zero, its length the
    angle between the two.

    Args:
        R_ref: (..., 3, 3) commanded attitudes.
        R: (..., 3, 3) real attitudes.
        axis: 0, 1 or 2 for the body's x, y or z axis.
    """
    a = (np.swapaxes(R_ref, -1, -2) @ R)[..., :, axis]
    a_ref = np.eye(3)[axis]
    normal = np.cross(a_ref, a)
    sine = np.linalg.norm(normal, axis=-1, keepdims=True)
    cosine = a[..., axis, None]
    small = sine < 1e-12
    angle = np.arctan2(sine, cosine)
    turned = angle / np.where(small, 1.0, sine) * normal
    # Exactly forwards there is no error; exactly backwards, half a turn about any axis across.
    return np.where(small, np.where(cosine < 0.0, np.pi, 0.0) * np.eye(3)[(axis + 1) % 3], turned)


def heading_error(R_ref: Array, R: Array) -> Array:
    """Difference (...) of yaw angles [rad] in (-pi, pi]; yaw, pitch, roll about z, y, x."""
    difference = so3.euler_from_matrix(R)[..., 2] - so3.euler_from_matrix(R_ref)[..., 2]
    return -np.remainder(np.pi - difference, 2.0 * np.pi) + np.pi


def controlled_error(R_ref: Array, R: Array, controlled: tuple[bool, bool, bool]) -> Array:
    """Attitude error (..., 3) [rad] of what a vehicle controls; NaN for an angle that it does not.

    Args:
        R_ref: (..., 3, 3) commanded attitudes.
        R: (..., 3, 3) real attitudes.
        controlled: whether roll, pitch and yaw are. With one of them free, the error is that of
            the axis which it turns about; with `HEADING` alone, that of yaw.
    """
    if sum(controlled) == 2:
        error = axis_error(R_ref, R, controlled.index(False))
    elif controlled == HEADING:
        error = np.stack([np.zeros(R.shape[:-2])] * 2 + [heading_error(R_ref, R)], -1)
    else:
        error = attitude_error(R_ref, R)
    return np.where(np.array(controlled), error, np.nan)


def rmse(errors: Array) -> Array:
    """Root mean square over the first axis."""
    return np.sqrt(np.mean(np.square(errors), axis=0))


def rmse_of_vectors(errors: Array) -> float:
    """Root mean square length of error vectors (K, n)."""
    return float(np.sqrt(np.mean(np.sum(np.square(errors), axis=-1))))


def maximum(errors: Array) -> Array:
    """Largest absolute value over the first axis."""
    return np.max(np.abs(errors), axis=0)


def pairs_by_distance(p: Array, distance: float) -> Integers:
    """Consecutive pairs (M, 2) of places that are the least number of steps with that length apart along the path.

    Args:
        p: (K, 3) the path [m].
        distance: least length of the path within a pair [m].
    """
    marks, length = [0], 0.0
    for i, step in enumerate(np.linalg.norm(np.diff(p, axis=0), axis=1).tolist(), start=1):
        length += step
        if length >= distance:
            marks.append(i)
            length = 0.0
    return np.array([marks[:-1], marks[1:]], dtype=np.int64).T


def relative_errors(truth: Array, estimate: Array, pairs: Integers) -> tuple[Array, Array]:
    r"""Relative pose errors: lengths (M,) [m] and angles (M,) [rad] of their two parts.

    Those of :math:`(Q_i^{-1} Q_j)^{-1} (P_i^{-1} P_j)` with true poses Q and estimated ones P
    (Sturm et al., IROS 2012, equation 1), for pairs (i, j).

    Args:
        truth: (K, 7) position [m] and quaternion xyzw.
        estimate: (K, 7) at the same times.
        pairs: (M, 2) rows of both.
    """
    p_true, q_true = _motions(truth, pairs)
    p, q = _motions(estimate, pairs)
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(q_true), q))
    return np.linalg.norm(p - p_true, axis=1), np.linalg.norm(turns, axis=1)


def _motions(poses: Array, pairs: Integers) -> tuple[Array, Array]:
    """Places (M, 3) and attitudes (M, 4) of the second of each pair in the frame of the first."""
    first, second = poses[pairs[:, 0]], poses[pairs[:, 1]]
    back = so3.conjugate(first[:, 3:])
    p = so3.rotate(back, second[:, :3] - first[:, :3])
    return p, so3.multiply(back, second[:, 3:])


def poses_at(times: Array, t: Array, poses: Array) -> Array:
    """Poses (M, 7) at `times` (M,): position linear, attitude along the shortest turn.

    Args:
        times: (M,) times within [t[0], t[-1]]; outside, the nearest pose.
        t: (K,) increasing times of the poses [s].
        poses: (K, 7) position [m] and quaternion xyzw.
    """
    times = np.clip(times, t[0], t[-1])
    i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(len(t) - 2, 0))
    j = np.minimum(i + 1, len(t) - 1)
    span = np.where(j > i, t[j] - t[i], 1.0)
    s = ((times - t[i]) / span)[:, None]
    position = (1.0 - s) * poses[i, :3] + s * poses[j, :3]
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(poses[i, 3:]), poses[j, 3:]))
    return np.hstack([position, so3.multiply(poses[i, 3:], so3.quaternion_exp(s * turn))])
