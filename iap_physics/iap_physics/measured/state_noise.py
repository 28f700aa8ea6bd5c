# SPDX-License-Identifier: BSD-3-Clause
"""A noisy state, as a motion capture or an odometry would give it: white noise on pose and twist."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.config.record import NonNegative, Record
from iap_description.math import so3
from iap_description.math.kernels import qmul, quat_at
from iap_description.states import P, Q, V, W

_CHUNK = 1024  # draws made at once; the sequence does not depend on it
_BATCH_CHUNK = 64  # likewise of each world of a batch, for the memory's sake


class StateNoise(Record):
    """White noise on the state that the controller sees: standard deviation per axis and control step."""

    position: NonNegative  # [m]
    attitude_deg: NonNegative  # of the rotation vector, body axes [deg]
    velocity: NonNegative  # [m/s]
    rate_deg: NonNegative  # [deg/s]
    position_bias: NonNegative = 0.0  # of positions, drawn once for a flight [m]


NO_NOISE = StateNoise(position=0.0, attitude_deg=0.0, velocity=0.0, rate_deg=0.0)


def scaled(noise: StateNoise, draws: Array) -> tuple[Array, Array]:
    """The noise of normal numbers (..., 12): of position, velocity and rates (..., 9), and turns (..., 4)."""
    scale = np.repeat([noise.position, noise.velocity, np.deg2rad(noise.rate_deg)], 3)
    turns = so3.quaternion_exp(np.deg2rad(noise.attitude_deg) * draws[..., 9:])
    return draws[..., :9] * scale, turns


def bias(noise: StateNoise, rng: np.random.Generator) -> Array:
    """(3,) bias of a flight's positions [m], which is drawn before all noise."""
    if noise.position_bias == 0.0:
        return np.zeros(3)
    return noise.position_bias * rng.standard_normal(3)


class NoisyState:
    """Adds noise to a body's state row.

    Args:
        noise: standard deviations.
        rng: this source's own generator.
    """

    def __init__(self, noise: StateNoise, rng: np.random.Generator) -> None:
        self._deviations = noise
        self.is_zero = noise == NO_NOISE
        self._row = np.zeros(13)
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng
        self._bias = bias(self._deviations, rng)
        self._next = _CHUNK

    @property
    def position_bias(self) -> Array:
        """(3,) of this flight [m]."""
        return self._bias

    def __call__(self, x: Array) -> Array:
        """The row (13,) as it is measured; overwritten by the next call."""
        if self.is_zero:
            return x
        if self._next == _CHUNK:
            self._draw()
        row, noise = self._row, self._noise[self._next]
        row[P], row[V], row[W] = x[P] + noise[:3], x[V] + noise[3:6], x[W] + noise[6:9]
        row[P] += self._bias
        row[Q] = so3.multiply(x[Q], self._turns[self._next])
        self._next += 1
        return row

    def _draw(self) -> None:
        draws = self._rng.standard_normal((_CHUNK, 12))
        self._noise, self._turns = scaled(self._deviations, draws)
        self._next = 0


class NoisyStates:
    """Adds noise to a body's state rows in many worlds, to each as a `NoisyState` of its own would.

    Args:
        noise: standard deviations.
        rngs: each world's own generator.
    """

    def __init__(self, noise: StateNoise, rngs: Sequence[np.random.Generator]) -> None:
        self._noise = noise
        self._rngs = list(rngs)
        self.is_zero = noise == NO_NOISE
        noisy = 0 if self.is_zero else len(self._rngs)
        self._made = np.zeros((noisy, _BATCH_CHUNK, 9))
        self._turns = np.zeros((noisy, _BATCH_CHUNK, 4))
        self._next = np.full(len(self._rngs), _BATCH_CHUNK)
        self._calls = 0
        self._bias = np.array([bias(noise, rng) for rng in self._rngs])

    @property
    def position_bias(self) -> Array:
        """(B, 3) of each world's flight [m]."""
        return self._bias

    def reset(self, worlds: Integers, rngs: Sequence[np.random.Generator]) -> None:
        """Start worlds anew, each with its generator."""
        for world, rng in zip(worlds.tolist(), rngs, strict=True):
            self._rngs[world] = rng
            self._bias[world] = bias(self._noise, rng)
        self._next[worlds] = _BATCH_CHUNK

    def __call__(self, x: Array, worlds: Integers | None = None) -> Array:
        """Rows (n, 13) as they are measured: of these worlds, or of all."""
        out = x.copy()
        if self.is_zero:
            return out
        chosen = np.arange(len(self._rngs)) if worlds is None else worlds
        self._draw(chosen[self._next[chosen] == _BATCH_CHUNK])
        self._calls += worlds is None
        _add(self._made, self._turns, self._next, self._bias, chosen, out)
        return out

    def _draw(self, worlds: Integers) -> None:
        """Draw for worlds that have used all theirs, so much that most are due in the same call again."""
        if not len(worlds):
            return
        first = self._calls % _BATCH_CHUNK
        draws = np.empty((len(worlds), _BATCH_CHUNK - first, 12))
        for world, row in zip(worlds.tolist(), draws, strict=True):
            self._rngs[world].standard_normal(out=row)
        self._made[worlds, first:], self._turns[worlds, first:] = scaled(self._noise, draws)
        self._next[worlds] = first


@njit(cache=True)
def _add(
    made: Array, turns: Array, now: Integers, bias: Array, worlds: Integers, out: Array
) -> None:
    """Add the present noise of each of some worlds to its row, and go on to the next."""
    for n in range(len(worlds)):
        b, row = worlds[n], out[n]
        k = now[b]
        for i in range(3):
            row[i] = row[i] + made[b, k, i] + bias[b, i]
            row[7 + i] += made[b, k, 3 + i]
            row[10 + i] += made[b, k, 6 + i]
        row[3], row[4], row[5], row[6] = qmul(quat_at(row, 3), quat_at(turns[b, k], 0))
        now[b] += 1
