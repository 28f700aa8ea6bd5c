# SPDX-License-Identifier: BSD-3-Clause
r"""Alignment of an estimated trajectory with the true one, by least squares of the positions.

With the centred positions :math:`a_k` of the estimate and :math:`b_k` of the truth, the turn R that
minimises :math:`\sum_k |b_k - R a_k|^2` is sought among all turns, or among those about the vertical.
"""

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3

MIN_POSES = 3


def yaw_aligned(estimate: Array, truth: Array) -> Array | None:
    r"""The estimate turned about the vertical and moved (4 degrees of freedom) onto the truth.

    The angle is :math:`\mathrm{atan2}(\sum_k (a_k \times b_k)_z, \sum_k a_{k,xy} \cdot b_{k,xy})`
    (Zhang and Scaramuzza, IROS 2018, III-B).

    Args:
        estimate: (K, 7) positions [m] and quaternions xyzw in the estimator's frame.
        truth: (K, 7) the true ones at the same times, in `map`; only positions count.

    Returns:
        (K, 7) in `map`; None for less than three poses.
    """
    if len(estimate) < MIN_POSES:
        return None
    a, b = _centred(estimate), _centred(truth)
    sine = float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    cosine = float(np.sum(a[:, :2] * b[:, :2]))
    turn = so3.quaternion_exp(np.array([0.0, 0.0, np.arctan2(sine, cosine)]))
    return _placed(turn, estimate, truth)


def se3_aligned(estimate: Array, truth: Array) -> Array | None:
    r"""The estimate turned and moved (6 degrees of freedom) onto the truth.

    :math:`R = U S V^T` with :math:`U D V^T = \frac{1}{K} \sum_k b_k a_k^T` and
    :math:`S = \mathrm{diag}(1, 1, \det U \det V)` (Umeyama, PAMI 1991, equations 38 to 43, without scale).

    Args:
        estimate: (K, 7) positions [m] and quaternions xyzw in the estimator's frame.
        truth: (K, 7) the true ones at the same times, in `map`; only positions count.

    Returns:
        (K, 7) in `map`; None for less than three poses, and for positions on one line or at one
        place, which leave R open.
    """
    if len(estimate) < MIN_POSES:
        return None
    a, b = _centred(estimate), _centred(truth)
    U, D, V_T = np.linalg.svd(b.T @ a / len(a))
    if D[1] <= len(a) * np.finfo(D.dtype).eps * D[0]:
        return None
    S = np.diag([1.0, 1.0, np.sign(np.linalg.det(U) * np.linalg.det(V_T))])
    return _placed(so3.quaternion_from_matrix(U @ S @ V_T), estimate, truth)


def _centred(poses: Array) -> Array:
    return np.asarray(poses[:, :3] - poses[:, :3].mean(axis=0))


def _placed(turn: Array, estimate: Array, truth: Array) -> Array:
    """The estimate turned, with its middle on that of the truth."""
    turns = np.broadcast_to(turn, (len(estimate), 4))
    p = so3.rotate(turns, _centred(estimate)) + truth[:, :3].mean(axis=0)
    return np.hstack([p, so3.multiply(turns, estimate[:, 3:])])
