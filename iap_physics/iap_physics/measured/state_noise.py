# SPDX-License-Identifier: BSD-3-Clause
"""A noisy state, as a motion capture or an odometry would give it: white noise on pose and twist."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.config import NonNegative, Record
from iap_description.states import P, Q, V, W

Array = NDArray[np.float64]
_CHUNK = 1024  # draws made at once; the sequence does not depend on it


@dataclass(frozen=True)
class StateNoiseLevel:
    """Standard deviation per axis and sample.

    Attributes:
        position: [m].
        attitude: of the rotation vector, body axes [rad].
        velocity: [m/s].
        rate: [rad/s].
    """

    position: float
    attitude: float
    velocity: float
    rate: float

    @property
    def is_zero(self) -> bool:
        """Whether the state is left as it is."""
        return self.position == self.attitude == self.velocity == self.rate == 0.0


class StateNoise(Record):
    """White noise on the state that the controller sees, per control step."""

    position: NonNegative  # [m]
    attitude_deg: NonNegative
    velocity: NonNegative  # [m/s]
    rate_deg: NonNegative  # [deg/s]

    @property
    def level(self) -> StateNoiseLevel:
        """The same in SI units."""
        return StateNoiseLevel(
            self.position,
            np.deg2rad(self.attitude_deg),
            self.velocity,
            np.deg2rad(self.rate_deg),
        )


class NoisyState:
    """Adds noise to a body's state row.

    Args:
        level: standard deviations.
        rng: this source's own generator.
    """

    def __init__(self, level: StateNoiseLevel, rng: np.random.Generator) -> None:
        self._level = level
        self._row = np.zeros(13)
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng
        self._next = _CHUNK

    def __call__(self, x: Array) -> Array:
        """The row (13,) as it is measured; overwritten by the next call."""
        if self._level.is_zero:
            return x
        if self._next == _CHUNK:
            self._draw()
        row, noise = self._row, self._noise[self._next]
        row[P], row[V], row[W] = x[P] + noise[:3], x[V] + noise[3:6], x[W] + noise[6:9]
        row[Q] = so3.multiply(x[Q], self._turns[self._next])
        self._next += 1
        return row

    def _draw(self) -> None:
        level = self._level
        draws = self._rng.standard_normal((_CHUNK, 12))
        scale = np.repeat([level.position, level.velocity, level.rate], 3)
        self._noise = draws[:, :9] * scale
        self._turns = so3.quaternion_exp(level.attitude * draws[:, 9:])
        self._next = 0
