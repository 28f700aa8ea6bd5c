# SPDX-License-Identifier: BSD-3-Clause
r"""Pose of the central body, from the places of its joints and its autopilot's vertical.

The attitude is Wahba's problem over the joints' places and the vertical,

.. math::
    \max_R \operatorname{tr} R^T \Big( \sum_i \frac{1}{\sigma_i^2} (p_i - \bar p)(d_i - \bar d)^T
        + \frac{1}{\sigma_t^2} e_z (R_t^T e_z)^T \Big) ,

with R_t the autopilot's attitude; then p = mean(p_i) - R mean(d_i).
"""

from collections.abc import Sequence

import numpy as np

from iap_description import so3
from iap_description.arrays import Array
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Tilt

UP = np.array([0.0, 0.0, 1.0])


def centre_of(estimates: Sequence[Estimate], tilt: Tilt, fleet: Fleet) -> Estimate:
    """The central body, from estimates of all aircraft at one time.

    Its covariance takes the aircraft as independent of each other.

    Args:
        estimates: one of each aircraft.
        tilt: what the autopilot says, of that time.
        fleet: with places of joints.
    """
    assert fleet.d is not None  # noqa: S101 - who calls this has a platform
    arms = [model.p_BJ_B for model in fleet.aircraft]
    pairs = list(zip(estimates, arms, strict=True))
    joints = np.array([one.p_WB_W + so3.rotate(one.q_WB, arm) for one, arm in pairs])
    spread = np.array([one.covariance[:3, :3] for one in estimates])
    variances = np.trace(spread, axis1=1, axis2=2) / 3.0
    q = _attitude(joints, np.where(np.isfinite(variances), variances, 1.0), tilt, fleet)
    middle = fleet.d.mean(axis=0)
    velocities = [one.v_WB_W + so3.rotate(one.q_WB, np.cross(one.w_B, arm)) for one, arm in pairs]
    p = joints.mean(axis=0) - so3.rotate(q, middle)
    v = np.mean(velocities, axis=0) - so3.rotate(q, np.cross(tilt.w_B0, middle))
    covariance, unknown = np.full((15, 15), np.nan), np.full(3, np.nan)
    count = len(estimates) ** 2
    covariance[:3, :3] = spread.sum(axis=0) / count
    covariance[6:9, 6:9] = sum(one.covariance[6:9, 6:9] for one in estimates) / count
    return Estimate(estimates[0].t, p, q, v, unknown, unknown, covariance, tilt.w_B0)


def _attitude(joints: Array, variances: Array, tilt: Tilt, fleet: Fleet) -> Array:
    assert fleet.d is not None  # noqa: S101 - as above
    weights = 1.0 / np.maximum(variances, 1e-8)
    arms = joints - weights @ joints / weights.sum()
    d = fleet.d - weights @ fleet.d / weights.sum()
    up_B0 = so3.rotate(so3.conjugate(tilt.q_WB0), UP)
    B = np.einsum("n,ni,nj->ij", weights, arms, d)
    B += np.outer(UP, up_B0) / fleet.tilt_deviation**2
    U, _, Vt = np.linalg.svd(B)
    turn = np.diag([1.0, 1.0, np.linalg.det(U) * np.linalg.det(Vt)])
    return so3.quaternion_from_matrix(U @ turn @ Vt)
