# SPDX-License-Identifier: BSD-3-Clause
"""Estimates as Odometry, and what neighbours show in it; no ROS needed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.messages import Estimate, SharedOdometry
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import OdometryMessage
from iap_io.wire.stamps import SECOND, stamp_of_time

Content = TypeVar("Content", Estimate, SharedOdometry)
UNKNOWN, NO_COVARIANCE = np.full(3, np.nan), np.full((15, 15), np.nan)


def put_estimate(message: OdometryMessage, estimate: Estimate) -> None:
    """Fill from an estimate; what is not estimated of its covariance is zero."""
    put_motion(message, estimate)
    C = np.where(np.isfinite(estimate.covariance), estimate.covariance, 0.0)
    J = _jacobian(estimate.q_WB, message.twist_B[:3])
    out = J @ C @ J.T
    message.pose_covariance[:], message.twist_covariance[:] = out[:6, :6], out[6:, 6:]


def put_motion(message: OdometryMessage, estimate: Estimate | SharedOdometry) -> None:
    """Fill from an estimate, or from what an aircraft shows, without covariances."""
    R = so3.matrix_from_quaternion(estimate.q_WB)
    message.put_head(stamp_of_time(estimate.t), 0)
    message.pose[:3], message.pose[3:] = estimate.p_WB_W, estimate.q_WB
    message.twist_B[:3], message.twist_B[3:] = estimate.v_WB_W @ R, estimate.w_B


def shared_of(message: OdometryMessage, aircraft: int) -> SharedOdometry:
    """Shared odometry of the aircraft of that index."""
    pose, twist = message.pose.copy(), message.twist_B.copy()
    q = so3.normalized(pose[3:])
    v_W = so3.matrix_from_quaternion(q) @ twist[:3]
    return SharedOdometry(message.stamp / SECOND, aircraft, pose[:3], q, v_W, twist[3:])


def propagated_of(message: OdometryMessage) -> Estimate:
    """An estimate without biases and covariance."""
    shared = shared_of(message, 0)
    known = shared.t, shared.p_WB_W, shared.q_WB, shared.v_WB_W
    return Estimate(*known, UNKNOWN, UNKNOWN, NO_COVARIANCE, shared.w_B)


def estimate_of(message: OdometryMessage) -> Estimate:
    """An estimate as far as Odometry has it: without biases, and the covariances of each quantity by itself."""
    estimate = propagated_of(message)
    R = so3.matrix_from_quaternion(estimate.q_WB)
    place, twist = message.pose_covariance, message.twist_covariance
    C = np.full((15, 15), np.nan)
    C[:3, :3], C[3:6, 3:6] = place[:3, :3], R.T @ place[3:, 3:] @ R
    C[6:9, 6:9] = R @ twist[:3, :3] @ R.T
    return replace(estimate, covariance=C)


def reader(of: Callable[..., Content], *details: Any) -> Callable[[bytes], Content]:  # noqa: ANN401
    """A reader of serialised Odometry, as one of the functions above gives it."""
    inlet = MessageReader(OdometryMessage)
    return lambda data: of(inlet.read(data), *details)


def _jacobian(q_WB: Array, v_B: Array) -> Array:
    """Derivative (12, 15) of [place, turn in W, velocity in B, angular velocity in B] by an estimate's errors."""
    R = so3.matrix_from_quaternion(q_WB)
    J = np.zeros((12, 15))
    J[0:3, 0:3] = np.eye(3)
    J[3:6, 3:6] = R
    J[6:9, 3:6] = so3.hat(v_B)
    J[6:9, 6:9] = R.T
    J[9:12, 9:12] = -np.eye(3)
    return J
