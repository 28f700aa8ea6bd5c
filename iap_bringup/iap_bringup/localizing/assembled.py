# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of inertial units as states of the bodies that carry them, and of the platform as a whole."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_bringup.records.euroc_text import transform
from iap_bringup.records.sensor_meta import ImuMeta
from iap_description import so3
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_estimation.virpo.messages import Estimate

Array = NDArray[np.float64]


def body_row(told: Estimate, imu: ImuMeta | None) -> Array:
    """State row (13,) of a body from the estimate of its inertial unit, or of itself where there is none."""
    T_IB = np.eye(4) if imu is None else np.linalg.inv(transform(imu.p_BS_B, imu.q_BS))
    row = np.empty(STATE_SIZE)
    arm_W = so3.rotate(told.q_WB, T_IB[:3, 3])
    w_W = so3.rotate(told.q_WB, told.w_B)
    row[P], row[W] = told.p_WB_W + arm_W, w_W
    row[Q] = so3.multiply(told.q_WB, so3.quaternion_from_matrix(T_IB[:3, :3]))
    row[V] = told.v_WB_W + np.cross(w_W, arm_W)
    return row


def unit_state(row: Array, imu: ImuMeta) -> Array:
    """First state (16,) of an inertial unit, without biases, from the state row (13,) of its body."""
    arm_W = so3.rotate(row[Q], np.array(imu.p_BS_B))
    q_WI = so3.multiply(row[Q], np.array(imu.q_BS))
    v_W = row[V] + np.cross(row[W], arm_W)
    return np.concatenate([row[P] + arm_W, q_WI, v_W, np.zeros(6)])


def platform_rows(
    centre: Estimate | None, heads: Sequence[Estimate], imus: Sequence[ImuMeta]
) -> Array:
    """State rows (bodies, 13): the central body, where there is one, then every aircraft."""
    rows = [body_row(told, imu) for told, imu in zip(heads, imus, strict=True)]
    return np.array(rows if centre is None else [body_row(centre, None), *rows])
