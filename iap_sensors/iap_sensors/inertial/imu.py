# SPDX-License-Identifier: BSD-3-Clause
"""An inertial unit's errors: white noise, biases that walk, scale, misalignment, range and resolution.

After iap_simulator V-D, with the noise given by densities: a sample at intervals dt has the white
noise sigma = density / sqrt(dt), and its bias steps by walk sqrt(dt). Presets are read from ``data/imu/NAME.yaml``.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.config.record import Presets, Record
from iap_description.config.values import Hertz, NonNegative, Positive, Share

PRESETS = Presets(Path(__file__).parents[1] / "data" / "imu", "inertial unit")
MAX_LINES = 1000  # of a vibration
SAMPLES_DRAWN_AT_ONCE = (
    64  # samples whose errors are drawn at once; the sequence does not depend on it
)
WHITE, BIAS, SHAKEN = (
    0,
    6,
    12,
)  # first of the columns of what is drawn, gyroscopes before accelerometers


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


class Vibration(Record):
    """Vibration of the frame as samples show it: lines of random frequencies and phases, equal in power."""

    gyro: NonNegative  # root mean square about each axis [rad/s]
    accel: NonNegative  # and along each [m/s^2]
    frequency: Positive  # of the lines' middle, as it is folded by sampling [Hz]
    spread: Share  # of the lines about it, relative, to both sides
    lines: Annotated[int, Field(strict=True, ge=1, le=MAX_LINES)]


class ImuSpec(Record):
    """An inertial unit."""

    rate: Hertz  # [Hz]
    sampling: Literal["integrating", "instantaneous"]  # means over the interval, or instants
    gyro: Triad
    accel: Triad
    calibration: Share = 1.0  # of the first biases, what a calibration at rest has left of them
    vibration: Vibration | None = None  # on top of what the physics shows


class ImuSamples(NamedTuple):
    """S measured samples, with the biases that are in them; of n units with a first axis for these.

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


class Imus:
    """Inertial units of one kind, each with errors of its own.

    Args:
        spec: what they are.
        rate: of their samples, as the physics steps allow it [Hz].
        rngs: generator of each of the n units, which draws its biases, scales, misalignments and noise.
    """

    def __init__(self, spec: ImuSpec, rate: float, rngs: Sequence[np.random.Generator]) -> None:
        count, dt = len(rngs), 1.0 / rate
        self._triads, self._calibration = (spec.gyro, spec.accel), spec.calibration
        self._white = [triad.noise / math.sqrt(dt) for triad in self._triads]
        self._step = [triad.walk * math.sqrt(dt) for triad in self._triads]
        self._grid = np.array(
            [[_grid(each) for each in self._triads], [_limit(each) for each in self._triads]]
        )
        vibration = spec.vibration
        self._vibration = None if vibration is None else Vibrations(vibration, dt, count)
        self._rngs: list[Sequence[np.random.Generator]] = [()] * count  # of the triads
        self._bias, self._M = np.zeros((count, 2, 3)), np.zeros((count, 2, 3, 3))
        width = SHAKEN if vibration is None else SHAKEN + 6
        self._ahead = np.zeros((count, SAMPLES_DRAWN_AT_ONCE, width))
        self._next = np.zeros(count, dtype=np.int64)  # of them
        self._left = 0  # of them to come, of the unit that has fewest
        self.reset(range(count), rngs)

    def reset(self, units: Sequence[int], rngs: Sequence[np.random.Generator]) -> None:
        """Start some units anew, each with a generator."""
        for unit, rng in zip(units, rngs, strict=True):
            *children, shaken = rng.spawn(3)
            self._rngs[unit] = children
            for n, (triad, child) in enumerate(zip(self._triads, children, strict=True)):
                bias = self._calibration * triad.bias
                self._bias[unit, n] = bias * child.standard_normal(3)
                self._M[unit, n] = np.eye(3) + _skew(triad, child)
            if self._vibration is not None:
                self._vibration.reset(unit, shaken)
            self._next[unit] = self._ahead.shape[1]
        self._left = 0

    def __call__(self, w_S: Array, f_S: Array) -> ImuSamples:
        """Measure ideal samples (n, S, 3): angular velocities [rad/s] and specific forces [m/s^2]."""
        count = w_S.shape[1]
        if count > self._left:
            self._draw(count)
        out = np.empty((4, *w_S.shape))
        true = np.ascontiguousarray(w_S), np.ascontiguousarray(f_S)
        _measure(*true, self._M, self._ahead, self._next, self._grid, out)
        self._next += count
        self._left -= count
        return ImuSamples(*out)

    def _draw(self, count: int) -> None:
        """Draw ahead where less than a number of samples is left."""
        size = self._ahead.shape[1]
        if count > size:
            self._ahead = np.pad(self._ahead, ((0, 0), (count - size, 0), (0, 0)))
            self._next += count - size
        for unit in np.flatnonzero(self._next + count > self._ahead.shape[1]).tolist():
            self._draw_ahead(unit)
        self._left = self._ahead.shape[1] - int(self._next.max(initial=0))

    def _draw_ahead(self, unit: int) -> None:
        """Move what is left of a unit's errors to the front, and fill up behind it."""
        ahead = self._ahead[unit]
        left = len(ahead) - int(self._next[unit])
        ahead[:left] = ahead[len(ahead) - left :].copy()
        new = ahead[left:]
        for n, rng in enumerate(self._rngs[unit]):
            draws = rng.standard_normal((len(new), 6))
            new[:, WHITE + 3 * n : WHITE + 3 * n + 3] = self._white[n] * draws[:, :3]
            # Sums in the order of the samples: the bits do not depend on how many are drawn at once.
            walk = np.vstack([self._bias[unit, n], self._step[n] * draws[:, 3:]]).cumsum(axis=0)
            new[:, BIAS + 3 * n : BIAS + 3 * n + 3] = walk[1:]
            self._bias[unit, n] = walk[-1]
        if self._vibration is not None:
            new[:, SHAKEN:] = self._vibration(unit, len(new))
        self._next[unit] = 0


