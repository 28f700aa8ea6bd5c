# SPDX-License-Identifier: BSD-3-Clause
r"""The attitude of an inertial unit as an autopilot estimates it, compiled: an extended Kalman filter.

Its states are the attitude q_WS, with an error theta in the unit's axes, q = q_est exp(theta), and
the gyroscopes' bias b (Markley, "Attitude error representations for Kalman filtering", 2003):

.. math::
    \dot\theta = -\omega \times \theta - b - n_g, \quad \dot b = n_b, \qquad
    f / |f| = R^T e_z + n_f .

The unit's own acceleration is in n_f. It is no white noise: with deviation s and correlation time T
it counts as white noise of equal power at low frequencies, of the density s sqrt(2 T). Gravity's
strength is not needed. A magnetometer turns the estimate about the vertical only, so that nothing
made of iron tilts it.

Presets are read from ``data/attitude/NAME.yaml``.
"""

import math
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.config.record import Presets, Record
from iap_description.config.values import Degrees, NonNegative, Positive
from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_description.math.kernels import (
    Vec,
    dot,
    norm,
    put4,
    qmul,
    qnormalize,
    quat,
    rotate,
    scale,
    sub,
    unrotate,
    vec,
)

PRESETS = Presets(Path(__file__).parents[1] / "data" / "attitude", "attitude gains")
FREE_FALL = 0.5  # specific force below which the vertical cannot be measured [m/s^2]


class AttitudeGains(Record):
    """The filter's model of its sensors and of the flight."""

    gyro_noise: Positive  # density [rad/s/sqrt(Hz)]
    gyro_walk: Positive  # of the bias [rad/s^2/sqrt(Hz)]
    accel_noise: Positive  # density [m/s^2/sqrt(Hz)]
    acceleration: NonNegative  # standard deviation of the flight's own acceleration [m/s^2]
    acceleration_time: NonNegative  # its correlation time [s]
    attitude_deg: Positive  # standard deviation of the attitude at the start
    bias: NonNegative  # standard deviation of the gyroscopes' bias at the start [rad/s]
    heading_deg: Positive  # standard deviation of a magnetometer's heading
    declination_deg: Degrees  # of magnetic north from true north, towards east

    @property
    def vertical_noise(self) -> float:
        """Density of the accelerometer's noise in the vertical [m/s^2/sqrt(Hz)]."""
        flight = self.acceleration * math.sqrt(2.0 * self.acceleration_time)
        return math.hypot(self.accel_noise, flight)

    @property
    def deviation(self) -> float:
        """Standard deviation of roll and pitch that the filter settles at near hover [rad].

        Of the Riccati equation of one axis with the states angle and bias.
        """
        noise = self.vertical_noise / GRAVITY
        drift = self.gyro_noise**2 + 2.0 * self.gyro_walk * noise
        return math.sqrt(noise * math.sqrt(drift))


class Noise(NamedTuple):
    """Noise as the compiled filter takes it.

    Attributes:
        dt: between samples [s].
        angle: variance that a sample's turn adds to the attitude [rad^2].
        walk: variance that it adds to the bias [rad^2/s^2].
        vertical: variance of a sample's specific force across the vertical [m^2/s^4].
        heading: variance of a heading [rad^2].
    """

    dt: float
    angle: float
    walk: float
    vertical: float
    heading: float

    @classmethod
    def of(cls, gains: AttitudeGains, dt: float) -> Self:
        """Noise of samples at intervals dt [s]."""
        return cls(
            dt,
            gains.gyro_noise**2 * dt,
            gains.gyro_walk**2 * dt,
            gains.vertical_noise**2 / dt,
            math.radians(gains.heading_deg) ** 2,
        )


class AttitudeFilter:
    """Estimates the attitude of one inertial unit.

    Args:
        gains: see `AttitudeGains`.
        dt: between samples [s].

    Attributes:
        deviation: standard deviation of roll and pitch that it settles at [rad].
        bias: (3,) estimated bias of the gyroscopes [rad/s].
        covariance: (6, 6) of the attitude's error [rad], axes of the unit, and of the bias [rad/s].
    """

    def __init__(self, gains: AttitudeGains, dt: float) -> None:
        self._noise = Noise.of(gains, dt)
        self._declination = math.radians(gains.declination_deg)
        start = [math.radians(gains.attitude_deg)] * 3 + [gains.bias] * 3
        self._start = np.diag(np.square(start))
        self.deviation = gains.deviation
        self._q_WS, self.bias, self.covariance = np.zeros(4), np.zeros(3), np.zeros((6, 6))
        self.reset(so3.IDENTITY)

    def reset(self, q_WS: Array) -> None:
        """Start anew from an attitude (4,), xyzw."""
        self._q_WS[:] = q_WS
        self.bias[:] = 0.0
        self.covariance[:] = self._start

    def __call__(self, w_S: Array, f_S: Array) -> Array:
        """Attitude (4,) after a sample; overwritten by the next call.

        Args:
            w_S: (3,) measured angular velocity, the mean since the last sample [rad/s].
            f_S: (3,) measured specific force [m/s^2].
        """
        _turn(w_S, self._q_WS, self.bias, self.covariance, self._noise)
        _level(f_S, self._q_WS, self.bias, self.covariance, self._noise)
        return self._q_WS

    def correct_heading(self, field_S: Array) -> None:
        """Turn the estimate about the vertical towards a magnetometer's reading, (3,) in any unit."""
        _head(field_S, self._declination, self._q_WS, self.bias, self.covariance, self._noise)


