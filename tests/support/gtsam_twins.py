# SPDX-License-Identifier: BSD-3-Clause
"""The same things in gtsam's terms: it orders a pose's step [rotation, translation], both in the body."""

import gtsam
import numpy as np

from iap_description.math import so3

# gtsam's theta, p, v, ba, bg as our p, theta, v, bg, ba
OURS = np.r_[3:6, 0:3, 6:9, 12:15, 9:12]


def pose(x: np.ndarray) -> gtsam.Pose3:
    """Of a state row (16,)."""
    return gtsam.Pose3(gtsam.Rot3(so3.matrix_from_quaternion(x[3:7])), x[:3])


def bias(x: np.ndarray) -> gtsam.imuBias.ConstantBias:
    """Of a state row (16,)."""
    return gtsam.imuBias.ConstantBias(x[13:16], x[10:13])


def by_pose(J: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A derivative (m, 6) by gtsam's step of a pose, as one by our [dp in the frame of the state, dtheta]."""
    return np.hstack([J[:, 3:] @ so3.matrix_from_quaternion(x[3:7]).T, J[:, :3]])


def preintegrated(
    samples: np.ndarray, at: np.ndarray, noise: np.ndarray, gravity: float, pieces: int = 1
) -> gtsam.PreintegratedCombinedMeasurements:
    """Samples (S, 7), integrated at biases (6,) bg, ba; each sample in so many equal pieces."""
    params = gtsam.PreintegrationCombinedParams.MakeSharedU(gravity)
    params.setGyroscopeCovariance(noise[0] ** 2 * np.eye(3))
    params.setAccelerometerCovariance(noise[1] ** 2 * np.eye(3))
    params.setBiasOmegaCovariance(noise[2] ** 2 * np.eye(3))
    params.setBiasAccCovariance(noise[3] ** 2 * np.eye(3))
    params.setIntegrationCovariance(np.zeros((3, 3)))
    params.setImuFactorErrorMode(gtsam.ImuFactorErrorMode.ComponentWise)
    start = gtsam.imuBias.ConstantBias(at[3:], at[:3])
    told = gtsam.PreintegratedCombinedMeasurements(params, start)
    for sample in samples:
        for _ in range(pieces):
            told.integrateMeasurement(sample[4:7], sample[1:4], sample[0] / pieces)
    return told
