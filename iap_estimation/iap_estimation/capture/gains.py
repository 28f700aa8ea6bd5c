# SPDX-License-Identifier: BSD-3-Clause
r"""Constant gains of a filter of capture and inertial unit: the steady state of two small Kalman filters.

Along every axis of `map` place, velocity and the accelerometer's offset, x = (p, v, b), between two poses T apart:

.. math::
    F = \begin{pmatrix} 1 & T & -T^2/2 \\ 0 & 1 & -T \\ 0 & 0 & 1 \end{pmatrix}, \qquad
    Q = S_a \begin{pmatrix} T^3/3 & T^2/2 & 0 \\ T^2/2 & T & 0 \\ 0 & 0 & 0 \end{pmatrix} + S_b T e_3 e_3^T,

with the densities S of white noise (Bar-Shalom, Li and Kirubarajan, "Estimation with Applications to Tracking and
Navigation", 2001, 6.2.2 and 8.5). About every axis of the body angle and the gyroscope's offset, x = (theta, b), with
F = (1, -T; 0, 1) and Q = diag(S_w T, S_bw T) (Lefferts, Markley and Shuster, "Kalman Filtering for Spacecraft Attitude
Estimation", 1982, whose error is the rotation vector). H takes the first element; K = P H^T / (H P H^T + R), where P
solves the discrete Riccati equation. Beatle's own estimator is such a filter per axis (jsk_aerial_robot,
robots/beetle/config/StateEstimation.yaml, mode 1).
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import Magnitude
from iap_description.errors import BadInput
from iap_description.sensors.sensor_info import CaptureInfo, ImuInfo

PRESETS = Presets(
    Path(__file__).parents[1] / "data" / "capture_inertial", "settings of the filter", "default"
)
SETTLED = 1e-12  # relative change of a covariance between two poses, from which on it is steady
MOST_POSES = 1_000_000  # within which it is


class CaptureFilterSpec(Record):
    """Densities and deviations that gains are made of, where they are larger than the sensors' own."""

    accel_noise: Magnitude  # [m/s^2/sqrt(Hz)]
    accel_walk: Magnitude  # [m/s^3/sqrt(Hz)]
    gyro_noise: Magnitude  # [rad/s/sqrt(Hz)]
    gyro_walk: Magnitude  # [rad/s^2/sqrt(Hz)]
    position: Magnitude  # of poses [m]
    attitude: Magnitude  # [rad]

    @classmethod
    def load(cls, preset: str) -> Self:
        """The settings of a preset.

        Raises:
            BadInput: no such preset, or a key is wrong.
        """
        return validate(cls, PRESETS.tree(preset), source=str(PRESETS.file(preset)))


class CaptureGains(NamedTuple):
    """Shares of what a pose is off that are added to the state.

    Attributes:
        place: (3,) to place, velocity [1/s] and the accelerometer's offset [1/s^2].
        angle: (2,) to the attitude, and to the gyroscope's offset [1/s].
        deviation: standard deviation of a place behind a pose [m].
    """

    place: Array
    angle: Array
    deviation: float

    @classmethod
    def of(cls, spec: CaptureFilterSpec, capture: CaptureInfo, imu: ImuInfo) -> "CaptureGains":
        """The gains for a capture and an inertial unit.

        Raises:
            BadInput: poses are so uncertain or so rare that no filter of them becomes steady.
        """
        T = 1.0 / capture.rate
        accel = (max(spec.accel_noise, imu.accel_noise), max(spec.accel_walk, imu.accel_walk))
        gyro = (max(spec.gyro_noise, imu.gyro_noise), max(spec.gyro_walk, imu.gyro_walk))
        position = max(spec.position, capture.position_deviation)
        attitude = max(spec.attitude, capture.attitude_deviation)
        try:
            place, variance = _place_gain(T, *accel, position)
            angle = _angle_gain(T, *gyro, attitude)
        except ArithmeticError as error:
            raise BadInput(
                f"key 'motion_capture': {error}: {position:g} m and {attitude:g} rad of noise at {capture.rate:g} Hz:"
                " is its noise, or that of the inertial unit, in another unit?"
            ) from error
        return cls(place.copy(), angle.copy(), float(np.sqrt(variance)))


@cache  # the modules of a structure have the same sensors, and their filters settle slowly
def _place_gain(T: float, noise: float, walk: float, deviation: float) -> tuple[Array, float]:
    """Gain (3,) along an axis, and the variance of a place, for poses T apart [s]."""
    S_a, S_b = noise**2, walk**2
    F = np.array([[1.0, T, -0.5 * T * T], [0.0, 1.0, -T], [0.0, 0.0, 1.0]])
    Q = np.diag([0.0, 0.0, S_b * T])
    Q[:2, :2] = S_a * np.array([[T**3 / 3.0, T**2 / 2.0], [T**2 / 2.0, T]])
    return steady_gain(F, Q, deviation**2)


@cache
def _angle_gain(T: float, noise: float, walk: float, deviation: float) -> Array:
    """Gain (2,) about an axis for poses T apart [s]."""
    F, Q = np.array([[1.0, -T], [0.0, 1.0]]), np.diag([noise**2 * T, walk**2 * T])
    return steady_gain(F, Q, deviation**2)[0]


def steady_gain(F: Array, Q: Array, R: float) -> tuple[Array, float]:
    """Gain (n,) of a Kalman filter whose first element is measured, once it is steady, and that element's variance.

    Args:
        F: (n, n) transition between measurements.
        Q: (n, n) covariance of the noise in between.
        R: variance of a measurement.

    Raises:
        ArithmeticError: it does not become steady.
    """
    P, size, gain = Q + R * np.eye(len(F)), 0.0, np.zeros(len(F))
    for _ in range(MOST_POSES):
        gain = P[:, 0] / (P[0, 0] + R)
        kept = P - np.outer(gain, P[0])
        P = F @ kept @ F.T + Q
        if abs(np.trace(P) - size) <= SETTLED * size:
            return gain, float(kept[0, 0])
        size = np.trace(P)
    raise ArithmeticError("the covariance of the filter does not settle")
