# SPDX-License-Identifier: BSD-3-Clause
"""A noisy state, as a motion capture or an odometry would give it: white noise, late, with drop-outs.

Arrivals of measured rows: each comes late by whole periods, or not at all, and the newest one stands.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Annotated, Self

import numpy as np
from numba import njit
from pydantic import Field, model_validator

from iap_description.arrays import Array, Booleans, Integers
from iap_description.config.record import Record
from iap_description.config.values import BelowOne, NonNegative
from iap_description.math import so3
from iap_description.math.kernels import qmul, quat_at
from iap_description.states import STATE_SIZE, P, Q, V, W

_CHUNK = 1024  # draws made at once; the sequence does not depend on it
_BATCH_CHUNK = 64  # of each world of a batch, few to save memory; the sequence stays the same
MAX_LATENCY = 1.0  # of measurements, which wait in memory meanwhile [s]


class Arrivals:
    """Measured state rows on their way, in B worlds.

    Args:
        batch: B.
        most: periods by which a row can be late at most.

    Attributes:
        late: (B,) periods by which rows are late.
    """

    def __init__(self, batch: int, most: int) -> None:
        self.late = np.zeros(batch, dtype=np.int64)
        self._sent = np.zeros((batch, most + 1, STATE_SIZE))
        self._count = np.zeros(batch, dtype=np.int64)

    def reset(self, world: int, late: int) -> None:
        """Forget what is on its way in a world; its rows are late by a number of periods from now on."""
        self._count[world], self.late[world] = 0, late

    def __call__(self, rows: Array, lost: Booleans, worlds: Integers) -> None:
        """Put the newest row that has arrived in the place of each that is measured.

        The first row of a flight is there at once.

        Args:
            rows: (n, 13) as measured now; overwritten.
            lost: (n,) whether the measurement gets lost, and the one before stands.
            worlds: (n,) numbers of the worlds.
        """
        _pass(self._sent, self._count, self.late, rows, lost, worlds)


@njit(cache=True)
def _pass(
    sent: Array, count: Integers, late: Integers, rows: Array, lost: Booleans, worlds: Integers
) -> None:
    size = sent.shape[1]
    for n in range(len(worlds)):
        b = worlds[n]
        k = count[b]
        sent[b, k % size] = sent[b, (k - 1) % size] if lost[n] and k > 0 else rows[n]
        rows[n] = sent[b, max(0, k - late[b]) % size]
        count[b] = k + 1


class StateNoise(Record):
    """White noise on the state that the controller sees: standard deviation per axis and control step.

    What is measured comes late by a latency that is constant in a flight, of whole control periods.
    """

    position: NonNegative  # [m]
    attitude_deg: NonNegative  # of the rotation vector, body axes [deg]
    velocity: NonNegative  # [m/s]
    rate_deg: NonNegative  # [deg/s]
    position_bias: NonNegative = 0.0  # of positions, drawn once for a flight [m]
    latency: Annotated[NonNegative, Field(le=MAX_LATENCY)] = 0.0  # [s]
    latency_spread: NonNegative = 0.0  # half-width of the latencies that flights draw [s]
    dropout: BelowOne = 0.0  # share of the measurements that get lost; the one before stands

    @model_validator(mode="after")
    def _is_never_early(self) -> Self:
        if self.latency_spread > self.latency:
            raise ValueError(
                f"key 'latency_spread': {self.latency_spread:g} s is more than latency, {self.latency:g} s: states"
                " would be measured before they are there"
            )
        return self

    @property
    def columns(self) -> int:
        """Normal numbers of a measurement; the last one of 13 says whether it gets lost."""
        return 13 if self.dropout > 0.0 else 12

    def arrivals(self, batch: int, dt: float) -> Arrivals | None:
        """Arrivals in B worlds with control periods of dt [s]; None where all rows are there at once."""
        if self.latency == 0.0 and self.dropout == 0.0:
            return None
        return Arrivals(batch, round((self.latency + self.latency_spread) / dt))


NO_NOISE = StateNoise(position=0.0, attitude_deg=0.0, velocity=0.0, rate_deg=0.0)


def scaled(noise: StateNoise, draws: Array) -> tuple[Array, Array]:
    """The noise of normal numbers (..., 12): of position, velocity and rates (..., 9), and turns (..., 4)."""
    scale = np.repeat([noise.position, noise.velocity, np.deg2rad(noise.rate_deg)], 3)
    turns = so3.quaternion_exp(np.deg2rad(noise.attitude_deg) * draws[..., 9:12])
    return draws[..., :9] * scale, turns


def lost(noise: StateNoise, draws: Array) -> Booleans:
    """(...) whether measurements get lost, by normal numbers (..., columns)."""
    if noise.dropout == 0.0:
        return np.zeros(draws.shape[:-1], bool)
    return np.asarray(draws[..., 12] < NormalDist().inv_cdf(noise.dropout), dtype=bool)


def bias(noise: StateNoise, rng: np.random.Generator) -> Array:
    """(3,) bias of a flight's positions [m], which is drawn before all noise."""
    if noise.position_bias == 0.0:
        return np.zeros(3)
    return noise.position_bias * rng.standard_normal(3)