@njit(cache=True)
def _turn(w_S: Array, q_WS: Array, bias: Array, C: Array, noise: Noise) -> None:
    """Turn the estimate by a sample of the gyroscopes; C becomes F C F^T + Q."""
    phi = scale(noise.dt, sub(vec(w_S), vec(bias)))
    _turn_by(phi, q_WS)
    back = _exp((-phi[0], -phi[1], -phi[2]))
    for j in range(6):  # columns: F C
        top = rotate(back, (C[0, j], C[1, j], C[2, j]))
        for i in range(3):
            C[i, j] = top[i] - noise.dt * C[3 + i, j]
    for i in range(6):  # rows: (F C) F^T
        top = rotate(back, (C[i, 0], C[i, 1], C[i, 2]))
        for j in range(3):
            C[i, j] = top[j] - noise.dt * C[i, 3 + j]
    for i in range(3):
        C[i, i] += noise.angle
        C[3 + i, 3 + i] += noise.walk


@njit(cache=True)
def _level(f_S: Array, q_WS: Array, bias: Array, C: Array, noise: Noise) -> None:
    """Turn the estimate towards the vertical that the accelerometer shows.

    f / |f| = u + u x theta with u = R^T e_z; the axes are taken one after another.
    """
    f = vec(f_S)
    size = norm(f)
    if size < FREE_FALL:
        return
    u = unrotate(quat(q_WS), (0.0, 0.0, 1.0))
    rest = sub(scale(1.0 / size, f), u)
    rows = ((0.0, -u[2], u[1]), (u[2], 0.0, -u[0]), (-u[1], u[0], 0.0))  # of u x
    error = np.zeros(6)
    for i in range(3):
        h = rows[i]
        gain = np.zeros(6)
        variance = _gain(h, C, noise.vertical / (size * size), gain)
        innovation = rest[i] - dot(h, vec(error))
        for r in range(6):
            error[r] += gain[r] * innovation
        _shrink(gain, variance, C)
    _correct(error, q_WS, bias)


@njit(cache=True)
def _gain(h: Vec, C: Array, noise: float, gain: Array) -> float:
    """Write the Kalman gain (6,) of a measurement h . theta, and return its variance."""
    for i in range(6):
        gain[i] = C[i, 0] * h[0] + C[i, 1] * h[1] + C[i, 2] * h[2]
    variance = dot(h, vec(gain)) + noise
    for i in range(6):
        gain[i] /= variance
    return variance


@njit(cache=True)
def _shrink(gain: Array, variance: float, C: Array) -> None:
    """C less the information of a measurement with its optimal gain."""
    for i in range(6):
        for j in range(i, 6):
            C[i, j] -= gain[i] * variance * gain[j]
            C[j, i] = C[i, j]


@njit(cache=True)
def _head(
    field_S: Array, declination: float, q_WS: Array, bias: Array, C: Array, noise: Noise
) -> None:
    """Turn the estimate about the vertical; the gain's other parts are left out."""
    q = quat(q_WS)
    field_W = rotate(q, vec(field_S))
    east = math.atan2(field_W[0], field_W[1]) - declination  # the estimate is turned so far east
    east = (east + math.pi) % (2.0 * math.pi) - math.pi
    up = unrotate(q, (0.0, 0.0, 1.0))
    full = np.zeros(6)
    variance = _gain(up, C, noise.heading, full)
    cross_term = full * variance  # C h
    gain = np.zeros(6)
    for part in (0, 3):
        along = dot(up, vec(full[part:]))
        for i in range(3):
            gain[part + i] = along * up[i]
    _correct(gain * east, q_WS, bias)
    for i in range(6):  # (1 - k h^T) C (1 - k h^T)^T + k r k^T, which holds for any gain
        for j in range(6):
            C[i, j] += gain[i] * variance * gain[j]
            C[i, j] -= gain[i] * cross_term[j] + cross_term[i] * gain[j]


@njit(cache=True)
def _correct(error: Array, q_WS: Array, bias: Array) -> None:
    """Move an estimated error (6,) into the estimate."""
    _turn_by(vec(error), q_WS)
    for i in range(3):
        bias[i] += error[3 + i]


@njit(cache=True)
def _turn_by(phi: Vec, q_WS: Array) -> None:
    """q_WS exp(phi)."""
    put4(q_WS, qnormalize(qmul(quat(q_WS), _exp(phi))))


@njit(cache=True)
def _exp(phi: Vec) -> tuple[float, float, float, float]:
    """Unit quaternion of a rotation vector [rad]."""
    half = 0.5 * norm(phi)
    share = 0.5 * (math.sin(half) / half if half > 1e-9 else 1.0)
    return (share * phi[0], share * phi[1], share * phi[2], math.cos(half))
