# SPDX-License-Identifier: BSD-3-Clause
"""A noisy state, as a motion capture or an odometry would give it: white noise on pose and twist."""

import numpy as np

from iap_description import so3
from iap_description.arrays import Array
from iap_description.config import NonNegative, Record
from iap_description.states import P, Q, V, W

_CHUNK = 1024  # draws made at once; the sequence does not depend on it


class StateNoise(Record):
    """White noise on the state that the controller sees: standard deviation per axis and control step."""

    position: NonNegative  # [m]
    attitude_deg: NonNegative  # of the rotation vector, body axes [deg]
    velocity: NonNegative  # [m/s]
    rate_deg: NonNegative  # [deg/s]


NO_NOISE = StateNoise(position=0.0, attitude_deg=0.0, velocity=0.0, rate_deg=0.0)


class NoisyState:
    """Adds noise to a body's state row.

    Args:
        noise: standard deviations.
        rng: this source's own generator.
    """

    def __init__(self, noise: StateNoise, rng: np.random.Generator) -> None:
        self._scale = np.repeat([noise.position, noise.velocity, np.deg2rad(noise.rate_deg)], 3)
        self._attitude = np.deg2rad(noise.attitude_deg)
        self._is_zero = noise == NO_NOISE
        self._row = np.zeros(13)
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng
        self._next = _CHUNK

    def __call__(self, x: Array) -> Array:
        """The row (13,) as it is measured; overwritten by the next call."""
        if self._is_zero:
            return x
        if self._next == _CHUNK:
            self._draw()
        row, noise = self._row, self._noise[self._next]
        row[P], row[V], row[W] = x[P] + noise[:3], x[V] + noise[3:6], x[W] + noise[6:9]
        row[Q] = so3.multiply(x[Q], self._turns[self._next])
        self._next += 1
        return row

    def _draw(self) -> None:
        draws = self._rng.standard_normal((_CHUNK, 12))
        self._noise = draws[:, :9] * self._scale
        self._turns = so3.quaternion_exp(self._attitude * draws[:, 9:])
        self._next = 0