def late_periods(noise: StateNoise, rng: np.random.Generator, dt: float) -> int:
    """Control periods by which a flight's measurements are late, which are drawn after its bias."""
    latency = noise.latency
    if noise.latency_spread > 0.0:
        latency += noise.latency_spread * float(rng.uniform(-1.0, 1.0))
    return round(latency / dt)


class NoisyState:
    """Adds noise to a body's state row.

    Args:
        noise: standard deviations.
        rng: this source's own generator.
        dt: control period [s].
    """

    def __init__(self, noise: StateNoise, rng: np.random.Generator, dt: float) -> None:
        self._deviations, self._dt = noise, dt
        self._arrivals, self._only = noise.arrivals(1, dt), np.zeros(1, np.int64)
        self.is_zero = noise == NO_NOISE
        self._row = np.zeros(13)
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng
        self._bias = bias(self._deviations, rng)
        if self._arrivals is not None:
            self._arrivals.reset(0, late_periods(self._deviations, rng, self._dt))
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
        if self._arrivals is not None:
            lost_now = self._lost[self._next : self._next + 1]
            self._arrivals(row[None], lost_now, self._only)
        self._next += 1
        return row

    def _draw(self) -> None:
        draws = self._rng.standard_normal((_CHUNK, self._deviations.columns))
        self._noise, self._turns = scaled(self._deviations, draws)
        self._lost = lost(self._deviations, draws)
        self._next = 0


class NoisyStates:
    """Adds noise to a body's state rows in many worlds, to each as a `NoisyState` of its own would.

    Args:
        noise: standard deviations.
        rngs: each world's own generator.
        dt: control period [s].
    """

    def __init__(self, noise: StateNoise, rngs: Sequence[np.random.Generator], dt: float) -> None:
        self._noise, self._dt = noise, dt
        self._rngs = list(rngs)
        self.is_zero = noise == NO_NOISE
        noisy = 0 if self.is_zero else len(self._rngs)
        self._made = np.zeros((noisy, _BATCH_CHUNK, 9))
        self._turns = np.zeros((noisy, _BATCH_CHUNK, 4))
        self._lost = np.zeros((noisy, _BATCH_CHUNK), bool)
        self._arrivals = noise.arrivals(noisy, dt)
        self._next = np.full(len(self._rngs), _BATCH_CHUNK)
        self._calls = 0
        self._bias = np.zeros((len(self._rngs), 3))
        self.reset(np.arange(len(self._rngs)), self._rngs)

    @property
    def position_bias(self) -> Array:
        """(B, 3) of each world's flight [m]."""
        return self._bias

    def reset(self, worlds: Integers, rngs: Sequence[np.random.Generator]) -> None:
        """Start worlds anew, each with its generator."""
        for world, rng in zip(worlds.tolist(), rngs, strict=True):
            self._rngs[world] = rng
            self._bias[world] = bias(self._noise, rng)
            if self._arrivals is not None:
                self._arrivals.reset(world, late_periods(self._noise, rng, self._dt))
        self._next[worlds] = _BATCH_CHUNK

    def __call__(self, x: Array, worlds: Integers | None = None) -> Array:
        """Rows (n, 13) as they are measured: of these worlds, or of all."""
        out = x.copy()
        if self.is_zero:
            return out
        indices = np.arange(len(self._rngs)) if worlds is None else worlds
        self._draw(indices[self._next[indices] == _BATCH_CHUNK])
        self._calls += worlds is None
        lost_now = self._lost[indices, self._next[indices]] if self._arrivals is not None else None
        _add(self._made, self._turns, self._next, self._bias, indices, out)
        if self._arrivals is not None and lost_now is not None:
            self._arrivals(out, lost_now, indices)
        return out

    def _draw(self, worlds: Integers) -> None:
        """Draw for worlds that have used all theirs, so much that most are due in the same call again."""
        if not len(worlds):
            return
        first = self._calls % _BATCH_CHUNK
        draws = np.empty((len(worlds), _BATCH_CHUNK - first, self._noise.columns))
        for world, row in zip(worlds.tolist(), draws, strict=True):
            self._rngs[world].standard_normal(out=row)
        self._made[worlds, first:], self._turns[worlds, first:] = scaled(self._noise, draws)
        self._lost[worlds, first:] = lost(self._noise, draws)
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
