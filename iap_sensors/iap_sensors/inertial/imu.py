# SPDX-License-Identifier: BSD-3-Clause
"""An inertial unit's errors: white noise, biases that walk, scale, misalignment, range and resolution.

After iap_simulator V-D, with the noise given by densities: a sample at intervals dt has the white
noise sigma = density / sqrt(dt), and its bias steps by walk sqrt(dt). Presets are read from ``data/imu/NAME.yaml``.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import Count, NonNegative, Positive, Presets, Record, Share

PRESETS = Presets(Path(__file__).parents[1] / "data" / "imu", "inertial unit")
SAMPLES_DRAWN_AT_ONCE = (
    64  # samples whose draws are made at once; the sequence does not depend on it
)


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
    lines: Count


class ImuSpec(Record):
    """An inertial unit."""

    rate: Positive  # [Hz]
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
        triads = [
            triad.model_copy(update={"bias": spec.calibration * triad.bias})
            for triad in (spec.gyro, spec.accel)
        ]
        self._triads = [_TriadErrors(triad, dt, count) for triad in triads]
        vibration = spec.vibration
        self._vibration = None if vibration is None else Vibrations(vibration, dt, count)
        self.reset(range(count), rngs)

    def reset(self, units: Sequence[int], rngs: Sequence[np.random.Generator]) -> None:
        """Start some units anew, each with a generator."""
        for unit, rng in zip(units, rngs, strict=True):
            gyro, accel, shaken = rng.spawn(3)
            for triad, child in zip(self._triads, (gyro, accel), strict=True):
                triad.reset(unit, child)
            if self._vibration is not None:
                self._vibration.reset(unit, shaken)

    def __call__(self, w_S: Array, f_S: Array) -> ImuSamples:
        """Measure ideal samples (n, S, 3): angular velocities [rad/s] and specific forces [m/s^2]."""
        if self._vibration is not None:
            shaken = self._vibration(w_S.shape[1])
            w_S, f_S = w_S + shaken[..., :3], f_S + shaken[..., 3:]
        (w, b_w), (f, b_f) = (
            triad.measure(true) for triad, true in zip(self._triads, (w_S, f_S), strict=True)
        )
        return ImuSamples(w, f, b_w, b_f)


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
        self._amplitudes = amplitudes[None, :, None]
        self._steps, self._phases = np.zeros((2, count, 6, spec.lines))
        self._next = np.zeros(count, dtype=np.int64)  # sample of each unit

    def reset(self, unit: int, rng: np.random.Generator) -> None:
        """Draw a unit's lines."""
        spec, shape = self._spec, self._steps.shape[1:]
        f = spec.frequency * (1.0 + spec.spread * rng.uniform(-1.0, 1.0, shape))
        self._steps[unit] = 2.0 * np.pi * f * self._dt
        self._phases[unit] = rng.uniform(0.0, 2.0 * np.pi, shape)
        self._next[unit] = 0

    def __call__(self, count: int) -> Array:
        """The next samples (n, count, 6): angular velocities [rad/s] and specific forces [m/s^2]."""
        at = self._next[:, None] + np.arange(count)
        self._next += count
        angles = self._steps[:, None] * at[..., None, None] + self._phases[:, None]
        return np.asarray((self._amplitudes * np.sin(angles)).sum(axis=-1))


class _TriadErrors:
    """The errors of three sensors along the axes, of n units."""

    def __init__(self, triad: Triad, dt: float, count: int) -> None:
        self._triad = triad
        self._white, self._step = triad.noise / math.sqrt(dt), triad.walk * math.sqrt(dt)
        self._rngs: list[np.random.Generator | None] = [None] * count
        self._bias, self._M = np.zeros((count, 3)), np.zeros((count, 3, 3))
        self._ahead = np.zeros((count, SAMPLES_DRAWN_AT_ONCE, 6))  # standard normal draws
        self._next = np.zeros(count, dtype=np.int64)  # of them

    def reset(self, unit: int, rng: np.random.Generator) -> None:
        """Draw a unit's errors."""
        triad, self._rngs[unit] = self._triad, rng
        self._bias[unit] = triad.bias * rng.standard_normal(3)
        skew = math.radians(triad.misalignment_deg) * rng.standard_normal((3, 3))
        np.fill_diagonal(skew, triad.scale * rng.standard_normal(3))
        self._M[unit] = np.eye(3) + skew
        self._next[unit] = self._ahead.shape[1]

    def measure(self, true: Array) -> tuple[Array, Array]:
        """Measured values (n, S, 3), and the biases (n, S, 3) in them."""
        draws = self._draws(true.shape[1])
        # Sums in the order of the samples: the bits do not depend on how many come at once.
        steps = self._step * draws[..., 3:]
        walk = np.cumsum(np.concatenate([self._bias[:, None], steps], axis=1), axis=1)
        self._bias, bias = walk[:, -1].copy(), walk[:, 1:]
        turned = sum(true[..., j : j + 1] * self._M[:, None, :, j] for j in range(3))
        value = turned + bias + self._white * draws[..., :3]
        limit, step = self._triad.range, self._triad.resolution
        if step is not None:
            value = step * np.round(value / step)
        if limit is not None:
            value = np.clip(value, -limit, limit)
        return value, bias

    def _draws(self, count: int) -> Array:
        """The next standard normal draws (n, count, 6)."""
        size = self._ahead.shape[1]
        if count > size:
            self._ahead = np.pad(self._ahead, ((0, 0), (count - size, 0), (0, 0)))
            self._next += count - size
        for unit in np.flatnonzero(self._next + count > self._ahead.shape[1]).tolist():
            self._draw_ahead(unit)
        at = self._next[:, None] + np.arange(count)
        self._next += count
        return self._ahead[np.arange(len(at))[:, None], at]

    def _draw_ahead(self, unit: int) -> None:
        """Move what is left of a unit's draws to the front, and fill up behind it."""
        ahead, rng = self._ahead[unit], self._rngs[unit]
        assert rng is not None  # noqa: S101 - every unit has been reset
        left = len(ahead) - int(self._next[unit])
        ahead[:left] = ahead[len(ahead) - left :].copy()
        ahead[left:] = rng.standard_normal((len(ahead) - left, 6))
        self._next[unit] = 0
