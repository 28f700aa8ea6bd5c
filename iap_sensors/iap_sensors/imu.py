# SPDX-License-Identifier: BSD-3-Clause
"""An inertial unit's errors: white noise, biases that walk, scale, misalignment, range and resolution.

After iap_simulator V-D, with the noise given by densities: a sample at intervals dt has the white
noise sigma = density / sqrt(dt), and its bias steps by walk sqrt(dt). Presets are read from ``data/imu/NAME.yaml``.
"""

import math
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.config import NonNegative, Positive, Presets, Record

PRESETS = Presets(Path(__file__).parent / "data" / "imu", "inertial unit")
_CHUNK = 512  # draws made at once; the sequence does not depend on it


class Triad(Record):
    """Three sensors along the axes: gyroscopes [rad/s] or accelerometers [m/s^2], the unit u below.

    The model of iap_simulator V-D: white noise, and a bias that walks; the rest is what real units have.
    """

    noise: NonNegative  # density of the white noise [u/sqrt(Hz)]
    walk: NonNegative  # density of the bias's random walk [u/s/sqrt(Hz)]
    bias: NonNegative  # standard deviation of the bias at the start, per axis [u]
    scale: NonNegative  # standard deviation of the scale's error, per axis, relative
    misalignment_deg: NonNegative  # standard deviation of each axis's tilt towards the others
    range: Positive | None  # beyond which it saturates [u]
    resolution: Positive | None  # step of its numbers [u]

    @property
    def relative(self) -> float:
        """Relative deviation of what it reads, by scale and misalignment together."""
        return math.hypot(self.scale, math.radians(self.misalignment_deg))


class ImuSpec(Record):
    """An inertial unit."""

    rate: Positive  # [Hz]
    sampling: Literal["integrating", "instantaneous"]  # means over the interval, or instants
    gyro: Triad
    accel: Triad


class ImuSamples(NamedTuple):
    """S measured samples, with the biases that are in them.

    Attributes:
        w_S: (S, 3) [rad/s].
        f_S: (S, 3) [m/s^2].
        gyro_bias: (S, 3) [rad/s].
        accel_bias: (S, 3) [m/s^2].
    """

    w_S: Array
    f_S: Array
    gyro_bias: Array
    accel_bias: Array


class Imu:
    """One inertial unit.

    Args:
        spec: what it is.
        rate: of its samples, as the physics steps allow it [Hz].
        rng: its own generator.
    """

    def __init__(self, spec: ImuSpec, rate: float, rng: np.random.Generator) -> None:
        self._spec, self._dt = spec, 1.0 / rate
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator, which draws biases, scales and misalignments."""
        self._gyro, self._accel = (
            _TriadErrors(triad, self._dt, child)
            for triad, child in zip((self._spec.gyro, self._spec.accel), rng.spawn(2), strict=True)
        )

    def __call__(self, w_S: Array, f_S: Array) -> ImuSamples:
        """Measure S ideal samples, (S, 3) angular velocities [rad/s] and specific forces [m/s^2]."""
        (w, b_w), (f, b_f) = self._gyro.measure(w_S), self._accel.measure(f_S)
        return ImuSamples(w, f, b_w, b_f)


class _TriadErrors:
    """The errors of three sensors along the axes."""

    def __init__(self, triad: Triad, dt: float, rng: np.random.Generator) -> None:
        self._triad, self._rng = triad, rng
        self._white, self._step = triad.noise / math.sqrt(dt), triad.walk * math.sqrt(dt)
        self._bias = triad.bias * rng.standard_normal(3)
        skew = math.radians(triad.misalignment_deg) * rng.standard_normal((3, 3))
        np.fill_diagonal(skew, triad.scale * rng.standard_normal(3))
        self._M = np.eye(3) + skew
        self._left = np.zeros((0, 6))

    def measure(self, true: Array) -> tuple[Array, Array]:
        """Measured values (S, 3), and the biases (S, 3) in them."""
        draws = self._draws(len(true))
        # Sums in the order of the samples: the bits do not depend on how many come at once.
        walk = np.cumsum(np.vstack([self._bias, self._step * draws[:, 3:]]), axis=0)
        self._bias, bias = walk[-1].copy(), walk[1:]
        turned = sum(true[:, j : j + 1] * self._M[:, j] for j in range(3))
        value = turned + bias + self._white * draws[:, :3]
        limit, step = self._triad.range, self._triad.resolution
        if step is not None:
            value = step * np.round(value / step)
        if limit is not None:
            value = np.clip(value, -limit, limit)
        return value, bias

    def _draws(self, count: int) -> Array:
        """The next standard normal draws (count, 6)."""
        if len(self._left) < count:
            chunks = -(-(count - len(self._left)) // _CHUNK)
            more = self._rng.standard_normal((chunks * _CHUNK, 6))
            self._left = np.vstack([self._left, more])
        draws, self._left = self._left[:count], self._left[count:]
        return draws