def _grid(triad: Triad) -> float:
    """Step of its numbers [u]; 0 where they have none."""
    return 0.0 if triad.resolution is None else triad.resolution


def _limit(triad: Triad) -> float:
    """Its range [u]; infinite where there is none."""
    return math.inf if triad.range is None else triad.range


def _skew(triad: Triad, rng: np.random.Generator) -> Array:
    """(3, 3) errors of scale and misalignment that a unit draws."""
    skew: Array = math.radians(triad.misalignment_deg) * rng.standard_normal((3, 3))
    np.fill_diagonal(skew, triad.scale * rng.standard_normal(3))
    return skew


@njit(cache=True)
def _measure(
    w_S: Array, f_S: Array, M: Array, ahead: Array, first: Integers, grid: Array, out: Array
) -> None:
    """Write what n units measure, and the biases in it, as `ImuSamples` has them.

    Args:
        w_S: (n, S, 3) true angular velocities [rad/s].
        f_S: (n, S, 3) true specific forces [m/s^2].
        M: (n, 2, 3, 3) scale and misalignment of the triads.
        ahead: (n, K, 12 or 18) errors of samples to come, columns from WHITE, BIAS and SHAKEN on.
        first: (n,) the next of them.
        grid: (2, 2) steps and limits of the triads' numbers.
        out: (4, n, S, 3).
    """
    shakes = ahead.shape[2] > SHAKEN
    for unit in range(w_S.shape[0]):
        for s in range(w_S.shape[1]):
            errors = ahead[unit, first[unit] + s]
            for n in range(2):
                true = w_S[unit, s] if n == 0 else f_S[unit, s]
                for i in range(3):
                    turned = 0.0
                    for j in range(3):
                        shaken = errors[SHAKEN + 3 * n + j] if shakes else 0.0
                        turned += (true[j] + shaken) * M[unit, n, i, j]
                    bias = errors[BIAS + 3 * n + i]
                    value = turned + bias + errors[WHITE + 3 * n + i]
                    out[n, unit, s, i] = _read(value, grid[0, n], grid[1, n])
                    out[2 + n, unit, s, i] = bias


@njit(cache=True)
def _read(value: float, step: float, limit: float) -> float:
    """A value on a sensor's steps and within its limit."""
    if step > 0.0:
        value = step * np.rint(value / step)
    if value > limit:
        return limit
    return -limit if value < -limit else value


class Imu:
    """One inertial unit: `Imus` of one."""

    def __init__(self, spec: ImuSpec, rate: float, rng: np.random.Generator) -> None:
        self._units = Imus(spec, rate, [rng])

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._units.reset([0], [rng])

    def __call__(self, w_S: Array, f_S: Array) -> ImuSamples:
        """Measure S ideal samples, (S, 3) angular velocities [rad/s] and specific forces [m/s^2]."""
        w, f, gyro_bias, accel_bias = self._units(w_S[None], f_S[None])
        return ImuSamples(w[0], f[0], gyro_bias[0], accel_bias[0])


class Vibrations:
    r"""Vibration of n units: v(t) = sum_l a sqrt(2 / L) sin(2 pi f_l t + phi_l) of L lines along every axis.

    Sums of sines of random phase are Rice's model of narrow-band noise ("Mathematical Analysis of Random Noise", 1944).

    Args:
        spec: of all.
        dt: between samples [s].
        count: number of units n.
    """

    def __init__(self, spec: Vibration, dt: float, count: int) -> None:
        self._spec, self._dt = spec, dt
        amplitudes = np.repeat([spec.gyro, spec.accel], 3) * math.sqrt(2.0 / spec.lines)
        self._amplitudes = amplitudes[:, None]
        self._steps, self._phases = np.zeros((2, count, 6, spec.lines))
        self._next = np.zeros(count, dtype=np.int64)  # sample of each unit

    def reset(self, unit: int, rng: np.random.Generator) -> None:
        """Draw a unit's lines."""
        spec, shape = self._spec, self._steps.shape[1:]
        f = spec.frequency * (1.0 + spec.spread * rng.uniform(-1.0, 1.0, shape))
        self._steps[unit] = 2.0 * np.pi * f * self._dt
        self._phases[unit] = rng.uniform(0.0, 2.0 * np.pi, shape)
        self._next[unit] = 0

    def __call__(self, unit: int, count: int) -> Array:
        """The next samples (count, 6) of a unit: angular velocities [rad/s] and specific forces [m/s^2]."""
        at = self._next[unit] + np.arange(count)
        self._next[unit] += count
        angles = self._steps[unit] * at[:, None, None] + self._phases[unit]
        return np.asarray((self._amplitudes * np.sin(angles)).sum(axis=-1))
